package link

import (
	"context"
	"math"

	"microrisk/engine/linkage"
	"microrisk/operators/mc3"
)

// sum adds up what is expected of each pair of samples, and of all.
func (l *linking) sum(ctx context.Context, out *Outcome, classes map[string]*class, m *fittedModel) error {
	for i := range l.samples {
		for j := i + 1; j < len(l.samples); j++ {
			out.Links = append(out.Links, Linked{First: i, Second: j})
		}
	}
	var estimated, known []float64
	for i := range out.Classes {
		c := &out.Classes[i]
		for k := range out.Links {
			out.Links[k].add(c)
		}
		if c.Unique() {
			estimated, known = append(estimated, c.Correct), append(known, 1/float64(c.F))
		}
	}
	for i := range out.Links {
		link := &out.Links[i]
		if err := l.sure(ctx, link, m, link.unique, m.common); err != nil {
			return err
		}
		link.doubles(out, classes)
		out.Total.Pairs += link.Pairs
		out.Total.ExpectedPairs += link.ExpectedPairs
		out.Total.Unique += link.Unique
		out.Total.ExpectedUnique += link.ExpectedUnique
		out.Total.KnownUnique += link.KnownUnique
	}
	if l.population != nil {
		out.RankCorrelation = linkage.RankCorrelation(estimated, known)
	}
	if len(out.Links) == 1 {
		out.Total = out.Links[0]
		return nil
	}
	return l.sure(ctx, &out.Total, m, linkage.Uniques, func(*Linked) (sum float64) {
		for i := range out.Links {
			sum += m.common(&out.Links[i])
		}
		return sum
	})
}

// unique tells how many unique matches a class is of these samples: one or none.
func (link *Linked) unique(records []int64) int {
	if records[link.First] == 1 && records[link.Second] == 1 {
		return 1
	}
	return 0
}

// add adds a class.
func (link *Linked) add(c *LinkedClass) {
	pairs := float64(c.Records[link.First]) * float64(c.Records[link.Second])
	link.Pairs += pairs
	link.ExpectedPairs += pairs * c.Correct
	if link.unique(c.Records) == 0 {
		return
	}
	link.Unique++
	link.ExpectedUnique += c.Correct
	if c.F > 0 {
		link.KnownUnique += 1 / float64(c.F)
	}
}

// sure says how sure the number of right unique matches is; nothing where no effects of cells are known, without which models understate by
// far more than they know, or where tables tell what the model does not.
func (l *linking) sure(ctx context.Context, link *Linked, m *fittedModel, unique func(records []int64) int, common func(*Linked) float64) error {
	if m == nil || link.Unique == 0 || m.effects.Unknown != "" || l.Bounds == "tight" || len(l.Tables)+len(l.Exact)+len(l.Perturbed)+len(l.Sampled) > 0 {
		return nil
	}
	matches := make([]int, len(m.cells))
	for i := range m.cells {
		matches[i] = unique(m.cells[i].Records)
	}
	spread := linkage.SpreadOf(m.samples, m.effects, m.cells, matches)
	rates, err := m.rates.Variance(ctx, spread.Slopes)
	if err != nil {
		return err
	}
	// So many people are in two samples by their sizes alone: what the model expects otherwise is taken for doubt, on either side.
	doubt := (link.ExpectedPairs - common(link)) * link.ExpectedUnique / link.ExpectedPairs
	learnt := m.agreeSE * min(spread.Variance, link.ExpectedUnique) // the odds of each match are as agree, which moves p by p (1 - p)
	i := mc3.IntervalOf("", link.ExpectedUnique, math.Sqrt(spread.Variance+rates+doubt*doubt/3+learnt*learnt), float64(link.Unique))
	link.Interval = &Interval{Value: link.ExpectedUnique, SE: i.SE, Lower: i.Lower, Upper: i.Upper}
	return nil
}

// doubles counts the pairs within the samples.
func (link *Linked) doubles(out *Outcome, classes map[string]*class) {
	var p [2]float64
	for k, s := range []int{link.First, link.Second} {
		p[k] = float64(out.Samples[s].Records) / float64(out.People)
		if !(p[k] > 0 && p[k] < 1) {
			return
		}
	}
	first, second := 0, 0
	for _, c := range classes {
		switch a, b := c.records[link.First], c.records[link.Second]; {
		case c.dropped:
		case a == 2 && b == 0:
			first++
		case a == 0 && b == 2:
			second++
		}
	}
	if link.Unique == 0 {
		return
	}
	right, se := linkage.Doubles(link.Unique, first, second, p[0], p[1])
	most := float64(link.Unique)
	link.Doubles = &Interval{Value: right, SE: se, Lower: min(max(right-1.96*se, 0), most), Upper: min(max(right+1.96*se, 0), most)}
}
