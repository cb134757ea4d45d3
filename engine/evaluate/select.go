package evaluate

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// A Design says how a sample is drawn.
type Design struct {
	Fraction  float64 // sampling fraction, in (0, 1]
	Bernoulli bool    // each is drawn on its own with probability Fraction; otherwise the size of the sample is fixed
}

// Check tells whether a design can be drawn.
func (d Design) Check() error {
	if !(d.Fraction > 0 && d.Fraction <= 1) {
		return fmt.Errorf("sampling fraction %v is not in (0, 1]", d.Fraction)
	}
	return nil
}

// Size is how many of n are drawn when the size is fixed: Fraction times n rounded (halves to even), but at least 1 of 1 or more.
func (d Design) Size(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return min(max(int64(math.RoundToEven(d.Fraction*float64(n))), 1), n)
}

// What is drawn: the samples of rows and of clusters must differ, whatever the seed.
const (
	drawRows uint64 = iota
	drawClusters
)

// streams are independent sources of random numbers, one for each stratum: a stratum's sample does not depend on the others' rows.
type streams struct {
	source  []rand.PCG
	current int
}

func newStreams(n int, what, seed, repetition uint64) *streams {
	var key [32]byte
	for i, word := range []uint64{what, seed, repetition} {
		binary.LittleEndian.PutUint64(key[8*i:], word)
	}
	start := rand.NewChaCha8(key)
	s := &streams{source: make([]rand.PCG, n)}
	for i := range s.source {
		high := start.Uint64()
		s.source[i].Seed(high, start.Uint64())
	}
	return s
}

// Uint64 is the next number of the current stream.
func (s *streams) Uint64() uint64 { return s.source[s.current].Uint64() }

// A remainder is what is yet to come of a stratum.
type remainder struct {
	rows  int64
	draws int64
}

// A Selector decides row by row which rows of a population are drawn.
type Selector struct {
	design    Design
	left      []remainder
	unasked   []int64 // rows asked for beyond those that the stratum has
	unknown   int64   // rows of strata that do not exist
	streams   *streams
	generator *rand.Rand
}

// NewSelector makes a selector for a population with strata[h] rows in stratum h; without strata there is one, number 0. The same
// strata, design, seed and repetition give the same sample. It is an error if a stratum has fewer than 0 rows, or the fraction is not
// in (0, 1].
func NewSelector(strata []int64, d Design, seed, repetition uint64) (*Selector, error) {
	return newSelector(strata, d, drawRows, seed, repetition)
}

func newSelector(strata []int64, d Design, what, seed, repetition uint64) (*Selector, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	s := &Selector{design: d, left: make([]remainder, len(strata)), unasked: make([]int64, len(strata)),
		streams: newStreams(len(strata), what, seed, repetition)}
	for h, rows := range strata {
		if rows < 0 {
			return nil, fmt.Errorf("stratum %d has %d rows", h, rows)
		}
		s.left[h] = remainder{rows: rows, draws: d.Size(rows)}
	}
	s.generator = rand.New(s.streams)
	return s, nil
}

// Take tells whether the next row, which is of the stratum, is drawn. Call it once for each row of the population, in the order of
// rows. Of a stratum with n rows exactly Design.Size(n) are drawn, and each set of so many is equally likely (Knuth's algorithm S);
// under Bernoulli each row is drawn on its own. A row that the strata given to NewSelector do not have is not drawn, and Finish tells.
func (s *Selector) Take(stratum int) bool {
	if stratum < 0 || stratum >= len(s.left) {
		s.unknown++
		return false
	}
	left := &s.left[stratum]
	if left.rows == 0 {
		s.unasked[stratum]++
		return false
	}
	s.streams.current = stratum
	var take bool
	if s.design.Bernoulli {
		take = s.generator.Float64() < s.design.Fraction
	} else if take = s.generator.Int64N(left.rows) < left.draws; take {
		left.draws--
	}
	left.rows--
	return take
}

// Finish is an error unless Take was called for exactly the rows that NewSelector was told of.
func (s *Selector) Finish() error {
	if s.unknown > 0 {
		return fmt.Errorf("%d rows are of strata that were not counted", s.unknown)
	}
	for h, left := range s.left {
		switch {
		case left.rows > 0:
			return fmt.Errorf("stratum %d has %d rows fewer than were counted", h, left.rows)
		case s.unasked[h] > 0:
			return fmt.Errorf("stratum %d has %d rows more than were counted", h, s.unasked[h])
		}
	}
	return nil
}

// mostClusters is the largest number of clusters: a byte each.
const mostClusters = 1 << 34

// DrawClusters draws whole clusters, such as households, by number: element c tells whether all rows of cluster c are in the sample.
// Exactly Design.Size(clusters) are drawn, or each on its own under Bernoulli. Rows play no part, neither their order nor how many a
// cluster has. It is an error if clusters is below 0, or the fraction is not in (0, 1].
func DrawClusters(clusters int64, d Design, seed, repetition uint64) ([]bool, error) {
	if clusters < 0 || clusters > mostClusters {
		return nil, fmt.Errorf("%d clusters: from 0 to %d can be drawn from", clusters, int64(mostClusters))
	}
	s, err := newSelector([]int64{clusters}, d, drawClusters, seed, repetition)
	if err != nil {
		return nil, err
	}
	drawn := make([]bool, clusters)
	for c := range drawn {
		drawn[c] = s.Take(0)
	}
	return drawn, nil
}
