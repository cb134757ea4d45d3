package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/keymap/repository"
)

// keymapAdd are the commands that add to a repository.
func (c *console) keymapAdd() *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add a form, a variable, a category, an edge, a group or a scenario",
		UsageText: "microrisk keymap add form|variable|node|edge|group|scenario NAME...",
		Subcommands: []*cli.Command{
			c.addForm(), c.addVariable(), c.addNode(), c.addEdge(), c.addGroup(), c.addScenario(),
		},
	}
}

func (c *console) addForm() *cli.Command {
	return &cli.Command{
		Name:      "form",
		Usage:     "add a form, or variables to it",
		ArgsUsage: "FORM",
		UsageText: "microrisk keymap add form FORM --variable 'Sex=female,male' --any Age [--from FORM]",
		Description: `A form that is there gets the variables and metadata that are named; others stay.
--variable gives the ids of its categories, --any leaves the value to be written in.`,
		Flags: changeFlags(
			&cli.StringFlag{Name: "from", Usage: "begin with a copy of this `FORM`"},
			&cli.StringSliceFlag{Name: "variable", Usage: "a variable with its categories, `NAME=ID,ID,...`; may be repeated"},
			&cli.StringSliceFlag{Name: "any", Usage: "a variable whose value is written in, by `NAME`; may be repeated"},
			&cli.StringSliceFlag{Name: "column", Usage: "the column of the form's data that has a variable, `NAME=COLUMN`; may be repeated"},
			&cli.StringSliceFlag{Name: "metadata", Usage: "what is known of the form, `NAME=VALUE`; may be repeated"},
			&cli.StringFlag{Name: "note", Usage: "`TEXT` that stands with it"},
		),
		Action: c.changing(putForm, "FORM"),
	}
}

// putForm adds a form, or what flags say to one.
func putForm(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error {
	f, before, err := begin(ctx, r, r.Form, args[0], "form", func(x *repository.Form) *string { return &x.Name })
	if err != nil {
		return err
	}
	f.Variables = slices.Clone(f.Variables)
	if f.Variables == nil {
		f.Variables = []repository.Instance{}
	}
	if err := sayVariables(ctx, f); err != nil {
		return err
	}
	if err := paired(ctx, "metadata"); err != nil {
		return err
	}
	metadata := make(map[string]string)
	maps.Copy(metadata, f.Metadata)
	for key, value := range pairsOf(ctx.StringSlice("metadata")) {
		metadata[key] = value
	}
	f.Metadata = metadata
	if ctx.IsSet("note") {
		f.Note = ctx.String("note")
	}
	return ch.Put(f, before)
}

// begin is a copy of what is changed: of the object of the name, of that of --from, or an empty one; before is its name up to now.
func begin[T any](ctx *cli.Context, r *repository.Repository, find func(string) *T, name, kind string, at func(*T) *string) (x *T, before string, err error) {
	x = new(T)
	switch from := ctx.String("from"); {
	case find(name) != nil && from != "":
		return nil, "", fmt.Errorf("there is a %s %q already: a copy needs a name of its own", kind, name)
	case find(name) != nil:
		*x, before = *find(name), name
	case from != "":
		if find(from) == nil {
			return nil, "", r.Unknown(kind+"s", from)
		}
		if err := r.Readable(kind+"s", from); err != nil {
			return nil, "", err
		}
		*x = *find(from)
	}
	*at(x) = name
	return x, before, nil
}

// pairsOf are texts NAME=VALUE in order.
func pairsOf(texts []string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for _, text := range texts {
			name, value, _ := strings.Cut(text, "=")
			if !yield(name, value) {
				return
			}
		}
	}
}

// paired refuses a flag that is not NAME=VALUE.
func paired(ctx *cli.Context, flag string) error {
	for _, text := range ctx.StringSlice(flag) {
		if i := strings.IndexByte(text, '='); i <= 0 {
			return fmt.Errorf("--%s %s: it must be NAME=VALUE", flag, text)
		}
	}
	return nil
}

// sayVariables puts what flags say of variables into a form.
func sayVariables(ctx *cli.Context, f *repository.Form) error {
	instance := func(name string) *repository.Instance {
		if x, holds := f.Instance(name); holds {
			return x
		}
		f.Variables = append(f.Variables, repository.Instance{Variable: name})
		return &f.Variables[len(f.Variables)-1]
	}
	for name, list := range pairsOf(ctx.StringSlice("variable")) {
		if list == "" {
			return fmt.Errorf("--variable %s: name its categories, as in --variable %q, or say --any %s", name, name+"=a,b", name)
		}
		instance(name).Categories = strings.Split(list, ",")
	}
	for _, name := range ctx.StringSlice("any") {
		instance(name).Categories = []string{}
	}
	for name, column := range pairsOf(ctx.StringSlice("column")) {
		x, holds := f.Instance(name)
		if !holds || column == "" {
			return fmt.Errorf("--column %s=%s: it names a variable of the form, and a column", name, column)
		}
		x.Column = column
	}
	return nil
}

func (c *console) addGroup() *cli.Command {
	return &cli.Command{
		Name:      "group",
		Usage:     "add a group of forms",
		ArgsUsage: "GROUP",
		UsageText: "microrisk keymap add group GROUP --forms FORM [--where 'Form Type=On-line'] [--union GROUP] [--minus GROUP]",
		Flags: changeFlags(
			&cli.StringFlag{Name: "from", Usage: "begin with a copy of this `GROUP`"},
			&cli.StringSliceFlag{Name: "forms", Usage: "a `FORM` of it; may be repeated"},
			&cli.StringSliceFlag{Name: "where", Usage: "forms whose metadata say so, `NAME=VALUE`; may be repeated, several values of a name are alternatives"},
			&cli.StringSliceFlag{Name: "union", Usage: "the forms of this `GROUP` too; may be repeated"},
			&cli.StringSliceFlag{Name: "minus", Usage: "but not those of this `GROUP`; may be repeated"},
			&cli.StringFlag{Name: "note", Usage: "`TEXT` that stands with it"},
		),
		Action: c.changing(putGroup, "GROUP"),
	}
}

// putGroup adds a group, or what flags say to one.
func putGroup(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error {
	g, before, err := begin(ctx, r, r.Group, args[0], "group", func(x *repository.Group) *string { return &x.Name })
	if err != nil {
		return err
	}
	g.Forms = slices.Concat(g.Forms, ctx.StringSlice("forms"))
	g.Union = slices.Concat(g.Union, ctx.StringSlice("union"))
	g.Minus = slices.Concat(g.Minus, ctx.StringSlice("minus"))
	where := make(map[string][]string)
	maps.Copy(where, g.Where)
	if err := paired(ctx, "where"); err != nil {
		return err
	}
	for key, value := range pairsOf(ctx.StringSlice("where")) {
		where[key] = append(slices.Clone(where[key]), value)
	}
	if g.Where = where; len(where) == 0 {
		g.Where = nil
	}
	if ctx.IsSet("note") {
		g.Note = ctx.String("note")
	}
	return ch.Put(g, before)
}

func (c *console) addScenario() *cli.Command {
	return &cli.Command{
		Name:      "scenario",
		Usage:     "add a scenario: a target, the forms that it is compared with, prevalences",
		ArgsUsage: "SCENARIO",
		UsageText: "microrisk keymap add scenario SCENARIO --target FORM [--group GROUP] [--prevalence 0.25]",
		Flags: changeFlags(
			&cli.StringFlag{Name: "from", Usage: "begin with a copy of this `SCENARIO`"},
			&cli.StringFlag{Name: "target", Usage: "the `FORM` whose data are to be released"},
			&cli.StringSliceFlag{Name: "group", Usage: "compare it with the forms of this `GROUP`; may be repeated"},
			&cli.StringSliceFlag{Name: "form", Usage: "compare it with this `FORM`; may be repeated"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "leave this `FORM` out; may be repeated"},
			&cli.StringSliceFlag{Name: "prevalence", Aliases: []string{"p"}, Usage: "a `SHARE` of the match set, such as 0.25; may be repeated"},
			&cli.StringSliceFlag{Name: "variables", Usage: "only these variables of the target, by `NAME`; may be repeated"},
			&cli.StringFlag{Name: "mode", Usage: "specific (one form), typical (one group) or multiple"},
			&cli.BoolFlag{Name: "lenient", Usage: "merge categories that overlap"},
			&cli.StringFlag{Name: "narrative", Usage: "who would do it, why, and with what"},
		),
		Action: c.changing(putScenario, "SCENARIO"),
	}
}

// putScenario adds a scenario, or what flags say to one.
func putScenario(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error {
	s, before, err := begin(ctx, r, r.Scenario, args[0], "scenario", func(x *repository.Scenario) *string { return &x.Name })
	if err != nil {
		return err
	}
	if ctx.IsSet("target") {
		s.Target = ctx.String("target")
	}
	s.Match.Groups = slices.Concat(s.Match.Groups, ctx.StringSlice("group"))
	s.Match.Forms = slices.Concat(s.Match.Forms, ctx.StringSlice("form"))
	s.Match.Exclude = slices.Concat(s.Match.Exclude, ctx.StringSlice("exclude"))
	s.Variables = slices.Concat(s.Variables, ctx.StringSlice("variables"))
	if ctx.IsSet("prevalence") {
		s.Prevalence = ctx.StringSlice("prevalence")
	}
	if ctx.IsSet("mode") {
		s.Mode = ctx.String("mode")
	}
	if ctx.IsSet("narrative") {
		s.Narrative = ctx.String("narrative")
	}
	if ctx.IsSet("lenient") {
		strict := !ctx.Bool("lenient")
		s.Strict = &strict
	}
	if s.Target == "" {
		return errors.New("say whose data are to be released: --target FORM")
	}
	return ch.Put(s, before)
}
