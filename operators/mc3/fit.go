package mc3

import (
	"context"
	"fmt"
	"math"
	"strings"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/effects"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/bayes/search"
	"microrisk/engine/contingency"
	"microrisk/engine/graph"
	"microrisk/operators"
	"microrisk/operators/known"
	"microrisk/schemas/advice"
)

// choiceMemory is what the default search may take where nobody has said how much there is: the same on every machine.
const choiceMemory = 4 << 30

// searchOptions are what the spec says of the search, in the engine's words.
func (b *bound) searchOptions(env operators.Env) (search.Options, error) {
	c := &b.Config
	o := search.Options{Method: search.Method(c.Search), Penalty: c.EdgePenalty, Weights: c.Weights, Moves: c.Moves, Schedule: c.Schedule,
		Directions: c.Directions, Razor: c.Razor, Seed: env.Seed, Workers: env.Workers, Memory: env.Budget.Bytes, Burn: c.BurnIn}
	if !env.MemoryGiven && env.Budget.Bytes > 0 {
		o.Choice = choiceMemory
	}
	for _, n := range []struct{ from, to *int }{{c.Iterations, &o.Iterations}, {c.Thinning, &o.Thin}, {c.Chains, &o.Chains},
		{c.Temperatures, &o.Rungs}, {c.Restarts, &o.Restarts}, {c.Draws, &o.Draws}} {
		if n.from != nil {
			*n.to = *n.from
		}
	}
	if c.Window != nil {
		o.Window = *c.Window
	}
	switch {
	case o.Method != search.Fixed:
	case c.Graph == GraphIndependence:
		o.Graph = graph.New(len(b.Counted.Variables))
	case c.Graph == GraphSaturated:
		o.Graph = graph.Complete(len(b.Counted.Variables))
	default:
		g, err := graph.Parse(c.Graph, b.names())
		if err != nil {
			return o, fmt.Errorf("%s: %w", b.Prefix, err)
		}
		o.Graph = g
	}
	return o, nil
}

func (b *bound) riskOptions(env operators.Env, u float64) risk.Options {
	o := risk.Options{Estimator: risk.Estimator(b.Config.Estimator), Unsampled: u, SetMatch: b.Config.SetMatch, Seed: env.Seed, Workers: env.Workers,
		Progress: func(done, total int64) { env.Progress("measuring", done, total) }}
	if b.Config.PosteriorDraws != nil {
		o.Draws = *b.Config.PosteriorDraws
	}
	if b.Config.CellDraws != nil {
		o.PUDraws = *b.Config.CellDraws
	}
	return o
}

// A fittedLaw is a law at one prior precision, and what it says of the sample.
type fittedLaw struct {
	precision  float64
	found      *search.Result // nil for a law that was read
	law        *risk.Law
	cells      *risk.Cells
	file       *risk.File
	effects    *effects.Fit // of cells; nil: they have none
	evidence   float64      // log of the sample's probability, averaged over the models that were found
	predictive float64      // sum over records of log E[pi] of their cells, each without the record
	factor     float64      // on what cells should have
	people     []float64    // that cells should have, where they have effects or are anchored
	measures   *effects.Measures
	intervals  []Interval
	known      *known.Summary
	halves     *Halves
}

// fit searches for models and measures the classes of the key by them.
func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	if b.each {
		return b.fitEach(ctx, tables, env)
	}
	f, err := b.fitTable(ctx, tables[0], env)
	if err != nil {
		return nil, err
	}
	f.Columns = f.columns()
	if err := f.divide(ctx, tables, env); err != nil {
		return nil, err
	}
	return f, nil
}

// fitTable searches for models and measures the classes of the table by them.
func (b *bound) fitTable(ctx context.Context, t *contingency.Table, env operators.Env) (*fitted, error) {
	sample, err := operators.SampleOf(b.Sampling, t, b.drop) // what is wrong with the sampling is told before the search
	if err != nil {
		return nil, err
	}
	fraction := sample.Fraction
	if err := b.fits(t, env); err != nil {
		return nil, err
	}
	if err := b.oneFraction(t); err != nil {
		return nil, err
	}
	d, err := bayes.NewData(t, b.drop)
	if err != nil {
		return nil, err
	}
	operators.KeyNotes(env, t, b.Sampling)
	if d.Records == 0 {
		env.Warn("%s: no record was counted: the input has none, none was chosen, or all were dropped", b.Prefix)
	}
	o := b.riskOptions(env, sample.Unsampled())
	if o.Estimator == risk.Gamma && fraction > 0 && fraction < smallFraction {
		env.Warn("%s: at so small a sampling fraction the gamma step overestimates the risk, the more so the smaller it is: take %s", b.Prefix,
			advice.Advice{Spec: "estimator: exact", Flags: "--estimator exact"})
	}
	bounds, err := b.bounds(ctx, t, d, env)
	if err != nil {
		return nil, err
	}
	var laws []*fittedLaw
	if b.Model != nil {
		if d, err = b.asModelled(t, d); err != nil {
			return nil, err
		}
		laws = append(laws, &fittedLaw{precision: b.law.Precision, law: b.law})
	} else if laws, err = b.search(ctx, d, env); err != nil {
		return nil, err
	}
	if laws, err = b.choose(ctx, laws, d, o); err != nil {
		return nil, err
	}
	for _, l := range laws {
		env.Progress("measuring", 0, 1)
		if l.cells, err = l.law.Cells(ctx, d, o); err != nil {
			return nil, err
		}
		own := o
		if b.adjusts() {
			if own, err = b.adjust(ctx, l, d, o, env); err != nil {
				return nil, err
			}
		}
		if bounds != nil {
			if own, err = b.narrow(ctx, l, d, bounds, own, env); err != nil {
				return nil, err
			}
		}
		if l.file, err = l.law.File(ctx, d, l.cells, own); err != nil {
			return nil, err
		}
		if own.Adjusted && b.Config.Anchor == "" && bounds == nil {
			l.together(d)
		}
	}
	if b.halved() {
		if laws[0].halves, err = b.halve(ctx, laws[0], d, o, env); err != nil {
			return nil, err
		}
	}
	if laws[0].intervals, err = laws[0].uncertain(ctx, d, o); err != nil {
		return nil, err
	}
	f := &fitted{bound: b, count: make([]int64, t.Classes())}
	for i, n := range d.Counts {
		f.count[d.ClassOf(i)] = n
	}
	cells := laws[0].cells
	for _, values := range [][]float64{cells.CorrectMatch, cells.PopulationUnique, cells.ExpectedFrequency} {
		f.values = append(f.values, spread(d, t.Classes(), values))
	}
	if b.Config.SetMatch {
		f.values = append(f.values, spread(d, t.Classes(), cells.SetMatch))
	}
	s := &summarizer{bound: b, table: t, data: d, laws: laws, sample: sample, options: o, env: env}
	if b.weighed() {
		s.weights = t
	}
	if f.summary, err = s.summarise(ctx); err != nil {
		return nil, err
	}
	f.model = b.saved(t, laws[0])
	f.expectation = &Expectation{Data: d, Law: laws[0].law, Cells: cells, File: laws[0].file, options: o, people: laws[0].people, effects: laws[0].measures,
		Halves: laws[0].halves, known: bounds != nil}
	return f, nil
}

// search fits a law for each prior precision.
func (b *bound) search(ctx context.Context, d *bayes.Data, env operators.Env) ([]*fittedLaw, error) {
	o, err := b.searchOptions(env)
	if err != nil {
		return nil, err
	}
	o.Progress = func(done, total int64) { env.Progress("searching models", done, total) }
	var laws []*fittedLaw
	for _, precision := range b.Config.Precisions() {
		scores, err := bayes.NewScores(d, precision)
		if err != nil {
			return nil, err
		}
		env.Progress("searching models", 0, 1)
		found, err := search.Run(ctx, scores, o)
		if err != nil {
			return nil, err
		}
		b.doubt(found, env)
		law, err := risk.NewLaw(ctx, d, precision, found.Models, env.Workers)
		if err != nil {
			return nil, err
		}
		laws = append(laws, &fittedLaw{precision: precision, found: found, law: law})
	}
	return laws, nil
}

// smallFraction is the sampling fraction below which the gamma step is off by more than a few percent.
const smallFraction = 0.0005

// doubt warns of chains that do not agree.
func (b *bound) doubt(found *search.Result, env operators.Env) {
	if found.Method != search.MC3 {
		return
	}
	doubts := found.Diagnostics.Doubts(b.Config.Weights)
	if len(doubts) == 0 {
		return
	}
	edge := ""
	if w := found.Diagnostics.Worst; w != nil {
		names := b.names()
		edge = fmt.Sprintf(", worst for the edge %s - %s", names[w.Edge[0]], names[w.Edge[1]])
	}
	env.Warn("%s: the chains have not converged (%s%s): take more iterations, chains or temperatures, fewer key variables, or %s up to %d of them",
		b.Prefix, strings.Join(doubts, "; "), edge, advice.Advice{Spec: "search: exact", Flags: "--search exact"}, MaxExactVariables)
}

// fits tells whether the table and what is made of it go into the memory that is allowed.
func (b *bound) fits(t *contingency.Table, env operators.Env) error {
	classes, variables := int64(t.Classes()), int64(len(t.Variables))
	needs := classes * (8*variables + 96) // codes, those of a half, too; counts, measures and room for work
	if !t.OnDisk() {
		needs += t.Bytes()
	}
	return env.InMemory(t, fmt.Sprintf("fitting models to %d key combinations", classes), needs, operators.FewerVariables, operators.FrequenciesOnly)
}

// spread gives the values of cells to the classes of the table, NaN to those that are dropped.
func spread(d *bayes.Data, classes int, values []float64) []float64 {
	if d.Class == nil {
		return values
	}
	all := make([]float64, classes)
	for i := range all {
		all[i] = math.NaN()
	}
	for i, c := range d.Class {
		all[c] = values[i]
	}
	return all
}
