package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/keymap/repository"
)

func changeFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{repositoryFlag(),
		&cli.BoolFlag{Name: "dry-run", Usage: "tell which files would change, and change none"},
		&cli.BoolFlag{Name: "force", Usage: "make an edit of categories that is not safe, if all forms stay valid"},
	}, more...)
}

// change lets put fill a change of the repository, and makes it.
func (c *console) change(ctx *cli.Context, put func(r *repository.Repository, ch *repository.Change) error) error {
	r, err := c.openRepository(ctx)
	if err != nil {
		return err
	}
	ch := r.Change()
	ch.Force = ctx.Bool("force")
	if err := put(r, ch); err != nil {
		return usageOf(err)
	}
	written, err := ch.ApplyContext(ctx.Context, ctx.Bool("dry-run"))
	if err != nil {
		return err
	}
	return c.print(writtenText(written, ctx.Bool("dry-run")))
}

// changing is the action of a verb whose arguments put fills a change with.
func (c *console) changing(put func(ctx *cli.Context, args []string, r *repository.Repository, ch *repository.Change) error, what ...string) cli.ActionFunc {
	return func(ctx *cli.Context) error {
		args, err := named(ctx, what...)
		if err != nil {
			return err
		}
		return c.change(ctx, func(r *repository.Repository, ch *repository.Change) error { return put(ctx, args, r, ch) })
	}
}

func usageOf(err error) error {
	var u *usageError
	if errors.As(err, &u) {
		return err
	}
	return usage("%s", err)
}

func writtenText(list []repository.Written, dry bool) string {
	var b strings.Builder
	for _, w := range list {
		verb := "changed"
		switch {
		case w.Removed:
			verb = "removed"
		case w.New:
			verb = "new"
		}
		if dry {
			verb = "would be " + verb
		}
		fmt.Fprintf(&b, "%s: %s\n", report.Printable(w.Path), verb)
	}
	if len(list) == 0 {
		b.WriteString("nothing to change\n")
	}
	return b.String()
}

func (c *console) keymapInit() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "make a folder a repository of forms",
		ArgsUsage: "[FOLDER]",
		UsageText: "microrisk keymap init [FOLDER]",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "metadata", Usage: "what grids of forms begin with, such as Organisation, by `NAME`; may be repeated"},
		},
		Action: func(ctx *cli.Context) error {
			if ctx.Args().Len() > 1 {
				return usage("microrisk keymap init takes one folder")
			}
			folder := ctx.Args().First()
			if folder == "" {
				folder = "."
			}
			written, err := repository.Init(folder, &repository.Config{MetadataColumns: ctx.StringSlice("metadata")})
			if err != nil {
				return usageOf(err)
			}
			next := "\nNext, a form from data, or one by hand:\n  microrisk keymap import DATA -r %s\n  microrisk keymap add variable --help\n" +
				"  microrisk keymap add form --help\n"
			return c.print(writtenText(written, false) + fmt.Sprintf(next, shellWord(folder)))
		},
	}
}

func (c *console) keymapCheck() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "find what is wrong with a repository, or with some categories",
		ArgsUsage: "[VARIABLE CATEGORY...]",
		UsageText: "microrisk keymap check\nmicrorisk keymap check VARIABLE CATEGORY...",
		Description: `Everything that is wrong is told with its file and line, also what a change that
was ended has left behind. With a variable and categories (ids): whether these cover
the variable once. Exit status 1 if something is wrong.`,
		Flags: []cli.Flag{repositoryFlag()},
		Action: func(ctx *cli.Context) error {
			r, err := c.openRepository(ctx)
			if err != nil {
				return err
			}
			if ctx.Args().Present() {
				return c.checkCategories(r, ctx.Args().First(), ctx.Args().Tail())
			}
			if len(r.Findings) == 0 {
				return c.print(fmt.Sprintf("nothing is wrong: %s, %s, %s, %s\n", formsOf(len(r.Forms)),
					report.Plural(int64(len(r.Variables)), "variable", "variables"), report.Plural(int64(len(r.Groups)), "group", "groups"),
					report.Plural(int64(len(r.Scenarios)), "scenario", "scenarios")))
			}
			var b strings.Builder
			for _, f := range r.Findings {
				b.WriteString(report.Printable(f.String()) + "\n")
			}
			if err := c.print(b.String()); err != nil {
				return err
			}
			return fmt.Errorf("%s wrong with the repository", report.Plural(int64(len(r.Findings)), "thing is", "things are"))
		},
	}
}

func (c *console) checkCategories(r *repository.Repository, name string, categories []string) error {
	g := r.Graph(name)
	switch {
	case r.Variable(name) == nil:
		return usageOf(r.Unknown(repository.Variables, name))
	case g == nil:
		return fmt.Errorf("the categories of %q are wrong themselves: microrisk keymap check", name)
	case len(categories) == 0:
		return usage("name the categories: microrisk keymap check %q CATEGORY...", name)
	}
	if wrong := g.Check(categories); wrong != nil {
		return wrong
	}
	covers := report.Plural(int64(len(categories)), "category covers", "categories cover")
	return c.print(fmt.Sprintf("%s %s once\n", covers, report.Printable(name)))
}
