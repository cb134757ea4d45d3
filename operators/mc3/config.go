package mc3

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"microrisk/operators/known"
	"microrisk/schemas"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "mc3"

// Names of its columns, without the prefix.
const (
	ColumnCorrectMatch      = "correct_match"
	ColumnPopulationUnique  = "population_unique"
	ColumnExpectedFrequency = "expected_frequency"
	ColumnDomainFrequency   = "domain_frequency" // of FitEach
	ColumnSetMatch          = "set_match"
)

// Names of its limits, besides schemas.LimitReidentifications.
const (
	LimitPU                = "pu"
	LimitPUSU              = "pu_su"
	LimitCMUM              = "cm_um" // theta
	LimitCMSU              = "cm_su"
	LimitMaxCorrectMatch   = "max_correct_match"
	LimitPopulationUniques = "expected_population_uniques"
	LimitCorrectMatches    = "expected_correct_matches"
)

// A Config is what a spec says of the operator. Zero values of the settings mean the defaults of packages search and risk.
type Config struct {
	schemas.MeasureOptions
	Auto           bool      // of a grid of prior precisions the one that foretells best
	PriorPrecision []float64 // total prior precision; the columns are of the first, all are compared in the summary; nil means 1
	Search         string    // one of Searches; "" means exact where it can be afforded, else mc3 with tempering
	Weights        string    // one of ModelWeights; "" means likelihood
	EdgePenalty    float64   // log prior odds against each edge
	BurnIn         *int      // of mc3
	Iterations     *int      // of mc3
	Thinning       *int      // of mc3
	Chains         *int      // of mc3
	Temperatures   *int      // of mc3: 1 for no tempering
	Moves          string    // of mc3: one of GraphMoves
	Schedule       string    // of anneal: one of Schedules
	Restarts       *int      // of anneal
	Window         *float64  // of occam
	Directions     string    // of occam: one of WindowDirections
	Razor          bool      // of occam
	Draws          *int      // of exact: junction trees
	Graph          string    // of fixed: cliques as in [AGE SEX][SEX MSTATUS], or independence, or saturated
	Estimator      string    // one of Estimators; "" means gamma
	Effects        string    // one of Effects
	Anchor         string    // one of Anchors; "" for none
	PosteriorDraws *int      // of montecarlo
	CellDraws      *int      // for PU over the empty cells of a large table
	SetMatch       bool      // write the probability that a set of f records is matched to itself, too
	Baselines      bool      // compare with simpler models
	RelativeRisk   bool      // compare with the risk without each variable and category
	Ordinal        []string  // variables whose categories are collapsed with their neighbours only
	Fit            string    // one of Fits: one model of all domains, or one of each
	Known          []known.Table
	ModelOut       string // file that the fitted model is saved to
	ModelIn        string // file with a model that is used without a fit
}

// Words of the config.
var (
	Searches         = []string{"exact", "mc3", "anneal", "occam", "fixed"}
	ModelWeights     = []string{"likelihood", "visits"}
	GraphMoves       = []string{"edge", "edges", "clique"}
	Schedules        = []string{"sweeps", "thesis"}
	WindowDirections = []string{"up", "both"}
	Fits             = []string{FitOnce, FitEach}
	Estimators       = []string{"gamma", "poisson", "exact", "montecarlo"}
)

// Ways to fit models to domains.
const (
	FitOnce = "once"
	FitEach = "each"
)

// Graphs that have a name.
const (
	GraphIndependence = "independence"
	GraphSaturated    = "saturated"
)

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: append([]schemas.Field{
		schemas.PrefixField(&c.Prefix, Name),
		schemas.KeyField(&c.Key),
		{Name: "missing", To: &c.Missing, Words: schemas.MissingPolicies, Word: "missing policy", Schema: `"enum": ["category", "drop"]`,
			Doc: "category: a missing value is a category of its own. drop: the record is left out and gets nulls."},
		{
			Name:   "prior_precision",
			To:     schemas.NumbersOr(PrecisionAuto, &c.Auto, &c.PriorPrecision),
			Single: true,
			Range:  schemas.Positive().Saying("it must be a finite number above 0, such as 1"),
			Flag: &schemas.Flag{
				Name:  "prior-precision",
				Usage: "total prior precision; several, separated by commas, are compared in the summary; auto: the one of a grid that foretells the sample's records best (default: 1)",
				Set:   c.sayPrecision,
			},
			Doc: "Total weight of the Dirichlet prior over all cells (alpha); several are compared in the summary, and the columns are of the first.",
		},
		{Name: "search", To: &c.Search, Words: Searches,
			Doc: "exact: enumeration or dynamic programming. mc3: Markov chains. anneal: simulated annealing for one graph. occam: Occam's window. fixed: the graph " +
				"that is given. Without it exact where that can be afforded, else mc3 with tempering.",
			Flag: &schemas.Flag{
				Name:  "search",
				Usage: "how models are found: exact, mc3, anneal, occam or fixed (default: exact where it can be afforded, else mc3 with tempering)",
			}},
		{Name: "weights", To: &c.Weights, Words: ModelWeights, Schema: `"default": "likelihood"`,
			Doc:  "Weights of models: marginal likelihoods renormalised over the models seen, or visits of the chains (mc3).",
			Flag: &schemas.Flag{Name: "weights", Usage: "weights of models: likelihood or visits (with --search mc3; default: likelihood)"}},
		{
			Name:  "edge_penalty",
			To:    &c.EdgePenalty,
			Range: schemas.AtLeast(0).Saying("it must be a finite number of at least 0"),
			Doc:   "Log prior odds against each edge.",
		},
		{
			Name:  "moves",
			To:    &c.Moves,
			Words: GraphMoves,
			Doc:   "What is proposed: one edge, also several edges of a vertex, also vertices between cliques (mc3).",
		},
		{Name: "schedule", To: &c.Schedule, Words: Schedules, Doc: "Cooling: sweeps from the greedy graph, or the schedule of Smith 2011 (anneal)."},
		{Name: "directions", To: &c.Directions, Words: WindowDirections, Doc: "Larger models only, or smaller ones too (occam)."},
		{Name: "razor", To: &c.Razor, Doc: "Drop models with a more probable submodel in the window (occam)."},
		{
			Name: "graph",
			To:   &c.Graph,
			Doc: "independence, saturated, or cliques as in [AGE SEX][SEX REGION] (fixed); a name with blanks, brackets or quotes stands in double quotes, one " +
				"of its own doubled.",
			Schema: `"minLength": 1`,
			Flag: &schemas.Flag{
				Name: "graph",
				Usage: "the model of --search fixed: independence, saturated, or cliques such as '[AGE SEX][SEX REGION]'; names with blanks or brackets in double " +
					"quotes: '[\"AGE GROUP\" SEX]'",
			},
		},
		{Name: "burn_in", To: &c.BurnIn, Range: between(0, 1e9, "10000"), Doc: "Proposals of a chain before it counts (mc3)."},
		{Name: "iterations", To: &c.Iterations, Range: between(1, 2e9, "1000000"), Doc: "Proposals of a chain after the burn-in (mc3).",
			Flag: &schemas.Flag{Name: "iterations", Usage: "proposals of each chain (with --search mc3; default: 1000000)"}},
		{Name: "thinning", To: &c.Thinning, Range: between(1, 1e9, "100"), Doc: "Every so many proposals a state is kept (mc3)."},
		{Name: "chains", To: &c.Chains, Range: between(1, 1000, "4"), Doc: "Chains from dispersed starts (mc3).",
			Flag: &schemas.Flag{Name: "chains", Usage: "number of chains (with --search mc3; default: 4)"}},
		{Name: "temperatures", To: &c.Temperatures, Range: between(1, 64, "12"), Doc: "Temperatures of each chain; 1 is no tempering (mc3).",
			Flag: &schemas.Flag{Name: "temperatures", Usage: "temperatures of each chain, 1 for no tempering (with --search mc3; default: 12)"}},
		{Name: "restarts", To: &c.Restarts, Range: between(1, 100000, "10"), Doc: "Restarts (anneal)."},
		{Name: "draws", To: &c.Draws, Range: between(1, 1e8, "10000"), Doc: "Junction trees drawn for averages beyond enumeration (exact)."},
		{Name: "posterior_draws", To: &c.PosteriorDraws, Range: between(2, 1e7, "1000"), Doc: "Draws of clique tables (montecarlo)."},
		{
			Name:  "cell_draws",
			To:    &c.CellDraws,
			Range: between(2, 1e9, "20000"),
			Doc:   "Cells drawn for PU where the table is too large for the sum over its empty cells.",
		},
		{
			Name: "window",
			To:   &c.Window,
			Range: (&schemas.Range{Most: 1, Above: true, Below: true}).Saying(
				"it must be between 0 and 1, such as 0.01: models less probable than this part of the best are dropped",
			),
			Doc: "Models less probable than this part of the best are dropped (occam).",
		},
		{Name: "estimator", To: &c.Estimator, Words: Estimators, Default: Estimators[0],
			Doc: "gamma: a gamma law matched to the posterior of a cell. poisson: maximum-likelihood proportions. exact: the posterior itself. montecarlo: draws " +
				"from it.",
			Flag: &schemas.Flag{Name: "estimator", Usage: "how a record's probabilities are computed: gamma, poisson, exact or montecarlo (default: gamma)"}},
		{Name: "effects", To: &c.Effects, Words: Effects,
			Doc: "lognormal: each cell has an effect of its own beside the models, whose spread the sample tells. none: the models say all, and overstate. " +
				"Without it lognormal, but none with another estimator than gamma, with an anchor, or with a saved model without effects.",
			Flag: &schemas.Flag{Name: "effects", Usage: "effects of cells beside the models: lognormal or none (default: lognormal with the estimator gamma)"}},
		{
			Name:  "anchor",
			To:    &c.Anchor,
			Words: Anchors,
			Doc:   "dis: what all cells should have is multiplied by one factor, by which CM|UM is DIS; for comparison.",
			Flag:  &schemas.Flag{Name: "anchor", Aside: true, Usage: "multiply what cells should have so that CM|UM is DIS, for comparison: dis"},
		},
		{Name: "set_match", To: &c.SetMatch, Doc: "Add the chance that the records of a key are just the members chosen (poisson)."},
		{Name: "baselines", To: &c.Baselines, Doc: "Compare with simpler models in the summary.",
			Flag: &schemas.Flag{Name: "baselines", Aside: true, Usage: "compare with simpler models in the summary"}},
		{Name: "relative_risk", To: &c.RelativeRisk, Doc: "Compare with the risk without each variable and category in the summary.",
			Flag: &schemas.Flag{Name: "relative-risk", Aside: true, Usage: "compare with the risk without each variable and category in the summary"}},
		{Name: "ordinal", To: &c.Ordinal, Doc: "Key variables whose categories have an order: they are collapsed with their neighbours only.",
			Flag: &schemas.Flag{Name: "ordinal", Usage: "`VARIABLES` of the key whose categories have an order, separated by commas (with --relative-risk)"}},
		known.Field(&c.Known),
		{Name: "model_out", To: &c.ModelOut, Doc: "File that the fitted model is saved to (JSON).", Schema: `"minLength": 1`,
			Flag: &schemas.Flag{Name: "model-out", Aside: true, Usage: "save the fitted model to `FILE`"}},
		{Name: "model_in", To: &c.ModelIn, Doc: "File with a saved model, which is used without a fit.", Schema: `"minLength": 1`,
			Flag: &schemas.Flag{Name: "model-in", Aside: true, Usage: "use the model in `FILE` without a fit"}},
	}, append(append(c.DomainFields(), c.fitField()), schemas.ReplaceField(&c.Replace))...)}
}

// fitField is that of models of domains.
func (c *Config) fitField() schemas.Field {
	return schemas.Field{Name: "fit", To: &c.Fit, Words: Fits, Default: FitOnce,
		Doc: "once: one model of the file, whose measures are summed over the records of each domain. each: a model of each domain, as if its records were a file: " +
			"keys are counted within it, and the columns come from it.",
		Flag: &schemas.Flag{Name: "domain-fit", Aside: true,
			Usage: "mc3: fit one model of the file, or one of each domain as if it were a file of its own: once or each (default: once)"}}
}

// between is the range of a whole number, with one that is often good.
func between(least, most float64, such string) *schemas.Range {
	return schemas.Within(least, most).Saying("it must be from %.0f to %.0f, such as %s", least, most, such)
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Weighs is a Weighing operator's.
func (c *Config) Weighs() bool { return true }

// Public is a Private config's: without paths.
func (c *Config) Public() schemas.Config {
	bare := *c
	bare.ModelIn, bare.ModelOut, bare.Known = "", "", nil
	return &bare
}

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	columns := schemas.FrequencyColumns(c, frequency)
	add := func(name, meaning, label, note string) {
		columns = append(columns, schemas.ColumnInfo{
			Name: schemas.Column(c.ColumnPrefix(), name), Type: schemas.Double, Description: meaning, Label: label, Note: note,
		})
	}
	if c.Fit == FitEach {
		columns = append(columns, schemas.ColumnInfo{Name: schemas.Column(c.ColumnPrefix(), ColumnDomainFrequency), Type: schemas.Int64,
			Description: "records of the domain with this key"})
	}
	add(ColumnCorrectMatch, "E[1/F]: chance that a population member who fits this key is this record; above 0, at most 1/f",
		"correct match", "E[1/F] of this key")
	add(ColumnPopulationUnique, "P(F = 1 given the sample): chance that the key is unique in the population; 0 if f > 1",
		"population unique", "P(F = 1): nobody else has this key")
	add(ColumnExpectedFrequency, "E[F]: expected number of population members with this key, the sample's included",
		"expected frequency", "E[F]: people with this key")
	if c.SetMatch {
		add(ColumnSetMatch, "E[1/C(F,f)]: chance that the f records of this key are just the f members that were chosen among F",
			"set match", "E[1/C(F,f)]")
	}
	return columns
}

// Scores is a Scoring operator's.
func (c *Config) Scores() []schemas.Score {
	name := func(of string) string { return schemas.Column(c.ColumnPrefix(), of) }
	return []schemas.Score{{Column: name(ColumnCorrectMatch), Match: true}, {Column: name(ColumnPopulationUnique), Alone: true}}
}

// PrecisionAuto is the word for a prior precision that the sample chooses.
const PrecisionAuto = "auto"

// precisions are those among which the sample chooses, half a decade apart.
var precisions = []float64{1, 3, 10, 30, 100, 300, 1000, 3000, 10000}

// sayPrecision takes the text of a flag.
func (c *Config) sayPrecision(texts []string) error {
	c.Auto, c.PriorPrecision = false, nil
	for _, text := range texts {
		if text == PrecisionAuto && len(texts) == 1 {
			c.Auto = true
			return nil
		}
		for item := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(item), 64)
			if err != nil {
				return fmt.Errorf("is %q; it must be a number, several between commas, or auto", text)
			}
			c.PriorPrecision = append(c.PriorPrecision, v)
		}
	}
	return nil
}

// Precisions are those that models are fitted with.
func (c *Config) Precisions() []float64 {
	switch {
	case c.Auto:
		return precisions
	case c.PriorPrecision == nil:
		return []float64{1}
	}
	return c.PriorPrecision
}
