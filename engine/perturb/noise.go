package perturb

import (
	"fmt"
	"math"
	"sort"
)

// Noise is simple additive noise: 0 stays, another count gets -1, 0 or +1, equally likely. Nothing becomes negative; the variance is 2/3.
func Noise() Kernel {
	return matrix{"noise of -1, 0 or 1", [][]Outcome{{{0, 1}}, {{0, 1. / 3}, {1, 1. / 3}, {2, 1. / 3}}}}
}

// A Negative says what becomes of a count that noise would make negative.
type Negative string

// What becomes of negative counts.
const (
	Refuse   Negative = "refuse"   // there must be none: the noise is refused if there could be
	Truncate Negative = "truncate" // 0: small counts get larger on average
	Reflect  Negative = "reflect"  // its size: small counts get larger on average
)

// Limits of normal noise.
const (
	MaxSD    = 1 << 16
	MaxReach = 8
)

// A Normal is the noise of a normal law, rounded to whole numbers. Counts of 0 stay 0.
type Normal struct {
	SD           float64 // above 0 to MaxSD; of proportional noise the largest, that of large counts
	Proportional float64 // the standard deviation of a count x is this times x, as long as that is less than SD; 0: it is SD
	Reach        float64 // in standard deviations, 1 to MaxReach: the law is the one given that noise goes no further, 4, say
	Negative     Negative
}

// Kernel is the kernel of normal noise. The noise of a count goes so far as its standard deviation times the reach, rounded. Errors: figures
// out of range, noise that would make a count negative where it must not.
func (n Normal) Kernel() (Kernel, error) {
	switch {
	case !(n.SD > 0 && n.SD <= MaxSD):
		return nil, fmt.Errorf("the standard deviation of the noise is %v: it must be above 0 and at most %d", n.SD, MaxSD)
	case !(n.Proportional >= 0 && n.Proportional <= MaxSD):
		return nil, fmt.Errorf("the noise is proportional by %v: it must be at least 0 and at most %d, such as 0.05", n.Proportional, MaxSD)
	case !(n.Reach >= 1 && n.Reach <= MaxReach):
		return nil, fmt.Errorf("the noise reaches %v standard deviations: it must be from 1 to %d, such as 4", n.Reach, MaxReach)
	case n.Negative != Refuse && n.Negative != Truncate && n.Negative != Reflect:
		return nil, fmt.Errorf("what noise makes negative becomes %q: it is one of refuse, truncate, reflect", n.Negative)
	}
	k := normal{n}
	if n.Negative == Refuse {
		if i := k.negative(); i > 0 {
			return nil, fmt.Errorf("noise would make a count of %d as low as %d: take less, or truncate (such a count becomes 0) or reflect (its size)",
				i, i-k.reach(i))
		}
	}
	return k, nil
}

// normal is the law of counts with normal noise.
type normal struct{ Normal }

func (k normal) Name() string {
	text := fmt.Sprintf("normal noise with standard deviation %g", k.SD)
	if k.Proportional > 0 {
		text = fmt.Sprintf("normal noise with standard deviation %g of a count, at most %g", k.Proportional, k.SD)
	}
	text += fmt.Sprintf(", up to %g of them", k.Reach)
	if k.Negative != Refuse {
		text += fmt.Sprintf(", %s at 0", k.Negative)
	}
	return text
}

// sd is the standard deviation of the noise of a count above 0.
func (k normal) sd(i int64) float64 {
	if k.Proportional > 0 {
		return min(k.SD, k.Proportional*float64(i))
	}
	return k.SD
}

// reach is how far the noise of a count goes.
func (k normal) reach(i int64) int64 {
	if i == 0 {
		return 0
	}
	return int64(math.Floor(k.Reach*k.sd(i) + 0.5))
}

// negative is the least count that can become negative, 0 for none.
func (k normal) negative() int64 {
	goes := func(i int64) bool { return k.reach(i) > i }
	if goes(1) {
		return 1
	}
	// Of proportional noise: 0.5/(c-1) is where c i + 0.5 passes i + 1, before the largest deviation is reached or never.
	c := k.Reach * k.Proportional
	if k.Proportional == 0 || c <= 1 {
		return 0
	}
	for i := max(2, int64(0.5/(c-1))-2); k.Proportional*float64(i-1) < k.SD; i++ {
		if goes(i) {
			return i
		}
	}
	return 0
}

// upper is the chance that a standard normal number is above x.
func upper(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// Outcomes are by the noise, and what it makes negative is added where it goes.
func (k normal) Outcomes(i int64) []Outcome {
	r := k.reach(i)
	if r == 0 {
		return certain(i)
	}
	sd := k.sd(i)
	half := make([]float64, r+1) // by the size of the noise
	sum := 0.0
	for e := r; e > 0; e-- { // small ones first
		half[e] = upper((float64(e)-0.5)/sd) - upper((float64(e)+0.5)/sd)
		sum += 2 * half[e]
	}
	half[0] = math.Erf(0.5 / sd / math.Sqrt2)
	sum += half[0]
	low := max(0, i-r)
	list := make([]Outcome, i+r-low+1)
	for t := range list {
		list[t].Count = low + int64(t)
	}
	for e := -r; e <= r; e++ {
		at := i + e
		if at < 0 {
			if at = -at; k.Negative == Truncate {
				at = 0
			}
		}
		list[at-low].P += half[max(e, -e)] / sum
	}
	return list
}

// draw is Draw without the list of outcomes.
func (k normal) draw(i int64, u float64) int64 {
	r := k.reach(i)
	if r == 0 {
		return i
	}
	sd := k.sd(i)
	tail := upper((float64(r) + 0.5) / sd)
	below := func(e int64) float64 { // the chance of noise up to e
		switch {
		case e < -r:
			return 0
		case e >= r:
			return 1
		}
		return (upper(-(float64(e)+0.5)/sd) - tail) / (1 - 2*tail)
	}
	low := max(0, i-r)
	return low + int64(sort.Search(int(i+r-low), func(t int) bool {
		j := low + int64(t)
		p := below(j - i)
		if k.Negative == Reflect {
			p -= below(-j - 1 - i)
		}
		return u < p
	}))
}

func (k normal) Bounds(j int64) (low, high int64, ok bool) {
	if j < 0 {
		return 0, 0, false
	}
	far := int64(math.Floor(k.Reach*k.SD + 0.5)) // of large counts
	if j > 0 {
		low = 1 + int64(sort.Search(int(j-1), func(t int) bool { i := 1 + int64(t); return i+k.reach(i) >= j }))
	}
	within := func(i int64) bool { return i-k.reach(i) <= j }
	if k.Reach*k.Proportional <= 1 { // then the least that a count can become never falls as counts grow
		return low, j + int64(sort.Search(int(far), func(t int) bool { return !within(j + int64(t) + 1) })), true
	}
	for high = j + far; !within(high); {
		high--
	}
	return low, high, true
}

// Standard is a number of the standard normal law given that it is no further than reach from 0, by its inverse at u in [0, 1): 0 for 0.5.
func Standard(u, reach float64) float64 {
	tail := upper(reach)
	return min(reach, max(-reach, -math.Sqrt2*math.Erfcinv(2*(tail+u*(1-2*tail)))))
}
