package linkage

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Errors of values: in which variables the two records of a person differ is Bernoulli for each variable by itself (Fellegi & Sunter 1969). The
// pairs of a pattern are those of one person, of whom there are n_A n_B / N times the pattern's probability, and those of different people. Of
// the latter pairs within the samples tell, which are never one person; so variables need not be independent among them.
type Errors struct {
	Rates      []float64 // probability that the two values differ, by overlap variable
	SE         []float64 // standard errors, where rates were learnt; NaN where they are not known
	Alike      []float64 // chance that two different people who agree on all other variables agree on this one, too
	Patterns   []Weighed
	Iterations int
}

// A Weighed is a pattern with its chance.
type Weighed struct {
	Pattern
	Same  float64 // pairs expected to be one person
	Match float64 // chance that a pair is
}

// Agree is the probability that a person has the same key in both samples.
func (e *Errors) Agree() float64 {
	agree := 1.0
	for _, r := range e.Rates {
		agree *= 1 - r
	}
	return agree
}

// AgreeSE is the relative standard error of Agree, 0 where rates are given.
func (e *Errors) AgreeSE() float64 {
	sum := 0.0
	for v, se := range e.SE {
		if !math.IsNaN(se) {
			sum += se * se / (1 - e.Rates[v]) / (1 - e.Rates[v])
		}
	}
	return math.Sqrt(sum)
}

// FewestCommon is how many people must be expected in both samples for rates to be learnt.
const FewestCommon = 30

// How rates are learnt.
const (
	mostSteps  = 20_000
	scored     = 50 // after so many steps one of scoring
	smallStep  = 1e-8
	firstRate  = 0.05
	widestRate = 0.25 // of a standard error
)

// ErrNoConvergence says that the rates still move.
var ErrNoConvergence = errors.New("error rates still move after many steps: give them")

// An UnknownRateError says that the pairs do not tell the rate of a variable.
type UnknownRateError struct{ Variable int } // place in the overlap

func (e *UnknownRateError) Error() string {
	return fmt.Sprintf("the pairs do not tell the error rate of variable %d", e.Variable)
}

// Learn finds the rates by expectation and maximisation, unless they are given: rates has NaN for those to be learnt. common is n_A n_B / N, and
// between is how many pairs of different people there are between the samples for each one within them: 2 f g / (f^2 + g^2), with f and g the
// sampling fractions. Errors: too few people in both samples; rates that do not converge; an UnknownRateError.
func Learn(patterns []Pattern, rates []float64, common, between float64) (*Errors, error) {
	l := &learning{patterns: patterns, common: common, between: between, rates: slices.Clone(rates), others: make([]float64, len(patterns))}
	learnt := make([]bool, len(rates))
	for v, r := range rates {
		if math.IsNaN(r) {
			learnt[v], l.rates[v] = true, firstRate
		}
	}
	if slices.Contains(learnt, true) && common < FewestCommon {
		return nil, fmt.Errorf("about %.0f people are in both samples, and error rates are learnt from %d or more: give them", common, FewestCommon)
	}
	for i, p := range patterns {
		l.others[i] = max(p.Within*between, p.Pairs) / 2
	}
	out := &Errors{SE: make([]float64, len(rates))}
	moved := 1.0
	for ; moved > smallStep && out.Iterations < mostSteps; out.Iterations++ {
		if moved = l.step(learnt); out.Iterations%scored == scored-1 {
			moved = max(moved*smallStep, l.score(learnt)) // where few of the pairs are one person steps are short
		}
	}
	if err := l.errors(learnt, out.SE); err != nil {
		return nil, err
	}
	if moved > smallStep {
		return nil, ErrNoConvergence
	}
	out.Rates = l.rates
	out.Alike = make([]float64, len(rates))
	for i, p := range patterns {
		same := common * l.probability(p.Differ)
		w := Weighed{Pattern: p, Same: same}
		if all := same + l.others[i]; all > 0 {
			w.Match = same / all
		}
		if len(p.Differ) == 1 {
			out.Alike[p.Differ[0]] = l.others[0] / (l.others[0] + l.others[i])
		}
		out.Patterns = append(out.Patterns, w)
	}
	return out, nil
}

type learning struct {
	patterns        []Pattern // the one without a difference first
	common, between float64
	rates           []float64
	others          []float64 // pairs of different people between the samples, by pattern
}

// probability is that of a pattern of one person.
func (l *learning) probability(differ []int) float64 {
	p := 1.0
	for v, r := range l.rates {
		if slices.Contains(differ, v) {
			p *= r
		} else {
			p *= 1 - r
		}
	}
	return p
}

// step is one of expectation and maximisation; it gives by how much a rate moved at most.
func (l *learning) step(learnt []bool) (moved float64) {
	var all, seen float64 // people, and the probability of the patterns
	differ, seenDiffer := make([]float64, len(l.rates)), make([]float64, len(l.rates))
	for i, p := range l.patterns {
		m := l.probability(p.Differ)
		same := 0.0
		if total := l.common*m + l.others[i]; total > 0 {
			same = p.Pairs * l.common * m / total
		}
		all, seen = all+same, seen+m
		for _, v := range p.Differ {
			differ[v] += same
			seenDiffer[v] += m
		}
		l.others[i] = (p.Pairs - same + p.Within) / (1 + 1/l.between)
	}
	all += l.common * max(0, 1-seen) // those of patterns that differ in more
	for v, r := range l.rates {
		if !learnt[v] || all == 0 {
			continue
		}
		next := min((differ[v]+l.common*max(0, r-seenDiffer[v]))/all, 1-1e-9)
		moved = max(moved, math.Abs(next-r))
		l.rates[v] = next
	}
	return moved
}

// errors are the standard errors of learnt rates, by what the number of pairs of each pattern tells.
func (l *learning) errors(learnt []bool, se []float64) error {
	var at []int
	for v := range se {
		se[v] = math.NaN()
		if learnt[v] {
			at = append(at, v)
		}
	}
	if len(at) == 0 {
		return nil
	}
	information, _ := l.slopes(at)
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(information) || c.InverseTo(&inverse) != nil {
		return &UnknownRateError{at[0]}
	}
	for k, v := range at {
		if se[v] = math.Sqrt(inverse.At(k, k)); !(se[v] < widestRate) {
			return &UnknownRateError{v}
		}
	}
	return nil
}

// slopes are the information on some rates, and the slopes of the logarithm of the likelihood.
func (l *learning) slopes(at []int) (*mat.SymDense, []float64) {
	information, sum := mat.NewSymDense(len(at), nil), make([]float64, len(at))
	slope := make([]float64, len(at))
	for i, p := range l.patterns {
		m := l.probability(p.Differ)
		mean := l.common*m + l.others[i]
		if mean == 0 {
			continue
		}
		for k, v := range at {
			slope[k] = l.common * l.without(p.Differ, v)
			if !slices.Contains(p.Differ, v) {
				slope[k] = -slope[k]
			}
			sum[k] += slope[k] * (p.Pairs/mean - 1)
		}
		information.SymRankOne(information, 1/(mean+l.between*l.others[i]), mat.NewVecDense(len(at), slices.Clone(slope)))
	}
	return information, sum
}

// score is a step of Fisher's scoring, halved until the likelihood is no less; rates that would fall below 0 stay there. It gives by how much a
// rate moved at most, 1 where there is no such step.
func (l *learning) score(learnt []bool) float64 {
	before := l.likelihood()
	var all []int
	for v, is := range learnt {
		if is {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0
	}
	_, slope := l.slopes(all)
	var at []int
	for k, v := range all {
		if l.rates[v] > smallStep || slope[k] > 0 {
			at = append(at, v)
		} else {
			l.rates[v] = 0
		}
	}
	if len(at) == 0 {
		return 0
	}
	information, slope := l.slopes(at)
	var c mat.Cholesky
	var by mat.VecDense
	if !c.Factorize(information) || c.SolveVecTo(&by, mat.NewVecDense(len(at), slope)) != nil {
		return 1
	}
	from := slices.Clone(l.rates)
	for part := 1.0; part > 1e-6; part /= 2 {
		moved := 0.0
		for k, v := range at {
			l.rates[v] = min(max(from[v]+part*by.AtVec(k), 0), 1-1e-9)
			moved = max(moved, math.Abs(l.rates[v]-from[v]))
		}
		if l.likelihood() >= before-1e-9 {
			return moved
		}
	}
	copy(l.rates, from)
	l.likelihood()
	return 1
}

// likelihood is its logarithm, at the likeliest numbers of pairs of different people, which it takes.
func (l *learning) likelihood() float64 {
	sum := 0.0
	for i, p := range l.patterns {
		same := l.common * l.probability(p.Differ)
		a := 1 + 1/l.between
		b := same*a - p.Pairs - p.Within
		u := math.Sqrt(b*b + 4*a*p.Within*same)
		if b > 0 { // without loss of digits
			u = 2 * p.Within * same / (b + u)
		} else {
			u = (u - b) / (2 * a)
		}
		l.others[i] = u
		if p.Pairs > 0 {
			sum += p.Pairs * math.Log(same+u)
		}
		if p.Within > 0 {
			sum += p.Within * math.Log(u)
		}
		sum -= same + u*a
	}
	return sum
}

// without is the probability of a pattern but for one of its variables.
func (l *learning) without(differ []int, variable int) float64 {
	p := 1.0
	for v, r := range l.rates {
		switch {
		case v == variable:
		case slices.Contains(differ, v):
			p *= r
		default:
			p *= 1 - r
		}
	}
	return p
}
