package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
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
label or id; else all that are missing are listed and nothing is written.

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
				Usage: "put the numbers of a column into bands, `COLUMN=WIDTH` (the last has no end) or COLUMN=LO,...,HI, where HI may be inf; may be repeated",
			},
			&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas; may be repeated"},
			&cli.StringFlag{Name: "delimiter", Usage: "`CHARACTER` between the fields of CSV; tab for a tab (default: found)"},
			&cli.StringFlag{Name: "format", Usage: "the file is `parquet`, arrow or csv, whatever its name (default: by its ending)"},
			&cli.StringSliceFlag{
				Name: "step",
				Usage: "of tables of forms: the categories of `VARIABLE=STEP` are bands of numbers that are STEP apart, so that 16-20 of Age=1 ends " +
					"below 21, and of Age=0 below 20; may be repeated",
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
	if ctx.IsSet("step") {
		return usage("--step goes with tables of forms; for a file of data there is --bands")
	}
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
	written, err := ch.Apply(ctx.Bool("dry-run"))
	if err != nil {
		return err
	}
	next := fmt.Sprintf("microrisk keymap analyse -r %s --target %s", shellWord(ctx.String("repository")), shellWord(name))
	return c.print(draftText(path, d) + c.importedText(ctx, written, "the labels and categories", next))
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
	for _, text := range ctx.StringSlice("bands") {
		b, err := draftBandsOf(text)
		if err != nil {
			return how, err
		}
		how.Bands = append(how.Bands, b)
	}
	return how, nil
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

// draftText says what became of columns.
func draftText(path string, d *keymap.Draft) string {
	rows := [][]report.Cell{{{Text: "column"}, {Text: "variable"}, {Text: "values", Right: true}, {Text: "becomes"}}}
	var notes, numbers []string
	for _, x := range d.Columns {
		values, becomes := "-", "written in"
		if x.Values >= 0 {
			values = report.Count(int64(x.Values))
		}
		switch {
		case x.Bands:
			becomes = report.Plural(int64(x.Categories), "band", "bands")
		case x.Categories > 0:
			becomes = report.Plural(int64(x.Categories), "category", "categories")
		}
		if !x.New {
			becomes += ", of the repository"
		}
		rows = append(rows, []report.Cell{{Text: report.Printable(x.Column)}, {Text: report.Printable(x.Variable)}, {Text: values, Right: true}, {Text: becomes}})
		if len(x.Without) > 0 {
			notes = append(notes, fmt.Sprintf("%s: no value is %s", report.Printable(x.Column), printableList(x.Without)))
		}
		if x.Numbers {
			numbers = append(numbers, x.Column)
		}
	}
	if numbers != nil {
		notes = append(notes, fmt.Sprintf("%s: texts, all of them numbers; if they measure something, put them into bands: --bands %s=5",
			printableList(numbers), shellWord(numbers[0])))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q from %s\n\n%s\n", d.Form.Name, report.Printable(path), table("", rows))
	for _, note := range notes {
		b.WriteString(wrapped("", strings.Fields(note)))
	}
	var whys []string
	of := make(map[string][]string)
	for _, l := range d.LeftOut {
		why := strings.ReplaceAll(l.Why, "--bands "+l.Column+"=", "--bands NAME=")
		if of[why] == nil {
			whys = append(whys, why)
		}
		name := report.Printable(l.Column)
		if l.Values > 0 {
			name += fmt.Sprintf(" (%s)", report.Count(int64(l.Values)))
		}
		of[why] = append(of[why], name)
	}
	for _, why := range whys {
		b.WriteString(hanging("left out: "+strings.Join(of[why], ", "), why))
	}
	if len(notes)+len(whys) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// hanging is a text that is broken to lines, and what is said of it below.
func hanging(text, says string) string {
	return wrapped("", strings.Fields(text)) + wrapped("  ", strings.Fields(says))
}

func printableList(list []string) string {
	shown := make([]string, len(list))
	for i, text := range list {
		shown[i] = report.Printable(text)
	}
	return strings.Join(shown, ", ")
}

// mostWritten is how many files of an import are listed.
const mostWritten = 40

// importedText says what was written, and what can be done next; or it is what would be written.
func (c *console) importedText(ctx *cli.Context, written []repository.Written, look, next string) string {
	var b strings.Builder
	if ctx.Bool("dry-run") {
		for _, w := range written {
			fmt.Fprintf(&b, "# %s would be\n%s\n", report.Printable(w.Path), w.Text)
		}
		return b.String()
	}
	b.WriteString(writtenText(written[:min(mostWritten, len(written))], false))
	if more := len(written) - mostWritten; more > 0 {
		fmt.Fprintf(&b, "and %s more files\n", report.Count(int64(more)))
	}
	fmt.Fprintf(&b, "\nReview %s, and then:\n  microrisk keymap check -r %s\n", look, shellWord(ctx.String("repository")))
	if next != "" {
		fmt.Fprintf(&b, "  %s\n", next)
	}
	return b.String()
}
