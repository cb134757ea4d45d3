package schemas

import (
	"fmt"
	"math"
	"slices"
)

// MaxExactVariables is the most key variables that the exact search takes, memory permitting.
const MaxExactVariables = 18

func (v *validator) mc3(path string, m *MC3, spec *Spec) {
	key := v.measure(path, "mc3", m.Prefix, m.Key, m.Missing, spec)
	v.categoryOrDrop(path, "mc3", m.Missing, key)
	if spec.Sampling == nil {
		v.add(path, "mc3 needs the size of the population: add sampling with fraction, population_size or weight")
	}
	seen := map[float64]bool{}
	for i, p := range m.PriorPrecision {
		at := path + ".prior_precision"
		if len(m.PriorPrecision) > 1 {
			at = fmt.Sprintf("%s[%d]", at, i)
		}
		switch {
		case !(p > 0) || math.IsInf(p, 0):
			v.add(at, "prior_precision is %v; it must be a finite number above 0, such as 1", p)
		case seen[p]:
			v.add(at, "prior_precision %v is listed twice", p)
		}
		seen[p] = true
	}
	if m.PriorPrecision != nil && len(m.PriorPrecision) == 0 {
		v.add(path+".prior_precision", "prior_precision is an empty list; give one number or several, such as 1")
	}
	v.oneOf(path+".search", "search", m.Search, Searches)
	v.oneOf(path+".weights", "weights", m.Weights, ModelWeights)
	v.oneOf(path+".moves", "moves", m.Moves, GraphMoves)
	v.oneOf(path+".schedule", "schedule", m.Schedule, Schedules)
	v.oneOf(path+".directions", "directions", m.Directions, WindowDirections)
	v.oneOf(path+".estimator", "estimator", m.Estimator, Estimators)
	if !(m.EdgePenalty >= 0) || math.IsInf(m.EdgePenalty, 0) {
		v.add(path+".edge_penalty", "edge_penalty is %v; it must be a finite number of at least 0", m.EdgePenalty)
	}
	if w := m.Window; w != nil && !(*w > 0 && *w < 1) {
		v.add(path+".window", "window is %v; it must be between 0 and 1, such as 0.01: models less probable than this part of the best are dropped", *w)
	}
	v.mc3Numbers(path, m)
	v.mc3Belongs(path, m)
	if key == nil {
		return
	}
	if m.Search == "exact" && len(key.Variables) > MaxExactVariables && len(key.Variables) <= MaxKeyVariables {
		v.add(path+".search", "the exact search takes at most %d key variables, the key has %d; take search: mc3, anneal or occam", MaxExactVariables, len(key.Variables))
	}
	for i, name := range m.Ordinal {
		if !slices.ContainsFunc(key.Variables, func(k KeyVariable) bool { return k.Name == name }) {
			v.add(fmt.Sprintf("%s.ordinal[%d]", path, i), "%s is not in the key; ordinal lists key variables whose categories have an order", name)
		}
	}
	v.twice(path+".ordinal", m.Ordinal)
}

// categoryOrDrop finds missing-value policies that an operator of equivalence classes does not know.
func (v *validator) categoryOrDrop(path, name, own string, key *Key) {
	takes := []string{"", MissingCategory, MissingDrop}
	if own != "" {
		if !slices.Contains(takes, own) && slices.Contains(MissingPolicies, own) {
			v.add(path+".missing", "%s takes missing values as a category or drops them, not %q; write missing: category or missing: drop", name, own)
		}
		return
	}
	if key == nil {
		return
	}
	for _, k := range key.Variables {
		if policy := policyOf(key, k); !slices.Contains(takes, policy) && slices.Contains(MissingPolicies, policy) {
			v.add(path, "the missing-value policy of %s is %s, which %s does not know; give %s a policy of its own, missing: category or missing: drop", k.Name, policy, name, name)
			return
		}
	}
}

// policyOf is the missing-value policy that a key says for a variable, "" for none.
func policyOf(key *Key, k KeyVariable) string {
	if k.Missing != "" {
		return k.Missing
	}
	return key.Missing
}

func (v *validator) mc3Numbers(path string, m *MC3) {
	for _, n := range []struct {
		name        string
		value       *int
		least, most int
		advice      string
	}{
		{"burn_in", m.BurnIn, 0, 1e9, "10000"}, {"iterations", m.Iterations, 1, 2e9, "1000000"}, {"thinning", m.Thinning, 1, 1e9, "100"},
		{"chains", m.Chains, 1, 1000, "4"}, {"temperatures", m.Temperatures, 1, 64, "12"}, {"restarts", m.Restarts, 1, 100000, "10"},
		{"draws", m.Draws, 1, 1e8, "10000"}, {"posterior_draws", m.PosteriorDraws, 2, 1e7, "1000"}, {"cell_draws", m.CellDraws, 2, 1e9, "20000"},
	} {
		if n.value != nil && (*n.value < n.least || *n.value > n.most) {
			v.add(path+"."+n.name, "%s is %d; it must be from %d to %d, such as %s", n.name, *n.value, n.least, n.most, n.advice)
		}
	}
	if m.Iterations != nil && m.Thinning != nil && *m.Thinning > *m.Iterations && *m.Iterations > 0 {
		v.add(path+".thinning", "thinning is %d, iterations are %d; at least one state must be kept", *m.Thinning, *m.Iterations)
	}
}

// mc3Belongs refuses settings that the search or the estimator would not look at.
func (v *validator) mc3Belongs(path string, m *MC3) {
	only := func(set bool, name, what, value, wanted string) {
		switch {
		case !set || value == wanted:
		case value == "":
			v.add(path+"."+name, "%s belongs to %s: %s; add that", name, what, wanted)
		default:
			v.add(path+"."+name, "%s belongs to %s: %s, and the %s is %s", name, what, wanted, what, value)
		}
	}
	only(m.BurnIn != nil, "burn_in", "search", m.Search, "mc3")
	only(m.Iterations != nil, "iterations", "search", m.Search, "mc3")
	only(m.Thinning != nil, "thinning", "search", m.Search, "mc3")
	only(m.Chains != nil, "chains", "search", m.Search, "mc3")
	only(m.Temperatures != nil, "temperatures", "search", m.Search, "mc3")
	only(m.Moves != "", "moves", "search", m.Search, "mc3")
	only(m.Weights == "visits", "weights", "search", m.Search, "mc3")
	only(m.Schedule != "", "schedule", "search", m.Search, "anneal")
	only(m.Restarts != nil, "restarts", "search", m.Search, "anneal")
	only(m.Window != nil, "window", "search", m.Search, "occam")
	only(m.Directions != "", "directions", "search", m.Search, "occam")
	only(m.Razor, "razor", "search", m.Search, "occam")
	only(m.Draws != nil, "draws", "search", m.Search, "exact")
	only(m.Graph != "", "graph", "search", m.Search, "fixed")
	only(m.PosteriorDraws != nil, "posterior_draws", "estimator", m.Estimator, "montecarlo")
	if m.Search == "fixed" && m.Graph == "" {
		v.add(path+".search", "search: fixed has no graph; add graph: independence, saturated, or cliques such as \"[AGE SEX][SEX REGION]\"")
	}
	if m.Ordinal != nil && !m.RelativeRisk {
		v.add(path+".ordinal", "ordinal belongs to relative_risk; add relative_risk: true")
	}
	if m.SetMatch && m.Estimator != "poisson" {
		v.add(path+".set_match", "set_match is the chance that the thesis prints, of its own estimator; add estimator: poisson")
	}
	if m.ModelIn == "" {
		return
	}
	if m.Search != "" || m.Weights != "" || m.EdgePenalty != 0 || m.PriorPrecision != nil || m.ModelOut != "" {
		v.add(path+".model_in", "a model that is read is not fitted: leave out search, weights, edge_penalty, prior_precision and model_out")
	}
}
