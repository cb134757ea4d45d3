package search

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"microrisk/engine/bayes"
)

// filled is the options with defaults for zero values, or an error that says which value is out of range and what would be right.
func (o Options) filled(scores *bayes.Scores) (Options, error) {
	for _, c := range []struct {
		what, value string
		known       []string
	}{
		{"search", string(o.Method), []string{string(Exact), string(MC3), string(Anneal), string(Occam), string(Fixed)}},
		{"weights", o.Weights, []string{ByLikelihood, ByVisits}},
		{"moves", o.Moves, []string{EdgeMoves, EdgesMoves, CliqueMoves}},
		{"schedule", o.Schedule, []string{SweepSchedule, ThesisSchedule}},
		{"directions", o.Directions, []string{Up, Both}},
	} {
		if c.value != "" && !slices.Contains(c.known, c.value) {
			return o, fmt.Errorf("unknown %s %q: it must be one of %s", c.what, c.value, strings.Join(c.known, ", "))
		}
	}
	if !(o.Penalty >= 0) || math.IsInf(o.Penalty, 1) {
		return o, fmt.Errorf("the edge penalty is %v: it must be a number of at least 0", o.Penalty)
	}
	if o.Weights == ByVisits && o.Method != MC3 {
		return o, fmt.Errorf("weights %q need the search %q: the others weigh models by %q", ByVisits, MC3, ByLikelihood)
	}
	if o.Window != 0 && !(o.Window > 0 && o.Window < 1) {
		return o, fmt.Errorf("the window is %v: it must be between 0 and 1", o.Window)
	}
	if o.Memory < 0 {
		return o, fmt.Errorf("the memory is %d bytes: it must be at least 0, which is no limit", o.Memory)
	}
	if o.Choice < 0 {
		return o, fmt.Errorf("the memory to choose by is %d bytes: it must be at least 0", o.Choice)
	}
	if err := o.checkNumbers(); err != nil {
		return o, err
	}
	if err := o.checkGraph(scores); err != nil {
		return o, err
	}
	return o.defaults(), nil
}

func (o Options) checkNumbers() error {
	for _, c := range []struct {
		what  string
		value int
		most  int
	}{
		{"number of iterations", o.Iterations, math.MaxInt32},
		{"thinning", o.Thin, math.MaxInt32},
		{"number of chains", o.Chains, 1024},
		{"number of temperatures (rungs)", o.Rungs, 64},
		{"number of restarts", o.Restarts, 1_000_000},
		{"number of draws", o.Draws, math.MaxInt32},
	} {
		if c.value < 0 || c.value > c.most {
			return fmt.Errorf("the %s is %d: it must be between 1 and %d, or 0 for the default", c.what, c.value, c.most)
		}
	}
	if b := o.Burn; b != nil && (*b < 0 || *b > math.MaxInt32) {
		return fmt.Errorf("the burn-in is %d: it must be between 0 and %d", *b, math.MaxInt32)
	}
	if d := o.defaults(); d.Thin > d.Iterations {
		return fmt.Errorf("the thinning is %d of %d iterations: it must be no more than these", d.Thin, d.Iterations)
	}
	return nil
}

// checkGraph looks at the graph of Fixed; other methods must not have one.
func (o Options) checkGraph(scores *bayes.Scores) error {
	switch k := scores.Data().Variables(); {
	case o.Method != Fixed && o.Graph != nil:
		return fmt.Errorf("a graph was given, but the search %q finds its own: only %q takes one", o.Method, Fixed)
	case o.Method != Fixed:
		return nil
	case o.Graph == nil:
		return fmt.Errorf("the search %q needs a graph", Fixed)
	case o.Graph.Len() != k:
		return fmt.Errorf("the graph has %d vertices, there are %d key variables", o.Graph.Len(), k)
	}
	if s := newSpace(scores, 0).fromGraph(o.Graph); !s.chordal() {
		return fmt.Errorf("the graph is not decomposable: it has a cycle of four or more variables without a chord")
	}
	return nil
}

// defaultRungs is the number of temperatures: without them chains stay where they are, all of them and without a sign of it.
const defaultRungs = 12

func (o Options) defaults() Options {
	set := func(value *int, to int) {
		if *value == 0 {
			*value = to
		}
	}
	name := func(value *string, to string) {
		if *value == "" {
			*value = to
		}
	}
	if o.Burn == nil {
		o.Burn = new(10_000)
	}
	set(&o.Iterations, 1_000_000)
	set(&o.Thin, min(100, o.Iterations))
	set(&o.Chains, 4)
	set(&o.Restarts, 10)
	set(&o.Draws, 10_000)
	if o.Method == MC3 {
		set(&o.Rungs, defaultRungs)
	}
	name(&o.Weights, ByLikelihood)
	name(&o.Moves, EdgeMoves)
	name(&o.Schedule, SweepSchedule)
	name(&o.Directions, Up)
	if o.Window == 0 {
		o.Window = 0.01
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}
