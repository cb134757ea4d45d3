// Package advise goes through the decisions that make a table safe, from its data and from what is said of its use: what kind of table it is,
// which cells are unsafe, whether values may be hidden or changed, and how. Each choice has its reason and what speaks against it, and at the
// end stands a command that was tried.
//
// Source: the flow of Miller 2005, chapter 3, and its rules of thumb.
package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// advising is a table on which advice is given.
type advising struct {
	*Spec
	told  bool // rules were said
	table *protect.Table
	with  protect.With
	out   *Outcome
}

// Run gives advice. Errors about what was asked are those for which session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	schemas.Complete(s.Fields())
	if err := schemas.CheckDocument(&s); err != nil {
		return nil, err
	}
	reads, err := s.Source.Readings(&s.Config)
	if err != nil {
		return nil, err
	}
	var outputs []operators.SideFile
	if s.JSON != "" {
		if err := session.CheckPaths(append(slices.Clone(reads), o.Reads...), []string{s.JSON}); err != nil {
			return nil, err
		}
		o.Sweep(s.JSON)
		outputs = append(outputs, operators.SideFile{Path: s.JSON, What: "the document", Kind: operators.MadeDocument, Begins: "{\n"})
	}
	a := &advising{Spec: &s, told: len(s.Config.Rules) > 0, out: &Outcome{Version: 1, Warning: Warning}}
	method := s.Config.Method // Read fills in the default
	if !a.told {
		if s.Config.Rules, err = a.rules(); err != nil {
			return nil, session.Wrong(err)
		}
	}
	if a.table, a.with, err = s.Source.Read(ctx, &s.Config, o); err != nil {
		return nil, err
	}
	a.with.Warn = nil
	s.Config.Method = method
	if err := a.look(); err != nil {
		return nil, err
	}
	if a.out.Unsafe > 0 {
		if err := a.redesign(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := a.choose(ctx, o); err != nil {
		return nil, err
	}
	if s.Command != nil && len(a.out.Arguments) > 0 {
		a.out.Command = s.Command("protect", a.out.Arguments)
	}
	var inputs []string
	for _, r := range reads {
		inputs = append(inputs, r.Path)
	}
	if len(outputs) == 0 {
		return a.out, nil
	}
	return a.out, session.WriteParts(ctx, outputs, a.out, o, inputs)
}

// magnitude tells whether cells are sums of a response.
func (a *advising) magnitude() bool {
	return a.Config.Response != "" || a.Source.Columns != nil && a.Source.Columns.Value != ""
}

// rules are the usual ones for the data.
func (a *advising) rules() ([]protect.Rule, error) {
	least := protect.Rule{Rule: protect.RuleFrequency, N: new(3)}
	percent := protect.Rule{Rule: protect.RulePercent, P: new(10.0)}
	c := a.Source.Columns
	switch {
	case !a.magnitude():
		return []protect.Rule{least}, nil
	case c == nil || c.Value == "":
		return []protect.Rule{least, percent}, nil
	case c.Count != "" && c.Max != "" && c.Second != "":
		return []protect.Rule{least, percent}, nil
	case c.Max != "" && c.Second != "":
		return []protect.Rule{percent}, nil
	case c.Count != "":
		return []protect.Rule{least}, nil
	}
	return nil, errors.New("a table of sums says nothing of who is in its cells: name the column with the number of contributors (--count), and better those " +
		"with the two largest contributions too (--max, --second)")
}

// look finds out what kind of table it is, and which cells are unsafe.
func (a *advising) look() error {
	o, t := a.out, a.table
	if o.Source = a.Source.Path; a.Source.Records != nil {
		o.Source = strings.Join(a.Source.Records.Source.Path, ", ")
	}
	o.Records = t.Cells[0].Records
	for v, tree := range t.Grid.Trees {
		met := make(map[int32]bool)
		for cell := range t.Grid.Cells() {
			if n := t.Grid.Nodes(cell)[v]; n > 0 && tree.Leaf(int(n)) && t.Cells[cell].Records > 0 {
				met[n] = true
			}
		}
		o.Variables = append(o.Variables, Variable{tree.Name, len(met), tree.Depth()})
	}
	findings, err := protect.Find(t, &a.Config)
	if err != nil {
		return err
	}
	var unsafe []int
	for cell, f := range findings {
		if f.Status != detection.Empty {
			o.Cells++
		}
		if f.Status.Primary() {
			unsafe = append(unsafe, cell)
		}
	}
	o.Unsafe = len(unsafe)
	slices.SortStableFunc(unsafe, func(x, y int) int { return int(t.Cells[x].Contributors - t.Cells[y].Contributors) })
	for _, cell := range unsafe[:min(len(unsafe), 3)] {
		o.Examples = append(o.Examples, fmt.Sprintf("%s (%d)", tabular.Words(t.Grid.Codes(cell)), t.Cells[cell].Contributors))
	}
	a.kind()
	a.test()
	return nil
}

// kind is the first step: the type of the data.
func (a *advising) kind() {
	s := Step{Question: "What kind of table is it?"}
	if a.magnitude() {
		a.out.Type, s.Chosen = "magnitude", "a table of sums (magnitude)"
		s.Because = fmt.Sprintf("each cell adds up %s", a.table.Response)
		if a.Config.Contributor != "" {
			s.Because += fmt.Sprintf(", and those who must not be found out are told apart by %s, who may be in several cells", a.Config.Contributor)
		}
	} else {
		a.out.Type, s.Chosen, s.Because = "frequency", "a table of counts (frequency)", "each cell counts records"
		if a.Config.Weight != "" {
			s.Because += fmt.Sprintf(", by the weights %s: the test looks at those who were asked, and the table shows whom they stand for", a.Config.Weight)
		}
	}
	var words []string
	for _, v := range a.out.Variables {
		text := fmt.Sprintf("%s (%d", v.Name, v.Categories)
		if v.Levels > 1 {
			text += fmt.Sprintf(", %d levels", v.Levels)
		}
		words = append(words, text+")")
	}
	s.Because += "; the variables, with their categories, are " + strings.Join(words, ", ")
	a.out.Steps = append(a.out.Steps, s)
}

// test is the second and the third step: which cells are unsafe.
func (a *advising) test() {
	var words []string
	for i := range a.Config.Rules {
		words = append(words, a.Config.Rules[i].String())
	}
	s := Step{Question: "Which cells are unsafe?", Chosen: strings.Join(words, "; ")}
	switch {
	case a.Config.Profile != "" && a.told:
		s.Because = "the policy " + a.Config.Profile + " says so"
	case a.told:
		s.Because = "you said so"
	case len(a.Config.Rules) == 1 && a.magnitude():
		s.Because = "the table says no more of who is in its cells; with the two largest contributions (--max, --second) p% would be asked too"
	case a.magnitude():
		s.Because = "sums are unsafe where few give to them, and where one of them can be worked out by another"
	default:
		s.Because = "it is the usual test for counts; take 5 if figures are of health, and 10 if in doubt"
	}
	if a.Config.Topic != "" {
		s.Because += fmt.Sprintf("; the topic is %q, for which rules are stricter if it is sensitive", a.Config.Topic)
	}
	chosen := a.Config.Rules[0].Rule
	names := []string{"min", "across", "concentration"}
	if a.magnitude() {
		names = []string{"min", "p%", "dominance", "pq"}
	}
	s.Options = options(tests, chosen, "min", names...)
	for i := range s.Options {
		s.Options[i].Chosen = slices.ContainsFunc(a.Config.Rules, func(r protect.Rule) bool { return r.Rule == s.Options[i].Name })
	}
	found := Step{Question: "How many are there?", Chosen: fmt.Sprintf("%d of %d cells are unsafe", a.out.Unsafe, a.out.Cells)}
	if a.out.Unsafe == 0 {
		found.Chosen, found.Because = "no cell is unsafe", "the table can be published as it is"
	} else {
		found.Because = "such as " + strings.Join(a.out.Examples, ", ") + "; whoever knows better sets cells safe, unsafe or protected in a file (--overrides)"
	}
	a.out.Steps = append(a.out.Steps, s, found)
}

// categories are those of all variables.
func (a *advising) categories() int {
	n := 0
	for _, v := range a.out.Variables {
		n += v.Categories
	}
	return n
}

func percent(n, of int64) string {
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(of, 1)))
}
