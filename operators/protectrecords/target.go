package protectrecords

import (
	"fmt"
	"strconv"
	"strings"

	"microrisk/schemas"
)

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
	share := (&schemas.Range{Most: 1, Above: true}).Saying("it must be above 0 and at most 1 (uniques: 0 asks that there be no sample uniques)")
	return schemas.Table{What: "safe", Doc: "When the release is safe: all that is said must hold.", Rules: `"minProperties": 1`, Fields: []schemas.Field{
		{Name: "k", To: &t.K, Range: schemas.AtLeast(2), Doc: "At least so many records share each key (k-anonymity)."},
		{Name: "uniques", To: &t.Uniques, Range: schemas.AtLeast(0), Doc: "At most so many sample uniques."},
		{Name: "msu", To: &t.MSU, Range: schemas.AtLeast(1), Doc: "No record has a minimal sample unique of up to so many variables."},
		{Name: "mean_risk", To: &t.MeanRisk, Range: share, Doc: "Mean of 1/f over records at most."},
		{
			Name:  "dis",
			To:    &t.DIS,
			Range: share,
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
			Range: share,
			Doc:   "Greatest chance of a correct match of any record, E[1/F]; needs the sampling.",
		},
		{Name: "pu_su", To: &t.PUSU, Range: share, Doc: "Share at most of the sample uniques that are population unique; needs the sampling."},
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
	said := *f
	said.Flag = &schemas.Flag{}
	if err := said.Say([]string{value}); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

// Modelled tells whether a target needs a model of the population.
func (t *Target) Modelled() bool { return t.Expected != "" || t.CorrectMatch > 0 || t.PUSU > 0 }

// sampled tells whether a target needs the size of the population.
func (t *Target) sampled() bool { return t.Modelled() || t.DIS > 0 }

// ExpectedAt is the target of expected re-identifications: a number, or a share of what is expected now.
func (t *Target) ExpectedAt() (number, share float64, err error) {
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
