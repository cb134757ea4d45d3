package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// eachFlags are those that every measure has, with its name before them.
func eachFlags() []cli.Flag {
	const category = "Each measure by itself"
	var flags []cli.Flag
	for _, name := range measureNames() {
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

// operatorsOf makes the operators of the measures asked for.
func operatorsOf(ctx *cli.Context, measures []string) ([]schemas.Operator, error) {
	if slices.Contains(measures, "frequency") && !keyless(slices.DeleteFunc(slices.Clone(measures), func(m string) bool { return m == "frequency" })) {
		return nil, usage("--measures: frequency writes the sample frequency only, which the other measures of a key write too; leave it out")
	}
	if w := ctx.String("weights"); w != "" && !slices.Contains(mc3.ModelWeights, w) {
		return nil, usage(
			"--weights %s: these are the weights of models (%s, with mc3); for the column of sampling weights say --weight %s",
			w,
			strings.Join(mc3.ModelWeights, " or "),
			w,
		)
	}
	if err := flagsBelong(ctx, measures, schemas.Config.Fields); err != nil {
		return nil, err
	}
	for _, name := range measureNames() {
		for _, flag := range []string{name + "-missing", name + "-prefix"} {
			if ctx.IsSet(flag) && !slices.Contains(measures, name) {
				return nil, usage("--%s belongs to %s; add it: --measures %s", flag, name, name)
			}
		}
	}
	if keyless(measures) {
		for _, flag := range []string{"key", "fraction", "population-size", "weight"} {
			if ctx.IsSet(flag) {
				return nil, usage(
					"--%s belongs to measures of a key, such as suda and mc3; %s does not look at it: leave it out, or add one of them to --measures",
					flag,
					strings.Join(measures, ", "),
				)
			}
		}
	}
	if !slices.ContainsFunc(measures, weighs) {
		for _, flag := range []string{"fraction", "population-size", "weight"} {
			if ctx.IsSet(flag) {
				return nil, usage("--%s says how the records were drawn, and %s does not look at it: leave it out, or add suda, mc3, individual or attribution to "+
					"--measures", flag, strings.Join(measures, ", "))
			}
		}
	}
	var list []schemas.Operator
	for _, name := range measures {
		o := schemas.Operator{Config: schemas.KindNamed(name).New()}
		if err := sayFields(ctx, o.Config.Fields()); err != nil {
			return list, err
		}
		if err := tellVariables(ctx, o); err != nil {
			return list, err
		}
		tell(ctx, name, o)
		list = append(list, o)
	}
	domainFiles(list)
	return list, moot(ctx, list)
}

// weighs tells whether a measure looks at the sampling.
func weighs(measure string) bool {
	w, is := schemas.KindNamed(measure).New().(schemas.Weighing)
	return is && w.Weighs()
}

// moot tells operators what none of them looks at as it is asked, so that it is refused with their own words.
func moot(ctx *cli.Context, list []schemas.Operator) error {
	taken := make(map[string]bool)
	for _, o := range list {
		for _, f := range o.Config.Fields().Flags() {
			taken[f.Flag.Name] = taken[f.Flag.Name] || f.Flag.When == nil || f.Flag.When()
		}
	}
	for _, o := range list {
		for _, f := range o.Config.Fields().Flags() {
			if f.Flag.When == nil || taken[f.Flag.Name] || !ctx.IsSet(f.Flag.Name) {
				continue
			}
			if err := f.Say([]string{"true"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// domainFiles gives each of several measures a file of domains of its own: domains.csv becomes domains.suda.csv and so on.
func domainFiles(list []schemas.Operator) {
	var paths []*string
	var names []string
	for _, o := range list {
		if d, ok := o.Config.(schemas.Dividing); ok {
			if _, path := d.Divided(); *path != "" {
				paths, names = append(paths, path), append(names, o.Name())
			}
		}
	}
	if len(paths) < 2 {
		return
	}
	for i, path := range paths {
		ending := filepath.Ext(*path)
		*path = strings.TrimSuffix(*path, ending) + "." + names[i] + ending
	}
}

// flagsBelong refuses a flag of measures that are not asked for; fields has what the command says of a measure.
func flagsBelong(ctx *cli.Context, measures []string, fields func(schemas.Config) schemas.Table) error {
	owners := map[string][]string{}
	var order []string
	for _, k := range measureKinds() {
		for _, f := range fields(k.New()).Flags() {
			if owners[f.Flag.Name] == nil {
				order = append(order, f.Flag.Name)
			}
			owners[f.Flag.Name] = append(owners[f.Flag.Name], k.Name)
		}
	}
	for _, flag := range order {
		asked := slices.ContainsFunc(owners[flag], func(owner string) bool { return slices.Contains(measures, owner) })
		if ctx.IsSet(flag) && !asked {
			add := "it: --measures " + owners[flag][0]
			if len(owners[flag]) > 1 {
				add = "one of them to --measures"
			}
			return usage("--%s belongs to %s; add %s", flag, strings.Join(owners[flag], " and "), add)
		}
	}
	return nil
}

// tellVariables gives an operator without a key what --missing and --missing-codes say: to others the key says it.
func tellVariables(ctx *cli.Context, o schemas.Operator) error {
	lists, ok := o.Config.(schemas.Listing)
	if !ok || o.Measure() != nil {
		return nil
	}
	_, missing, _ := o.Writer().Common()
	*missing = ctx.String("missing")
	return tellCodes(ctx, lists)
}

// tellCodes gives variables the codes of --missing-codes.
func tellCodes(ctx *cli.Context, lists schemas.Listing) error {
	codes, err := words("missing-codes", ctx.StringSlice("missing-codes"))
	if err != nil {
		return err
	}
	lists.Lists(func(_ string, list *[]schemas.KeyVariable) {
		for i := range *list {
			(*list)[i].MissingCodes = codes
		}
	})
	return nil
}

// needsNoKey tells whether none of the measures that are asked for counts a key.
func needsNoKey(ctx *cli.Context) bool {
	names, err := measuresOf(ctx, nil)
	return err == nil && keyless(names)
}

func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}
