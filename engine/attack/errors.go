package attack

import (
	"context"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Data divergence: the key that an intruder has of a person is the file's with probability agree; else the person is taken to be of another
// class. As many people are taken into a class as out of it, so that of F people F(1 - agree) come in on average, whose number is Poisson. Of
// the people with the key of a record those who were there are binomial.
//
// Source: Smith 2011, chapter 2 (data divergence).

// nodes of the Gauss-Legendre rule on [0, 1].
var nodeX, nodeW = func() (x, w []float64) {
	x, w = make([]float64, 20), make([]float64, 20)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// integral is that of a smooth function over [0, 1] which may rise steeply towards 1, the more so the larger size is.
func integral(size float64, of func(t float64) float64) float64 {
	sum, from := 0.0, 0.0
	for width := .5; ; width /= 4 {
		to := 1 - width
		if width*size < .25 {
			to = 1
		}
		for i, x := range nodeX {
			sum += (to - from) * nodeW[i] * of(from+(to-from)*x)
		}
		if to == 1 {
			return sum
		}
		from = to
	}
}

// diverged are, of a class of so many people: Pr(the person of a record has its key and is picked), E[1/F'] where there is somebody, plus the
// probability that there is nobody, and E[1/(1+F')]; F' people are taken to have the key.
func diverged(people, agree float64) (match, first, after float64) {
	if agree == 1 {
		return 1 / people, 1 / people, 1 / (1 + people)
	}
	others := func(n, t float64) float64 { // generating function of n of the class and those who come in
		return math.Pow(1-agree+agree*t, n) * math.Exp(-people*(1-agree)*(1-t))
	}
	match = agree * integral(people, func(t float64) float64 { return others(max(people-1, 0), t) })
	nobody := others(people, 0)
	first = nobody + integral(people, func(t float64) float64 { return (others(people, t) - nobody) / t })
	after = integral(people, func(t float64) float64 { return others(people, t) })
	return match, first, after
}

// AttackWithErrors is Attack where the key that the intruder has of a person is the file's with probability agree, above 0 and at most 1; at 1
// it is Attack. Where nobody has the key of a record all people are looked at.
func AttackWithErrors(classes []Class, d Direction, agree float64, consider func(i int) bool) Result {
	if agree == 1 {
		return Attack(classes, d, consider)
	}
	r := Attack(classes, d, consider)
	if d == PopulationToSample { // as many people are taken to be in the classes as are
		r.Correct *= agree
		r.EfficiencyWith, r.EfficiencyWithout = ratio(r.Correct, r.CostWith), ratio(r.Correct, r.CostWithout)
		return r
	}
	var n, records, match, first, after float64
	known := map[int64][3]float64{}
	for i, c := range classes {
		n += float64(c.Population)
		if c.Sample == 0 || consider != nil && !consider(i) {
			continue
		}
		v, ok := known[c.Population]
		if !ok {
			v[0], v[1], v[2] = diverged(float64(c.Population), agree)
			known[c.Population] = v
		}
		f := float64(c.Sample)
		records, match, first, after = records+f, match+f*v[0], first+f*v[1], after+f*v[2]
	}
	if records == 0 {
		return r
	}
	r.Correct, r.CostWith, r.CostWithout = match/records, n*first/records, (n+1)*after/records
	r.EfficiencyWith, r.EfficiencyWithout = ratio(r.Correct, r.CostWith), ratio(r.Correct, r.CostWithout)
	return r
}

// ResultWithErrors is Result under errors, as AttackWithErrors has it.
func (s Strategy) ResultWithErrors(classes []Class, agree float64) Result {
	return AttackWithErrors(classes, s.Direction, agree, func(i int) bool { return s.Qualifies(classes[i].Sample) })
}

// WithErrors is the estimate where the key that the intruder has of a person is the file's with probability agree, above 0 and at most 1; at 1
// it is the same. Figures of a class are taken at the number of people at which they are what is expected without errors.
func (e *Estimate) WithErrors(agree float64) *Estimate {
	if agree == 1 {
		return e
	}
	out := *e
	out.errors = 1 - agree
	out.Together = func(ctx context.Context, order, at []int) ([]Sum, error) { return e.Together(ctx, order, at) }
	out.Match, out.After, out.first = nil, nil, make([]float64, len(e.Match))
	for i := range e.Match {
		match, first, _ := diverged(1/e.Match[i], agree)
		_, _, after := diverged(1/e.After[i]-1, agree)
		out.Match, out.After, out.first[i] = append(out.Match, match), append(out.After, after), first
	}
	return &out
}
