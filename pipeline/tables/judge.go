package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators"
	"microrisk/operators/audit"
	"microrisk/operators/report"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A JudgeSpec asks whether something may go out, given what went out before.
type JudgeSpec struct {
	AuditSpec        // of a table; With and Parts are the register's
	Register  string // its file
	Records   bool   // Public is a file of records, and there is no truth
	Fraction  float64
	Note      string // file for what those who get the table are told; "" for none
}

// A Judgement is what came of it.
type Judgement struct {
	Name      string
	Audit     *audit.Audit    // of the table by itself; nil of records
	Together  *audit.Together // with what went out before; nil if that is nothing
	Standings []Standing
	Skipped   []string // releases that were not compared, with the reason
	Refused   []string // why it must not go out, whatever audits say
}

// Judge judges a table, or a file of records, by a register. Errors about what was asked are those for which session.IsSpec is true.
func Judge(ctx context.Context, s JudgeSpec, o session.Options) (*Judgement, error) {
	o = o.WithDefaults()
	r, err := ReadRegister(s.Register)
	if err != nil {
		return nil, err
	}
	own := r.entry(s.Public)
	if own == nil {
		own = &Entry{Name: s.Public, Public: s.Public, Internal: s.Truth}
	}
	j := &Judgement{Name: own.Name}
	var earlier []Entry
	earlier, j.Skipped = r.before(own)
	reads := []session.Reading{{What: "the register", Path: s.Register}}
	var parts []tablefile.Part
	if r.Parts != "" {
		if parts, err = readParts(r.Parts); err != nil {
			return nil, err
		}
		reads = append(reads, session.Reading{What: "the parts", Path: r.Parts})
	}
	if s.Note != "" {
		if err := session.CheckPaths(append(reads, o.Reads...), []string{s.Note}); err != nil {
			return nil, err
		}
	}
	var releases []audit.Release
	if !s.Records {
		s.Truth = cmp.Or(s.Truth, own.Internal)
		if s.Truth == "" {
			return nil, session.Wrong(fmt.Errorf("it is not said what is true: --truth INTERNAL, or internal of the release in %s", s.Register))
		}
		if j.Audit, _, err = RunAuditWith(ctx, s.AuditSpec, o); err != nil {
			return nil, err
		}
		releases = append(releases, audit.Release{Name: own.Name, Audit: j.Audit})
	}
	known := []Entry{} // files of records
	for _, e := range earlier {
		if e.Records != "" {
			known = append(known, e)
			continue
		}
		x := &AuditSpec{Public: e.Public, Truth: e.Internal}
		if _, err := x.locate(ctx); err != nil {
			return nil, fmt.Errorf("the release %s: %w", e.Name, err)
		}
		a, err := x.open(ctx, false, o)
		if err != nil {
			return nil, fmt.Errorf("the release %s: %w", e.Name, err)
		}
		a.Method = cmp.Or(a.Method, e.Method)
		if first := releases; len(first) > 0 && (first[0].Response != a.Response || first[0].Table.Decimals != a.Table.Decimals) {
			j.Skipped = append(j.Skipped, fmt.Sprintf("%s is of something else (%s)", e.Name, cmp.Or(a.Response, "counts")))
			continue
		}
		releases = append(releases, audit.Release{Name: e.Name, Audit: a})
	}
	if s.Records {
		known = append(known, Entry{Name: own.Name, Records: s.Public, Fraction: &s.Fraction})
	}
	for _, e := range known {
		for _, x := range releases {
			if err := learn(ctx, x, e, o); err != nil {
				return nil, err
			}
		}
	}
	if len(releases) > 1 || len(known) > 0 && len(releases) > 0 {
		few := int64(Few)
		if r.Few != nil {
			few = int64(*r.Few)
		}
		few = cmp.Or(s.Few, few)
		if j.Together, err = audit.Combine(ctx, releases, among(parts, releases), few); err != nil {
			return nil, session.WrongTable(ctx, err)
		}
		for _, w := range j.Together.Warnings {
			o.Logger.Warn(w)
		}
	}
	if s.Records {
		return j, nil
	}
	j.again(releases)
	j.stand(r, own)
	if s.Note == "" {
		return j, nil
	}
	files := []operators.SideFile{{Path: s.Note, What: "the note", Kind: operators.MadeDocument}}
	return j, session.WriteParts(ctx, files, noted(note(j.Audit.Method, j.Audit.Hidden > 0, j.Audit.Changed > 0)), o, []string{s.Public})
}

// noted is a text for a file.
type noted string

// Part is an operators.Parted's.
func (n noted) Part(string) any { return n }

// Document is a Documented's.
func (n noted) Document() ([]byte, error) { return []byte(n), nil }

// among are the parts of tables that are there: a register may have those of others.
func among(parts []tablefile.Part, releases []audit.Release) []tablefile.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p tablefile.Part) bool {
		return !slices.ContainsFunc(releases, func(r audit.Release) bool { return r.Name == p.Table })
	})
}

func readParts(path string) ([]tablefile.Part, error) {
	text, err := session.ReadRegular(path, LargestParts)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the parts %s cannot be read: %w", path, err))
	}
	parts, err := tablefile.ParseParts(path, text)
	return parts, session.Wrong(err)
}

// LargestParts is the most bytes that a file of parts may have.
const LargestParts = 64 << 20

// again refuses a table that went out before in another way.
func (j *Judgement) again(releases []audit.Release) {
	if j.Together == nil {
		return
	}
	for i := 1; i < len(releases); i++ {
		if !j.Together.Same(0, i) {
			continue
		}
		one, other := cmp.Or(releases[0].Method, "none"), cmp.Or(releases[i].Method, "none")
		switch n := j.Together.Differ(0, i); {
		case one != other:
			j.Refused = append(j.Refused, fmt.Sprintf("the same table went out as %s by the method %s, and is to go out by %s: whoever has both knows more than either "+
				"tells; publish it as it was", releases[i].Name, other, one))
		case n > 0:
			j.Refused = append(j.Refused, fmt.Sprintf("the same table went out as %s, and %s differ from it: whoever has both can compare them; publish it as it was",
				releases[i].Name, report.Plural(int64(n), "cell", "cells")))
		default:
			j.Standings = append(j.Standings, Standing{"it went out before, as " + releases[i].Name, true, "all cells are published as they were"})
		}
	}
}

// stand tells how the table stands to what was asked of it.
func (j *Judgement) stand(r *Register, own *Entry) {
	a := j.Audit
	add := func(what string, met bool, why string) { j.Standings = append(j.Standings, Standing{what, met, why}) }
	if topic, is := r.sensitive(own.Topic); is {
		least, n := int64(DefaultSensitive), 0
		if r.Sensitive != nil {
			least = int64(*r.Sensitive)
		}
		for cell, c := range a.Table.Cells {
			if c.Contributors > 0 && c.Contributors < least && (a.Table.Status == nil || !detection.StatusOf(a.Table.Status[cell]).Primary()) {
				n++
			}
		}
		why := fmt.Sprintf("%s is sensitive, and every cell of fewer than %d contributors is taken for unsafe", topic, least)
		if n > 0 {
			why = fmt.Sprintf("%s is sensitive: cells of fewer than %d contributors are unsafe, and the rules of the table do not find %d of them", topic, least, n)
			j.Refused = append(j.Refused, why+fmt.Sprintf("; protect it by a stricter rule (--rule min:n=%d)", least))
		}
		add("sensitive topic", n == 0, why)
	}
	if own.Complete {
		add("all cells are needed", a.Hidden == 0, report.Plural(int64(a.Hidden), "cell is hidden", "cells are hidden"))
	}
	if own.True {
		add("true values are needed", a.Changed == 0, report.Plural(int64(a.Changed), "value is changed", "values are changed"))
	}
	if own.Additive {
		off := a.Unbalanced()
		add("totals must add up", off == 0, report.Plural(int64(off), "published total does not", "published totals do not"))
	}
	for _, cell := range own.Keep {
		shown, why := keeps(a, cell)
		add("to be shown: "+cell, shown, why)
	}
}

// keeps tells whether a cell is published.
func keeps(a *audit.Audit, text string) (bool, string) {
	g := a.Table.Grid
	nodes := make([]int32, len(g.Trees))
	for part := range strings.SplitSeq(text, ",") {
		name, code, _ := strings.Cut(part, "=")
		v := slices.IndexFunc(g.Trees, func(t *tabular.Tree) bool { return t.Name == strings.TrimSpace(name) })
		if v < 0 {
			return false, fmt.Sprintf("the table has no variable %s", name)
		}
		if code = strings.TrimSpace(code); code == a.Total {
			continue
		}
		n := g.Trees[v].Find(tabular.Of(code))
		if n < 0 {
			return false, fmt.Sprintf("%s has no category %s", name, code)
		}
		nodes[v] = int32(n)
	}
	switch cell := g.Find(nodes); {
	case cell < 0:
		return true, "nobody is in it"
	case a.Hides(cell):
		return false, "it is hidden"
	}
	return true, "it is published"
}

// learn teaches a release what the records of another one tell of its cells.
func learn(ctx context.Context, to audit.Release, e Entry, o session.Options) error {
	if to.Response != "" {
		return nil // counts tell nothing of sums
	}
	grid := to.Table.Grid
	var names []string
	var trees []int
	job, err := session.OpenToLook(ctx, &schemas.Spec{Source: schemas.Source{Path: []string{e.Records}}}, o)
	if err != nil {
		return fmt.Errorf("the release %s: %w", e.Name, err)
	}
	defer job.Source.Close()
	for v, t := range grid.Trees {
		if len(job.Source.Schema().FieldIndices(t.Name)) == 1 {
			names, trees = append(names, t.Name), append(trees, v)
		}
	}
	counts := make([]int64, grid.Cells())
	count := &session.Counting{Requests: func(in *arrow.Schema) ([]contingency.Request, error) {
		key := schemas.Key{}
		for _, name := range names {
			key.Variables = append(key.Variables, schemas.KeyVariable{Name: name})
		}
		request, err := operators.Key{Who: "the records of " + e.Name, Policy: schemas.MissingCategory, Key: key}.Request(in)
		return []contingency.Request{request}, err
	}}
	count.Look = func(_ context.Context, tables []*contingency.Table, _ *operators.Report) error {
		return tally(grid, trees, tables[0], counts)
	}
	if job.Chain, err = job.Bind(false, count); err != nil {
		return fmt.Errorf("the release %s: %w", e.Name, err)
	}
	if _, err := job.Count(ctx, count, nil); err != nil {
		return fmt.Errorf("the release %s: %w", e.Name, err)
	}
	whole := e.Fraction == nil || *e.Fraction == 1
	for cell := range counts {
		for v, n := range grid.Nodes(cell) {
			if n != 0 && !slices.Contains(trees, v) {
				counts[cell] = -1 // it is of a variable that the records do not have
			}
		}
	}
	if err := to.Learn(counts, whole); err != nil {
		return session.Wrong(fmt.Errorf("the records of %s and the table %s contradict each other: %w", e.Name, to.Name, err))
	}
	return nil
}

// tally adds the classes of a table up to the cells of a grid, along some of its trees; along the others it is the total.
func tally(grid *tabular.Grid, trees []int, t *contingency.Table, counts []int64) error {
	places := make([]map[tabular.Category][]int, len(trees))
	for k, v := range trees {
		places[k] = grid.Trees[v].Places()
	}
	nodes := make([]int32, len(grid.Trees))
	for class := range t.Classes() {
		var add func(k int)
		n := t.Count(class)
		add = func(k int) {
			if k == len(trees) {
				if cell := grid.Find(nodes); cell >= 0 {
					counts[cell] += n
				}
				return
			}
			code := tabular.Missing
			if c := t.Code(class, k); c != t.Variables[k].Missing() {
				code = tabular.Of(t.Variables[k].Categories[c])
			}
			v := trees[k]
			nodes[v] = 0
			if at := places[k][code]; len(at) == 1 {
				for node := at[0]; node > 0; node = grid.Trees[v].Nodes[node].Parent {
					nodes[v] = int32(node)
					add(k + 1)
				}
				nodes[v] = 0
			}
			add(k + 1) // all are in the total
		}
		add(0)
	}
	return t.Err()
}

// Passed is an error of all that speaks against the release.
func (j *Judgement) Passed() error {
	if len(j.Refused) > 0 {
		return &RefusedError{j.Refused[0], len(j.Refused) - 1}
	}
	if j.Together != nil {
		return j.Together.Passed()
	}
	if j.Audit == nil {
		return nil
	}
	return j.Audit.Passed()
}

// A RefusedError says why something must not go out.
type RefusedError struct {
	Why  string
	More int
}

func (e *RefusedError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf("; and %d more", e.More)
	}
	return "it must not go out: " + e.Why + more
}

// Rows say how the release stands to what was asked of it, for a terminal.
func (j *Judgement) Rows() [][]report.Cell {
	var rows [][]report.Cell
	for _, s := range j.Standings {
		met := "not met"
		if s.Met {
			met = "met"
		}
		rows = append(rows, []report.Cell{report.Left(s.What), report.Left(met), report.Left(s.Why)})
	}
	return rows
}
