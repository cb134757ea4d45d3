package keymap

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/operators/report"
	"microrisk/pipeline/keymap/repository"
)

// Answers are all that an analysis says at its prevalences, one for each of them and variable: best first, those that a review excludes last.
func (a *Analysis) Answers() ([]Answer, error) {
	var list []Answer
	for _, text := range a.Question.Prevalence {
		p, err := keymap.ParsePrevalence(text)
		if err != nil {
			return nil, err
		}
		for _, v := range a.reviewed() {
			x := v.At(p)
			x.Prevalence = text
			list = append(list, x)
		}
	}
	return list, nil
}

// reviewed are the variables by their ranks after reviews.
func (a *Analysis) reviewed() []*Profile {
	list := slices.Clone(a.Variables)
	slices.SortStableFunc(list, func(x, y *Profile) int {
		return cmp.Or(cmp.Compare(truth(x.ReviewRank == 0), truth(y.ReviewRank == 0)), cmp.Compare(x.ReviewRank, y.ReviewRank), cmp.Compare(x.Rank, y.Rank))
	})
	return list
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// AnswersTable has a row an answer. Categories are null where the value is written in, or where there is no answer; supporters are the match
// forms that hold the variable, code_supporters those that can be compared on the code.
func AnswersTable(list []Answer) *Table {
	t := &Table{Rows: len(list)}
	supporters := make([][]string, len(list))
	for i, a := range list {
		supporters[i] = a.Supporters()
	}
	_, one := OneRequired(list)
	t.Columns = []Column{
		{Name: "variable", Text: func(i int) *string { return said(list[i].Name) }},
		{Name: "prevalence", Head: "share", Hidden: single(list), Text: func(i int) *string { return said(list[i].Prevalence) }},
		{Name: "code", Text: func(i int) *string { return said(list[i].Code) }},
		{Name: "stable_id", Hidden: true, Text: func(i int) *string {
			if list[i].Node == nil {
				return nil
			}
			return said(list[i].Graph.StableID(list[i].Node.Partition))
		}},
		{Name: "categories", Small: true, Whole: func(i int) (int64, bool) { return list[i].Categories() }},
		{Name: "status", Hidden: true, Text: func(i int) *string { return said(list[i].Status) }},
		{Name: "n_required", Head: "needed", Hidden: one, Whole: func(i int) (int64, bool) { return int64(list[i].Required), true }},
		{Name: "present", Head: "held", Whole: func(i int) (int64, bool) { return int64(list[i].Present), true }},
		{Name: "match_forms", Hidden: true, Whole: func(i int) (int64, bool) { return int64(list[i].All), true }},
		{Name: "support", Whole: func(i int) (int64, bool) {
			if list[i].Node == nil {
				return 0, false
			}
			return int64(list[i].Node.Support), true
		}},
		{Name: "trivial", Hidden: true, Truth: func(i int) bool { return list[i].Node != nil && list[i].Node.Size == 1 }},
		{Name: "area", Number: func(i int) float64 { return decimal(list[i].Area) }},
		{Name: "area_exact", Hidden: true, Text: func(i int) *string { return said(list[i].Area.RatString()) }},
		{Name: "rank", Hidden: true, Whole: func(i int) (int64, bool) { return int64(list[i].Rank), true }},
		{Name: "review_rank", Head: "rank", Whole: func(i int) (int64, bool) { return int64(list[i].ReviewRank), list[i].ReviewRank > 0 }},
		{Name: "note", Hidden: noNotes(list), Text: func(i int) *string { return said(list[i].Note()) }},
		{Name: "supporters", Hidden: true, List: func(i int) []string { return list[i].match }},
		{Name: "code_supporters", Hidden: true, List: func(i int) []string { return supporters[i] }},
		{Name: "candidates", Hidden: true, List: func(i int) []string { return list[i].CoMaximal }},
	}
	return t
}

// single tells whether all answers are of one prevalence.
func single(list []Answer) bool {
	return !slices.ContainsFunc(list, func(a Answer) bool { return a.Prevalence != list[0].Prevalence })
}

// OneRequired is how many forms must share a variable, if it is the same for all answers.
func OneRequired(list []Answer) (n int, one bool) {
	if len(list) == 0 || slices.ContainsFunc(list, func(a Answer) bool { return a.Required != list[0].Required }) {
		return 0, false
	}
	return list[0].Required, true
}

func noNotes(list []Answer) bool {
	return !slices.ContainsFunc(list, func(a Answer) bool { return a.Note() != "" })
}

func decimal(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// Categories of the answer's code; false where there is none, or where the value is written in.
func (a Answer) Categories() (int64, bool) {
	if a.Node == nil || a.Node.Size == keymap.Unbounded {
		return 0, false
	}
	return int64(a.Node.Size), true
}

// Note says what is to be known beside the figures.
func (a Answer) Note() string {
	var says []string
	if len(a.Contradiction) > 0 {
		first := a.Contradiction[0].String()
		if a.Profile.Status == Unreliable {
			first += ", and were merged"
		}
		says = append(says, first+more(a))
	}
	switch {
	case a.Status == Null && a.Present == 0:
		says = append(says, "none holds it")
	case a.Status == Null && a.Profile.Status != Inconsistent:
		says = append(says, fmt.Sprintf("held by %d of %d forms", a.Present, a.All))
	case a.Status == Trivial:
		says = append(says, "shared, but it tells nothing apart")
	}
	if a.Capped {
		says = append(says, report.Plural(int64(a.Levels()), "value", "values")+" assumed")
	}
	if r := a.Review; r != nil {
		if r.Exclude {
			says = append(says, "review: excluded")
		}
		if r.EffectiveLevels != nil {
			says = append(says, fmt.Sprintf("review: counts for %s at most", report.Plural(int64(*r.EffectiveLevels), "category", "categories")))
		}
	}
	return strings.Join(says, "; ")
}

func more(a Answer) string {
	if n := len(a.Contradiction) - 1; n > 0 {
		return fmt.Sprintf(", and %d more", n)
	}
	return " (there may be more)"
}

// ProfilesTable has a row for each run of thresholds with the same answer. An answer holds for p_from <= p < p_to, the last one of a variable
// for p = p_to too.
func (a *Analysis) ProfilesTable() *Table {
	type row struct {
		p    *Profile
		run  keymap.Run
		last bool
	}
	var rows []row
	for _, p := range a.Variables {
		for i, run := range p.Runs {
			rows = append(rows, row{p, run, i == len(p.Runs)-1})
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	return &Table{Rows: len(rows), Columns: []Column{
		{Name: "variable", Text: func(i int) *string { return said(rows[i].p.Name) }},
		{Name: "code", Text: func(i int) *string { return said(rows[i].p.Codes[rows[i].p.Nodes[rows[i].run.Node].Partition]) }},
		{Name: "categories", Small: true, Whole: func(i int) (int64, bool) {
			n := rows[i].p.Nodes[rows[i].run.Node].Size
			return int64(n), n != keymap.Unbounded
		}},
		{Name: "n_from", Whole: func(i int) (int64, bool) { return int64(rows[i].run.From), true }},
		{Name: "n_to", Whole: func(i int) (int64, bool) { return int64(rows[i].run.To), true }},
		{Name: "p_from", Number: func(i int) float64 {
			if rows[i].run.From == 1 {
				return 0
			}
			return share(rows[i].run.From, rows[i].p.All)
		}},
		{Name: "p_to", Number: func(i int) float64 {
			if rows[i].last {
				return share(rows[i].run.To, rows[i].p.All)
			}
			return share(rows[i].run.To+1, rows[i].p.All)
		}},
	}}
}

// LookupTable has a row for each category of a code, and each smallest category in it.
func (v *Variable) LookupTable(code string) (*Table, error) {
	p, err := v.Coded(code)
	if err != nil {
		return nil, err
	}
	type row struct {
		block int
		b     Block
		sink  string
	}
	var rows []row
	for n, b := range v.Blocks(p) {
		for _, sink := range b.Sinks {
			rows = append(rows, row{n + 1, b, sink})
		}
	}
	return &Table{Rows: len(rows), Columns: []Column{
		{Name: "variable", Hidden: true, Text: func(int) *string { return said(v.Name) }},
		{Name: "code", Hidden: true, Text: func(int) *string { return said(code) }},
		{Name: "block", Whole: func(i int) (int64, bool) { return int64(rows[i].block), true }},
		{Name: "node_label", Head: "category", Text: func(i int) *string {
			if rows[i].b.ID == "" {
				return nil
			}
			return said(rows[i].b.Label)
		}},
		{Name: "sink", Head: "smallest", Text: func(i int) *string { return said(rows[i].sink) }},
		{Name: "sink_label", Head: "its label", Text: func(i int) *string { return said(v.Label(rows[i].sink)) }},
	}}, nil
}

// Coded is the partition of a code. Arbitrary precision, which has no categories, is an error.
func (v *Variable) Coded(code string) (keymap.Partition, error) {
	var known []string
	for p, c := range v.Codes {
		if c == code && p != keymap.Any {
			return p, nil
		}
		if p != keymap.Any || v.observed[p] {
			known = append(known, c)
		}
	}
	if code == keymap.AnyCode {
		return "", fmt.Errorf("%s is arbitrary precision: the value is written in, and there are no categories", code)
	}
	slices.Sort(known)
	return "", fmt.Errorf("%q has no code %s; its codes are %s", v.Name, code, strings.Join(known, ", "))
}

// OverlapTable compares a variable on two forms: a row for each pair of categories that may hold the same record.
func (v *Variable) OverlapTable(a, b string) (t *Table, compatible, all int, err error) {
	var ps [2]keymap.Partition
	var blocks [2][]Block
	for i, form := range []string{a, b} {
		p, ok := v.Forms[form]
		switch {
		case !ok && v.Wrong[form] != nil:
			return nil, 0, 0, fmt.Errorf("%q of form %q: %w", v.Name, form, v.Wrong[form])
		case !ok:
			return nil, 0, 0, fmt.Errorf("form %q has no variable %q", form, v.Name)
		case p == keymap.Any:
			return nil, 0, 0, fmt.Errorf("form %q has %q by arbitrary precision: every value matches one category of the other form", form, v.Name)
		}
		ps[i], blocks[i] = p, make([]Block, p.Size())
		for _, block := range v.Blocks(p) {
			blocks[i][p.Block(block.at)] = block
		}
	}
	o := keymap.Overlaps(ps[0], ps[1])
	place := func(side, block int) float64 { return v.place(blocks[side][block].Sinks[0]) }
	slices.SortFunc(o.Pairs, func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(place(0, x[0]), place(0, y[0])), cmp.Compare(place(1, x[1]), place(1, y[1])), cmp.Compare(x[0], y[0]))
	})
	return &Table{Rows: len(o.Pairs), Columns: []Column{
		{Name: "category_a", Text: func(i int) *string { return said(blocks[0][o.Pairs[i][0]].Label) }},
		{Name: "category_b", Text: func(i int) *string { return said(blocks[1][o.Pairs[i][1]].Label) }},
		{Name: "a_in_b", Truth: func(i int) bool { return o.Inside[0][o.Pairs[i][0]] }},
		{Name: "b_in_a", Truth: func(i int) bool { return o.Inside[1][o.Pairs[i][1]] }},
	}}, len(o.Pairs), o.All, nil
}

// FormTable has the variables of a form with their codes.
func FormTable(f *repository.Form, variables []*Variable) *Table {
	return &Table{Rows: len(variables), Columns: []Column{
		{Name: "variable", Text: func(i int) *string { return said(variables[i].Name) }},
		{Name: "code", Text: func(i int) *string { return said(variables[i].Codes[variables[i].Forms[f.Name]]) }},
		{Name: "categories", Small: true, Whole: func(i int) (int64, bool) {
			n := variables[i].Forms[f.Name].Size()
			return int64(n), n != keymap.Unbounded && n > 0
		}},
		{Name: "column", Text: func(i int) *string {
			x, _ := f.Instance(variables[i].Name)
			return said(x.Column)
		}},
		{Name: "note", Text: func(i int) *string {
			x, _ := f.Instance(variables[i].Name)
			if wrong := variables[i].Wrong[f.Name]; wrong != nil {
				return said(strings.Trim(wrong.Error()+"; "+x.Note, "; "))
			}
			return said(x.Note)
		}},
	}}
}
