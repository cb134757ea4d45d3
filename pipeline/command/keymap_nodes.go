package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
)

func (c *console) addNode() *cli.Command {
	return &cli.Command{
		Name:      "node",
		Usage:     "add a category to a variable",
		ArgsUsage: "VARIABLE LABEL",
		UsageText: `microrisk keymap add node VARIABLE LABEL --whole ID,ID [--split ID=IN,OUT]
microrisk keymap add node VARIABLE LABEL --except ID,ID
microrisk keymap add node VARIABLE LABEL --inside ID --rest LABEL
microrisk keymap add node Age --lo 16 --hi 21`,
		Description: `What a category is, is said by what it has in common with the smallest ones: those
that lie in it wholly (or all but those of --except), those of which a part does (with labels for the part that
does and the one that does not), or the only one that it lies in (with a label for
the rest of that). A band of an interval variable needs its bounds alone.`,
		Flags: changeFlags(
			&cli.StringFlag{Name: "id", Usage: "the `ID` of the category (default: made of the label)"},
			&cli.StringFlag{Name: "whole", Usage: "smallest categories that lie in it, `ID,ID,...`"},
			&cli.StringFlag{Name: "except", Usage: "all smallest categories lie in it but these, `ID,ID,...`"},
			&cli.StringSliceFlag{Name: "split", Usage: "one of which a part does, `ID=IN,OUT`, labels of its parts; may be repeated"},
			&cli.StringFlag{Name: "inside", Usage: "the smallest category `ID` that it is a part of"},
			&cli.StringFlag{Name: "rest", Usage: "the `LABEL` of what else that has"},
			&cli.StringFlag{Name: "lo", Usage: "the least `NUMBER` of a band"},
			&cli.StringFlag{Name: "hi", Usage: "the `NUMBER` that a band ends below; inf for no end"},
			&cli.StringFlag{Name: "note", Usage: "`TEXT` that stands with it"},
		),
		Action: func(ctx *cli.Context) error {
			if n := ctx.Args().Len(); n < 1 || n > 2 {
				return usage("microrisk keymap add node takes VARIABLE LABEL")
			}
			var fresh []repository.Node
			err := c.change(ctx, func(r *repository.Repository, ch *repository.Change) error {
				v, err := variableCopy(r, ctx.Args().First())
				if err != nil {
					return err
				}
				before := len(v.Nodes)
				v.Nodes = slices.Clone(v.Nodes)
				if v.Scale == repository.Interval {
					err = addBand(ctx, v)
				} else {
					err = addCategory(ctx, v)
				}
				if err != nil {
					return err
				}
				fresh = v.Nodes[before:]
				return ch.Put(v, v.Name)
			})
			if err != nil {
				return err
			}
			var ids []string
			for _, n := range fresh {
				ids = append(ids, n.ID)
			}
			return c.print(wrapped("", strings.Fields("ids: "+strings.Join(ids, ", "))))
		},
	}
}

func addBand(ctx *cli.Context, v *repository.Variable) error {
	if !ctx.IsSet("lo") || !ctx.IsSet("hi") {
		return fmt.Errorf("%q is an interval variable: say the bounds of the band, --lo and --hi", v.Name)
	}
	lo, err := boundOf(ctx.String("lo"))
	if err != nil {
		return err
	}
	hi, err := boundOf(ctx.String("hi"))
	if err != nil {
		return err
	}
	n, err := bandNode(ctx.Args().Get(1), lo, hi)
	if err != nil {
		return err
	}
	if ctx.IsSet("id") {
		n.ID = ctx.String("id")
	}
	if other := v.Band(keymap.Band{Lo: lo, Hi: hi}); other != nil {
		return fmt.Errorf("%s is that band already", other.ID)
	}
	n.Note = ctx.String("note")
	v.Nodes = append(v.Nodes, n)
	return nil
}

func addCategory(ctx *cli.Context, v *repository.Variable) error {
	label := ctx.Args().Get(1)
	if label == "" {
		return errors.New("name the category: microrisk keymap add node VARIABLE LABEL")
	}
	added := make(map[string]string) // labels of new categories, by id
	fresh := func(label string) string {
		id := repository.Free(label, func(id string) bool {
			_, own := added[id]
			return own || slices.ContainsFunc(v.Nodes, func(n repository.Node) bool { return n.ID == id })
		})
		added[id] = label
		return id
	}
	a := keymap.Addition{ID: ctx.String("id"), Inside: ctx.String("inside")}
	if a.ID == "" {
		a.ID = fresh(label)
	} else {
		added[a.ID] = label
	}
	if ctx.IsSet("whole") {
		a.Whole = strings.Split(ctx.String("whole"), ",")
	}
	for sink, parts := range pairsOf(ctx.StringSlice("split")) {
		in, out, ok := strings.Cut(parts, ",")
		if !ok || in == "" || out == "" {
			return fmt.Errorf("--split %s=%s: it needs labels for two parts, the one in %s and the other, as in --split %s=IN,OUT", sink, parts, label, sink)
		}
		a.Split = append(a.Split, keymap.Split{Sink: sink, In: fresh(in), Out: fresh(out)})
	}
	switch rest := ctx.String("rest"); {
	case a.Inside != "" && rest == "":
		return fmt.Errorf("--inside %s needs --rest: the label of what else that has", a.Inside)
	case a.Inside == "" && rest != "":
		return errors.New("--rest goes with --inside")
	case rest != "":
		a.Rest = fresh(rest)
	}
	d, _, err := v.Drawing()
	if err != nil {
		return err
	}
	if ctx.IsSet("except") {
		if a.Whole != nil || a.Split != nil || a.Inside != "" {
			return errors.New("--except says all that lies in a category: --whole, --split and --inside do not go with it")
		}
		if a.Whole, err = allBut(d, strings.Split(ctx.String("except"), ",")); err != nil {
			return err
		}
	}
	more, existing, err := d.Add(a)
	switch {
	case err != nil:
		return err
	case existing != "":
		return fmt.Errorf("category %s is just that already; an edge makes %s another name of it: add it to the file as a node with the edge [%s, %s]",
			existing, a.ID, a.ID, existing)
	}
	for _, id := range more.Nodes[len(d.Nodes):] {
		n := repository.Node{ID: id}
		if added[id] != id {
			n.Label = added[id]
		}
		if id == a.ID {
			n.Note = ctx.String("note")
		}
		v.Nodes = append(v.Nodes, n)
	}
	v.Edges = more.Edges
	if v.Scale == repository.Ordinal {
		return splitOrder(v, a)
	}
	return nil
}

// allBut are the smallest categories but some.
func allBut(d keymap.Drawing, some []string) (others []string, err error) {
	g, err := keymap.NewGraph(d)
	if err != nil {
		return nil, err
	}
	sinks := g.Sinks()
	for _, id := range some {
		if !slices.Contains(sinks, id) {
			return nil, fmt.Errorf("--except: %q is no smallest category", id)
		}
	}
	return slices.DeleteFunc(sinks, func(id string) bool { return slices.Contains(some, id) }), nil
}

// splitOrder puts the parts of a smallest category in its place in the order.
func splitOrder(v *repository.Variable, a keymap.Addition) error {
	order := slices.Clone(v.SinkOrder)
	put := func(sink string, parts ...string) {
		if i := slices.Index(order, sink); i >= 0 {
			order = slices.Replace(order, i, i+1, parts...)
		}
	}
	if a.Inside != "" {
		put(a.Inside, a.ID, a.Rest)
	}
	for _, s := range a.Split {
		first, last := s.In, s.Out
		if i := slices.Index(order, s.Sink); i > 0 && !slices.Contains(a.Whole, order[i-1]) {
			first, last = last, first
		}
		put(s.Sink, first, last)
	}
	v.SinkOrder = order
	return nil
}

var kinds = []string{"form", "variable", "node", "group", "scenario"}

func (c *console) keymapRename() *cli.Command {
	return &cli.Command{
		Name:        "rename",
		Usage:       "give a form, variable, group, scenario or category another name everywhere",
		ArgsUsage:   "KIND NAME NEW",
		UsageText:   "microrisk keymap rename form|variable|group|scenario NAME NEW\nmicrorisk keymap rename node VARIABLE ID LABEL",
		Description: "All files that name it are changed too. A category keeps its id, and its old label\nis kept among the former ones.",
		Flags:       changeFlags(),
		Action: func(ctx *cli.Context) error {
			args := ctx.Args().Slice()
			if len(args) < 3 || args[0] == "node" && len(args) != 4 || args[0] != "node" && len(args) != 3 {
				return usage("microrisk keymap rename takes KIND NAME NEW, or node VARIABLE ID LABEL")
			}
			if !slices.Contains(kinds, args[0]) {
				return usage("there is no kind %q; the kinds are %s", args[0], strings.Join(kinds, ", "))
			}
			return c.change(ctx, func(r *repository.Repository, ch *repository.Change) error {
				if args[0] == "node" {
					return ch.RenameNode(args[1], args[2], args[3])
				}
				return ch.Rename(args[0]+"s", args[1], args[2])
			})
		},
	}
}

func (c *console) keymapRemove() *cli.Command {
	return &cli.Command{
		Name:        "remove",
		Usage:       "take a form, variable, group or scenario away",
		ArgsUsage:   "KIND NAME",
		UsageText:   "microrisk keymap remove form|variable|group|scenario NAME",
		Description: "What others still name stays, and is told. Categories and edges are not taken away:\nwhat was said with them would lose its meaning.",
		Flags:       changeFlags(),
		Action: func(ctx *cli.Context) error {
			args, err := named(ctx, "KIND", "NAME")
			if err != nil {
				return err
			}
			if args[0] == "node" || !slices.Contains(kinds, args[0]) {
				return usage("%q cannot be removed; form, variable, group and scenario can", args[0])
			}
			return c.change(ctx, func(_ *repository.Repository, ch *repository.Change) error { return ch.Remove(args[0]+"s", args[1]) })
		},
	}
}

func (c *console) keymapReview() *cli.Command {
	return &cli.Command{
		Name:      "review",
		Usage:     "record what a person decided of a variable",
		ArgsUsage: "VARIABLE",
		UsageText: "microrisk keymap review VARIABLE [--effective-levels N] [--exclude] [--note TEXT] [--same NAME] [--different NAME]",
		Description: `Analyses show ranks with and without reviews. Known reasons: overlapping categories
that inflate a size, a subpopulation in which the variable tells nothing apart, few
forms behind a large size. Without flags the review is shown.`,
		Flags: changeFlags(
			&cli.IntFlag{Name: "effective-levels", Usage: "it counts for `N` categories at most; 0 takes that back"},
			&cli.BoolFlag{Name: "exclude", Usage: "it is no key variable; --exclude=false takes that back"},
			&cli.StringFlag{Name: "note", Usage: "why"},
			&cli.StringSliceFlag{Name: "same", Usage: "the variable `NAME` is the same thing; may be repeated"},
			&cli.StringSliceFlag{Name: "different", Usage: "the variable `NAME` looks alike and is not the same; may be repeated"},
		),
		Action: func(ctx *cli.Context) error {
			args, err := named(ctx, "VARIABLE")
			if err != nil {
				return err
			}
			if !slices.ContainsFunc([]string{"effective-levels", "exclude", "note", "same", "different"}, ctx.IsSet) {
				return c.showReview(ctx, args[0])
			}
			return c.change(ctx, func(r *repository.Repository, ch *repository.Change) error {
				v, err := variableCopy(r, args[0])
				if err != nil {
					return err
				}
				var review repository.Review
				if v.Review != nil {
					review = *v.Review
				}
				if ctx.IsSet("effective-levels") {
					switch n := ctx.Int("effective-levels"); {
					case n < 0:
						return fmt.Errorf("--effective-levels is %d; it must be at least 1, or 0 to take it back", n)
					case n == 0:
						review.EffectiveLevels = nil
					default:
						review.EffectiveLevels = &n
					}
				}
				if ctx.IsSet("exclude") {
					review.Exclude = ctx.Bool("exclude")
				}
				if ctx.IsSet("note") {
					review.Note = ctx.String("note")
				}
				for _, name := range slices.Concat(ctx.StringSlice("same"), ctx.StringSlice("different")) {
					if r.Variable(name) == nil {
						return r.Unknown(repository.Variables, name)
					}
				}
				review.Same = slices.Concat(review.Same, ctx.StringSlice("same"))
				review.Different = slices.Concat(review.Different, ctx.StringSlice("different"))
				v.Review = &review
				return ch.Put(v, v.Name)
			})
		},
	}
}

func (c *console) showReview(ctx *cli.Context, name string) error {
	r, err := c.openRepository(ctx)
	if err != nil {
		return err
	}
	v, err := variableCopy(r, name)
	if err != nil {
		return usageOf(err)
	}
	if v.Review == nil {
		return c.print("there is no review of it\n")
	}
	return c.print(string(v.Review.Text()))
}
