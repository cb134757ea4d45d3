package attribution

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/attribution"
	"microrisk/engine/bayes/baseline"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	needs := 32 * int64(t.Classes())
	for _, at := range b.tables {
		with := tables[at]
		needs += 24 * int64(with.Classes())
	}
	if err := env.InMemory(t, fmt.Sprintf("what is learnt from %d classes", t.Classes()), needs, operators.FewerVariables); err != nil {
		return nil, err
	}
	operators.KeyNotes(env, t, b.Sampling)
	f := &fitted{bound: b, kept: t.Keep(b.drop)}
	s := &Summary{}
	s.MeasuredKey, s.MeasuredRecords = b.Counted.Kept(t, f.kept)
	f.summary = s
	if err := f.matches(ctx, t, env); err != nil {
		return nil, err
	}
	s.Values = f.values()
	s.Smoothing = f.smoothing()
	if s.Values == ValuesModel && b.weighed() {
		if err := mc3.EvenWeights(t, f.kept, b.Sampling.Weight, fromClass); err != nil {
			return nil, err
		}
	}
	for i, p := range f.match {
		if n := f.kept.Count(i); n > 0 && math.IsNaN(p) {
			s.Records, s.Dropped = s.Records-n, s.Dropped+n
		}
	}
	if s.Records == 0 {
		env.Warn("%s: no record was counted: the input has none, none was chosen, or all were dropped", b.Prefix)
	}
	frequency := f.kept.Counts()
	f.Columns = b.Columns(frequency)
	for i, at := range b.tables {
		if err := f.learn(ctx, t, tables[at], i, env); err != nil {
			return nil, err
		}
	}
	if err := f.divide(ctx, tables, env); err != nil {
		return nil, err
	}
	f.learnt = nil
	return f, t.Err()
}

// matches finds the chance of a correct match of each class of the key.
func (f *fitted) matches(ctx context.Context, t *contingency.Table, env operators.Env) error {
	b, s := f.bound, f.summary
	sample, err := operators.SampleOf(b.Sampling, t, b.drop)
	if err != nil {
		return err
	}
	if sample.Fraction > 0 {
		s.Fraction, s.PopulationSize = &sample.Fraction, &sample.Population
	}
	f.match = make([]float64, t.Classes())
	switch {
	case b.Config.Match != "":
		s.Match, s.MatchFrom = MatchColumn, b.Config.Match
		err = f.readMatches(t)
	case b.Sampling == nil || sample.Fraction == 1 && !b.weighed():
		s.Match = MatchPopulation
		if b.Sampling == nil {
			env.Warn("%s: nothing is said of the sampling, so the file is taken as the whole population: a match is right with 1/f, the most that it can be; give %s",
				b.Prefix, operators.Sampling)
		}
		for i := range f.match {
			f.match[i] = 1 / float64(t.Count(i))
		}
	default:
		s.Match = MatchIndividual
		err = f.estimate(ctx, t, sample.Fraction, env.Workers)
	}
	for i := range f.match {
		if !f.kept.Has(i) {
			f.match[i] = math.NaN()
		}
	}
	return err
}

// readMatches takes the chances from their column; records without one have a key without one.
func (f *fitted) readMatches(t *contingency.Table) error {
	for i := range f.match {
		p := t.Sum(i, f.bound.matchSum) / float64(t.Count(i))
		switch {
		case p < 0 || p > 1+sameMatch:
			return fmt.Errorf("the chance of a match %q is %g on average for a key: it must be above 0 and at most 1", f.bound.Config.Match, p)
		case p == 0:
			p = math.NaN()
		}
		f.match[i] = min(p, 1)
	}
	return t.Err()
}

// estimate takes the individual risk.
func (f *fitted) estimate(ctx context.Context, t *contingency.Table, fraction float64, workers int) error {
	counts, weights := make([]int64, t.Classes()), make([]float64, t.Classes())
	for i := range counts {
		if counts[i] = t.Count(i); f.bound.weighed() {
			weights[i] = t.Sum(i, 0)
		} else {
			weights[i] = float64(counts[i]) / fraction
		}
		if !(weights[i] > 0) {
			return fmt.Errorf("the weights of a key combination with %d records add up to %g: weights below 2^-32 count as 0", counts[i], weights[i])
		}
	}
	if err := t.Err(); err != nil || len(counts) == 0 {
		return err
	}
	r, err := baseline.BenedettiFranconiWeighted(ctx, counts, weights, workers)
	if err == nil {
		f.match = r.Match
	}
	return err
}

// A share has the records of a value, and the people whom they stand for.
type share struct {
	records int64
	people  float64
}

// without is the part of these, one record of a value left out, that of has; mean is the weight of the record.
func (all share) without(of share, mean float64) float64 {
	switch {
	case of.records <= 1:
		return 0
	case of.records == all.records:
		return 1
	}
	return min(1, (of.people-mean)/(all.people-mean))
}

// A reading is what comes of a sensitive variable by the classes of the table that it is in.
type reading struct {
	learnt, prior, gain []float64
	has                 []bool
}

// learn goes through the table of the key and a sensitive variable: each class of the key is a run of its classes.
func (f *fitted) learn(ctx context.Context, t, with *contingency.Table, i int, env operators.Env) error {
	last, sensitive := len(t.Variables), f.bound.Config.Sensitive[i]
	missing := with.Variables[last].Missing()
	out := SensitiveSummary{Name: sensitive.Name, Policy: schemas.MissingIgnore}
	if sensitive.Missing == schemas.MissingCategory {
		out.Policy = schemas.MissingCategory
	}
	model, models, err := f.model(ctx, with, out.Policy, env)
	if err != nil {
		return err
	}
	out.Models = models
	counts := func(code uint32) bool { return code != missing || out.Policy == schemas.MissingCategory }
	n := with.Classes()
	x := reading{learnt: make([]float64, n), prior: make([]float64, n), gain: make([]float64, n), has: make([]bool, n)}
	file, values := f.shares(t, with, counts)
	at := 0
	for class := range t.Classes() {
		if class%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from := at
		var key share
		for left := t.Count(class); left > 0 && at < n; at++ {
			left -= with.Count(at)
			if counts(with.Code(at, last)) {
				key = key.plus(f.share(with, at))
			}
		}
		if math.IsNaN(f.match[class]) {
			continue
		}
		for c := from; c < at; c++ {
			code, own := with.Code(c, last), f.share(with, c)
			if code == missing {
				out.Missing += own.records
			}
			if !counts(code) {
				continue
			}
			mean := own.people / float64(own.records)
			prior := file.without(values[code], mean)
			belief := attribution.Beliefs{Key: key.records - 1, Share: key.without(own, mean), Prior: prior, Smoothing: f.summary.Smoothing}
			if model != nil {
				belief.Prior = model[c]
			}
			x.learnt[c], x.prior[c], x.has[c] = attribution.Learnt(f.match[class], belief.Given()), prior, true
			x.gain[c] = x.learnt[c] - x.prior[c]
		}
	}
	f.tell(&out, with, &x)
	has := func(c int) bool { return x.has[c] }
	for _, values := range []arrow.Array{operators.Values(x.learnt, has), operators.Values(x.prior, has), operators.Values(x.gain, has)} {
		f.Columns = append(f.Columns, operators.ClassColumn{Values: values, Table: f.bound.tables[i]})
	}
	f.learnt = append(f.learnt, x)
	return with.Err()
}

// shares are those of the values among all records that are kept, and of all together.
func (f *fitted) shares(t, with *contingency.Table, counts func(code uint32) bool) (file share, values []share) {
	last := len(t.Variables)
	values = make([]share, int(with.Variables[last].Missing())+1)
	at := 0
	for class := range t.Classes() {
		for left := t.Count(class); left > 0 && at < with.Classes(); at++ {
			left -= with.Count(at)
			if code := with.Code(at, last); f.kept.Has(class) && counts(code) {
				values[code] = values[code].plus(f.share(with, at))
			}
		}
	}
	for _, v := range values {
		file = file.plus(v)
	}
	return file, values
}

func (all share) plus(more share) share {
	return share{all.records + more.records, all.people + more.people}
}

// share is that of a class.
func (f *fitted) share(with *contingency.Table, class int) share {
	n := with.Count(class)
	if f.bound.weighed() {
		return share{n, with.Sum(class, 0)}
	}
	return share{n, float64(n)}
}

// tell adds the figures of a sensitive variable to the summary.
func (f *fitted) tell(out *SensitiveSummary, with *contingency.Table, x *reading) {
	for _, above := range f.bound.Config.Thresholds {
		out.Thresholds = append(out.Thresholds, Threshold{Above: above})
	}
	records, prior, greatest := 0.0, 0.0, 0.0
	for c, p := range x.learnt {
		if !x.has[c] {
			continue
		}
		n := with.Count(c)
		records += float64(n)
		out.Expected += float64(n) * p
		prior += float64(n) * x.prior[c]
		greatest = max(greatest, p)
		for j, above := range f.bound.Config.Thresholds {
			if p > above {
				out.Thresholds[j].Records += n
			}
		}
	}
	if records > 0 {
		mean, gain := out.Expected/records, (out.Expected-prior)/records
		prior /= records
		out.Mean, out.Prior, out.Gain, out.Greatest = &mean, &prior, &gain, &greatest
	}
	f.summary.Sensitive = append(f.summary.Sensitive, *out)
}
