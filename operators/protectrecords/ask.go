package protectrecords

import (
	"cmp"
	"slices"
	"strings"

	"microrisk/operators/hierarchy"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// Ways of suppressing what stays unsafe.
const (
	SuppressNone    = "none"
	SuppressRecords = "records" // all key cells of a record
	SuppressCells   = "cells"   // single ones
)

// usualTime is that of a search of which nothing is said.
const usualTime = 60.0

// Suppressions are the ways.
var Suppressions = []string{SuppressNone, SuppressRecords, SuppressCells}

// An Ask says what is searched for: the least change of a key after which its records are safe.
type Ask struct {
	Hierarchies  hierarchy.List
	Target       Target
	Suppress     string
	Share        *float64 // of the records, or the key cells, that may be suppressed; nil: 1
	Fit          string
	Loss         string
	Time         float64    // seconds
	Checks       int64      // 0: no end
	Alternatives *int       // nil: 3
	Model        mc3.Config // of the population, where the target needs one
}

// Fields are those of the field tables that ask it.
func (a *Ask) Fields() []schemas.Field {
	return []schemas.Field{
		{
			Name: "hierarchies",
			To:   hierarchy.Form(&a.Hierarchies),
			Doc:  "Key variable to how its values can be made coarser. Of others whole numbers can be banded, and all left out.",
			Flag: &schemas.Flag{Name: "hierarchy", Many: true,
				Usage: "how the values of a key variable can be made coarser: `VAR=FILE` (value;level;...;* a line), VAR=5,10,20 (widths of bands), VAR=top:90,80, " +
					"VAR=truncate:3,2, VAR=fixed, VAR=weight:2, VAR=levels:0..2; may be repeated",
				Set: func(texts []string) error {
					for _, text := range texts {
						if err := hierarchy.ParseFlag(&a.Hierarchies, text); err != nil {
							return err
						}
					}
					return nil
				}},
		},
		{Name: "safe", To: schemas.Nested(a.Target.Fields())},
		{Name: "suppress", To: &a.Suppress, Words: Suppressions, Default: SuppressNone,
			Doc: "What is done with records that stay unsafe. none: all must be safe. records: all their key cells become missing. cells: as few of them as are needed.",
			Flag: &schemas.Flag{
				Name:  "suppress",
				Usage: "what is done with records that stay unsafe: none, records (all their key cells become missing) or cells (as few as needed)",
			}},
		{Name: "share", To: &a.Share, Range: schemas.Within(0, 1), Default: 1.0,
			Doc:  "Share of the records, or of the key cells, that may be suppressed.",
			Flag: &schemas.Flag{Name: "share", Usage: "share of the records (--suppress records) or key cells (cells) that may be suppressed (default: 1)"}},
		{Name: "fit", To: &a.Fit, Words: Fits,
			Doc: "When a record with suppressed cells is safe; class without it. class: k records of the release are identical. own: k records of the file have the values that it shows. " +
				"wildcard: a suppressed cell counts as any value, which protects nobody.",
			Flag: &schemas.Flag{Name: "fit", Usage: "when a record with suppressed cells is safe: class, own, or wildcard (for comparison)"}},
		{Name: "loss", To: &a.Loss, Words: LossNames(), Default: "cells", Doc: "How the loss of information is measured.",
			Flag: &schemas.Flag{Name: "loss", Usage: "how the loss of information is measured: " + strings.Join(LossNames(), ", ")}},
		{Name: "time", To: &a.Time, Range: schemas.Positive(), Default: usualTime, Doc: "Seconds after which the search ends with the best so far.",
			Flag: &schemas.Flag{Name: "time", Usage: "`SECONDS` after which the search ends with the best so far and a bound (default: 60)"}},
		{
			Name:  "checks",
			To:    &a.Checks,
			Range: schemas.AtLeast(1),
			Doc:   "Recodings that are tried at most, in place of a time: the same answer on every machine.",
			Flag:  &schemas.Flag{Name: "checks", Usage: "recodings that are tried at most, in place of --time: the same answer on every machine"},
		},
		{Name: "alternatives", To: &a.Alternatives, Range: schemas.AtLeast(0), Default: 3, Doc: "How many of the next best recodings are told.",
			Flag: &schemas.Flag{Name: "alternatives", Usage: "how many of the next best recodings are told (default: 3)"}},
	}
}

// Check tells what the field tables cannot; path is that of the table, "" for the document.
func (a *Ask) Check(c *schemas.Checker, path string, key *schemas.Key, sampling *schemas.Sampling) {
	at := path
	if at != "" {
		at += "."
	}
	t := &a.Target
	if t.K == 0 && t.Uniques == nil && t.MSU == 0 && t.MeanRisk == 0 && t.DIS == 0 && t.Distinct == 0 && t.Entropy == 0 && !t.Modelled() {
		c.Add(at+"safe", "say when the release is safe, such as k: 3")
	}
	if (t.Distinct > 0 || t.Entropy > 0) && t.Sensitive == "" {
		c.Add(at+"safe.sensitive", "name the column whose values must differ")
	}
	if t.Sensitive != "" && t.Distinct == 0 && t.Entropy == 0 {
		c.Add(at+"safe.sensitive", "goes with distinct or entropy")
	}
	if t.sampled() && sampling == nil {
		c.Add(at+"safe", "the target needs the size of the population: say the sampling fraction, the population's size or a column of weights")
	}
	if t.Expected != "" {
		if _, _, err := t.ExpectedAt(); err != nil {
			c.Add(at+"safe.expected", "%v", err)
		}
	}
	for i := range a.Hierarchies {
		h := &a.Hierarchies[i]
		if h.Cells != nil && a.Suppress != SuppressCells {
			c.Add(at+"hierarchies."+h.Variable+".cells", "no single cells are suppressed; say so (suppress: cells), or leave it out")
		}
		if !slices.ContainsFunc(key.Variables, func(v schemas.KeyVariable) bool { return v.Name == h.Variable }) {
			c.Add(at+"hierarchies."+h.Variable, "%s is no key variable", h.Variable)
		}
	}
	for _, x := range key.Variables {
		if p := cmp.Or(x.Missing, key.Missing, schemas.MissingCategory); p != schemas.MissingCategory {
			c.Add(at+"key", "%s: missing values are a category of their own in a protection; leave the policy out", x.Name)
		}
	}
	coded := key.MissingCodes != nil
	for _, v := range key.Variables {
		coded = coded || v.MissingCodes != nil
	}
	if coded {
		c.Add(at+"key", "values that count as missing stay in the release, where they are told from missing ones: leave missing codes out (they are "+
			"categories then), or make them missing first by an operator (recode, with map: {CODE: null})")
	}
	if a.Time != 0 && a.Time != usualTime && a.Checks != 0 {
		c.Add(at+"checks", "checks and time both end the search; leave one of them out")
	}
	if a.Fit != "" && a.Suppress != SuppressCells {
		c.Add(at+"fit", "no single cells are suppressed; say so (suppress: cells), or leave it out")
	}
	if a.Suppress == SuppressNone || a.Suppress == "" {
		if a.Share != nil && *a.Share != 1 {
			c.Add(at+"share", "nothing is suppressed; say records or cells, or leave it out")
		}
		return
	}
	capped := slices.ContainsFunc(a.Hierarchies, func(h hierarchy.Config) bool { return h.Cells != nil })
	others := t.Uniques != nil || t.MSU > 0 || t.MeanRisk > 0 || t.sampled()
	switch {
	case a.Suppress == SuppressCells && (t.K == 0 || t.Distinct > 0 || t.Entropy > 0 || others):
		c.Add(at+"suppress", "single cells are suppressed for k alone; say records, or leave other targets out")
	case a.Suppress == SuppressCells && a.Loss != "" && a.Loss != "cells" && a.Loss != "spread":
		c.Add(at+"loss", "where cells are suppressed the loss is of cells: cells or spread")
	case a.Fit == FitWildcard && capped:
		c.Add(at+"fit", "how many cells of a variable may be suppressed goes with class and own, not with wildcard; leave one of them out")
	case t.K == 0 && t.Distinct == 0 && t.Entropy == 0 || t.MSU > 0:
		c.Add(at+"suppress", "suppression makes single records safe, by k, distinct or entropy; leave it out for other targets")
	}
}
