package protect

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// absent is the code of a value that is not shown.
const absent = -1

// A crossing is the two-way table of records by two codes.
type crossing struct {
	n          map[[2]int32]int64
	rows, cols map[int32]int64
	records    int64
}

// cross counts records by two codes of each class, those that lack either left out.
func cross(a, b []int32, counts []int64) *crossing {
	x := &crossing{n: map[[2]int32]int64{}, rows: map[int32]int64{}, cols: map[int32]int64{}}
	for i, n := range counts {
		if a[i] != absent && b[i] != absent {
			x.n[[2]int32{a[i], b[i]}] += n
			x.rows[a[i]] += n
			x.cols[b[i]] += n
			x.records += n
		}
	}
	return x
}

// cramer is Cramer's V: 0 where the two are independent, 1 where one tells the other; nil where either has one category.
func (x *crossing) cramer() *float64 {
	least := min(len(x.rows), len(x.cols)) - 1
	if least < 1 {
		return nil
	}
	sum := 0.0
	for _, k := range sorted(x.n) {
		n := float64(x.n[k])
		sum += n * n / float64(x.rows[k[0]]) / float64(x.cols[k[1]])
	}
	v := math.Sqrt(max(0, sum-1) / float64(least))
	return &v
}

// variation is the total variation between shares: half the sum of their differences; nil where either has no record.
func variation[K [1]int32 | [2]int32](before, after map[K]int64) *float64 {
	a, b := 0.0, 0.0
	all := map[K]int64{}
	for k, n := range before {
		a += float64(n)
		all[k] = 0
	}
	for k, n := range after {
		b += float64(n)
		all[k] = 0
	}
	if a == 0 || b == 0 {
		return nil
	}
	sum := 0.0
	for _, k := range sorted(all) {
		sum += math.Abs(float64(before[k])/a - float64(after[k])/b)
	}
	sum /= 2
	return &sum
}

// codesOf are the codes of a variable of a table by class, by what each becomes.
func codesOf(t *contingency.Table, v int, becomes []int32) []int32 {
	codes := make([]uint32, t.Classes())
	t.Codes(v, 0, codes)
	out := make([]int32, len(codes))
	for i, c := range codes {
		out[i] = becomes[c]
	}
	return out
}

func countsOf(t *contingency.Table) []int64 {
	counts := make([]int64, t.Classes())
	for i := range counts {
		counts[i] = t.Count(i)
	}
	return counts
}

// oneWay are the records by code.
func oneWay(codes []int32, counts []int64) map[[1]int32]int64 {
	out := map[[1]int32]int64{}
	for i, c := range codes {
		if c != absent {
			out[[1]int32{c}] += counts[i]
		}
	}
	return out
}

// pass counts tables of the rows of a spec; look sees them, also where they are on disk.
func (p *protecting) pass(
	ctx context.Context,
	role string,
	spec *schemas.Spec,
	requests []contingency.Request,
	look func([]*contingency.Table) error,
) error {
	options := p.options
	if progress := options.Progress; progress != nil {
		options.Progress = func(stage string, done, total int64) { progress(stage+" the "+role, done, total) }
	}
	j, err := session.OpenToLook(ctx, spec, options)
	if err != nil {
		return session.InRole(role, err)
	}
	defer j.Source.Close()
	count := &session.Counting{
		Requests: func(*arrow.Schema) ([]contingency.Request, error) { return requests, nil },
		Look:     func(_ context.Context, tables []*contingency.Table, _ *operators.Report) error { return look(tables) },
	}
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), count)...); err != nil {
		return session.InRole(role, err)
	}
	if _, err = j.Count(ctx, count, nil); err != nil {
		return session.InRole(role, err)
	}
	return nil
}

// sorted are the keys of a map in order, so that sums are the same each time.
func sorted[K [1]int32 | [2]int32](m map[K]int64) []K {
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b K) int {
		for i := range len(a) {
			if c := cmp.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return keys
}
