// Package detection finds the cells of tables that disclose: by rules for cells (minimum frequency, dominance, p%, prior-posterior), and by
// rules for lines of counts (across cells, and the concentration on one category).
//
//	rules := []detection.Rule{detection.MinFrequency{N: 3}, detection.Percent{P: 10, Coalition: 1}}
//	f := detection.Judge(&detection.Cell{Records: 5, Contributors: 5, Total: 100, Top: []int64{80, 15, 3}}, rules)
//	// f.Status is detection.Unsafe, f.Upper the protection that is needed: 8 % of 80 less what others give
//
// Sources: Miller 2005 (the rules of health offices, with the corrections of the specification); Hundepool et al. 2012, chapter 4; Loeve 2001.
package detection

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
)

// A Cell is what rules look at. A table of counts has Records alone, and Contributors if they are other units; then Total is Records.
type Cell struct {
	Records      int64
	Contributors int64   // the units that must not be disclosed
	Total        int64   // of the response, in units of its last decimal
	Top          []int64 // the largest contributions, descending, as many as the rules need or there are
}

// A Status is what becomes of a cell.
type Status uint8

// Statuses. The first four are primary: their cells are not published.
const (
	Unsafe          Status = iota + 1 // a rule fails
	UnsafeFrequency                   // the minimum frequency alone fails
	UnsafeManual                      // somebody said so
	UnsafeLine                        // it is in a line that fails
	Safe
	SafeManual // somebody said so
	Protected  // safe, and never hidden for others
	Zero       // the value is 0: never hidden
	Empty      // no records: never hidden
	Secondary  // hidden for others
	SecondaryManual
)

var statuses = [...]string{"", "unsafe", "unsafe_frequency", "unsafe_manual", "unsafe_line", "safe", "safe_manual", "protected", "zero", "empty",
	"secondary", "secondary_manual"}

// String is the status as files have it.
func (s Status) String() string { return statuses[s] }

// StatusOf is the status of a text; 0 for none.
func StatusOf(text string) Status { return Status(max(slices.Index(statuses[:], text), 0)) }

// Primary tells whether a cell is not published because of itself.
func (s Status) Primary() bool { return s >= Unsafe && s <= UnsafeLine }

// Hidden tells whether a cell is not published.
func (s Status) Hidden() bool { return s.Primary() || s == Secondary || s == SecondaryManual }

// Candidate tells whether a cell may be hidden for others.
func (s Status) Candidate() bool { return s == Safe || s == SafeManual }

// A Rule tells which cells disclose. A cell of which the rule is not asked (empty, or of value 0) is none of its business.
type Rule interface {
	Name() string // with its figures, as reports say it: "minimum frequency 3 (unsafe below 3)"
	Check() error // what is wrong with its figures
	Needs() int   // how many of the largest contributions it looks at
	Unsafe(c *Cell) bool
	Level(c *Cell) int64 // the protection that an unsafe cell needs above and below its value; at least 1
}

// A Finding is what rules say of a cell.
type Finding struct {
	Status       Status
	Rules        []int // those that fail, by their numbers
	Lower, Upper int64 // needed: nobody may be sure that the value is above Total - Lower, or below Total + Upper
}

// Judge asks all rules. The levels are the largest that any failing rule asks for; below, no more than the value.
func Judge(c *Cell, rules []Rule) Finding {
	switch {
	case c.Records == 0:
		return Finding{Status: Empty}
	case c.Total == 0:
		return Finding{Status: Zero}
	}
	f := Finding{Status: Safe}
	for i, r := range rules {
		if !r.Unsafe(c) {
			continue
		}
		f.Rules = append(f.Rules, i)
		f.Upper = max(f.Upper, r.Level(c))
		if _, frequency := r.(MinFrequency); !frequency {
			f.Status = Unsafe
		} else if f.Status == Safe {
			f.Status = UnsafeFrequency
		}
	}
	f.Lower = min(f.Upper, c.Total)
	return f
}

// ShareLevel is the level of a cell that is unsafe for its value alone: so many per cent of it, at least 1.
func ShareLevel(total int64, percent float64) int64 {
	return atLeastOne(over100(new(big.Int).Mul(big.NewInt(scaled(percent)), big.NewInt(total))))
}

// DefaultRange is the per cent of a cell's value that nobody may know it by, where no rule says more.
const DefaultRange = 30

// decimals of percentages that are told apart.
const places = 6

// scaled is a percentage as a whole number of millionths.
func scaled(percent float64) int64 { return int64(math.Round(percent * 1e6)) }

// percentage checks one.
func percentage(what string, v, most float64) error {
	switch {
	case math.IsNaN(v) || v <= 0 || v > most:
		return fmt.Errorf("%s is %v; it must be above 0 and at most %v", what, v, most)
	case strconv.FormatFloat(float64(scaled(v))/1e6, 'g', -1, 64) != strconv.FormatFloat(v, 'g', -1, 64):
		return fmt.Errorf("%s is %v; it can have %d decimals", what, v, places)
	}
	return nil
}

// over100 is a number of millionths of per cent as a number, rounded up.
func over100(v *big.Int) *big.Int {
	d, m := new(big.Int).DivMod(v, big.NewInt(100_000_000), new(big.Int))
	if m.Sign() > 0 {
		d.Add(d, big.NewInt(1))
	}
	return d
}

func atLeastOne(v *big.Int) int64 {
	if !v.IsInt64() {
		return math.MaxInt64
	}
	return max(v.Int64(), 1)
}

// less tells whether a*b < c*d, of numbers of at least 0.
func less(a, b, c, d int64) bool {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	return h1 < h2 || h1 == h2 && l1 < l2
}
