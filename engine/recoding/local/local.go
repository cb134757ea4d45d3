// Package local finds which key cells of single records to suppress, so that a file may be released at the least loss (local suppression).
//
// A record's released key shows the variables that are not cut. What is safe has three meanings, each weaker than the one before:
//
//   - [Class]: at least k released rows are identical to the record's, suppressed marks included. It stands against somebody who knows a
//     person's whole key, that the person is in the file, and this package.
//   - [Own]: what the record shows is shared by at least k original records. Each record's cheapest cut is found by itself and exactly.
//   - [Wildcard]: at least k released rows are compatible with the record's, a suppressed cell fitting everything. It protects nobody in
//     particular and is here to compare with programs that count so.
//
// Everything is a function of distinct keys and counts; the result is a table (key, how many of its records, what is cut), the same for any
// order of rows and any number of workers. [Recount] counts what is unsafe in a released table by other means than the searches.
//
// Sources: Samarati & Sweeney 1998 and Meyerson & Williams 2004 (PODS) for suppression; Elliot, Manning & Ford 2002 for minimal sample
// uniques, whose cheapest hitting set is the cheapest cut under own at k = 2; Schrimpf and others 2000 (Journal of Computational Physics
// 159) for ruin and recreate; Held & Karp 1971 for multipliers (prices, caps). Minimal suppression is informative: a hidden value is a rare one.
package local

import (
	"errors"
	"fmt"
	"math"
	"runtime"
)

// MostVariables is the largest number of key variables.
const MostVariables = 20

// NoCode is a Missing entry for a variable whose missing value, if any, is a category like others.
const NoCode = -1

// Unlimited is a Caps entry for a variable without a limit.
const Unlimited = -1

// ErrTooFew is returned where there are fewer than k records: nothing that is shown is safe.
var ErrTooFew = errors.New("fewer records than k: no release of them is safe")

// A Set is a set of variables, a bit each.
type Set uint32

// Has says whether variable v is in the set.
func (s Set) Has(v int) bool { return s>>v&1 != 0 }

// A Problem is the distinct keys of a file and what may be cut.
type Problem struct {
	Codes  [][]uint32 // by variable, then class: distinct keys
	Counts []int64    // records of each class, from 1
	K      int64      // least number of records, from 2

	Weights []float64 // cost of a cell by variable, >= 0 and finite; nil: 1 each
	Fixed   []bool    // variables that are never cut; nil: none
	Caps    []int64   // most cells by variable, or Unlimited; nil: no limits
	// Missing has the code by variable that is written like a suppressed cell, or NoCode; nil: none, so that a missing value is a
	// category. Such a cell is not shown and costs nothing to hide; it hides nothing else either.
	Missing []int64
}

// Options of a search. The zero value is the default.
type Options struct {
	Workers int // goroutines; 0 means GOMAXPROCS
	// Effort is the number of changes tried for each record at risk under Class. 0 means at most 60, fewer for larger files and k;
	// negative means none: the first pass alone.
	Effort int
	// NoBounds leaves out the bounds of Class, which its search does not need: they are 0 then.
	NoBounds bool
	// Progress, when not nil, is told now and then how much of a stage is done; the next begins at 0. Calls do not overlap.
	Progress func(done, total int64)
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) tell(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// A Part is so many records of a class that are released alike.
type Part struct {
	Class   int
	Records int64
	Cut     Set
	Whole   bool // the record is suppressed: it shows nothing, and its cells are counted apart
}

// A Result is what is cut, and how far from the best it can be.
type Result struct {
	Parts      []Part  // by class, then cut: those with a cut alone
	AtRisk     int64   // records with fewer than k of their key (under Own with a size: with an MSU)
	Changed    int64   // records with a cell cut, without suppressed ones
	Suppressed int64   // records suppressed as wholes
	Cells      int64   // cells cut, without those of suppressed records
	CellsOf    []int64 // the same by variable
	Cost       float64 // sum of the weights of these cells

	// Bound is a number that the cost of no release without suppressed records is below; OwnBound and GroupBound are two such, the
	// latter for Class alone. All are 0 under Wildcard; Bound is where the cost is below it, suppressed records having saved what it counts.
	Bound, OwnBound, GroupBound float64

	Interrupted bool // the context ended: the best so far, records not reached being suppressed
}

// Gap is how far above the bound the cost is, a share of the bound: 0 when it is the least. It is +Inf for a cost above a bound of 0: see
// Bound.
func (r *Result) Gap() float64 {
	switch {
	case r.Cost <= r.Bound*(1+1e-12):
		return 0
	case r.Bound == 0:
		return math.Inf(1)
	}
	return r.Cost/r.Bound - 1
}

// bounded sets the bound, unless suppressed records have saved what it counts.
func (r *Result) bounded(bound float64) {
	if r.Bound = bound; r.Cost < bound*(1-1e-12) {
		r.Bound = 0
	}
}

func (p *Problem) check() error {
	k := len(p.Codes)
	switch {
	case k == 0:
		return errors.New("no key variable: at least one is needed")
	case k > MostVariables:
		return fmt.Errorf("%d key variables: cells can be chosen among at most %d", k, MostVariables)
	case p.K < 2:
		return fmt.Errorf("k is %d: it must be at least 2", p.K)
	case len(p.Counts) > math.MaxInt32/2:
		return fmt.Errorf("%d distinct keys: at most %d", len(p.Counts), math.MaxInt32/2)
	}
	for v, codes := range p.Codes {
		if len(codes) != len(p.Counts) {
			return fmt.Errorf("variable %d has %d codes for %d classes", v, len(codes), len(p.Counts))
		}
	}
	for i, n := range []int{len(p.Weights), len(p.Fixed), len(p.Caps), len(p.Missing)} {
		if n != 0 && n != k {
			return fmt.Errorf("%s: %d entries for %d variables", []string{"weights", "fixed", "caps", "missing"}[i], n, k)
		}
	}
	for v, w := range p.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight of variable %d is %v: it must be a number of at least 0", v, w)
		}
	}
	for v, c := range p.Caps {
		if c < Unlimited {
			return fmt.Errorf("cap of variable %d is %d: it must be at least 0, or Unlimited", v, c)
		}
	}
	total := int64(0)
	for c, n := range p.Counts {
		if n < 1 || n > math.MaxInt64/2-total {
			return fmt.Errorf("class %d has %d records: it must have at least 1, and all together fewer than 2^62", c, n)
		}
		total += n
	}
	if total < p.K {
		return fmt.Errorf("%w: %d records, k is %d", ErrTooFew, total, p.K)
	}
	return nil
}

func (p *Problem) weight(v int) float64 {
	if p.Weights == nil {
		return 1
	}
	return p.Weights[v]
}

func (p *Problem) fixed() (s Set) {
	for v, f := range p.Fixed {
		if f {
			s |= 1 << v
		}
	}
	return s
}

// missing is the set of variables that class c lacks.
func (p *Problem) missing(c int) (s Set) {
	for v, m := range p.Missing {
		if m >= 0 && int64(p.Codes[v][c]) == m {
			s |= 1 << v
		}
	}
	return s
}
