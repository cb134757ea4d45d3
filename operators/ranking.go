package operators

import (
	"cmp"
	"slices"

	"microrisk/engine/contingency"
)

// A Ranking has the records with the highest scores of an operator.
type Ranking struct {
	Operator string     // the prefix of its columns
	Column   string     // the one with the scores
	Key      []string   // key variables
	Rows     []RiskyRow // at most five, or Options.Riskiest, by score, then place
	Spread   Spread     // of all records; nil unless it was asked for
}

// A RiskyRow is one of the records with the highest scores.
type RiskyRow struct {
	Input     int   // index of the input
	Row       int64 // in that input, from 0
	Score     float64
	Frequency int64
	Values    []*string // of the key variables; nil for missing
	ID        *string   // of Options.Identify; nil for none

	class int64
	at    int // in the batch that is being taken, -1 for one before
}

// riskiest is how many records a report names unless told.
const riskiest = 5

// describe names the key values of the riskiest records.
func (r *run) describe(ranking *Ranking, t *contingency.Table) error {
	for _, v := range t.Variables {
		ranking.Key = append(ranking.Key, v.Name)
	}
	for i := range ranking.Rows {
		row := &ranking.Rows[i]
		for v, variable := range t.Variables {
			var value *string
			if c := int(t.Code(int(row.class), v)); c < len(variable.Categories) {
				value = &variable.Categories[c]
			}
			row.Values = append(row.Values, value)
		}
	}
	return t.Err()
}

// leading are the riskiest records of a list.
func leading(rows []RiskyRow, most int) []RiskyRow {
	slices.SortFunc(rows, func(a, b RiskyRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Row, b.Row))
	})
	return rows[:min(len(rows), most)]
}

// rank keeps the riskiest records of the worker's batches, by the operator of step i.
func (w *worker) rank(i int, f Ranked, class []int64) {
	top, most, spread := w.top[i], cmp.Or(w.run.o.Riskiest, riskiest), w.spread[i]
	if w.run.o.Spread && spread == nil {
		spread = newSpread()
		w.spread[i] = spread
	}
	for r, c := range class {
		if c < 0 || w.keep != nil && !w.keep.Get(r) {
			continue
		}
		score, frequency := f.Rank(c)
		spread.add(score)
		if !(score > 0) || len(top) >= most && score < top[most-1].Score {
			continue
		}
		top = append(top, RiskyRow{Input: w.part.Input(), Row: w.row(r), Score: score, Frequency: frequency, class: c, at: r})
		if len(top) >= 64+2*most || len(top) <= most {
			top = leading(top, most)
		}
	}
	top = leading(top, most)
	for k := range top {
		row := &top[k]
		if row.at >= 0 && w.scan.id >= 0 {
			if ids := w.batch.Column(w.scan.id); !ids.IsNull(row.at) {
				id := Text(ids, row.at)
				row.ID = &id
			}
		}
		row.at = -1
	}
	w.top[i] = top
}
