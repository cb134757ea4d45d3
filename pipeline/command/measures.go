package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/frequency"
	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// measureNames are the measures that assess knows.
var measureNames = []string{"suda", "mc3", "sap", "kanonymity", "ldiversity", "individual", "frequency"}

// sudaFlags are the flags that only suda looks at.
var sudaFlags = []string{"score", "max-size", "threshold", "contributions", "msus", "force"}

// eachFlags are those that every measure has, with its name before them.
func eachFlags() []cli.Flag {
	const category = "Each measure by itself"
	var flags []cli.Flag
	for _, name := range measureNames {
		flags = append(flags,
			&cli.StringFlag{Name: name + "-missing", Category: category, Usage: "what a missing value means to " + name + " (default: what --missing says)"},
			&cli.StringFlag{Name: name + "-prefix", Category: category, Usage: "`PREFIX` of the columns of " + name + " (default: " + name + ")"})
	}
	return flags
}

// tell gives an operator what the flags of every measure say of it.
func tell(ctx *cli.Context, name string, o schemas.Operator) {
	prefix, missing, replace := o.Writer().Common()
	*replace = ctx.Bool("replace")
	if ctx.IsSet(name + "-missing") {
		*missing = ctx.String(name + "-missing")
	}
	if p := ctx.String(name + "-prefix"); p != name {
		*prefix = p
	}
}

func mc3Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "search", Category: "MC3", Usage: "how models are found: exact, mc3, anneal, occam or fixed (default: exact where it can be afforded, else mc3 with tempering)"},
		&cli.StringFlag{Name: "graph", Category: "MC3", Usage: "the model of --search fixed: independence, saturated, or cliques such as '[AGE SEX][SEX REGION]'"},
		&cli.StringFlag{Name: "estimator", Category: "MC3", Usage: "how a record's probabilities are computed: gamma, poisson, exact or montecarlo (default: gamma)"},
		&cli.StringSliceFlag{Name: "prior-precision", Category: "MC3", Usage: "total prior precision; several, separated by commas, are compared in the summary (default: 1)"},
		&cli.StringFlag{Name: "weights", Category: "MC3", Usage: "weights of models: likelihood or visits (with --search mc3; default: likelihood)"},
		&cli.StringFlag{Name: "iterations", Category: "MC3", Usage: "proposals of each chain (with --search mc3; default: 1000000)"},
		&cli.StringFlag{Name: "chains", Category: "MC3", Usage: "number of chains (with --search mc3; default: 4)"},
		&cli.StringFlag{Name: "temperatures", Category: "MC3", Usage: "temperatures of each chain, 1 for no tempering (with --search mc3; default: 12)"},
		&cli.BoolFlag{Name: "baselines", Category: "MC3", Usage: "compare with simpler models in the summary"},
		&cli.BoolFlag{Name: "relative-risk", Category: "MC3", Usage: "compare with the risk without each variable and category in the summary"},
		&cli.StringFlag{Name: "model-out", Category: "MC3", Usage: "save the fitted model to `FILE`"},
		&cli.StringFlag{Name: "model-in", Category: "MC3", Usage: "use the model in `FILE` without a fit"},
	}
}

// operatorsOf makes the operators of the measures asked for.
func operatorsOf(ctx *cli.Context, measures []string) ([]schemas.Operator, error) {
	if slices.Contains(measures, "frequency") && slices.ContainsFunc(measures, func(m string) bool { return m != "frequency" && m != "sap" }) {
		return nil, usage("--measures: frequency writes the sample frequency only, which the other measures of a key write too; leave it out")
	}
	for _, of := range []struct {
		measure string
		flags   []string
	}{{"suda", sudaFlags}, {"mc3", flagNames(mc3Flags())}, {"sap", flagNames(sapFlags())},
		{"kanonymity", []string{"anonymity", "combinations"}}, {"ldiversity", []string{"sensitive", "diversity", "diversity-factor"}}, {"individual", []string{"household", "risk-estimator"}}} {
		for _, flag := range of.flags {
			if w := ctx.String(flag); flag == "weights" && w != "" && !slices.Contains(mc3.ModelWeights, w) {
				return nil, usage("--weights %s: these are the weights of models (%s, with mc3); for the column of sampling weights say --weight %s", w, strings.Join(mc3.ModelWeights, " or "), w)
			}
			if ctx.IsSet(flag) && !slices.Contains(measures, of.measure) {
				return nil, usage("--%s belongs to %s; add it: --measures %s", flag, of.measure, of.measure)
			}
		}
	}
	for _, name := range measureNames {
		for _, flag := range []string{name + "-missing", name + "-prefix"} {
			if ctx.IsSet(flag) && !slices.Contains(measures, name) {
				return nil, usage("--%s belongs to %s; add it: --measures %s", flag, name, name)
			}
		}
	}
	if slices.Equal(measures, []string{"sap"}) {
		for _, flag := range []string{"key", "fraction", "population-size", "weight"} {
			if ctx.IsSet(flag) {
				return nil, usage("--%s belongs to measures of a key, such as suda and mc3; sap does not look at it: leave it out, or add one of them to --measures", flag)
			}
		}
	}
	var list []schemas.Operator
	for _, name := range measures {
		var o schemas.Operator
		var err error
		switch name {
		case "suda":
			o.Config, err = sudaOf(ctx)
		case "mc3":
			o.Config, err = mc3Of(ctx)
		case "sap":
			o.Config, err = sapOf(ctx)
		case "kanonymity":
			o.Config, err = kAnonymityOf(ctx)
		case "ldiversity":
			o.Config, err = lDiversityOf(ctx)
		case "individual":
			o.Config = &individual.Config{Household: ctx.String("household"), Estimator: ctx.String("risk-estimator")}
		default:
			o.Config = &frequency.Config{}
		}
		if err != nil {
			return list, err
		}
		tell(ctx, name, o)
		list = append(list, o)
	}
	return list, nil
}

func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

func sudaOf(ctx *cli.Context) (*suda.Config, error) {
	suda := &suda.Config{Score: ctx.String("score"), MaxSize: ctx.Int("max-size"), Contributions: ctx.Bool("contributions"),
		MSUs: ctx.Bool("msus"), Force: ctx.Bool("force")}
	switch k := ctx.Int64("threshold"); {
	case k < 1:
		return nil, usage("--threshold is %d; it must be at least 1", k)
	case k > 1:
		suda.Threshold = k
	}
	return suda, nil
}

func mc3Of(ctx *cli.Context) (*mc3.Config, error) {
	m := &mc3.Config{Search: ctx.String("search"), Graph: ctx.String("graph"), Estimator: ctx.String("estimator"), Weights: ctx.String("weights"),
		Baselines: ctx.Bool("baselines"), RelativeRisk: ctx.Bool("relative-risk"), ModelOut: ctx.String("model-out"), ModelIn: ctx.String("model-in")}
	texts, err := words("prior-precision", ctx.StringSlice("prior-precision"))
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) {
			return nil, usage("--prior-precision is %q; it must be a number above 0, such as 1", text)
		}
		m.PriorPrecision = append(m.PriorPrecision, v)
	}
	for _, n := range []struct {
		flag string
		to   **int
	}{{"iterations", &m.Iterations}, {"chains", &m.Chains}, {"temperatures", &m.Temperatures}} {
		text := ctx.String(n.flag)
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil || v < 1 {
			return nil, usage("--%s is %q; it must be a whole number of at least 1", n.flag, text)
		}
		i := int(v)
		*n.to = &i
	}
	return m, nil
}

// onlySAP tells whether attribution is all that is asked for: it needs no key.
func onlySAP(ctx *cli.Context) bool {
	names, err := measuresOf(ctx)
	return err == nil && len(names) == 1 && names[0] == "sap"
}
