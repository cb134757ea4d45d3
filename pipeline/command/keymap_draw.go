package command

import (
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/figures"
	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
)

func (c *console) keymapGraph() *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw the categories of a variable, or its codes",
		ArgsUsage: "VARIABLE",
		UsageText: "microrisk keymap graph VARIABLE [--kind partition|harmonization] [--out FILE.svg]",
		Description: `partition: categories by what they are parts of, those of --form marked.
harmonization: codes by how fine they are; with --target, those that a form can be
compared by. The file's name tells its kind, .svg or .dot (Graphviz); without one the
graph is printed as DOT.`,
		Flags: []cli.Flag{repositoryFlag(),
			&cli.StringFlag{Name: "kind", Value: "harmonization", Usage: "what is drawn: partition or harmonization (default: harmonization)"},
			&cli.StringFlag{Name: "form", Usage: "mark the categories of this `FORM`"},
			&cli.StringFlag{Name: "target", Usage: "draw what this `FORM` can be compared by"},
			&cli.BoolFlag{Name: "lenient", Usage: "merge categories that overlap"},
			&cli.StringFlag{Name: "out", Usage: "write it to `FILE` (.svg or .dot)"},
			&cli.IntFlag{Name: "max-nodes", Usage: "go through at most `N` harmonizations"},
		},
		Action: func(ctx *cli.Context) error {
			e, v, _, err := c.variable(ctx, ctx.String("kind") == "partition")
			if err != nil {
				return err
			}
			g, err := graphOf(ctx, e, v)
			if err != nil {
				return err
			}
			path := ctx.String("out")
			switch strings.ToLower(filepath.Ext(path)) {
			case ".svg":
				return keymap.WriteText(path, []byte(g.SVG()))
			case ".dot", ".gv":
				return keymap.WriteText(path, []byte(g.DOT()))
			case "":
				if path == "" {
					return c.print(g.DOT())
				}
			}
			return usage("cannot tell the format of %s by its name; endings are .svg and .dot", path)
		},
	}
}

func graphOf(ctx *cli.Context, e *keymap.Environment, v *keymap.Variable) (*figures.Graph, error) {
	target := ctx.String("target")
	switch kind := ctx.String("kind"); {
	case kind != "partition" && kind != "harmonization":
		return nil, usage("--kind is %q; it is partition or harmonization", kind)
	case kind == "partition" && target != "":
		return nil, usage("--target goes with --kind harmonization; --form marks the categories of a form")
	case kind == "partition":
		g, err := e.PartitionGraph(v, ctx.String("form"))
		if err != nil {
			return nil, usageOf(err)
		}
		return g, nil
	case ctx.String("form") != "":
		return nil, usage("--form goes with --kind partition")
	case target != "" && e.Form(target) == nil:
		return nil, usageOf(e.Unknown(repository.Forms, target))
	}
	return v.HarmonizationGraph(ctx.Context, target)
}

func (c *console) keymapReport() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a page that shows the key variables of a target, and why",
		UsageText: "microrisk keymap report --target FORM --out FILE.html",
		Description: `One HTML file that needs no network: the scenario, key variables by rank, profiles,
graphs of codes, sets of variables that forms share, and a glossary.`,
		Flags: append([]cli.Flag{repositoryFlag(),
			&cli.StringFlag{Name: "out", Value: "keymap.html", Usage: "write it to `FILE` (default: keymap.html)"}}, questionFlags()...),
		Action: func(ctx *cli.Context) error {
			if err := figures.Missing(); err != nil {
				return usage("cannot draw the profiles of a report: %v; keymap profile, analyse and keys print what it shows, and keymap graph draws codes", err)
			}
			e, s, q, err := c.question(ctx)
			if err != nil {
				return err
			}
			if s.Prevalence == nil {
				q.Prevalence = []string{"0", "0.1", "0.25", "0.5", "1"}
			}
			a, err := e.Ask(ctx.Context, q)
			if err != nil {
				return err
			}
			text, err := e.Report(ctx.Context, s, a)
			if err != nil {
				return err
			}
			return keymap.WriteText(ctx.String("out"), text)
		},
	}
}
