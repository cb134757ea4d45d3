package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
)

// someTables adds to a message how tables of forms are known.
func someTables(n int) string {
	if n == 0 {
		return ""
	}
	var headers []string
	for _, h := range repository.LongHeaders() {
		headers = append(headers, strings.Join(h, ","))
	}
	return "; tables of forms begin with " + strings.Join(headers, ", or ")
}

// importTables reads forms from tables.
func (c *console) importTables(ctx *cli.Context, r *repository.Repository, paths []string) error {
	for _, flag := range []string{"name", "columns", "codes", "bands", "missing-codes", "delimiter", "format"} {
		if ctx.IsSet(flag) {
			return usage("--%s goes with a file of data; %s", flag, strings.Join(paths, ", ")+" has forms")
		}
	}
	l := repository.NewLong()
	l.Beside(r)
	for _, path := range paths {
		if err := l.ReadFile(path); err != nil {
			return err
		}
	}
	for name, text := range pairsOf(ctx.StringSlice("step")) {
		step, err := stepOf(name, text)
		if err != nil {
			return err
		}
		if err := l.Bands(name, step); err != nil {
			return usage("--step: %v", err)
		}
	}
	ch := r.Change()
	var inconsistent []*repository.Finding
	ch.Inconsistent = &inconsistent
	if err := ch.PutLong(l); err != nil {
		return err
	}
	written, err := ch.ApplyContext(ctx.Context, ctx.Bool("dry-run"))
	if err != nil {
		return err
	}
	if len(written) == 0 {
		return fmt.Errorf("%s: no rows, and nothing to import", strings.Join(paths, ", "))
	}
	for _, text := range tableWarnings(r, l, written, inconsistent) {
		c.logger.Warn(text)
	}
	next := "microrisk keymap grid -r " + shellWord(ctx.String("repository"))
	return c.print(c.importedText(ctx, written, "the variables", next))
}

// tableWarnings say what tables of forms leave to be looked at.
func tableWarnings(r *repository.Repository, l *repository.Long, written []repository.Written, inconsistent []*repository.Finding) []string {
	var list []string
	for _, v := range l.Variables {
		if like := v.BandLike(); like != nil {
			list = append(list, fmt.Sprintf("variable %q: %q and %q look like bands of numbers, and were read as names: nothing is known of how they overlap. "+
				"--step %s reads them as bands of whole numbers that include their last: 16-20 is 16 <= x < 21 then",
				v.Name, like[0], like[1], shellWord(v.Name+"=1")))
		}
	}
	for _, t := range l.TakenBands() {
		if n := r.Variable(t.Variable).Node(t.ID); n != nil && t.Label != keymap.BandText(*n) {
			list = append(list, fmt.Sprintf("variable %q: %q was taken for %s", t.Variable, t.Label, keymap.BandText(*n)))
		}
	}
	for _, f := range inconsistent[:min(mostWarnings, len(inconsistent))] {
		list = append(list, f.String())
	}
	if more := len(inconsistent) - mostWarnings; more > 0 {
		list = append(list, fmt.Sprintf("and %d more such forms: microrisk keymap check lists all", more))
	}
	return list
}

// mostWarnings is how many forms that contradict their variables are named.
const mostWarnings = 20
