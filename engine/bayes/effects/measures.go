package effects

import (
	"math"
	"sync"
)

// Measures are those of cells under one sigma. They are safe for concurrent use.
type Measures struct {
	sigma, fraction float64

	mu     sync.RWMutex
	tables map[int64]*table // by the records of a cell
}

// New has the measures under a sigma of at least 0 at a sampling fraction above 0 and at most 1.
func New(sigma, fraction float64) *Measures {
	return &Measures{sigma: sigma, fraction: fraction, tables: make(map[int64]*table)}
}

// Measures of cells are tabulated over the logarithm of the people that the cell should have, in steps of which a cubic through four
// points is good to 1e-8.
const (
	perUnit = 32
	first   = -60 * perUnit // of the table: exp(-60) people
	last    = 40 * perUnit
)

// A table has the measures of cells of so many records.
type table struct {
	mu     sync.Mutex
	known  [last - first + 1]bool
	values [last - first + 1][3]float64
}

// Of are the measures of a cell that has f records, at least 1, and should have so many people by the model: P(F = 1), E[1/F], and E[F].
func (m *Measures) Of(f int64, people float64) (alone, match, expected float64) {
	v := m.at(f, people)
	alone, match = min(max(v[0], 0), 1), min(max(v[1], 0), 1/float64(f))
	if f > 1 {
		alone = 0
	}
	return alone, match, float64(f) + math.Exp(v[2])
}

// Empty is P(F = 1) of a cell without records that should have so many people, for each of the people who should be outside the sample.
func (m *Measures) Empty(people float64) float64 {
	unsampled := (1 - m.fraction) * people
	if !(unsampled > 0) {
		return 0
	}
	return m.at(0, people)[1] / unsampled
}

// at is P(F = 1), E[1/F] (of an empty cell P(F = 1)), and the logarithm of E[F] - f.
func (m *Measures) at(f int64, people float64) [3]float64 {
	x := math.Log(people) * perUnit
	cell := math.Floor(x)
	if !(cell-1 >= first && cell+2 <= last) { // beyond the table
		alone, match, more := m.exact(float64(f), people)
		return [3]float64{alone, match, math.Log(more)}
	}
	m.mu.RLock()
	t := m.tables[f]
	m.mu.RUnlock()
	if t == nil {
		m.mu.Lock()
		if t = m.tables[f]; t == nil {
			t = new(table)
			m.tables[f] = t
		}
		m.mu.Unlock()
	}
	var p [4][3]float64
	t.mu.Lock()
	for i := range p {
		at := int(cell) - 1 + i - first
		if !t.known[at] {
			alone, match, more := m.exact(float64(f), math.Exp(float64(at+first)/perUnit))
			t.known[at], t.values[at] = true, [3]float64{alone, match, math.Log(more)}
		}
		p[i] = t.values[at]
	}
	t.mu.Unlock()
	u := x - cell
	w := [4]float64{-u * (u - 1) * (u - 2) / 6, (u + 1) * (u - 1) * (u - 2) / 2, -(u + 1) * u * (u - 2) / 2, (u + 1) * u * (u - 1) / 6}
	var v [3]float64
	for k := range v {
		for i := range p {
			v[k] += w[i] * p[i][k]
		}
	}
	return v
}
