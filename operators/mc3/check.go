package mc3

import (
	"fmt"
	"slices"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// MaxExactVariables is the most key variables that the exact search takes, memory permitting.
const MaxExactVariables = 18

// Check tells what the field table cannot.
func (m *Config) Check(k *schemas.Checker, path string, spec *schemas.Spec) {
	key := spec.KeyOf(m)
	k.CategoryOrDrop(path, Name, m.Missing, key)
	if spec.Sampling == nil {
		k.Add(path, "mc3 needs the size of the population: add %s",
			advice.Advice{Spec: "sampling with fraction, population_size or weight", Flags: "--fraction, --population-size or --weight"})
	}
	if m.PriorPrecision != nil && len(m.PriorPrecision) == 0 {
		k.Add(path+".prior_precision", "prior_precision is an empty list; give one number or several, such as 1")
	}
	if m.Iterations != nil && m.Thinning != nil && *m.Thinning > *m.Iterations && *m.Iterations > 0 {
		k.Add(path+".thinning", "thinning is %d, iterations are %d; at least one state must be kept", *m.Thinning, *m.Iterations)
	}
	m.belongs(k, path)
	if key == nil {
		return
	}
	if m.Search == "exact" && len(key.Variables) > MaxExactVariables && len(key.Variables) <= schemas.MaxKeyVariables {
		k.Add(
			path+".search",
			"the exact search takes at most %d key variables, the key has %d; take search: mc3, anneal or occam",
			MaxExactVariables,
			len(key.Variables),
		)
	}
	for i, name := range m.Ordinal {
		if !slices.ContainsFunc(key.Variables, func(v schemas.KeyVariable) bool { return v.Name == name }) {
			k.Add(fmt.Sprintf("%s.ordinal[%d]", path, i), "%s is not in the key; ordinal lists key variables whose categories have an order", name)
		}
	}
}

// belongs refuses settings that the search or the estimator would not look at.
func (m *Config) belongs(k *schemas.Checker, path string) {
	t := m.Fields()
	of := func(name string) advice.Advice { return t.Advice("", name, "") }
	only := func(set bool, name, what, value, wanted string) {
		switch {
		case !set || value == wanted:
		case value == "":
			k.Add(path+"."+name, "%s belongs to %s; add that", of(name), t.Saying(what, wanted))
		default:
			k.Add(path+"."+name, "%s belongs to %s, and the %s is %s", of(name), t.Saying(what, wanted), what, value)
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
		k.Add(path+".search", "%s has no graph; add %s, saturated, or cliques such as \"[AGE SEX][SEX REGION]\"", t.Saying("search", "fixed"),
			t.Saying("graph", "independence"))
	}
	if m.EdgePenalty != 0 && m.Search == "fixed" {
		k.Add(path+".edge_penalty", "%s weighs models by their edges, and %s has one: leave it out", of("edge_penalty"), t.Saying("search", "fixed"))
	}
	if m.Ordinal != nil && !m.RelativeRisk {
		k.Add(path+".ordinal", "%s belongs to %s; add %s", of("ordinal"), of("relative_risk"), t.Saying("relative_risk", "true"))
	}
	if m.SetMatch && m.Estimator != "poisson" {
		k.Add(path+".set_match", "set_match is the chance that the thesis prints, of its own estimator; add estimator: poisson")
	}
	if m.Effects == EffectsLognormal || m.Anchor != "" {
		if m.Estimator != "" && m.Estimator != Estimators[0] {
			k.Add(path+".estimator", "%s is of models without effects of cells and anchor: take %s, or %s", t.Saying("estimator", m.Estimator),
				t.Saying("estimator", "gamma"), t.Saying("effects", "none"))
		}
	}
	m.checkFit(k, path)
	if len(m.Known) > 0 && m.Estimator != "" && m.Estimator != Estimators[0] && m.Estimator != Estimators[1] {
		k.Add(path+".estimator", "%s has no bounds: with known tables take %s or poisson", t.Saying("estimator", m.Estimator), t.Saying("estimator", "gamma"))
	}
	if len(m.Known) > 0 && m.SetMatch {
		k.Add(path+".set_match", "set_match does not look at known tables: leave one of them out")
	}
	if m.ModelIn == "" {
		return
	}
	if m.Search != "" || m.Weights != "" || m.EdgePenalty != 0 || m.PriorPrecision != nil || m.Auto || m.ModelOut != "" {
		k.Add(path+".model_in", "a model that is read is not fitted: leave out %s, %s, %s, %s and %s", of("search"), of("weights"),
			of("edge_penalty"), of("prior_precision"), of("model_out"))
	}
}

// checkFit refuses what is of one model where each domain has its own.
func (m *Config) checkFit(k *schemas.Checker, path string) {
	if m.Fit != FitEach {
		return
	}
	t := m.Fields()
	each := t.Saying("fit", FitEach)
	if len(m.By) == 0 {
		k.Add(path+".fit", "%s fits a model of each domain, and no columns are named that tell them apart; add %s", each,
			advice.Advice{Spec: "by: [REGION]", Flags: "--by-domain REGION"})
	}
	for _, x := range []struct {
		set  bool
		name string
	}{{m.ModelIn != "", "model_in"}, {m.ModelOut != "", "model_out"}, {m.Baselines, "baselines"}, {m.RelativeRisk, "relative_risk"}, {len(m.Known) > 0, "known_tables"}} {
		if x.set {
			k.Add(path+"."+x.name, "%s is of one model, and %s has one of each domain; leave it out, or choose the records of a domain (%s)",
				t.Advice("", x.name, ""), each, advice.Advice{Spec: "select", Flags: "--select"})
		}
	}
	if m.Auto || len(m.PriorPrecision) > 1 {
		k.Add(path+".prior_precision", "%s takes one %s for all domains, such as 1", each, t.Advice("", "prior_precision", ""))
	}
}
