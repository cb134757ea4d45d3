package risk

import (
	"context"
	"math"
	"slices"

	"microrisk/engine/bayes"
)

// Given is the chance that a person who has what a cell of the sample has of all variables but the last has its value of the last, too: E[pi]
// of the cell over the sum of E[pi] of all cells that differ from it in that alone, both averaged over the models, as if none of the records
// of these cells were there. The law is one that was fitted to the sample, whose cells that differ in the last variable alone stand together,
// as they do in a table; the graphs are those of all records.
func (l *Law) Given(ctx context.Context, d *bayes.Data, o Options) ([]float64, error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	q := newAsked(newPlan(l, false, &o))
	runs := runsOfLast(d)
	given := make([]float64, d.Cells())
	const together = 64 // runs
	last := func(i int) int { return min((i+1)*together, len(runs)-1) }
	err := parallel(ctx, &o, (len(runs)-1+together-1)/together,
		func(i int) int64 { return int64(runs[last(i)] - runs[i*together]) },
		func() *askedRun { return newAskedRun(q) },
		func(r *askedRun, i int) {
			for k := i * together; k < last(i); k++ {
				r.tell(d, runs[k], runs[k+1], given)
			}
		})
	return given, err
}

// runsOfLast are the starts of the runs of cells that differ in the last variable alone, and the end.
func runsOfLast(d *bayes.Data) []int {
	var runs []int
	others := d.Codes[:len(d.Codes)-1]
	for i := range d.Cells() {
		if i == 0 || slices.ContainsFunc(others, func(codes []uint32) bool { return codes[i] != codes[i-1] }) {
			runs = append(runs, i)
		}
	}
	return append(runs, d.Cells())
}

// An asked is a plan that is asked for the last variable. Models whose cliques with it are the same say the same of its value given the
// others, and differ in how likely they find the others.
type asked struct {
	plan   *plan
	last   int
	levels int
	others []int   // edges whose clique lacks the variable, ascending
	groups [][]int // of models: the edges whose clique has it, ascending
	group  []int   // by model
	rest   [][]int // by model: its other edges
}

func newAsked(p *plan) *asked {
	q := &asked{plan: p, last: len(p.law.Levels) - 1}
	q.levels = p.law.Levels[q.last]
	for _, tree := range p.trees {
		var own, rest []int
		for _, i := range tree {
			if q.has(p.edges[i].clique) {
				own = append(own, i)
			} else {
				rest = append(rest, i)
			}
		}
		slices.Sort(own)
		at := slices.IndexFunc(q.groups, func(g []int) bool { return slices.Equal(g, own) })
		if at < 0 {
			at = len(q.groups)
			q.groups = append(q.groups, own)
		}
		q.group, q.rest, q.others = append(q.group, at), append(q.rest, rest), append(q.others, rest...)
	}
	slices.Sort(q.others)
	q.others = slices.Compact(q.others)
	return q
}

// has tells whether a margin has the variable.
func (q *asked) has(margin int) bool { return q.plan.terms[margin].variables.Has(q.last) }

// An askedRun works on one run of cells at a time.
type askedRun struct {
	*asked
	columns [][]uint32 // of the cells of all values
	keys    []uint64
	numbers [][]int32 // by margin: one where it lacks the variable
	records []float64 // of the run, by value
	all     float64   // of the run
	logs    []float64 // by edge, of the others
	models  []float64 // logarithms of their weights
	weights []float64 // by group
	sums    []float64 // by value: E[pi], but for a factor
}

func newAskedRun(q *asked) *askedRun {
	r := &askedRun{asked: q, keys: make([]uint64, q.levels), records: make([]float64, q.levels), logs: make([]float64, len(q.plan.edges)),
		models: make([]float64, len(q.plan.trees)), weights: make([]float64, len(q.groups)), sums: make([]float64, q.levels)}
	for range q.plan.law.Levels {
		r.columns = append(r.columns, make([]uint32, q.levels))
	}
	for s := range r.columns[q.last] {
		r.columns[q.last][s] = uint32(s)
	}
	for range q.plan.terms {
		r.numbers = append(r.numbers, make([]int32, q.levels))
	}
	return r
}

// a is lambda and the count of a margin at a value, without the records of the run. Lambda may be too small to be seen beside a count.
func (r *askedRun) a(margin, s int) float64 {
	t := r.plan.terms[margin]
	if r.has(margin) {
		return t.n[r.numbers[margin][s]] - r.records[s] + t.lambda
	}
	return t.n[r.numbers[margin][0]] - r.all + t.lambda
}

// ratio is the conditional probability of an edge.
func (r *askedRun) ratio(edge, s int) float64 {
	e := r.plan.edges[edge]
	return r.a(e.clique, s) / r.a(e.separator, s)
}

// weigh finds the weights of the groups: those of their models, and how likely they find the other variables.
func (r *askedRun) weigh() {
	for _, i := range r.others {
		r.logs[i] = math.Log(r.ratio(i, 0))
	}
	top := math.Inf(-1)
	for k, m := range r.plan.law.Models {
		r.models[k] = math.Log(m.Weight)
		for _, i := range r.rest[k] {
			r.models[k] += r.logs[i]
		}
		top = max(top, r.models[k])
	}
	clear(r.weights)
	for k, log := range r.models {
		r.weights[r.group[k]] += math.Exp(log - top)
	}
}

// tell fills in the chances of the cells lo..hi-1, which are a run.
func (r *askedRun) tell(d *bayes.Data, lo, hi int, given []float64) {
	for v, codes := range d.Codes[:r.last] {
		for s := range r.columns[v] {
			r.columns[v][s] = codes[lo]
		}
	}
	for i, t := range r.plan.terms {
		n := 1
		if r.has(i) {
			n = r.levels
		}
		t.look(r.columns, 0, n, r.keys, r.numbers[i])
	}
	clear(r.records)
	r.all = 0
	for i := lo; i < hi; i++ {
		r.records[d.Codes[r.last][i]] += float64(d.Counts[i])
		r.all += float64(d.Counts[i])
	}
	r.weigh()
	clear(r.sums)
	for g, group := range r.groups {
		for s := range r.sums {
			product := r.weights[g]
			for _, i := range group {
				product *= r.ratio(i, s)
			}
			r.sums[s] += product
		}
	}
	total := 0.0
	for _, p := range r.sums {
		total += p
	}
	for i := lo; i < hi; i++ {
		given[i] = r.sums[d.Codes[r.last][i]] / total
	}
}
