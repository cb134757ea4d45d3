package mc3

import (
	"fmt"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/effects"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/engine/graph"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// saved is a fitted law as it goes to a file.
func (b *bound) saved(t *contingency.Table, l *fittedLaw) *Model {
	if b.Model != nil {
		return b.Model
	}
	m := &Model{Version: schemas.Version, PriorPrecision: l.precision, Records: l.law.Records, Search: string(l.found.Method)}
	if b.effects() == EffectsLognormal {
		m.Sigma = new(float64)
		if l.effects != nil {
			*m.Sigma = l.effects.Sigma
		}
	}
	for v, variable := range t.Variables {
		categories := variable.Categories
		if categories == nil {
			categories = []string{}
		}
		m.Variables = append(
			m.Variables,
			ModelVariable{Name: variable.Name, Categories: categories, Missing: l.law.Levels[v] > len(categories) && len(categories) > 0},
		)
	}
	for _, model := range l.law.Models {
		edges := model.Graph.Edges()
		if edges == nil {
			edges = [][2]int{}
		}
		m.Graphs = append(m.Graphs, ModelGraph{Edges: edges, LogLikelihood: model.LogLikelihood, Weight: model.Weight})
	}
	for _, margin := range l.law.Margins {
		m.Margins = append(
			m.Margins,
			ModelMargin{Variables: slices.AppendSeq([]int{}, margin.Variables.Vertices()), Codes: margin.Codes, Counts: margin.Counts},
		)
	}
	return m
}

// openModel makes a law of a saved model, and checks that it is one of the key.
func (b *bound) openModel() error {
	m, from := b.Model, b.Config.ModelIn
	var names []string
	for _, v := range m.Variables {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, b.names()) {
		return fmt.Errorf("%s: the model %s has the key %v, this one is %v: they must be the same, in the same order", b.Prefix, from, names, b.names())
	}
	switch s := m.Sigma; {
	case s == nil && b.Config.Effects == EffectsLognormal:
		return fmt.Errorf("%s: the model %s was saved without effects of cells, and they are asked for: save it with effects: lognormal, or take effects: none",
			b.Prefix, from)
	case s != nil && !(*s >= 0 && *s <= effects.LargestSigma):
		return fmt.Errorf("%s: the model %s has a sigma of %v; it must be from 0 to %d", b.Prefix, from, *s, effects.LargestSigma)
	}
	law := &risk.Law{Records: m.Records, Precision: m.PriorPrecision}
	for _, v := range m.Variables {
		levels := len(v.Categories)
		if v.Missing {
			levels++
		}
		law.Levels = append(law.Levels, max(1, levels))
	}
	for i, g := range m.Graphs {
		for _, e := range g.Edges {
			if e[0] < 0 || e[1] < 0 || e[0] >= len(names) || e[1] >= len(names) || e[0] == e[1] {
				return fmt.Errorf(
					"%s: the model %s: graph %d has an edge between variables %d and %d, there are %d",
					b.Prefix,
					from,
					i+1,
					e[0],
					e[1],
					len(names),
				)
			}
		}
		law.Models = append(law.Models, bayes.Model{Graph: graph.FromEdges(len(names), g.Edges), LogLikelihood: g.LogLikelihood, Weight: g.Weight})
	}
	for i, margin := range m.Margins {
		var set graph.Set
		for j, v := range margin.Variables {
			if v < 0 || v >= len(names) || j > 0 && v <= margin.Variables[j-1] {
				return fmt.Errorf("%s: the model %s: the variables of margin %d are not ascending positions in the key", b.Prefix, from, i+1)
			}
			set = set.With(v)
		}
		law.Margins = append(law.Margins, risk.Margin{Variables: set, Codes: margin.Codes, Counts: margin.Counts})
	}
	if err := law.Check(); err != nil {
		return advice.Errorf("%s: the model %s: %w", b.Prefix, from, err)
	}
	b.law = law
	return nil
}

// asModelled gives the cells of a sample the codes that the categories have in the model. A category that the model does not know
// has no probability there, and is an error.
func (b *bound) asModelled(t *contingency.Table, d *bayes.Data) (*bayes.Data, error) {
	out := *d
	out.Levels = b.law.Levels
	out.Codes = make([][]uint32, len(d.Codes))
	for v, variable := range t.Variables {
		known := b.Model.Variables[v]
		to := make([]int, len(variable.Categories)+1)
		at := map[string]int{}
		for i, name := range known.Categories {
			at[name] = i
		}
		for c, name := range variable.Categories {
			to[c] = -1
			if i, ok := at[name]; ok {
				to[c] = i
			}
		}
		to[len(variable.Categories)] = -1
		if known.Missing && b.drop[v] {
			return nil, fmt.Errorf(
				"the model %s has missing values of %s as a category, and here their records are dropped: take missing: category, or fit a model without them",
				b.Config.ModelIn,
				variable.Name,
			)
		}
		if known.Missing {
			to[len(variable.Categories)] = len(known.Categories)
		}
		out.Codes[v] = make([]uint32, len(d.Codes[v]))
		for i, c := range d.Codes[v] {
			switch {
			case to[c] >= 0:
				out.Codes[v][i] = uint32(to[c])
			case int(c) < len(variable.Categories):
				return nil, schemas.Contradiction(
					"model_in",
					variable.Name,
					"the model %s does not know the category %q of %s: declare the levels of %s when the model is fitted, or recode",
					b.Config.ModelIn,
					variable.Categories[c],
					variable.Name,
					variable.Name,
				)
			default:
				return nil, schemas.Contradiction(
					"model_in",
					variable.Name,
					"the model %s was fitted to records that all have a value of %s: take missing: drop, or fit it to records with missing values",
					b.Config.ModelIn,
					variable.Name,
				)
			}
		}
	}
	return &out, nil
}
