// Package bayes has models of the joint distribution of key variables: decomposable graphs under a hyper-Dirichlet prior, their
// marginal likelihoods, and what a search for them yields. Package search finds and weighs models, package risk makes
// probabilities of correct matches and of population uniqueness from them.
//
// Sources: Dawid & Lauritzen 1993 (hyper-Dirichlet laws); Madigan & York 1995 (model composition by Markov chains); Forster & Webb
// 2007; Smith 2011, chapters 6 to 8.
package bayes

import (
	"fmt"
	"math"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/engine/graph"
)

// Data are the occupied cells of a contingency table of K variables, as models see them.
type Data struct {
	Levels  []int      // categories of each variable, r_v, at least 1; missing counts as one where it is kept and observed
	Codes   [][]uint32 // Codes[v][i] is the code of cell i on variable v, below Levels[v]
	Counts  []int64    // records of each cell, at least 1
	Class   []int      // class of each cell in the table; nil: the same number
	Records int64      // n, the sum of Counts
}

// A Model is a decomposable graph on the key variables.
type Model struct {
	Graph         *graph.Graph
	LogLikelihood float64 // log marginal likelihood: natural logarithm of the probability of the records in order
	Weight        float64 // posterior probability, or its estimate; the weights of a search sum to 1
}

// NewData takes the cells of a table. drop[v] says that records without a value of variable v are left out; a nil drop leaves none
// out. Otherwise a missing value is a category of its own where a record that stays has one. Errors: more than 64 variables, a drop
// of another length, classes on disk that cannot be read.
func NewData(t *contingency.Table, drop []bool) (*Data, error) {
	k, n := len(t.Variables), t.Classes()
	if k > graph.MaxVertices {
		return nil, fmt.Errorf("a model has at most %d variables, the table has %d", graph.MaxVertices, k)
	}
	if drop != nil && len(drop) != k {
		return nil, fmt.Errorf("it is said of %d of %d variables whether records without a value are dropped", len(drop), k)
	}
	d := &Data{Levels: make([]int, k), Codes: make([][]uint32, k)}
	for v := range k {
		d.Codes[v] = make([]uint32, n)
		if n > 0 {
			t.Codes(v, 0, d.Codes[v])
		}
	}
	d.leaveOut(t, drop)
	for v := range k {
		missing := t.Variables[v].Missing()
		d.Levels[v] = max(1, int(missing))
		if slices.Contains(d.Codes[v], missing) {
			d.Levels[v] = int(missing) + 1
		}
	}
	d.Counts = make([]int64, n)
	if d.Class != nil {
		d.Counts = make([]int64, len(d.Class))
	}
	for i := range d.Counts {
		d.Counts[i] = t.Count(d.ClassOf(i))
		d.Records += d.Counts[i]
	}
	return d, t.Err()
}

// leaveOut takes the cells out that lack a value of a variable in drop.
func (d *Data) leaveOut(t *contingency.Table, drop []bool) {
	kept := t.Keep(drop)
	if kept.All() {
		return
	}
	d.Class = make([]int, 0, kept.Classes)
	for i := range t.Classes() {
		if kept.Has(i) {
			d.Class = append(d.Class, i)
		}
	}
	for v := range d.Codes {
		codes := make([]uint32, len(d.Class))
		for j, i := range d.Class {
			codes[j] = d.Codes[v][i]
		}
		d.Codes[v] = codes
	}
}

// ClassOf is the class of cell i in the table.
func (d *Data) ClassOf(i int) int {
	if d.Class == nil {
		return i
	}
	return d.Class[i]
}

// Variables is K.
func (d *Data) Variables() int { return len(d.Levels) }

// Cells is the number of occupied cells.
func (d *Data) Cells() int { return len(d.Counts) }

// LogCells is the natural logarithm of the number of cells of the margin over the variables c, occupied or not.
func (d *Data) LogCells(c graph.Set) float64 {
	sum := 0.0
	for v := range c.Vertices() {
		sum += math.Log(float64(d.Levels[v]))
	}
	return sum
}
