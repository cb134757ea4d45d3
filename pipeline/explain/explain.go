// Package explain tells why one record is at risk: its minimal sample uniques with their values, and who nearly matches it.
package explain

import (
	"context"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators/suda"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An Explanation tells why a record is at risk.
type Explanation struct {
	Inputs    []string // that were counted together
	Input     string   // that has the record
	Row       int64    // in it
	Records   int64    // counted
	Variables []string
	Values    []*string // of the record, by variable; nil for missing
	From      []Source  // what recoded variables were made from, in the file
	Counted   bool      // false: not chosen, or dropped for a missing value; then the fields below say nothing
	Frequency int64     // records with the same key
	MSUs      [][]int   // minimal sample uniques: positions of variables, by size, then key order
	MaxSize   int       // largest size listed
	ScoreName string    // the definition of Score, one of schemas.Scores
	Score     float64   // SUDA score, of the minimal sample uniques listed
	IS        float64   // intermediate SUDA metric, of the same
	Risks     []Risk    // what else was measured, where the sampling is known
	Distance  int       // variables in which the nearest other records differ
	Near      []NearClass
	NearMore  int   // nearest classes that are not in Near
	NearCount int64 // records in all nearest classes
}

// A Source is the value of the file that a recoded variable was made from.
type Source struct {
	Variable int // position
	Column   string
	Value    *string
}

// A Risk is a figure of the record by a measure other than its score.
type Risk struct {
	Column      string // that has it, by the measure's usual prefix
	Label, Note string // what it is called and what it means, in a few words
	Value       *float64
}

// A NearClass is a class of records that nearly match.
type NearClass struct {
	Differs []int     // positions of the variables that differ
	Values  []*string // their values there
	Count   int64     // records
	Rows    []RowAt   // the first of them

	class int
}

// A RowAt is a row of an input.
type RowAt struct {
	Input string
	Row   int64
}

// nearest is how many of the nearest classes an explanation lists.
const nearest = 10

// nearRows is how many rows of each it lists.
const nearRows = 3

// A Which is the record to be explained.
type Which struct {
	Row   int64  // in its input, from 0
	Input string // one of the spec's inputs; "" if there is only one
}

// Run finds the minimal sample uniques of one record among all that the spec's source has, and the records that differ from it in the
// fewest variables. Of suda the size limit and the score's definition matter. If the sampling is known, DIS-IS and what the spec's other
// measures with scores say of the record, as mc3 does, come too; that takes as long as measuring all records does.
func Run(ctx context.Context, spec *schemas.Spec, which Which, scored suda.Config, options session.Options) (*Explanation, error) {
	if progress := options.Progress; progress != nil {
		options.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the record
				stage = "finding the record"
			}
			progress(stage, done, total)
		}
	}
	x := &explaining{spec: spec, suda: scored, which: which}
	var err error
	measured := x.prepared()
	measured.Operators = append(measured.Operators, schemas.Operator{Config: &scored})
	if err := measured.ValidateRows(); err != nil {
		return nil, err
	}
	if x.job, err = session.OpenToLook(ctx, x.prepared(), options); err != nil {
		return nil, err
	}
	defer x.job.Source.Close()
	if err := x.find(ctx); err != nil {
		return nil, err
	}
	return x.e, x.nearby(ctx)
}

// compare compares the record's class with all others.
func (e *Explanation) compare(ctx context.Context, t *contingency.Table, class int, policies []uniques.Policy) error {
	for v := range t.Variables {
		e.Values = append(e.Values, session.Category(t.Variables[v], t.Code(class, v)))
	}
	r, err := uniques.Explain(ctx, t, class, uniques.RecordOptions{Policies: policies, MaxSize: e.MaxSize, Score: suda.ScoreOf(e.ScoreName), Nearest: nearest})
	if err != nil {
		return err
	}
	e.Counted, e.Frequency, e.MSUs, e.Score, e.IS = r.Counted, r.Frequency, r.MSUs, r.Score, r.IS
	e.Distance, e.NearMore, e.NearCount = r.Distance, r.NearMore, r.NearCount
	for _, n := range r.Near {
		near := NearClass{Differs: n.Differs, Count: n.Count, class: n.Class}
		for _, v := range n.Differs {
			near.Values = append(near.Values, session.Category(t.Variables[v], t.Code(n.Class, v)))
		}
		e.Near = append(e.Near, near)
	}
	return nil
}
