package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
	"microrisk/schemas"
)

// keymapImport makes forms of what there is: of the columns of data, or of tables of forms.
func (c *console) keymapImport() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "draft a form from the columns of a data file, or read forms from CSV tables",
		ArgsUsage: "FILE...",
		UsageText: `microrisk keymap import DATA [--columns A,B] [--bands AGE=5] [--name FORM]
microrisk keymap import FORMS.csv [METADATA.csv] [EDGES.csv]`,
		Description: `A form is drafted from data (a file, or a folder of them): a variable for each
column of at most 1,000 values, or for those of --columns. Texts become categories,
numbers are left to be written in, or put into bands or taken for codes. A variable
that the repository has is the column's if each of its values is in a category, by
label or id; else all that are missing are listed and nothing is written. A
variable covers what its first form had in mind, and gets no wider: where others
have more (ages of children, say), give bands of all that could be asked for.

Tables of forms have a fact a row, and begin with one of these lines:

   form,variable,category    no category: the value is written in
   form,key,value            metadata
   variable,parent,child     a category and a part of it

Files are written all of them or none. What is there is not changed, except that a
variable gets codes of categorizations that are new.`,
		Flags: []cli.Flag{
			repositoryFlag(),
			&cli.StringFlag{Name: "name", Usage: "call the form `FORM` (default: as the file)"},
			&cli.StringSliceFlag{Name: "columns", Usage: "draft these `COLUMNS`, separated by commas; VARIABLE=COLUMN names the variable; may be repeated"},
			&cli.StringSliceFlag{Name: "codes", Usage: "`COLUMNS` of whole numbers that are codes: each is a category; may be repeated"},
			&cli.StringSliceFlag{
				Name:  "bands",
				Usage: "put the numbers of a column into bands, `COLUMN=WIDTH` (the first from 0 or no beginning, the last without end) or COLUMN=LO,...,HI, where HI may be inf; may be repeated",
			},
			&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas; may be repeated"},
			&cli.StringFlag{Name: "delimiter", Usage: "`CHARACTER` between the fields of CSV; tab for a tab (default: found)"},
			&cli.StringFlag{Name: "format", Usage: "the file is `parquet`, arrow or csv, whatever its name (default: by its ending)"},
			&cli.StringSliceFlag{
				Name: "step",
				Usage: "the values of `COLUMN=STEP` (in tables, the categories of a variable) are bands of numbers that are STEP apart, so that 16-20 " +
					"of Age=1 ends below 21, and of Age=0 below 20; may be repeated",
			},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the files, and write none"},
		},
		Action: func(ctx *cli.Context) error {
			paths := ctx.Args().Slice()
			if len(paths) == 0 {
				return usage("name a file: microrisk keymap import FILE")
			}
			r, err := c.openRepository(ctx)
			if err != nil {
				return err
			}
			if err := r.Usable(); err != nil {
				return usage("nothing was imported, since the repository is wrong as it is (microrisk keymap check):\n%v", err)
			}
			tables := 0
			for _, path := range paths {
				if repository.IsLong(path) {
					tables++
				}
			}
			switch {
			case tables == len(paths):
				return c.importTables(ctx, r, paths)
			case len(paths) > 1:
				return usage("a form is drafted from one file or folder of data, not %d: import one after the other%s", len(paths), someTables(tables))
			}
			return c.importData(ctx, r, paths[0])
		},
	}
}

// importData drafts a form from data.
func (c *console) importData(ctx *cli.Context, r *repository.Repository, path string) error {
	how, err := draftingOf(ctx, path)
	if err != nil {
		return err
	}
	name := how.Form
	if name == "" {
		name = keymap.FormName(path)
	}
	if file := r.File(repository.Forms, name); file != "" {
		return usage("there is a form %q already, in %s: --name gives the new one another", name, file)
	}
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	how.Form = name
	d, err := keymap.DraftForm(ctx.Context, r, how, o)
	if err != nil {
		return unchanged(err)
	}
	ch := r.Change()
	if err := d.Put(ch); err != nil {
		return usageOf(err)
	}
	written, err := ch.ApplyContext(ctx.Context, ctx.Bool("dry-run"))
	if err != nil {
		return err
	}
	next := fmt.Sprintf("microrisk keymap analyse -r %s --target %s", shellWord(ctx.String("repository")), shellWord(name))
	look := "the labels and categories"
	if len(r.Forms) == 0 {
		look += ", add the forms of others (microrisk keymap add form)"
	}
	return c.print(draftText(path, d) + c.importedText(ctx, written, look, next))
}

// unchanged says of values in no category that nothing was written.
func unchanged(err error) error {
	var u *keymap.UnmappedError
	if errors.As(err, &u) {
		return fmt.Errorf("nothing was written, since the repository has no categories for some values:\n%w", err)
	}
	return err
}

// draftingOf is what flags say of a draft.
func draftingOf(ctx *cli.Context, path string) (keymap.Drafting, error) {
	how := keymap.Drafting{
		Form:   ctx.String("name"),
		Source: schemas.Source{Path: []string{path}, Delimiter: delimiterOf(ctx), Format: ctx.String("format")},
	}
	if how.Form == "" && (path == "-" || strings.ContainsAny(path, "*?[")) {
		return how, usage("name the form: --name FORM")
	}
	names, err := words("columns", ctx.StringSlice("columns"))
	if err != nil {
		return how, err
	}
	for _, name := range names {
		variable, column, ok := strings.Cut(name, "=")
		if !ok {
			variable, column = "", name
		}
		if column == "" {
			return how, usage("--columns %q names no column; write COLUMN, or VARIABLE=COLUMN", name)
		}
		how.Columns = append(how.Columns, keymap.DraftColumn{Column: column, Variable: variable})
	}
	if how.Codes, err = words("codes", ctx.StringSlice("codes")); err != nil {
		return how, err
	}
	if how.MissingCodes, err = words("missing-codes", ctx.StringSlice("missing-codes")); err != nil {
		return how, err
	}
	for name, text := range pairsOf(ctx.StringSlice("step")) {
		step, err := stepOf(name, text)
		if err != nil {
			return how, err
		}
		how.Steps = append(how.Steps, keymap.DraftStep{Column: name, Step: step})
	}
	for _, text := range ctx.StringSlice("bands") {
		b, err := draftBandsOf(text)
		if err != nil {
			return how, err
		}
		how.Bands = append(how.Bands, b)
	}
	return how, nil
}

// stepOf reads the number of --step NAME=NUMBER.
func stepOf(name, text string) (float64, error) {
	step, err := strconv.ParseFloat(text, 64)
	if err != nil || !(step >= 0) || math.IsInf(step, 0) {
		return 0, usage("--step %s=%s: it needs a number, such as %s=1", name, text, name)
	}
	return step, nil
}

// draftBandsOf reads COLUMN=WIDTH, or COLUMN=LO,...,HI.
func draftBandsOf(text string) (keymap.DraftBands, error) {
	at := strings.LastIndexByte(text, '=')
	if at <= 0 {
		return keymap.DraftBands{}, usage("--bands %q says no bands; write the column and their width or bounds, such as AGE=5 or AGE=0,16,65,inf", text)
	}
	b := keymap.DraftBands{Column: text[:at]}
	for i, word := range strings.Split(text[at+1:], ",") {
		x, err := boundOf(word)
		if err != nil {
			return b, usage("--bands %s: %v", text, err)
		}
		if i > 0 && !(b.Bounds[i-1] < x) {
			return b, usage("--bands %s: bounds ascend, and %s follows %s", text, word, strconv.FormatFloat(b.Bounds[i-1], 'f', -1, 64))
		}
		b.Bounds = append(b.Bounds, x)
	}
	switch n := len(b.Bounds); {
	case n == 1:
		b.Width, b.Bounds = b.Bounds[0], nil
		if !(b.Width > 0) || b.Width != math.Trunc(b.Width) || math.IsInf(b.Width, 0) {
			return b, usage("--bands %s: a width is a whole number above 0; bounds are several numbers", text)
		}
	case n == 2 && math.IsInf(b.Bounds[0], -1) && math.IsInf(b.Bounds[1], 1):
		return b, usage("--bands %s: one band of all numbers tells nothing apart", text)
	}
	return b, nil
}
