package schemas

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

func mc3Fields(m *MC3) []field {
	return []field{
		{"prefix", text("prefix", &m.Prefix)},
		{"key", ownKey(&m.Key)},
		{"missing", text("missing", &m.Missing)},
		{"prior_precision", numbers("prior_precision", &m.PriorPrecision)},
		{"search", text("search", &m.Search)},
		{"weights", text("weights", &m.Weights)},
		{"edge_penalty", number("edge_penalty", &m.EdgePenalty)},
		{"burn_in", whole("burn_in", &m.BurnIn)},
		{"iterations", whole("iterations", &m.Iterations)},
		{"thinning", whole("thinning", &m.Thinning)},
		{"chains", whole("chains", &m.Chains)},
		{"temperatures", whole("temperatures", &m.Temperatures)},
		{"moves", text("moves", &m.Moves)},
		{"schedule", text("schedule", &m.Schedule)},
		{"restarts", whole("restarts", &m.Restarts)},
		{"window", optionalNumber("window", &m.Window)},
		{"directions", text("directions", &m.Directions)},
		{"razor", boolean("razor", &m.Razor)},
		{"draws", whole("draws", &m.Draws)},
		{"graph", text("graph", &m.Graph)},
		{"estimator", text("estimator", &m.Estimator)},
		{"posterior_draws", whole("posterior_draws", &m.PosteriorDraws)},
		{"cell_draws", whole("cell_draws", &m.CellDraws)},
		{"set_match", boolean("set_match", &m.SetMatch)},
		{"baselines", boolean("baselines", &m.Baselines)},
		{"relative_risk", boolean("relative_risk", &m.RelativeRisk)},
		{"ordinal", texts("ordinal", &m.Ordinal)},
		{"model_out", text("model_out", &m.ModelOut)},
		{"model_in", text("model_in", &m.ModelIn)},
		{"replace", boolean("replace", &m.Replace)},
	}
}

// numbers reads a number or a list of them.
func numbers(what string, to *[]float64) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		if _, ok := scalarText(n); ok {
			*to = []float64{d.number(n, path, what)}
			return
		}
		*to = []float64{}
		d.items(n, path, what, func(_ int, item ast.Node, at string) {
			*to = append(*to, d.number(item, at, "a value of "+what))
		})
	}
}

// whole reads a whole number that is told from one that is not given.
func whole(what string, to **int) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		v := d.integer(n, path, what)
		if int64(int32(v)) != v {
			d.problemAt(path, fmt.Sprintf("%s is %d; that is more than can be done", what, v))
			v = 1
		}
		i := int(v)
		*to = &i
	}
}
