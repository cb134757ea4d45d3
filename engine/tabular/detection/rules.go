package detection

import (
	"fmt"
	"math/big"
	"strconv"
)

// MinFrequency is the minimum frequency rule: a cell of fewer than N contributors is unsafe (Miller 2005, 2.4; the word "fewer" is strict
// here, where the source's examples are not).
type MinFrequency struct {
	N         int64
	Inclusive bool    // a cell of N is unsafe too
	Range     float64 // the per cent of the value within which nobody may know it; 0 is none wanted, and 1 unit is needed
}

// Name is the rule in words.
func (r MinFrequency) Name() string {
	if r.Inclusive {
		return fmt.Sprintf("minimum frequency %d (unsafe up to %d)", r.N, r.N)
	}
	return fmt.Sprintf("minimum frequency %d (unsafe below %d)", r.N, r.N)
}

// Check finds figures that make no sense.
func (r MinFrequency) Check() error {
	if r.N < 1 {
		return fmt.Errorf("n of the minimum frequency is %d; it must be at least 1", r.N)
	}
	if r.Range == 0 {
		return nil
	}
	return percentage("the range of the minimum frequency", r.Range, 1e6)
}

// Needs is 0: contributions are only counted.
func (r MinFrequency) Needs() int { return 0 }

// Unsafe tells whether there are too few contributors.
func (r MinFrequency) Unsafe(c *Cell) bool {
	return c.Contributors < r.N || r.Inclusive && c.Contributors == r.N
}

// Level is the range of the value.
func (r MinFrequency) Level(c *Cell) int64 { return ShareLevel(c.Total, r.Range) }

// Dominance is the (n,k) rule: a cell is unsafe if its N largest contributors have more than K per cent of it.
type Dominance struct {
	N         int
	K         float64
	Inclusive bool // exactly K per cent is unsafe too
}

// Name is the rule in words.
func (r Dominance) Name() string {
	than := "more than"
	if r.Inclusive {
		than = "at least"
	}
	return fmt.Sprintf("dominance, n = %d, k = %s (unsafe if the %s of a cell gave %s %s %% of it)", r.N, figure(r.K), largest(r.N), than, figure(r.K))
}

// Check finds figures that make no sense.
func (r Dominance) Check() error {
	if r.N < 1 {
		return fmt.Errorf("n of the dominance rule is %d; it must be at least 1", r.N)
	}
	return percentage("k of the dominance rule", r.K, 100)
}

// Needs is N.
func (r Dominance) Needs() int { return r.N }

// Unsafe compares the largest with the total.
func (r Dominance) Unsafe(c *Cell) bool {
	sum, k := c.largest(r.N), scaled(r.K)
	return less(k, c.Total, 100_000_000, sum) || r.Inclusive && !less(100_000_000, sum, k, c.Total)
}

// Level is 100/k of the largest less the total: with so much more in the cell they would no longer dominate it.
func (r Dominance) Level(c *Cell) int64 {
	v := new(big.Int).Mul(big.NewInt(100_000_000), big.NewInt(c.largest(r.N)))
	k := big.NewInt(scaled(r.K))
	d, m := v.DivMod(v, k, new(big.Int))
	if m.Sign() > 0 {
		d.Add(d, big.NewInt(1))
	}
	return atLeastOne(d.Sub(d, big.NewInt(c.Total)))
}

// Percent is the p% rule: a cell is unsafe if Coalition contributors, who know nothing but that the others gave something, can estimate the
// largest other one to within P per cent. It is [PriorPosterior] with Q = 100.
type Percent struct {
	P         float64
	Coalition int
	Inclusive bool // exactly P per cent is unsafe too
}

func (r Percent) prior() PriorPosterior { return PriorPosterior{r.P, 100, r.Coalition, r.Inclusive} }

// Name is the rule in words.
func (r Percent) Name() string {
	return fmt.Sprintf("p%% rule, p = %s%s", figure(r.P), coalition(r.Coalition, r.Inclusive))
}

// Check finds figures that make no sense.
func (r Percent) Check() error {
	if err := percentage("p of the p% rule", r.P, 100); err != nil {
		return err
	}
	return checkCoalition("the p% rule", r.Coalition)
}

// Needs is one more than the coalition.
func (r Percent) Needs() int { return r.prior().Needs() }

// Unsafe compares what others gave with the largest.
func (r Percent) Unsafe(c *Cell) bool { return r.prior().Unsafe(c) }

// Level is p per cent of the largest less what is known by nobody of the coalition.
func (r Percent) Level(c *Cell) int64 { return r.prior().Level(c) }

// PriorPosterior is the p,q rule: as [Percent], where everybody knows all contributions to within Q per cent beforehand.
type PriorPosterior struct {
	P, Q      float64
	Coalition int
	Inclusive bool
}

// Name is the rule in words.
func (r PriorPosterior) Name() string {
	return fmt.Sprintf("p,q rule, p = %s, q = %s%s", figure(r.P), figure(r.Q), coalition(r.Coalition, r.Inclusive))
}

// Check finds figures that make no sense.
func (r PriorPosterior) Check() error {
	if err := percentage("p of the p,q rule", r.P, 100); err != nil {
		return err
	}
	if err := percentage("q of the p,q rule", r.Q, 1e6); err != nil {
		return err
	}
	return checkCoalition("the p,q rule", r.Coalition)
}

// Needs is one more than the coalition.
func (r PriorPosterior) Needs() int { return r.Coalition + 1 }

// Unsafe compares q per cent of what others gave with p per cent of the largest.
func (r PriorPosterior) Unsafe(c *Cell) bool {
	if len(c.Top) == 0 {
		return false
	}
	first, rest := c.Top[0], c.rest(r.Coalition+1)
	p, q := scaled(r.P), scaled(r.Q)
	return less(q, rest, p, first) || r.Inclusive && !less(p, first, q, rest)
}

// Level is p per cent of the largest less q per cent of what others gave.
func (r PriorPosterior) Level(c *Cell) int64 {
	v := new(big.Int).Mul(big.NewInt(scaled(r.P)), big.NewInt(c.Top[0]))
	return atLeastOne(over100(v.Sub(v, new(big.Int).Mul(big.NewInt(scaled(r.Q)), big.NewInt(c.rest(r.Coalition+1))))))
}

// largest is the sum of the n largest contributions.
func (c *Cell) largest(n int) int64 {
	sum := int64(0)
	for _, x := range c.Top[:min(n, len(c.Top))] {
		sum += x
	}
	return sum
}

// rest is what all but the n largest contributed.
func (c *Cell) rest(n int) int64 { return max(c.Total-c.largest(n), 0) }

func figure(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func largest(n int) string {
	if n == 1 {
		return "largest"
	}
	return fmt.Sprintf("%d largest", n)
}

func coalition(c int, inclusive bool) string {
	text := ""
	if c != 1 {
		text = fmt.Sprintf(", coalition of %d", c)
	}
	if inclusive {
		text += " (the boundary is unsafe)"
	}
	return text
}

func checkCoalition(rule string, c int) error {
	if c < 1 {
		return fmt.Errorf("the coalition of %s is %d; it must be at least 1, one contributor by himself", rule, c)
	}
	return nil
}
