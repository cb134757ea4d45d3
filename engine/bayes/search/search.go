// Package search finds decomposable graphical models of a contingency table and weighs them by their posterior probability: by
// exact summation where that can be afforded, else by Markov chains, annealing or Occam's window.
//
//	scores, err := bayes.NewScores(data, 1)
//	result, err := search.Run(ctx, scores, search.Options{Method: search.Exact})
//	best := result.Models[0]
//
// Sources: Kangas, Koivisto & Niinimaki 2014, 2015 (dynamic programming); Madigan & York 1995 (mc3); Madigan & Raftery 1994
// (Occam's window); Green & Thomas 2013, Elmasri 2023 (moves); Thomas & Green 2009 (junction trees); Smith 2011, chapters 6 to 8.
package search

import (
	"context"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// A Method of search.
type Method string

// The methods.
const (
	Auto   Method = ""       // Exact where it can be afforded, else MC3 with tempering
	Exact  Method = "exact"  // enumeration, or dynamic programming over junction trees
	MC3    Method = "mc3"    // Markov chain Monte Carlo model composition
	Anneal Method = "anneal" // simulated annealing for the best single graph
	Occam  Method = "occam"  // Occam's window
	Fixed  Method = "fixed"  // the graph that is given
)

// Moves of MC3.
const (
	EdgeMoves   = "edge"   // toggle one edge
	EdgesMoves  = "edges"  // half of the proposals toggle two to four edges of one vertex at once
	CliqueMoves = "clique" // half of the proposals move a vertex, or several that share their neighbours, from one clique to another
)

// Weights of models.
const (
	ByLikelihood = "likelihood" // marginal likelihoods, renormalised over the models seen
	ByVisits     = "visits"     // how often a chain was there
)

// Schedules of Anneal.
const (
	SweepSchedule  = "sweeps" // from the greedy graph, with restarts
	ThesisSchedule = "thesis" // Smith 2011, chapter 8: from 1e14 to 0.01 by factors of 0.99, one proposal each
)

// Directions of Occam.
const (
	Up   = "up"   // only larger models, as in Forster & Webb 2007
	Both = "both" // smaller ones too
)

// Options of a search. Zero values mean the defaults that are said; Run refuses values out of range with an error that says
// what would be right.
type Options struct {
	Method  Method
	Penalty float64 // log prior odds against each edge, at least 0
	Weights string  // "" means ByLikelihood (MC3); the other methods weigh by likelihood only

	Burn       *int   // of MC3: iterations of a chain before it counts, at least 0; nil means 10,000
	Iterations int    // of MC3: those after them, at least 1: one proposal at each temperature; 0 means 1,000,000
	Thin       int    // of MC3: a state is kept every so many iterations, at least 1; 0 means 100, or Iterations if less
	Chains     int    // of MC3: from 1 to 1,024; 0 means 4. The first starts without edges, the second from the greedy graph, the others at random
	Rungs      int    // of MC3: temperatures of each chain, from 1 (no tempering) to 64; 0 means 12
	Moves      string // of MC3: "" means EdgeMoves

	Schedule string // of Anneal: "" means SweepSchedule
	Restarts int    // of Anneal: from 1 to 1,000,000; 0 means 10

	Window     float64 // of Occam: models less probable than this part of the best are dropped; between 0 and 1, 0 means 0.01
	Directions string  // of Occam: "" means Up
	Razor      bool    // of Occam: drop models with a more probable submodel in the window

	Draws int // of Exact beyond enumeration: independent junction trees, at least 1; 0 means 10,000

	Graph *graph.Graph // of Fixed, decomposable

	Seed    uint64
	Workers int // goroutines; at most 0 means GOMAXPROCS. The result does not depend on it
	// Memory is the bytes that the search may take for graphs or states of its own, 0 for no limit; MC3 drops graphs that do not matter,
	// others refuse.
	Memory int64
	// Choice is the bytes by which Auto decides whether Exact can be afforded, so that this does not depend on a machine's memory; 0 means
	// Memory.
	Choice   int64
	Progress func(done, total int64) // called some times a second, never twice at once, from any goroutine; may be nil
}

// A Result of a search.
type Result struct {
	Method Method
	Reason string // one phrase that says why this method, where Auto chose it; else ""
	// Models has those with a weight of at least 1e-6 of the sum, the most probable first (ties by graph.Key), weights
	// renormalised to 1. Anneal and Fixed have one.
	Models  []bayes.Model
	Dropped float64     // weight of the models left out, before the rest was renormalised
	Edges   [][]float64 // posterior probability of each edge, symmetric, K by K, over all models seen
	EdgesSE [][]float64 // standard errors, NaN where there is none; nil when the probabilities are no estimates (enumeration, single models)

	Diagnostics Diagnostics
}

// Diagnostics tell how a search went. What a method does not have is 0, nil or NaN as said.
type Diagnostics struct {
	Margins int64 // margins scored
	Graphs  int64 // distinct graphs scored or visited (of MC3 with a limit of memory those of each chain added up); 1 of Anneal

	Proposals, Accepted int64 // of MC3 (temperature 1 only, without the burn-in) and Anneal
	// ESS is the effective sample size: of the log likelihood over all chains (MC3), of the weights (Exact); NaN where chains are constant
	// or there is none.
	ESS               float64
	RHat              float64     // split R-hat of the log likelihood, by ranks, NaN where all chains are constant or there is none
	EdgeRHat, EdgeESS [][]float64 // of MC3: the same of the indicator of each edge, K by K; NaN where it is constant
	Worst             *Worst      // of MC3: the edge whose estimate is the least certain
	Trips             int64       // of MC3 with temperatures: how often a state came from the hottest one to the coldest, over all chains
	Trace             [][]float64 // log likelihood (penalty included) of each chain, at most 500 points each; of Anneal the best restart
	Swaps             []float64   // share of swaps accepted between neighbouring temperatures
	Temperatures      []float64   // inverse temperatures, 1 first
	Unseen            float64     // estimated or greatest posterior probability of models never seen; NaN if unknown
	LogTotal          float64     // of Exact: log of the sum over all graphs (enumeration) or all rooted junction trees; NaN
	Enumerated        bool        // of Exact
	Draws             int64       // of Exact: junction trees drawn
	Chains            [][]float64 // of MC3: for each chain the probability of each edge (v < w, in the order of graph pairs (0,1), (0,2), ..., (1,2), ...)
	Steps             int64       // of Occam: rounds; of Anneal: restarts
}

// Run searches. The result is the same, to the last bit, for any number of workers. Errors: options out of range, more variables or
// memory than a method can do, a context that ends.
func Run(ctx context.Context, scores *bayes.Scores, o Options) (*Result, error) {
	return run(ctx, scores, o)
}
