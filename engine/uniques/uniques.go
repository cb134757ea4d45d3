// Package uniques finds minimal sample uniques and scores records by them: special uniques detection (SUDA).
//
// A record is unique on a set S of key variables when no other record has the same categories on S. A minimal sample unique
// (MSU) of a record is a set on which it is unique while it is so on no proper subset. The smaller a record's MSUs and the more
// of them it has, the easier it is to single out. [Search] finds all MSUs of all records, or those up to a size, from a
// contingency table, and sums them to scores and to contributions of variables and categories; [DIS] and [DISIS] turn them
// into estimates of the probability of a correct match.
//
// Three searches give the same result. Nested, for keys that fit in a word, the sets that begin at a variable are looked for in blocks of
// classes that are equal in it, small enough for the cache. Upwards, set by set in order of size, only classes that are not yet unique on a
// subset are counted (stripped partitions), and of those that are equal on a larger set only one representative (a cover). Downwards, for
// keys of few and small variables, margins of a dense table are taken one variable at a time. The choice is made by an estimate of
// their cost. See the package's example.
//
// Sources: Elliot, Manning & Ford 2002 (International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10);
// Skinner & Elliot 2002 (JRSS B 64) for DIS; Elliot 2003 for DIS-IS; Manning, Haglin & Keane 2008 (Data Mining and Knowledge Discovery 16)
// for SUDA2; Huhtala et al. 1999 for stripped partitions.
package uniques

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"microrisk/engine/contingency"
)

// A Policy says what a missing value of a key variable means.
type Policy uint8

const (
	Category Policy = iota // a category of its own, equal to itself
	Wildcard               // could be any category
	Ignore                 // in no minimal sample unique and equal to nothing in the search, equal to itself when full keys are compared
	Drop                   // a record that misses it is left out
)

// A Score is a definition of the SUDA score: the weight of a minimal sample unique of size s among K key variables.
type Score uint8

const (
	Lattice        Score = iota // (2^(K-s)-1) / C(K,s)
	LatticeLimited              // sum_{i=1}^{M-s} C(K-s,i) / C(K,s), M the size limit
	Factorial                   // (K-s)!
	ElliotLimited               // prod_{i=s}^{M} (K-i), M = min(size limit, K-1)
)

// Options of a search. The zero value searches to full depth for minimal sample uniques, missing values a category.
type Options struct {
	Policies      []Policy // one a variable; nil means Category
	MaxSize       int      // largest minimal sample unique looked for; 0 means all
	Threshold     int64    // k: keys shared by at most k records are unsafe, from 1; 0 means 1
	Score         Score
	Contributions bool  // fill Result.Share
	MSUs          bool  // keep the sets themselves for Result.MSUs
	Workers       int   // goroutines; 0 means GOMAXPROCS
	Force         bool  // search even when the estimate exceeds an hour
	Memory        int64 // bytes that the search may hold besides table and result (but with the sets of MSUs); 0 for no limit

	// Progress, when not nil, is told now and then how many of the sets of variables are done. Calls do not overlap.
	Progress func(done, total int64)

	direction direction
	covers    int // least number of classes that covers are made for; 0 means coverClasses
	lattice   int // most entries of a block that is not split further; 0 means latticeMost
}

// A direction is the way a search goes through the lattice of sets; tests force one.
type direction uint8

const (
	chosen direction = iota
	upwards
	downwards
	nested // by blocks
)

// A Result has one entry a class of the table searched, in the table's order; values are those of each record of the class.
type Result struct {
	Records   int64   // records not dropped
	Uniques   int64   // sample uniques: records with Frequency 1 (n1)
	Doubles   float64 // half the number of records with Frequency 2 (n2)
	Frequency []int64 // records with the same key (Wildcard: compatible ones, itself included); 0 if dropped
	Score     []float64
	IS        []float64 // intermediate SUDA metric: sum of (K-s)!
	Count     []int32   // number of minimal sample uniques
	MinSize   []int32   // size of the smallest; 0 if none
	// Share[v][i] is variable v's share of the score of class i in percent, NaN where that score is 0; nil unless asked for.
	Share [][]float64

	BySize []int64 // BySize[s-1] is the number of minimal sample uniques of size s, over all records
	Visits int64   // classes (upwards) or sets (downwards) looked at by the search: what its time grows with

	FileScore  float64 // sum of scores over records
	FileIS     float64
	Variables  []float64   // contribution of each variable to FileScore, in score units
	Categories [][]float64 // the same by variable and code, missing last

	msus lists
}

// Search finds all minimal sample uniques of the table's records.
//
// The empty set is the only minimal sample unique of a file of one record (of at most k records); no variable contributes to it.
// The result is the same to the bit for any number of workers. Errors: options that make no sense, a cancelled context, more than
// 2^32-2 classes, an [EstimateError] when the search would take over an hour, and a [budget.MemoryError] when it would hold, or begins to hold,
// more than Options.Memory.
func Search(ctx context.Context, t *contingency.Table, o Options) (*Result, error) {
	if err := o.normalise(t); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := newProblem(t, &o)
	if err != nil {
		return nil, err
	}
	r := newResult(t, p, &o)
	if err := p.frequencies(ctx, r); err != nil {
		return nil, err
	}
	if p.anyWild {
		p.outnumber(r)
	}
	tally := newTally(p, &o, r)
	switch {
	case p.n == 0:
	case p.records <= p.k:
		tally.emptySet()
	default:
		way, err := p.plan(ctx, &o)
		if err != nil {
			return nil, err
		}
		if err := o.fits(p, way); err != nil {
			return nil, err
		}
		if err := p.search(ctx, &o, p.nests(&o, way), tally); err != nil {
			return nil, err
		}
	}
	tally.finish()
	if o.Progress != nil {
		total := latticeSize(p.variables, o.MaxSize)
		o.Progress(total, total)
	}
	return r, nil
}

// search goes one way, upwards where that has no memory.
func (p *problem) search(ctx context.Context, o *Options, way direction, tally *tally) error {
	switch way {
	case downwards:
		return p.searchDown(ctx, o, tally)
	case nested:
		held := p.budget.held.Load()
		plain, done, err := p.searchNested(ctx, o, tally)
		if plain != nil && err == nil {
			err = p.refine(ctx, o, plain, tally)
			done = !p.budget.full.Load()
		}
		if done {
			return err
		}
		tally.reset()
		p.budget.held.Store(held)
		p.budget.full.Store(false)
	}
	return p.searchUp(ctx, o, tally)
}

var errOptions = errors.New("uniques: wrong options")

// normalise checks options against a table and replaces zero values by what they stand for.
func (o *Options) normalise(t *contingency.Table) error {
	variables := len(t.Variables)
	if variables > 64 {
		return fmt.Errorf("%w: %d key variables, at most 64 are possible", errOptions, variables)
	}
	if o.Policies != nil && len(o.Policies) != variables {
		return fmt.Errorf("%w: %d policies for %d key variables", errOptions, len(o.Policies), variables)
	}
	for v, p := range o.Policies {
		if p > Drop {
			return fmt.Errorf("%w: policy %d of variable %q", errOptions, p, t.Variables[v].Name)
		}
	}
	if o.MaxSize < 0 {
		return fmt.Errorf("%w: size limit %d", errOptions, o.MaxSize)
	}
	if o.MaxSize == 0 || o.MaxSize > variables {
		o.MaxSize = variables
	}
	if o.Threshold < 0 || o.Threshold > 1<<31-2 {
		return fmt.Errorf("%w: threshold %d, must be from 1 to %d", errOptions, o.Threshold, 1<<31-2)
	}
	if o.Threshold == 0 {
		o.Threshold = 1
	}
	if o.Score > ElliotLimited {
		return fmt.Errorf("%w: score %d", errOptions, o.Score)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if int64(t.Classes()) > 1<<32-2 {
		return fmt.Errorf("uniques: %d classes, at most 2^32-2 are possible", t.Classes())
	}
	return nil
}

func newResult(t *contingency.Table, p *problem, o *Options) *Result {
	n := t.Classes()
	r := &Result{
		Records:    p.records,
		Frequency:  make([]int64, n),
		Score:      make([]float64, n),
		IS:         make([]float64, n),
		Count:      make([]int32, n),
		MinSize:    make([]int32, n),
		Variables:  make([]float64, p.variables),
		Categories: make([][]float64, p.variables),
	}
	for v := range r.Categories {
		r.Categories[v] = make([]float64, p.codes[v])
	}
	if o.Contributions {
		r.Share = make([][]float64, p.variables)
		for v := range r.Share {
			r.Share[v] = make([]float64, n)
		}
	}
	return r
}
