// Package perturb has the ways in which offices perturb counts before they publish them, as Markov kernels P(published | true):
// rounding, random rounding, noise, Barnardisation, small-count schemes, and any matrix of transition probabilities. Each tells the law
// of the published count and the bounds on the true count that a published one gives away; and draws published counts that depend on
// nothing but a secret key and a cell's identity, or the people in it.
//
//	k, err := perturb.Random(3)
//	low, high, ok := k.Bounds(6)  // 4, 8, true
//	n := perturb.Draw(k, 7, perturb.Uniform(key, []byte("area 12, F, 20-24")))
//
// Sources: Smith 2011, chapter 2; Smith & Elliot 2008; Miller 2005, Statistical disclosure control: applications in healthcare (noise,
// Barnardisation, rules of offices); Thompson, Broadfoot & Elazar 2013 (cell keys).
package perturb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A Kernel is the law of a published count given the true one. Counts are at least 0. Kernels are immutable.
type Kernel interface {
	// Outcomes are the counts that a true count i can be published as, ascending, with probabilities above 0 that sum to 1.
	Outcomes(i int64) []Outcome
	// Bounds are the least and the largest true count that can be published as j; ok is false if none can.
	Bounds(j int64) (low, high int64, ok bool)
	// Name says the scheme with its parameters, in a few words.
	Name() string
}

// An Outcome is a published count and its probability.
type Outcome struct {
	Count int64
	P     float64
}

// Probability is P(j | i).
func Probability(k Kernel, j, i int64) float64 {
	for _, o := range k.Outcomes(i) {
		if o.Count == j {
			return o.P
		}
	}
	return 0
}

// Draw is the published count of a true count i for a number u in [0, 1): the inverse of the distribution function.
func Draw(k Kernel, i int64, u float64) int64 {
	if n, is := k.(normal); is {
		return n.draw(i, u)
	}
	list := k.Outcomes(i)
	for _, o := range list[:len(list)-1] {
		if u < o.P {
			return o.Count
		}
		u -= o.P
	}
	return list[len(list)-1].Count
}

// A Key is the secret by which cells are perturbed. Whoever has it can undo the noise.
type Key [32]byte

// KeyOf makes a key of a secret of any length.
func KeyOf(secret []byte) Key { return sha256.Sum256(secret) }

// Uniform is a number in [0, 1) that depends on the key and on the cell's identity alone, so that the same cell is perturbed alike
// wherever and whenever it is computed.
func Uniform(key Key, identity []byte) float64 {
	h := hmac.New(sha256.New, key[:])
	h.Write(identity)
	var sum [sha256.Size]byte
	return float64(binary.LittleEndian.Uint64(h.Sum(sum[:0]))>>11) / (1 << 53)
}

// none publishes true counts.
type none struct{}

// None publishes counts as they are.
func None() Kernel { return none{} }

func (none) Outcomes(i int64) []Outcome                { return []Outcome{{i, 1}} }
func (none) Bounds(j int64) (low, high int64, ok bool) { return j, j, j >= 0 }
func (none) Name() string                              { return "exact" }

// MaxBase is the largest base of rounding.
const MaxBase = 1 << 20

func checkBase(base int64) error {
	if base < 2 || base > MaxBase {
		return fmt.Errorf("the base is %d: it must be from 2 to %d, such as 3 or 5", base, int64(MaxBase))
	}
	return nil
}

func checkProbability(what string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s is %v: it must be a probability, from 0 to 1", what, p)
	}
	return nil
}

// certain is a law of one outcome, two is one of two; outcomes without probability are left out.
func certain(j int64) []Outcome { return []Outcome{{j, 1}} }

func two(low, high int64, up float64) []Outcome {
	switch {
	case up <= 0 || low == high:
		return certain(low)
	case up >= 1:
		return certain(high)
	}
	return []Outcome{{low, 1 - up}, {high, up}}
}

// A Tie says what conventional rounding does with a count in the middle of two multiples of an even base.
type Tie string

// Ties.
const (
	TieUp   Tie = "up"
	TieDown Tie = "down"
	TieEven Tie = "even" // to the even multiple
)

type conventional struct {
	base int64
	tie  Tie
}

// Conventional publishes the nearest multiple of base, 2 to MaxBase. An even base needs a tie rule, an odd one must have none.
func Conventional(base int64, tie Tie) (Kernel, error) {
	if err := checkBase(base); err != nil {
		return nil, err
	}
	switch {
	case base%2 == 1 && tie != "":
		return nil, fmt.Errorf("the base %d is odd: no count is in the middle of two of its multiples, leave the tie rule out", base)
	case base%2 == 0 && tie == "":
		return nil, fmt.Errorf("the base %d is even: say what a count in the middle of two multiples becomes, up, down or even", base)
	case tie != "" && tie != TieUp && tie != TieDown && tie != TieEven:
		return nil, fmt.Errorf("the tie rule is %q: it is one of up, down, even", tie)
	}
	return conventional{base, tie}, nil
}

func (k conventional) Name() string {
	if k.tie != "" {
		return fmt.Sprintf("conventional rounding to base %d, ties %s", k.base, k.tie)
	}
	return fmt.Sprintf("conventional rounding to base %d", k.base)
}

// up tells whether the middle above multiple q goes up.
func (k conventional) up(q int64) bool { return k.tie == TieUp || k.tie == TieEven && q%2 == 1 }

func (k conventional) Outcomes(i int64) []Outcome {
	q, r := i/k.base, i%k.base
	if 2*r > k.base || 2*r == k.base && k.up(q) {
		q++
	}
	return certain(q * k.base)
}

func (k conventional) Bounds(j int64) (low, high int64, ok bool) {
	if j < 0 || j%k.base != 0 {
		return 0, 0, false
	}
	q, half := j/k.base, (k.base-1)/2
	low, high = max(0, j-half), j+half
	if k.base%2 == 0 {
		if !k.up(q) {
			high = j + k.base/2
		}
		if q > 0 && k.up(q-1) {
			low = j - k.base/2
		}
	}
	return low, high, true
}

// rounded is random rounding: nearest is the probability of the nearest multiple, 0 for the unbiased scheme.
type rounded struct {
	base    int64
	nearest float64
}

// Random is unbiased random rounding to base b: with remainder r a count goes up with probability r/b, multiples stay.
func Random(base int64) (Kernel, error) {
	return rounded{base: base}, checkBase(base)
}

// RandomFixed is random rounding with one probability, of going to the nearest multiple: 0.75, say. Multiples stay, a count in
// the middle of two goes to either alike.
func RandomFixed(base int64, nearest float64) (Kernel, error) {
	if err := checkBase(base); err != nil {
		return nil, err
	}
	if !(nearest > 0 && nearest <= 1) {
		return nil, fmt.Errorf("the probability of the nearest multiple is %v: it must be above 0 and at most 1", nearest)
	}
	return rounded{base, nearest}, nil
}

func (k rounded) Name() string {
	if k.nearest > 0 {
		return fmt.Sprintf("random rounding to base %d, nearest with probability %g", k.base, k.nearest)
	}
	return fmt.Sprintf("unbiased random rounding to base %d", k.base)
}

func (k rounded) Outcomes(i int64) []Outcome {
	r := i % k.base
	low := i - r
	if r == 0 {
		return certain(i)
	}
	up := float64(r) / float64(k.base)
	if k.nearest > 0 {
		switch {
		case 2*r == k.base:
			up = 0.5
		case 2*r > k.base:
			up = k.nearest
		default:
			up = 1 - k.nearest
		}
	}
	return two(low, low+k.base, up)
}

func (k rounded) Bounds(j int64) (low, high int64, ok bool) {
	if j < 0 || j%k.base != 0 {
		return 0, 0, false
	}
	low, high = max(0, j-k.base+1), j+k.base-1
	if k.nearest == 1 { // only the middle of an even base is left to chance
		low, high = max(0, j-k.base/2), j+k.base/2
	}
	return low, high, true
}

type barnard struct{ p float64 }

// Barnard is Barnardisation: 0 stays, another count stays with probability p and goes up or down by one with (1-p)/2 each.
func Barnard(p float64) (Kernel, error) {
	return barnard{p}, checkProbability("the probability that a count stays", p)
}

func (k barnard) Name() string { return fmt.Sprintf("Barnardisation with p = %g", k.p) }

func (k barnard) Outcomes(i int64) []Outcome {
	switch {
	case i == 0 || k.p == 1:
		return certain(i)
	case k.p == 0:
		return []Outcome{{i - 1, 0.5}, {i + 1, 0.5}}
	}
	side := (1 - k.p) / 2
	return []Outcome{{i - 1, side}, {i, k.p}, {i + 1, side}}
}

func (k barnard) Bounds(j int64) (low, high int64, ok bool) {
	switch {
	case j < 0:
		return 0, 0, false
	case k.p == 1:
		return j, j, true
	case j == 0:
		return 0, 1, true
	case k.p == 0 && j == 1:
		return 2, 2, true // 0 stays, and 1 never does
	}
	return max(1, j-1), j + 1, true
}

// small publishes 0 as it is, 1 to last as value, and larger counts rounded.
type small struct {
	last, value int64
	rest        conventional
}

// SmallCounts publishes 0 as it is, counts from 1 to last as value, and larger ones by conventional rounding to base (1: as they
// are): SmallCounts(7, 4, 5, "") is the scheme of some census offices.
func SmallCounts(last, value, base int64, tie Tie) (Kernel, error) {
	if last < 1 || value < 0 {
		return nil, fmt.Errorf("counts from 1 to %d are to become %d: the largest must be at least 1, what they become at least 0", last, value)
	}
	k := small{last: last, value: value, rest: conventional{base: 1}}
	if base == 1 && tie != "" {
		return nil, errors.New("counts that are not rounded need no tie rule")
	}
	if base != 1 {
		rest, err := Conventional(base, tie)
		if err != nil {
			return nil, err
		}
		k.rest = rest.(conventional)
	}
	return k, nil
}

func (k small) Name() string {
	return fmt.Sprintf("1 to %d become %d, others by %s", k.last, k.value, k.rest.Name())
}

func (k small) Outcomes(i int64) []Outcome {
	switch {
	case i == 0:
		return certain(0)
	case i <= k.last:
		return certain(k.value)
	}
	return k.rest.Outcomes(i)
}

func (k small) Bounds(j int64) (low, high int64, ok bool) {
	low, high = math.MaxInt64, -1
	if j == 0 {
		low, high = 0, 0
	}
	if j == k.value {
		low, high = min(low, 1), max(high, k.last)
	}
	if l, h, can := k.rest.Bounds(j); can && h > k.last {
		low, high = min(low, max(l, k.last+1)), max(high, h)
	}
	return low, high, high >= 0
}
