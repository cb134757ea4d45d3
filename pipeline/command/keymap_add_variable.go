package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/keymap/repository"
)

func (c *console) addVariable() *cli.Command {
	return &cli.Command{
		Name:      "variable",
		Usage:     "add a variable with its smallest categories",
		ArgsUsage: "VARIABLE",
		UsageText: "microrisk keymap add variable VARIABLE --categories female,male\nmicrorisk keymap add variable Age --bands 0,18,65,inf --unit years",
		Flags: changeFlags(
			&cli.StringFlag{Name: "from", Usage: "begin with a copy of this `VARIABLE`"},
			&cli.StringFlag{Name: "categories", Usage: "labels of its smallest categories, `LABEL,LABEL,...`; ids are made of them"},
			&cli.BoolFlag{Name: "ordinal", Usage: "the categories are in order"},
			&cli.StringFlag{Name: "bands", Usage: "bounds of the bands of an interval variable, `LO,...,HI`; the last may be inf"},
			&cli.StringFlag{Name: "unit", Usage: "the `UNIT` of bands, such as years"},
			&cli.StringFlag{Name: "note", Usage: "`TEXT` that stands with it"},
		),
		Action: c.changing(putVariable, "VARIABLE"),
	}
}

// putVariable adds a variable.
func putVariable(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error {
	v, before, err := begin(ctx, r, r.Variable, args[0], "variable", func(x *repository.Variable) *string { return &x.Name })
	if err != nil {
		return err
	}
	if before != "" {
		return fmt.Errorf("there is a variable %q already: microrisk keymap add node adds a category to it", args[0])
	}
	if v.Nodes == nil {
		v.Nodes = []repository.Node{}
	}
	if near := r.Similar(args[0]); near != "" && !ctx.Bool("force") {
		return fmt.Errorf("there is a variable %q; if %q is another thing, --force adds it", near, args[0])
	}
	if err := sayCategories(ctx, v); err != nil {
		return err
	}
	if len(v.Nodes) == 0 {
		return fmt.Errorf("say the categories of %q: --categories LABEL,LABEL,..., or --bands LO,...,HI", args[0])
	}
	return ch.Put(v, "")
}

// sayCategories puts what flags say of categories into a variable.
func sayCategories(ctx *cli.Context, v *repository.Variable) error {
	taken := func(id string) bool {
		return slices.ContainsFunc(v.Nodes, func(n repository.Node) bool { return n.ID == id })
	}
	if ctx.IsSet("categories") {
		labels := strings.Split(ctx.String("categories"), ",")
		for i, label := range labels {
			switch {
			case strings.TrimSpace(label) == "":
				return fmt.Errorf("--categories %s: a category has no label", ctx.String("categories"))
			case slices.Contains(labels[:i], label):
				return fmt.Errorf("--categories %s: %s is named twice", ctx.String("categories"), label)
			}
			id := repository.Free(label, taken)
			n := repository.Node{ID: id}
			if label != id {
				n.Label = label
			}
			v.Nodes = append(v.Nodes, n)
			if ctx.Bool("ordinal") {
				v.Scale, v.SinkOrder = repository.Ordinal, append(v.SinkOrder, id)
			}
		}
	}
	if ctx.IsSet("bands") {
		if ctx.IsSet("categories") {
			return errors.New("a variable has --categories or --bands")
		}
		v.Scale = repository.Interval
		var bounds []float64
		for _, text := range strings.Split(ctx.String("bands"), ",") {
			x, err := boundOf(text)
			if err != nil {
				return err
			}
			bounds = append(bounds, x)
		}
		for i := 1; i < len(bounds); i++ {
			n, err := bandNode("", bounds[i-1], bounds[i])
			if err != nil {
				return err
			}
			v.Nodes = append(v.Nodes, n)
		}
	}
	if ctx.IsSet("unit") {
		v.Unit = ctx.String("unit")
	}
	if ctx.IsSet("note") {
		v.Note = ctx.String("note")
	}
	return nil
}

func boundOf(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(x) {
		return 0, fmt.Errorf("bound %q: it must be a number, inf or -inf", text)
	}
	return x, nil
}

func bandNode(label string, lo, hi float64) (repository.Node, error) {
	if !(lo < hi) {
		return repository.Node{}, fmt.Errorf("band from %v to %v: it must begin below its end", lo, hi)
	}
	return repository.NewBand(label, lo, hi), nil
}

func (c *console) addEdge() *cli.Command {
	return &cli.Command{
		Name:        "edge",
		Usage:       "say that a category is a part of another",
		ArgsUsage:   "VARIABLE CATEGORY PART",
		UsageText:   "microrisk keymap add edge VARIABLE CATEGORY PART",
		Description: "An edge may start at a category that has no parts yet; other edits change what\ncategories mean, and need --force.",
		Flags:       changeFlags(),
		Action:      c.changing(putEdge, "VARIABLE", "CATEGORY", "PART"),
	}
}

// putEdge adds an edge to a variable.
func putEdge(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error {
	v, err := variableCopy(r, args[0])
	if err != nil {
		return err
	}
	v.Edges = append(slices.Clone(v.Edges), [2]string{args[1], args[2]})
	return ch.Put(v, v.Name)
}

func variableCopy(r *repository.Repository, name string) (*repository.Variable, error) {
	v := r.Variable(name)
	if v == nil {
		return nil, r.Unknown(repository.Variables, name)
	}
	copied := *v
	return &copied, nil
}
