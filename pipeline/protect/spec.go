// Package protect finds the least change of key variables after which a file may be released, from file to file; package engine/recoding has the
// mathematics.
//
//	out, err := protect.Run(ctx, protect.Spec{Spec: spec, Target: protect.Target{K: 3}, Release: "release.yaml", Out: "release.parquet"}, session.Options{})
package protect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"microrisk/operators/hierarchy"
	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Ways of suppressing what stays unsafe.
const (
	SuppressNone    = "none"
	SuppressRecords = "records" // all key cells of a record
	SuppressCells   = "cells"   // single ones
)

// Suppressions are the ways.
var Suppressions = []string{SuppressNone, SuppressRecords, SuppressCells}

// A Spec asks for a recoding of a key.
type Spec struct {
	// Spec has the source, the key, the sampling where a target needs it, and operators that choose and recode.
	Spec         *schemas.Spec
	Hierarchies  hierarchy.List
	Target       Target
	Suppress     string
	Share        float64 // of the records, or the key cells, that may be suppressed
	Fit          string
	Loss         string
	Time         float64 // seconds
	Checks       int64   // 0: no end
	Alternatives int
	Drop         []string // columns that the release does not have
	Means        []string // columns whose means by groups are compared
	Release      string   // file of the spec that makes the release, "" for none
	Out          string   // the release, "" for none
	JSON         string   // the document, "" for none
	Model        mc3.Config
}

// Fields is the field table. It makes the spec of the source if there is none.
func (s *Spec) Fields() schemas.Table {
	if s.Spec == nil {
		s.Spec = &schemas.Spec{}
	}
	t := schemas.Table{
		What: "the spec",
		Doc: "What microrisk protect is asked: the least change of the key after which a file of records is safe to release. Tables are protected by the " +
			"operator of the same name.",
		Required: []string{"source", "key", "safe"},
	}
	t.Fields = slices.Concat(s.Spec.Part("source", "sampling", "key", "operators", "allow_empty"), []schemas.Field{
		{
			Name: "hierarchies",
			To:   hierarchy.Form(&s.Hierarchies),
			Doc:  "Key variable to how its values can be made coarser. Of others whole numbers can be banded, and all left out.",
			Flag: &schemas.Flag{Name: "hierarchy", Many: true,
				Usage: "how the values of a key variable can be made coarser: `VAR=FILE` (value;level;...;* a line), VAR=5,10,20 (widths of bands), VAR=top:90,80, " +
					"VAR=truncate:3,2, VAR=fixed, VAR=weight:2, VAR=levels:0..2; may be repeated",
				Set: func(texts []string) error {
					for _, text := range texts {
						if err := hierarchy.ParseFlag(&s.Hierarchies, text); err != nil {
							return err
						}
					}
					return nil
				}},
		},
		{Name: "safe", To: schemas.Nested(s.Target.Fields())},
		{Name: "suppress", To: &s.Suppress, Words: Suppressions, Default: SuppressNone,
			Doc: "What is done with records that stay unsafe. none: all must be safe. records: all their key cells become missing. cells: as few of them as are needed.",
			Flag: &schemas.Flag{
				Name:  "suppress",
				Usage: "what is done with records that stay unsafe: none, records (all their key cells become missing) or cells (as few as needed)",
			}},
		{Name: "share", To: &s.Share, Range: schemas.Within(0, 1), Default: 1.0,
			Doc:  "Share of the records, or of the key cells, that may be suppressed.",
			Flag: &schemas.Flag{Name: "share", Usage: "share of the records (--suppress records) or key cells (cells) that may be suppressed (default: 1)"}},
		{Name: "fit", To: &s.Fit, Words: Fits,
			Doc: "When a record with suppressed cells is safe; class without it. class: k records of the release are identical. own: k records of the file have the values that it shows. " +
				"wildcard: a suppressed cell counts as any value, which protects nobody.",
			Flag: &schemas.Flag{Name: "fit", Usage: "when a record with suppressed cells is safe: class, own, or wildcard (for comparison)"}},
		{Name: "loss", To: &s.Loss, Words: LossNames(), Default: "cells", Doc: "How the loss of information is measured.",
			Flag: &schemas.Flag{Name: "loss", Usage: "how the loss of information is measured: " + strings.Join(LossNames(), ", ")}},
		{Name: "time", To: &s.Time, Range: schemas.Positive(), Default: 60.0, Doc: "Seconds after which the search ends with the best so far.",
			Flag: &schemas.Flag{Name: "time", Usage: "`SECONDS` after which the search ends with the best so far and a bound (default: 60)"}},
		{
			Name:  "checks",
			To:    &s.Checks,
			Range: schemas.AtLeast(1),
			Doc:   "Recodings that are tried at most, in place of a time: the same answer on every machine.",
			Flag:  &schemas.Flag{Name: "checks", Usage: "recodings that are tried at most, in place of --time: the same answer on every machine"},
		},
		{Name: "alternatives", To: &s.Alternatives, Range: schemas.AtLeast(0), Default: 3, Doc: "How many of the next best recodings are told.",
			Flag: &schemas.Flag{Name: "alternatives", Usage: "how many of the next best recodings are told (default: 3)"}},
		{Name: "drop", To: &s.Drop, Doc: "Columns that the release leaves out: identifiers, and those that tell what was made coarser or hidden.",
			Flag: &schemas.Flag{Name: "drop", Usage: "`COLUMNS` that the release leaves out: identifiers, and those that tell what was made coarser or hidden"}},
		{Name: "means", To: &s.Means, Doc: "Numeric columns of which means by each key variable are compared, of the file and of the release; with out.",
			Flag: &schemas.Flag{Name: "means", Usage: "numeric `COLUMNS` of which means by each key variable are compared, before and after; with --out"}},
		{Name: "release", To: &s.Release, File: true, Doc: "The spec that makes the release, as run takes it.",
			Flag: &schemas.Flag{Name: "release", Usage: "write the spec that makes the release, as run takes it, to `FILE.yaml`"}},
		{Name: "out", To: &s.Out, File: true, Doc: "The release itself, which is judged again.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write the release to `FILE`, and judge it again"}},
		{Name: "json", To: &s.JSON, File: true, Doc: "All figures as JSON.",
			Flag: &schemas.Flag{Name: "json", Usage: "write all figures to `FILE.json`"}},
	})
	return t
}

// A Target says when a release is safe: all that is said must hold.
type Target struct {
	K            int64
	Uniques      *float64
	MSU          int64
	MeanRisk     float64
	DIS          float64
	Distinct     int64
	Entropy      float64
	Sensitive    string
	Expected     string // a number, or a percentage of what is expected now
	CorrectMatch float64
	PUSU         float64
}

// Fields is the field table.
func (t *Target) Fields() schemas.Table {
	return schemas.Table{What: "safe", Doc: "When the release is safe: all that is said must hold.", Rules: `"minProperties": 1`, Fields: []schemas.Field{
		{Name: "k", To: &t.K, Range: schemas.AtLeast(2), Doc: "At least so many records share each key (k-anonymity)."},
		{Name: "uniques", To: &t.Uniques, Range: schemas.AtLeast(0), Doc: "At most so many sample uniques."},
		{Name: "msu", To: &t.MSU, Range: schemas.AtLeast(1), Doc: "No record has a minimal sample unique of up to so many variables."},
		{Name: "mean_risk", To: &t.MeanRisk, Range: schemas.Within(0, 1), Doc: "Mean of 1/f over records at most."},
		{
			Name:  "dis",
			To:    &t.DIS,
			Range: schemas.Within(0, 1),
			Doc:   "Chance at most that a unique match is correct, by the data without a model; needs the sampling.",
		},
		{Name: "distinct", To: &t.Distinct, Range: schemas.AtLeast(2), Doc: "At least so many values of sensitive in each key (distinct l-diversity)."},
		{
			Name:  "entropy",
			To:    &t.Entropy,
			Range: schemas.AtLeast(1),
			Doc:   "The values of sensitive are as uncertain as so many equally frequent ones in each key (entropy l-diversity).",
		},
		{Name: "sensitive", To: &t.Sensitive, Doc: "The column of distinct and entropy."},
		{
			Name:   "expected",
			To:     &t.Expected,
			Doc:    "Expected re-identifications at most: a number, or a percentage of what is expected of the file as it is; needs the sampling.",
			Schema: `"type": ["string", "number"]`,
		},
		{
			Name:  "correct_match",
			To:    &t.CorrectMatch,
			Range: schemas.Within(0, 1),
			Doc:   "Greatest chance of a correct match of any record, E[1/F]; needs the sampling.",
		},
		{Name: "pu_su", To: &t.PUSU, Range: schemas.Within(0, 1), Doc: "Share at most of the sample uniques that are population unique; needs the sampling."},
	}}
}

// TargetWords are the targets as the flag has them.
func TargetWords() []string {
	var names []string
	for _, f := range new(Target).Fields().Fields {
		if f.Name != "sensitive" {
			names = append(names, f.Name)
		}
	}
	return names
}

// Say takes a target as a flag has it: k=3.
func (t *Target) Say(text string) error {
	name, value, ok := strings.Cut(text, "=")
	table := t.Fields()
	f := table.Field(name)
	if !ok || f == nil || name == "sensitive" {
		return fmt.Errorf(
			"is %q; it must be one of k=3, uniques=0, msu=2, mean_risk=0.05, dis=0.01, distinct=2, entropy=2 (with --sensitive), expected=10 or expected=50%%, "+
				"correct_match=0.2, pu_su=0.05",
			text,
		)
	}
	switch to := f.To.(type) {
	case *int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is %q: it must be a whole number", name, value)
		}
		*to = n
	case **float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s is %q: it must be a number", name, value)
		}
		*to = &x
	case *float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s is %q: it must be a number", name, value)
		}
		*to = x
	case *string:
		*to = value
	}
	return nil
}

// modelled tells whether a target needs a model of the population.
func (t *Target) modelled() bool { return t.Expected != "" || t.CorrectMatch > 0 || t.PUSU > 0 }

// sampled tells whether a target needs the size of the population.
func (t *Target) sampled() bool { return t.modelled() || t.DIS > 0 }

// Check tells what the field tables cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if s.Spec.Key == nil {
		c.Add("key", "a protection needs key variables")
		return
	}
	c.Rows(s.Spec)
	t := &s.Target
	if t.K == 0 && t.Uniques == nil && t.MSU == 0 && t.MeanRisk == 0 && t.DIS == 0 && t.Distinct == 0 && t.Entropy == 0 && !t.modelled() {
		c.Add("safe", "say when the release is safe, such as k: 3")
	}
	if (t.Distinct > 0 || t.Entropy > 0) && t.Sensitive == "" {
		c.Add("safe.sensitive", "name the column whose values must differ")
	}
	if t.Sensitive != "" && t.Distinct == 0 && t.Entropy == 0 {
		c.Add("safe.sensitive", "goes with distinct or entropy")
	}
	if t.sampled() && s.Spec.Sampling == nil {
		c.Add("sampling", "the target needs the size of the population: say the sampling fraction, the population's size or a column of weights")
	}
	if t.Expected != "" {
		if _, _, err := t.expected(); err != nil {
			c.Add("safe.expected", "%v", err)
		}
	}
	for i := range s.Hierarchies {
		h := &s.Hierarchies[i]
		if !slices.ContainsFunc(s.Spec.Key.Variables, func(v schemas.KeyVariable) bool { return v.Name == h.Variable }) {
			c.Add("hierarchies."+h.Variable, "%s is no key variable", h.Variable)
		}
	}
	if len(s.Means) > 0 && s.Out == "" {
		c.Add("means", "are compared with those of the release; write it (out), or leave them out")
	}
	for v, p := range session.PoliciesOf(*s.Spec.Key) {
		if p != 0 {
			c.Add("key", "%s: missing values are a category of their own in a protection; leave the policy out", s.Spec.Key.Variables[v].Name)
		}
	}
	coded := s.Spec.Key.MissingCodes != nil
	for _, v := range s.Spec.Key.Variables {
		coded = coded || v.MissingCodes != nil
	}
	if coded {
		c.Add("key", "values that count as missing stay in the release, where they are told from missing ones: leave missing codes out (they are "+
			"categories then), or make them missing first by an operator (recode, with map: {CODE: null})")
	}
	if s.Fit != "" && s.Suppress != SuppressCells {
		c.Add("fit", "no single cells are suppressed; say so (suppress: cells), or leave it out")
	}
	if s.Suppress == SuppressNone || s.Suppress == "" {
		if s.Share != 1 && s.Share != 0 {
			c.Add("share", "nothing is suppressed; say records or cells, or leave it out")
		}
		return
	}
	others := t.Uniques != nil || t.MSU > 0 || t.MeanRisk > 0 || t.sampled()
	switch {
	case s.Suppress == SuppressCells && (t.K == 0 || t.Distinct > 0 || t.Entropy > 0 || others):
		c.Add("suppress", "single cells are suppressed for k alone; say records, or leave other targets out")
	case s.Suppress == SuppressCells && s.Loss != "" && s.Loss != "cells" && s.Loss != "spread":
		c.Add("loss", "where cells are suppressed the loss is of cells: cells or spread")
	case t.K == 0 && t.Distinct == 0 && t.Entropy == 0 || t.MSU > 0:
		c.Add("suppress", "suppression makes single records safe, by k, distinct or entropy; leave it out for other targets")
	}
}

// expected is the target of expected re-identifications: a number, or a share of what is expected now.
func (t *Target) expected() (number, share float64, err error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(t.Expected), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x >= 0) {
		return 0, 0, fmt.Errorf("%q is neither a number nor a percentage", t.Expected)
	}
	if percent {
		return 0, x / 100, nil
	}
	return x, 0, nil
}
