package protect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/figures"
	"microrisk/pipeline/page"

	"microrisk/operators/protectrecords"
)

// fewest is the least number of records that a page for publication tells.
const fewest = 10

// Page is what was found as a page: whether the file can be released, what must change for it, and what less or more would cost.
func (o *Outcome) Page(reader string) *page.Page {
	name := "this file"
	if len(o.Input) == 1 {
		name = report.Printable(filepath.Base(o.Input[0]))
	}
	p := &page.Page{
		Title:  "What makes " + name + " safe to release",
		About:  "The target: " + o.Target + ". The question is put for who knows " + strings.Join(o.Key, ", ") + " of people.",
		For:    reader,
		Marks:  []string{"For the office: this page has small counts and categories, and no values of single records. Do not publish it."},
		Footer: "Made by " + pipeline.Version() + ".",
	}
	public := reader == page.Publication
	if public {
		p.Marks = []string{fmt.Sprintf("For publication with the file: no values of records, no counts below %d.", fewest)}
	}
	p.Verdict = o.verdict()
	if len(o.Implied) > 0 && p.Verdict.State == page.Met {
		p.Verdict.State = page.Open
		p.Verdict.Answer = "By the key variables yes, with the changes below; but other columns give back what they take away."
	}
	if !public {
		p.Verdict.Blocks = append(o.giveBack(), p.Verdict.Blocks...)
	}
	if !public {
		p.Add("The figures", o.beforeAfter()...)
	}
	p.Add("What to change", o.changes(public)...)
	if !public {
		p.Add("Columns that give it back", o.implied()...)
		p.Add("What the release lost", o.lost()...)
		p.Add("What less risk would cost", o.cost()...)
		p.Add("What else would do", o.others()...)
		if len(o.Warnings) > 0 {
			p.Add("What to mind", page.Block{List: o.Warnings})
		}
	}
	p.Add("Settings and version", o.settings(public)...)
	p.Add("Glossary", page.Block{Terms: [][2]string{
		{"Target", "what a release must meet to be called safe here; it is chosen by the office, and no law"},
		{"Loss", "the share of the information in the cells of the key variables that is gone: 0 as it was, 1 where all is hidden"},
		{"Recoding", "a choice of a level, finer or coarser, for each key variable, for all records"},
		{"Suppression", "taking values out of single records: they become missing"},
		{"Fit", "when a record with values taken out is safe. class: k records of the release are identical; own: k records of the file have the values " +
			"that it shows; wildcard: a value taken out counts as any value, which protects nobody"},
		{"k-anonymity (k = N)", "each record has the combination of key variables that at least N records have, itself included"},
		{"DIS", "data intrusion simulation: the chance that a unique match with the file is correct"},
		{"Sample unique", "a record whose combination of the key variables no other record has"},
		{"Expected re-identifications", "how many records who tries to find all of them would find, by models of the population"},
	}})
	return p
}

// changed tells whether some variable becomes coarser.
func changed(levels []protectrecords.Level) bool {
	return slices.ContainsFunc(levels, func(l protectrecords.Level) bool { return l.Level > 0 })
}

func (o *Outcome) verdict() *page.Verdict {
	switch {
	case len(o.Best) == 0:
		v := &page.Verdict{State: page.Unmet, Answer: "No: none of these changes meets the target.", Blocks: []page.Block{page.Text(
			"Allow coarser levels of the key variables, suppress what stays risky, or take a weaker target. What comes nearest stands below.")}}
		if !o.Proven && o.Stopped != "" {
			v.State, v.Answer = page.Open, "Nothing that was tried meets the target, and not all was tried."
		}
		return v
	case o.Released != nil && !o.Released.Met:
		return &page.Verdict{
			State:  page.Unmet,
			Answer: "No: the release that was made misses the target, judged from its file: " + strings.Join(o.Released.Missed, ", ") + ".",
		}
	case o.Released != nil:
		return &page.Verdict{
			State:  page.Met,
			Answer: "Yes, with the changes below: the release meets the target, judged again from its file.",
			Blocks: []page.Block{o.briefly(), note},
		}
	case !changed(o.Best[0].Levels) && o.Best[0].Suppressed == 0 && len(o.Best[0].Cells) == 0:
		return &page.Verdict{State: page.Met, Answer: "Yes: the file meets the target as it is.", Blocks: []page.Block{note}}
	}
	return &page.Verdict{State: page.Open, Answer: "Not as it is; with the changes below the target is met. No release was made yet.",
		Blocks: []page.Block{
			o.briefly(), page.Text("--out FILE makes the release and judges it again from its file; --release FILE.yaml writes the spec that makes it."),
			note,
		}}
}

// briefly says what changes in a sentence.
func (o *Outcome) briefly() page.Block {
	best := &o.Best[0]
	text := "No variable becomes coarser"
	if changed(best.Levels) {
		text = "What changes: " + words(best.Levels)
	}
	if best.Suppressed > 0 || len(best.Cells) > 0 {
		text += "; values are taken out of single records, how many stands under \"What to change\""
	}
	return page.Text("%s.", text)
}

var note = page.Note("A verdict is about this target alone: not about other figures and their limits, nor about laws and contracts, " +
	"nor about what else is known of people than the key variables.")

// beforeAfter compares the file with the release.
func (o *Outcome) beforeAfter() []page.Block {
	after := o.Nearest
	title := "nearest recoding"
	if len(o.Best) > 0 {
		after, title = &o.Best[0], "after recoding"
	}
	t := &page.Table{Caption: "The file as it is, and after recoding, before values are taken out of single records",
		Head: []page.Cell{page.Left("figure"), page.Right("before"), page.Right(title)}}
	whole := func(name string, of func(*protectrecords.Measures) int64) {
		row := []page.Cell{page.Left(name), page.Right(report.Count(of(&o.Before)))}
		if after != nil {
			row = append(row, page.Right(report.Count(of(&after.Measures))))
		}
		t.Rows = append(t.Rows, row)
	}
	number := func(name string, of func(*protectrecords.Measures) *float64) {
		row := []page.Cell{page.Left(name), page.Right(orDash(of(&o.Before)))}
		if of(&o.Before) == nil {
			return
		}
		if after != nil {
			row = append(row, page.Right(orDash(of(&after.Measures))))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, []page.Cell{page.Left("records"), page.Right(report.Count(o.Records)), page.Right(report.Count(o.Records))})
	whole("combinations of the key variables", func(m *protectrecords.Measures) int64 { return m.Classes })
	whole("sample uniques", func(m *protectrecords.Measures) int64 { return m.SampleUniques })
	whole("doubles (combinations that just two records have)", func(m *protectrecords.Measures) int64 { return int64(m.Doubles) })
	if o.Before.Unsafe > 0 || after != nil && after.Measures.Unsafe > 0 { // a target by models has none
		whole("records that miss the target", func(m *protectrecords.Measures) int64 { return m.Unsafe })
	}
	number("mean of 1 / (records with the same key)", func(m *protectrecords.Measures) *float64 { return &m.MeanRisk })
	number("DIS", func(m *protectrecords.Measures) *float64 { return m.DIS })
	number("expected re-identifications", func(m *protectrecords.Measures) *float64 { return m.Expected })
	number("greatest chance of a record", func(m *protectrecords.Measures) *float64 { return m.Greatest })
	number("population uniques among sample uniques", func(m *protectrecords.Measures) *float64 { return m.PUSU })
	if after == nil {
		t.Head = t.Head[:2]
		t.Rows[0] = t.Rows[0][:2]
	}
	return []page.Block{
		{Table: t},
		page.Note(
			"Counts are exact, and tell what recoding alone does; what is taken out of single records comes on top. What models expect, where they were asked, is " +
				"what those of the file as it is say of merged categories. A release that was made is judged anew from its file, as \"What to change\" tells.",
		),
	}
}

func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return report.Figure(*x)
}

// changes are what the best release does.
func (o *Outcome) changes(public bool) []page.Block {
	r := o.Nearest
	if len(o.Best) > 0 {
		r = &o.Best[0]
	}
	if r == nil {
		return nil
	}
	t := &page.Table{Caption: "What becomes of each key variable",
		Head: []page.Cell{
			page.Left("variable"),
			page.Left("becomes"),
			page.Right("categories before"),
			page.Right("after"),
			page.Right("loss by recoding"),
			page.Left(""),
		}}
	for _, l := range r.Levels {
		t.Rows = append(t.Rows, []page.Cell{page.Left(report.Printable(l.Variable)), page.Left(l.Words), page.Right(report.Count(int64(l.Before))),
			page.Right(report.Count(int64(l.Categories))), page.Right(report.Percent(100 * l.Loss)), page.Bar(l.Loss)})
	}
	blocks := []page.Block{{Table: t}}
	if len(o.Best) > 0 {
		blocks = append(blocks, page.Text("All changes together lose %s (0 is nothing, 1 all; measured by %s). %s", report.Figure(r.Loss), o.Loss, o.sure()))
	}
	blocks = append(blocks, o.hidden(r, public)...)
	if x := o.Released; x != nil && !public {
		text := fmt.Sprintf("The release was made and counted again from its file: %s, %s.", report.Plural(x.Records, "record", "records"),
			report.Plural(x.SampleUniques, "sample unique", "sample uniques"))
		if x.Refitted != nil {
			text += fmt.Sprintf(" Models fitted to it expect %s re-identifications.", report.Figure(*x.Refitted))
		}
		blocks = append(blocks, page.Text("%s", text))
	}
	return blocks
}

// sure tells how sure it is that nothing loses less.
func (o *Outcome) sure() string {
	tried := fmt.Sprintf("%s of %s recodings were tried", report.Count(int64(o.Checked)), report.Figure(o.Nodes))
	switch {
	case o.Proven:
		return "It is proven that no other recoding meets the target and loses less: " + tried + ", and the others cannot."
	case o.Gap != nil:
		return fmt.Sprintf(
			"This is the best that was found, and not proven to be the best there is; %s: %s.",
			o.Sparing(),
			tried,
		)
	}
	return "Whether another recoding loses less is not known: " + tried + "."
}

// hidden is what is suppressed.
func (o *Outcome) hidden(r *protectrecords.Release, public bool) []page.Block {
	few := func(n int64) string {
		if public && n > 0 && n < fewest {
			return "fewer than 10"
		}
		return report.Count(n)
	}
	var blocks []page.Block
	if r.Suppressed > 0 {
		blocks = append(
			blocks,
			page.Text(
				"Of %s records, all key values are taken out, as they stay risky: %s of the records.",
				few(r.Suppressed),
				partOf(r.Suppressed, o.Records, public),
			),
		)
	}
	if len(r.Cells) == 0 {
		return blocks
	}
	t := &page.Table{
		Caption: "Values that are taken out of single records",
		Head:    []page.Cell{page.Left("variable"), page.Right("values"), page.Right("of the records")},
	}
	total, told := int64(0), true // a total would tell the one that is not
	for _, l := range r.Levels {
		if n := r.Cells[l.Variable]; n > 0 {
			total, told = total+n, told && (!public || n >= fewest)
			t.Rows = append(t.Rows, []page.Cell{page.Left(report.Printable(l.Variable)), page.Right(few(n)), page.Right(partOf(n, o.Records, public))})
		}
	}
	blocks = append(blocks, page.Block{Table: t})
	if told {
		blocks = append(blocks, page.Text("Together these are %s of %s values.", report.Count(total), report.Count(o.Records*int64(len(o.Key)))))
	}
	if x := r.Recounted; x != nil && !public {
		blocks = append(
			blocks,
			page.Text("Counted again by other means than those of the search: fewer than k rows of the release fit %s, and just one fits %s.",
				report.Plural(x.Persons, "person", "persons"), report.Plural(x.Alone, "person", "persons")),
		)
	}
	return blocks
}

// partOf is a share, unless a page for publication would tell a small count by it.
func partOf(n, of int64, public bool) string {
	if public && (n > 0 && n < fewest || of-n > 0 && of-n < fewest) {
		return "a small part"
	}
	return report.PartOf(n, of)
}

// cost is the frontier of risk and loss, as a picture and as a table.
func (o *Outcome) cost() []page.Block {
	if len(o.Frontier) < 2 {
		return nil
	}
	what := o.Frontier[0].What
	t := &page.Table{Caption: "The least loss for each amount of risk, by recoding alone",
		Head: []page.Cell{page.Right(what), page.Right("loss"), page.Left("by"), page.Left("proven the least")}}
	line := figures.DotSeries{Joined: true}
	for _, x := range o.Frontier {
		by, proven := "the file as it is", "yes"
		if changed(x.Levels) {
			by = words(x.Levels)
		}
		if !x.Proven {
			proven = "no: less may do"
		}
		t.Rows = append(t.Rows, []page.Cell{page.Right(report.Figure(x.Risk)), page.Right(report.Figure(x.Loss)), page.Left(by), page.Left(proven)})
		line.Dots = append(
			line.Dots,
			figures.Dot{
				X:    x.Risk,
				Y:    x.Loss,
				Name: report.Figure(x.Risk),
				Hint: report.Figure(x.Risk) + " " + what + ", loss " + report.Figure(x.Loss) + ": " + by,
			},
		)
	}
	series := []figures.DotSeries{line}
	if risk, ok := o.reached(what); ok {
		best := &o.Best[0]
		t.Rows = append(t.Rows, []page.Cell{page.Right(report.Figure(risk)), page.Right(report.Figure(best.Loss)),
			page.Left("the changes above, which meet the target"), page.Left(map[bool]string{true: "yes", false: "no: less may do"}[o.Proven])})
		series[0].Name = "least loss"
		series = append(series, figures.DotSeries{Name: "meets the target", Dots: []figures.Dot{{X: risk, Y: best.Loss, Name: report.Figure(risk),
			Hint: "the changes above"}}})
	}
	first, last := o.Frontier[0], o.Frontier[len(o.Frontier)-1]
	title := "Risk and loss"
	text := fmt.Sprintf(
		"From %s (%s) at a loss of %s to %s at a loss of %s. Each dot is the recoding that loses least for its risk; to the left there is less risk, below less "+
			"is lost. Where the line is flat, more safety is cheap. These are recodings alone: values that are taken out of single records are not in it.",
		report.Figure(first.Risk),
		what,
		report.Figure(first.Loss),
		report.Figure(last.Risk),
		report.Figure(last.Loss),
	)
	return []page.Block{{Picture: &page.Picture{Title: title, Text: text, Drawing: func(id string) string {
		return (&figures.Dots{Title: title, Description: text, X: what, Y: "loss", LogX: true, Series: series}).SVG(id)
	}}}, {Table: t}}
}

// reached is the risk of the best release on the frontier's scale, unless it rests on suppression too.
func (o *Outcome) reached(what string) (risk float64, ok bool) {
	if len(o.Best) == 0 || o.Best[0].Suppressed > 0 || len(o.Best[0].Cells) > 0 {
		return 0, false
	}
	m := &o.Best[0].Measures
	switch {
	case strings.HasPrefix(what, "records below"):
		return float64(m.Unsafe), true
	case what == "sample uniques":
		return float64(m.SampleUniques), true
	case m.Expected != nil:
		return *m.Expected, true
	}
	return 0, false
}

// words are the variables that become coarser.
func words(levels []protectrecords.Level) string {
	var list []string
	for _, l := range levels {
		if l.Level > 0 {
			list = append(list, report.Printable(l.Variable)+" "+l.Words)
		}
	}
	return strings.Join(list, "; ")
}

// others are the next best releases.
func (o *Outcome) others() []page.Block {
	if len(o.Best) < 2 {
		return nil
	}
	t := &page.Table{
		Caption: "The next best recodings that meet the target",
		Head:    []page.Cell{page.Left("recoding"), page.Right("loss"), page.Right("sample uniques before values are taken out")},
	}
	for _, r := range o.Best[1:] {
		t.Rows = append(t.Rows, []page.Cell{page.Left(words(r.Levels)), page.Right(report.Figure(r.Loss)), page.Right(report.Count(r.Measures.SampleUniques))})
	}
	return []page.Block{
		page.Text(
			"They meet the target too, with the values of single records taken out that each of them needs. They lose more by the measure of loss, which knows " +
				"nothing of what the file is for: one of them may suit its users better.",
		),
		{Table: t},
	}
}

// settings are what was asked.
func (o *Outcome) settings(public bool) []page.Block {
	t := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Left(value)})
		}
	}
	var inputs []string
	for _, path := range o.Input {
		if public {
			path = filepath.Base(path)
		}
		inputs = append(inputs, report.Printable(path))
	}
	add("program", pipeline.Version())
	add("input", strings.Join(inputs, ", "))
	add("target", o.Target)
	add("suppression", o.Suppress)
	add("fit of suppressed cells", o.Fit)
	add("loss", o.Loss)
	if o.Released != nil && !public {
		add("release", report.Printable(o.Released.Path))
	}
	if !public {
		add("spec that makes the release", report.Printable(o.Release))
	}
	blocks := []page.Block{{Table: t}}
	v := &page.Table{Caption: "Levels that were tried", Head: []page.Cell{page.Left("variable"), page.Left("levels (categories)")}}
	for _, x := range o.Variables {
		var list []string
		for k, words := range x.Levels {
			list = append(list, fmt.Sprintf("%s (%s)", words, report.Count(int64(x.Groups[k]))))
		}
		v.Rows = append(v.Rows, []page.Cell{page.Left(report.Printable(x.Name)), page.Left(strings.Join(list, "; "))})
	}
	return append(blocks, page.Block{Table: v})
}
