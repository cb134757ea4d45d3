// Package uniques finds minimal sample uniques and scores records by them (SUDA).
package uniques

import (
	"context"
	"errors"

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
	Threshold     int64    // k: keys shared by at most k records are unsafe; 0 means 1
	Score         Score
	Contributions bool // fill Result.Share
	MSUs          bool // keep the sets themselves for Result.MSUs
	Workers       int  // goroutines; 0 means GOMAXPROCS
	Force         bool // search even when the estimate exceeds an hour
	Progress      func(done, total int64)
}

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

	FileScore  float64 // sum of scores over records
	FileIS     float64
	Variables  []float64   // contribution of each variable to FileScore, in score units
	Categories [][]float64 // the same by variable and code, missing last
}

// Search finds all minimal sample uniques of the table's records.
func Search(ctx context.Context, t *contingency.Table, o Options) (*Result, error) {
	return nil, errors.New("uniques: unfinished")
}

// MSUs appends the minimal sample uniques of class i to dst as sets of variables (bit v for variable v), by size and then key
// order. The search must have been asked for them.
func (r *Result) MSUs(i int, dst []uint64) []uint64 { return dst }

// DIS estimates the probability that a unique match is correct, from the sampling fraction pi in (0, 1], the number of
// sample uniques and the number of pairs.
func DIS(pi float64, uniques int64, doubles float64) float64 { return 0 }

// DISIS spreads a file's DIS over its records with a minimal sample unique; NaN for the others.
func DISIS(r *Result, counts func(i int) int64, variables int, dis float64) ([]float64, error) {
	return nil, errors.New("uniques: unfinished")
}
