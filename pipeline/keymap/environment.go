// Package keymap finds which variables of a dataset could be matched on, from a repository of what forms ask.
package keymap

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
)

// An Environment holds the categorizations of all forms of a repository, variable by variable as they are asked for.
type Environment struct {
	*repository.Repository
	Lenient bool // categories that overlap are merged, and those that leave something out are taken as they are
	Limits  keymap.Limits
	Plain   bool // no harmonizations are needed: variables have none, and no codes of any

	mu        sync.Mutex
	variables map[string]*Variable
}

// New is the environment of a repository. Limits of no nodes are those of the repository, or the default.
func New(r *repository.Repository, lenient bool, limits keymap.Limits) *Environment {
	if limits.Nodes == 0 {
		limits.Nodes = r.Config.MaxNodes
	}
	if limits.Nodes == 0 {
		limits.Nodes = keymap.MaxNodes
	}
	return &Environment{Repository: r, Lenient: lenient, Limits: limits, variables: make(map[string]*Variable)}
}

// A Variable is what all forms of a repository have of one.
type Variable struct {
	*repository.Variable
	Graph    *keymap.Graph
	Forms    map[string]keymap.Partition     // by name of form; of inconsistent ones in a lenient environment alone
	Wrong    map[string]*keymap.InvalidError // by name of form: those that are inconsistent
	Observed []keymap.Partition              // distinct ones, in the order of their first form by name
	Closure  []keymap.Partition              // all harmonizations of those observed
	Codes    map[keymap.Partition]string     // of Closure
	observed map[keymap.Partition]bool
	bands    map[string]keymap.Band // of an interval variable
	places   map[string]float64     // of smallest categories in its order
	labels   map[string]string
}

// Variable gathers what forms have of a variable.
func (e *Environment) Variable(ctx context.Context, name string) (*Variable, error) {
	e.mu.Lock()
	v, ok := e.variables[name]
	e.mu.Unlock()
	if ok {
		return v, nil
	}
	doc := e.Repository.Variable(name)
	if doc == nil {
		return nil, e.Unknown(repository.Variables, name)
	}
	v = &Variable{Variable: doc, Graph: e.Graph(name), Forms: make(map[string]keymap.Partition), Wrong: make(map[string]*keymap.InvalidError),
		observed: make(map[keymap.Partition]bool), bands: e.Bands(name)}
	v.arrange()
	if err := e.gather(ctx, v); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.variables[name] = v
	e.mu.Unlock()
	return v, nil
}

func (e *Environment) gather(ctx context.Context, v *Variable) error {
	type judged struct {
		p     keymap.Partition
		wrong *keymap.InvalidError
	}
	known := make(map[string]judged)
	for _, f := range e.Repository.Forms {
		x, holds := f.Instance(v.Name)
		if !holds {
			continue
		}
		text := strings.Join(x.Categories, ",")
		j, ok := known[text]
		if !ok {
			if len(x.Categories) > 0 {
				j.wrong = v.Graph.Check(x.Categories)
			}
			j.p = v.Graph.Lenient(x.Categories)
			known[text] = j
		}
		if j.wrong != nil {
			v.Wrong[f.Name] = j.wrong
			if !e.Lenient {
				continue
			}
		}
		v.Forms[f.Name] = j.p
		if !v.observed[j.p] {
			v.observed[j.p] = true
			v.Observed = append(v.Observed, j.p)
		}
	}
	if !e.Plain {
		var err error
		if v.Closure, err = keymap.Closure(ctx, v.Name, v.Observed, e.Limits); err != nil {
			return err
		}
	}
	given, err := e.GivenCodes(v.Variable)
	if err != nil {
		return err
	}
	var generated []keymap.Partition
	for _, p := range v.Closure {
		if !v.observed[p] {
			generated = append(generated, p)
		}
	}
	v.Codes = v.Graph.Codes(given, v.Observed, generated)
	return nil
}

// each calls do for every variable of a list, several at once.
func (e *Environment) each(ctx context.Context, names []string, do func(ctx context.Context, i int, v *Variable) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			v, err := e.Variable(ctx, name)
			if err != nil {
				return err
			}
			return do(ctx, i, v)
		})
	}
	return g.Wait()
}

// Levels is what a variable of arbitrary precision counts for: what is assumed, or its smallest categories.
func (v *Variable) Levels() int {
	if v.AssumedLevels != nil {
		return *v.AssumedLevels
	}
	return len(v.Graph.Sinks())
}

// Blocks are the categories of a harmonization, in the order of the variable: of its bands, of sink_order, or of its file. Each has the label
// of a category that is just that, or else those of its smallest ones; a band has its bounds.
func (v *Variable) Blocks(p keymap.Partition) []Block {
	sinks := v.Graph.Sinks()
	var blocks []Block
	for _, positions := range p.Blocks() {
		b := Block{at: positions[0]}
		reach := make([]int32, len(positions))
		for i, s := range positions {
			reach[i] = int32(s)
		}
		slices.SortFunc(positions, func(x, y int) int {
			return cmp.Or(cmp.Compare(v.place(sinks[x]), v.place(sinks[y])), cmp.Compare(x, y))
		})
		var labels []string
		for _, s := range positions {
			b.Sinks = append(b.Sinks, sinks[s])
			labels = append(labels, v.Label(sinks[s]))
		}
		first, last := b.Sinks[0], b.Sinks[len(b.Sinks)-1]
		if same := v.Graph.Of(reach); same != nil {
			b.ID, b.Label = same[0], v.Label(same[0])
		} else if v.bands != nil {
			b.Label = keymap.Band{Lo: v.bands[first].Lo, Hi: v.bands[last].Hi}.ID()
		} else {
			b.Label = strings.Join(labels, " | ")
		}
		blocks = append(blocks, b)
	}
	slices.SortFunc(blocks, func(x, y Block) int {
		return cmp.Or(cmp.Compare(v.place(x.Sinks[0]), v.place(y.Sinks[0])), cmp.Compare(x.Sinks[0], y.Sinks[0]))
	})
	return blocks
}

// arrange says in which order the smallest categories are, and what people read of all.
func (v *Variable) arrange() {
	v.places, v.labels = make(map[string]float64, len(v.Nodes)), make(map[string]string, len(v.Nodes))
	for i, n := range v.Nodes {
		v.places[n.ID], v.labels[n.ID] = float64(i), cmp.Or(n.Label, n.ID)
	}
	for i, id := range v.SinkOrder {
		v.places[id] = float64(i)
	}
	for id, b := range v.bands {
		v.places[id] = b.Lo
	}
}

// Label is what people read of a category.
func (v *Variable) Label(id string) string { return cmp.Or(v.labels[id], id) }

// place orders the smallest categories.
func (v *Variable) place(sink string) float64 { return v.places[sink] }

// A Block is a category of a harmonization.
type Block struct {
	ID    string // of the category that is just this; "" if none is
	Label string
	Sinks []string // ids, in the order of the variable
	at    int      // position of a sink in it
}
