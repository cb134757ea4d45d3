package bayes

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"microrisk/engine/graph"
)

// Scores are the hyper-Dirichlet log marginal likelihoods of variable sets (Dawid & Lauritzen 1993), each computed once:
//
//	log p(C) = lgamma(alpha) - lgamma(alpha+n) + sum over occupied cells of the margin over C of [lgamma(lambda+n_i) - lgamma(lambda)]
//
// with lambda = alpha / (product of the levels of C). They are safe for concurrent use, and the same to the last bit whatever was
// asked before, by whom, and from which margin a score was made: every score is the sum over the distinct counts of its margin in
// ascending order.
type Scores struct {
	data      *Data
	precision float64
	total     float64 // log-rise of alpha by n, which all margins share

	flat    []atomic.Uint64 // scores by their set, as bits, where 2^K of them fit; unscored is unscored
	shards  []shard         // else
	margins atomic.Int64

	cells  *margin // the data as a margin over all variables
	cached cache
}

// flatVariables is the largest number of variables for which scores are kept in one array (8 MiB at 20).
const flatVariables = 20

// unscored marks an empty place in the array of scores: a NaN that no computation yields.
const unscored = 0x7ff8dead00000001

type shard struct {
	sync.RWMutex
	scores map[graph.Set]float64
}

// NewScores prepares scores under a symmetric Dirichlet prior over all cells of the full table, of the given total weight (alpha,
// above 0 and finite). The data must not change as long as the scores are in use. Errors: a precision out of range; data whose
// parts differ in length, with a code that is not below the variable's levels or with a count below 1, or more than 64 variables.
func NewScores(d *Data, precision float64) (*Scores, error) {
	if !(precision > 0) || math.IsInf(precision, 1) {
		return nil, errors.New("the prior precision must be a number above 0")
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	s := &Scores{data: d, precision: precision, cells: newCells(d)}
	alpha := newRise(precision, nil)
	s.total = alpha.log(d.Records)
	s.cached.limit = DefaultMemory
	if k := d.Variables(); k <= flatVariables {
		s.flat = make([]atomic.Uint64, 1<<k)
		for i := range s.flat {
			s.flat[i].Store(unscored)
		}
	} else {
		s.shards = make([]shard, 64)
		for i := range s.shards {
			s.shards[i].scores = map[graph.Set]float64{}
		}
	}
	return s, nil
}

// check tells what is wrong with data.
func (d *Data) check() error {
	if len(d.Levels) > graph.MaxVertices {
		return fmt.Errorf("a model has at most %d variables, the data have %d", graph.MaxVertices, len(d.Levels))
	}
	if len(d.Codes) != len(d.Levels) {
		return fmt.Errorf("the data have levels of %d variables and codes of %d", len(d.Levels), len(d.Codes))
	}
	if len(d.Counts) >= math.MaxInt32 {
		return fmt.Errorf("the data have %d occupied cells, the most is %d", len(d.Counts), math.MaxInt32-1)
	}
	sum := int64(0)
	for i, n := range d.Counts {
		if n < 1 || sum > math.MaxInt64-n {
			return fmt.Errorf("the count of cell %d is %d: counts must be at least 1 and their sum below 2^63", i, n)
		}
		sum += n
	}
	if sum != d.Records {
		return fmt.Errorf("the data say %d records, their counts add up to %d", d.Records, sum)
	}
	for v, codes := range d.Codes {
		if d.Levels[v] < 1 || int64(d.Levels[v]) > 1<<32 {
			return fmt.Errorf("variable %d has %d levels: the number must be between 1 and 2^32", v, d.Levels[v])
		}
		if len(codes) != len(d.Counts) {
			return fmt.Errorf("variable %d has %d codes for %d cells", v, len(codes), len(d.Counts))
		}
		for i, c := range codes {
			if int64(c) >= int64(d.Levels[v]) {
				return fmt.Errorf("cell %d has code %d on variable %d, which has %d levels", i, c, v, d.Levels[v])
			}
		}
	}
	return nil
}

// Data is what was scored.
func (s *Scores) Data() *Data { return s.data }

// Precision is alpha.
func (s *Scores) Precision() float64 { return s.precision }

// Margins is the number of distinct margins scored so far, the empty one not counted.
func (s *Scores) Margins() int64 { return s.margins.Load() }

// Log is log p(C) of the margin over the variables c, which must be variables of the data; 0 of the empty set. The first time it
// takes one pass over the smallest margin kept that contains c, later it is a look-up.
func (s *Scores) Log(c graph.Set) float64 {
	if uint64(c) < uint64(len(s.flat)) {
		if b := s.flat[c].Load(); b != unscored {
			return math.Float64frombits(b)
		}
	}
	return s.find(c)
}

// find is Log for a set that the array of scores does not have.
func (s *Scores) find(c graph.Set) float64 {
	if c == 0 {
		return 0
	}
	if s.flat == nil {
		h := &s.shards[shardOf(c)]
		h.RLock()
		score, ok := h.scores[c]
		h.RUnlock()
		if ok {
			return score
		}
	}
	if !graph.First(s.data.Variables()).Contains(c) {
		panic("bayes: a score of variables that the data do not have")
	}
	score := s.compute(c)
	s.store(c, score)
	return score
}

func shardOf(c graph.Set) uint64 { return uint64(c) * 0x9e3779b97f4a7c15 >> 58 }

// store keeps a score and counts it if it is new.
func (s *Scores) store(c graph.Set, score float64) {
	isNew := false
	if s.flat != nil {
		isNew = s.flat[c].CompareAndSwap(unscored, math.Float64bits(score))
	} else {
		h := &s.shards[shardOf(c)]
		h.Lock()
		if _, ok := h.scores[c]; !ok {
			isNew = true
			h.scores[c] = score
		}
		h.Unlock()
	}
	if isNew && c != 0 {
		s.margins.Add(1)
	}
}

// compute scores the margin over c from the smallest margin at hand, and keeps the margin if that pays.
func (s *Scores) compute(c graph.Set) float64 {
	from := s.cached.smallest(c, s.cells)
	h := histograms.Get().(*histogram)
	defer histograms.Put(h)
	m := from.over(c, s.data.Levels, s.cached.worth(from))
	for _, n := range m.counts {
		h.add(n)
	}
	score := s.score(c, h)
	h.clear()
	if m.codes != nil {
		s.cached.keep(m)
	}
	return score
}

// score is log p(c) of the margin whose counts the histogram has.
func (s *Scores) score(c graph.Set, h *histogram) float64 {
	r := newRise(s.precision, func(yield func(int) bool) {
		for ; c != 0; c &= c - 1 {
			if !yield(s.data.Levels[c.Min()]) {
				return
			}
		}
	})
	return h.sum(&r) - s.total
}

// Graph is the log marginal likelihood of a decomposable graph on the variables: the scores of its cliques less those of its
// separators. What it gives for a graph that is not decomposable has no meaning.
func (s *Scores) Graph(g *graph.Graph) float64 {
	if g.Len() != s.data.Variables() {
		panic("bayes: the graph has another number of vertices than the data have variables")
	}
	sum := 0.0
	for _, f := range factors(g) {
		sum += s.Log(f.clique) - s.Log(f.separator)
	}
	return sum
}

// A factor is a maximal clique and the separator that joins it to those before it.
type factor struct{ clique, separator graph.Set }

// factors lists the maximal cliques and separators of a chordal graph by maximum cardinality search (Blair & Peyton 1993): when
// the number of numbered neighbours does not grow, a new clique begins, joined by those neighbours.
func factors(g *graph.Graph) []factor {
	n := g.Len()
	list := make([]factor, 0, n)
	left := graph.First(n)
	numbered := graph.Set(0)
	last := -1
	for left != 0 {
		best, size := -1, -1
		for rest := left; rest != 0; rest &= rest - 1 {
			v := rest.Min()
			if m := (g.Neighbours(v) & numbered).Len(); m > size {
				best, size = v, m
			}
		}
		before := g.Neighbours(best) & numbered
		if size > last && len(list) > 0 {
			list[len(list)-1].clique = before.With(best)
		} else {
			list = append(list, factor{clique: before.With(best), separator: before})
		}
		last = size
		numbered, left = numbered.With(best), left.Without(best)
	}
	return list
}
