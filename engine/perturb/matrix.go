package perturb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// matrix has a law for each true count; the last one holds for all larger counts, by its differences from the true count.
type matrix struct {
	name string
	rows [][]Outcome
}

// maxOutcome is the largest published count of a row: so far, differences from true counts stay far from overflow.
const maxOutcome = 1 << 53

// Matrix is the kernel of a table of transition probabilities, as cell-key methods use: rows[i] lists what a true count i can be
// published as. The last row holds, by its differences from the true count, for all larger counts as well. Each row must have
// counts of at least 0, none twice, with probabilities that sum to 1 to within 1e-9.
func Matrix(name string, rows [][]Outcome) (Kernel, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows: there is one for each true count, from 0", name)
	}
	k := matrix{name: name}
	for i, row := range rows {
		list := slices.DeleteFunc(slices.Clone(row), func(o Outcome) bool { return o.P == 0 })
		slices.SortFunc(list, func(a, b Outcome) int { return cmp.Compare(a.Count, b.Count) })
		sum := 0.0
		for t, o := range list {
			switch {
			case !(o.P > 0 && o.P <= 1):
				return nil, fmt.Errorf("%s: the probability that %d is published as %d is %v: it must be from 0 to 1", name, i, o.Count, o.P)
			case o.Count < 0 || o.Count > maxOutcome:
				return nil, fmt.Errorf("%s: a count of %d would be published as %d: it must be from 0 to %d", name, i, o.Count, int64(maxOutcome))
			case t > 0 && list[t-1].Count == o.Count:
				return nil, fmt.Errorf("%s: the row of %d has %d twice", name, i, o.Count)
			}
			sum += o.P
		}
		if math.Abs(sum-1) > 1e-9 {
			return nil, fmt.Errorf("%s: the probabilities of the row of %d sum to %v: they must sum to 1", name, i, sum)
		}
		k.rows = append(k.rows, list)
	}
	return k, nil
}

func (k matrix) Name() string { return k.name }

func (k matrix) Outcomes(i int64) []Outcome {
	last := int64(len(k.rows) - 1)
	if i <= last {
		return k.rows[i]
	}
	list := slices.Clone(k.rows[last])
	for t := range list {
		list[t].Count += i - last
	}
	return list
}

func (k matrix) Bounds(j int64) (low, high int64, ok bool) {
	low, high = math.MaxInt64, -1
	last := int64(len(k.rows) - 1)
	for i, row := range k.rows {
		if slices.ContainsFunc(row, func(o Outcome) bool { return o.Count == j }) {
			low, high = min(low, int64(i)), max(high, int64(i))
		}
	}
	for _, o := range k.rows[last] {
		if i := j - (o.Count - last); i > last {
			low, high = min(low, i), max(high, i)
		}
	}
	return low, high, high >= 0
}
