package risk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// NewLaw fits a law. Models must have decomposable graphs on the data's variables and weights that sum to 1; the prior precision
// alpha (total weight of the symmetric Dirichlet prior over all cells) must be above 0 and finite. The counts of every clique and
// separator are summed once, however many models share them, by some goroutines (0: GOMAXPROCS), until the context ends.
func NewLaw(ctx context.Context, d *bayes.Data, precision float64, models []bayes.Model, workers int) (*Law, error) {
	l := &Law{Levels: slices.Clone(d.Levels), Records: d.Records, Precision: precision, Models: slices.Clone(models)}
	if err := l.checkModels(); err != nil {
		return nil, err
	}
	if err := l.checkData(d); err != nil {
		return nil, err
	}
	total := int64(0)
	for _, f := range d.Counts {
		total += f
	}
	if total != d.Records {
		return nil, fmt.Errorf("the counts of the cells sum to %d, want the %d records", total, d.Records)
	}
	sets := l.sets()
	l.Margins = make([]Margin, len(sets))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit((&Options{Workers: workers}).workers())
	for i, c := range sets {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			l.Margins[i] = newMargin(c, l.Levels, d.Codes, d.Counts)
			return nil
		})
	}
	return l, g.Wait()
}

// sets are the cliques and the separators that are not empty, of all models, ascending.
func (l *Law) sets() []graph.Set {
	var sets []graph.Set
	for _, m := range l.Models {
		t := m.Graph.JunctionTree()
		sets = append(append(sets, t.Cliques...), t.Separators...)
	}
	slices.Sort(sets)
	sets = slices.Compact(sets)
	if len(sets) > 0 && sets[0] == 0 {
		sets = sets[1:]
	}
	return sets
}

// Check tells what is wrong with a law that was read from a file: sizes, orders, counts that do not add up.
func (l *Law) Check() error {
	if l.Records < 0 {
		return fmt.Errorf("the law has %d records, want 0 or more", l.Records)
	}
	if err := l.checkModels(); err != nil {
		return err
	}
	sets := l.sets()
	if len(sets) != len(l.Margins) {
		return fmt.Errorf("the law has %d margins, its models have %d different cliques and separators", len(l.Margins), len(sets))
	}
	for i := range l.Margins {
		m := &l.Margins[i]
		if m.Variables != sets[i] {
			return fmt.Errorf("margin %d has the variables %v, want %v: the cliques and separators of the models, in order",
				i, slices.Collect(m.Variables.Vertices()), slices.Collect(sets[i].Vertices()))
		}
		if err := m.check(l.Levels, l.Records); err != nil {
			return fmt.Errorf("margin %d of the law: %w", i, err)
		}
	}
	return l.checkAgreement()
}

// checkAgreement finds a margin whose counts do not add up to those of a smaller one within it.
func (l *Law) checkAgreement() error {
	for i := range l.Margins {
		small := &l.Margins[i]
		for j := range l.Margins {
			large := &l.Margins[j]
			if i == j || !large.Variables.Contains(small.Variables) {
				continue
			}
			sums := map[string]int64{}
			for cell, n := range large.Counts {
				sums[large.key(small.Variables, cell)] += n
			}
			for cell, n := range small.Counts {
				if sums[small.key(small.Variables, cell)] != n {
					return fmt.Errorf("margins %d and %d of the law do not agree: the counts of one do not add up to those of the other", j, i)
				}
			}
		}
	}
	return nil
}

// key has the codes of a cell on some of the margin's variables.
func (m *Margin) key(c graph.Set, cell int) string {
	var b []byte
	j := 0
	for v := range m.Variables.Vertices() {
		if c.Has(v) {
			b = binary.LittleEndian.AppendUint32(b, m.Codes[j][cell])
		}
		j++
	}
	return string(b)
}

// checkModels checks all but the margins.
func (l *Law) checkModels() error {
	k := len(l.Levels)
	if k < 1 || k > graph.MaxVertices {
		return fmt.Errorf("a law has 1 to %d variables, not %d", graph.MaxVertices, k)
	}
	for v, r := range l.Levels {
		if r < 1 || int64(r) > math.MaxUint32 {
			return fmt.Errorf("variable %d has %d levels, want 1 to 2^32 - 1", v, r)
		}
	}
	if !(l.Precision > 0) || math.IsInf(l.Precision, 1) {
		return fmt.Errorf("the prior precision is %v, want a number above 0", l.Precision)
	}
	if len(l.Models) == 0 {
		return errors.New("a law needs at least one model")
	}
	sum := 0.0
	for i, m := range l.Models {
		if m.Graph == nil || m.Graph.Len() != k {
			return fmt.Errorf("the graph of model %d is not on the %d variables", i, k)
		}
		if !m.Graph.Decomposable() {
			return fmt.Errorf("the graph of model %d is not decomposable: a cycle of four or more variables has no chord", i)
		}
		if !(m.Weight >= 0) {
			return fmt.Errorf("model %d has the weight %v, want 0 to 1", i, m.Weight)
		}
		sum += m.Weight
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the weights of the models sum to %v, want 1", sum)
	}
	return nil
}

// checkData tells whether a sample has the levels of the law and sound codes and counts.
func (l *Law) checkData(d *bayes.Data) error {
	if !slices.Equal(d.Levels, l.Levels) {
		return fmt.Errorf("the sample has the levels %v, the law %v", d.Levels, l.Levels)
	}
	if len(d.Codes) != len(d.Levels) {
		return fmt.Errorf("the sample has %d columns of codes for %d variables", len(d.Codes), len(d.Levels))
	}
	if len(d.Counts) > math.MaxInt32 {
		return fmt.Errorf("the sample has %d cells, want at most 2^31 - 1", len(d.Counts))
	}
	for v, codes := range d.Codes {
		if len(codes) != len(d.Counts) {
			return fmt.Errorf("the sample has %d codes of variable %d for %d cells", len(codes), v, len(d.Counts))
		}
		if len(codes) > 0 && int64(slices.Max(codes)) >= int64(d.Levels[v]) {
			return fmt.Errorf("the sample has code %d of variable %d, want less than its %d levels", slices.Max(codes), v, d.Levels[v])
		}
	}
	if len(d.Counts) > 0 && slices.Min(d.Counts) < 1 {
		return errors.New("a cell of the sample has a count below 1")
	}
	return nil
}
