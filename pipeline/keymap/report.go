package keymap

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"math/big"
	"slices"
	"strings"
	"sync"

	"microrisk/engine/keymap"
	"microrisk/operators/report"
	"microrisk/pipeline/figures"
	"microrisk/pipeline/keymap/repository"
)

//go:embed report.html.tmpl
var reportText string

var reportPage = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(reportText)) })

// A page is what the report shows.
type page struct {
	Title, Narrative string
	Parameters       [][2]string
	Match            []string
	Prevalences      []pagePrevalence
	Plots            []template.HTML
	Variables        []pageVariable
	Shared           *pageTable
	Messages         []string
	Reviewed         bool   // ranks are others than without reviews
	Other            string // what the other reading, strict or lenient, says else; "" for nothing
}

type pagePrevalence struct {
	Text       string
	Keys       []pageKey
	Makes      string // how many there are, in words
	Space, Bit string
	Others     []pageKey // variables that make no key, and why
}

type pageKey struct {
	Rank, RawRank                                  int
	Anchor, Variable, Code, Categories, Area, Note string
	Support, Present, All                          int
	Plain                                          string // what Code is in words
}

type pageVariable struct {
	Anchor, Name, Status, Note string
	Profile                    *pageTable
	Plot, Graph                template.HTML
	NoGraph                    string // why there is none
	Codes                      []pageCode
	Supporters                 *pageTable
	Overlap                    string
}

type pageCode struct {
	Code, Kind, Categories string
	Blocks                 []string
}

type pageTable struct {
	Head []pageCell
	Rows [][]pageCell
	Note string // "and N more"
}

type pageCell struct {
	Text   string
	Number bool
}

// Limits of what a page shows, so that it stays one that a person reads.
const (
	mostRows   = 200
	mostBlocks = 60
	mostCodes  = 60
)

// Report is the answer to a question as one HTML page that needs nothing else: the scenario, the key variables by rank, profiles, graphs, what
// forms share, and a glossary.
func (e *Environment) Report(ctx context.Context, s *repository.Scenario, a *Analysis) ([]byte, error) {
	p := &page{Title: s.Name, Narrative: s.Narrative, Match: names(a.Question.Match), Parameters: e.parameters(s, a)}
	if p.Title == "" {
		p.Title = "Key variables of " + a.Question.Target
	}
	answers, err := a.Answers()
	if err != nil {
		return nil, err
	}
	for _, text := range a.Question.Prevalence {
		p.Prevalences = append(p.Prevalences, prevalenceOf(text, slices.DeleteFunc(slices.Clone(answers), func(x Answer) bool { return x.Prevalence != text })))
	}
	if p.Plots, err = a.plots(); err != nil {
		return nil, err
	}
	p.Reviewed = slices.ContainsFunc(a.Variables, func(v *Profile) bool { return v.Rank != v.ReviewRank })
	for _, v := range a.ranked() {
		x, err := e.variableOf(ctx, a, v)
		if err != nil {
			return nil, err
		}
		p.Variables = append(p.Variables, x)
		for _, c := range v.Contradiction {
			p.Messages = append(p.Messages, v.Name+": "+c.String())
		}
	}
	shared, err := a.SharedKeysTable(1, 2)
	if err != nil {
		return nil, err
	}
	p.Shared = shown(shared)
	if p.Other, err = e.other(ctx, a); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := reportPage().Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (e *Environment) parameters(s *repository.Scenario, a *Analysis) [][2]string {
	reading := "strict: forms that contradict one another are an error of the variable"
	if e.Lenient {
		reading = "lenient: categories that overlap are merged, and results marked"
	}
	base := "all forms of the match set"
	if a.Question.Base == "present" {
		base = "the forms that hold the variable"
	}
	match := "all other forms"
	if s.Match.Groups != nil || s.Match.Forms != nil {
		match = strings.Join(slices.Concat(s.Match.Groups, s.Match.Forms), ", ")
	}
	return [][2]string{
		{"Target", a.Question.Target},
		{"Match set", fmt.Sprintf("%s (%s)", match, report.Plural(int64(a.All), "form", "forms"))},
		{"Prevalence", strings.Join(a.Question.Prevalence, ", ") + ", of " + base},
		{"Reading", reading},
		{"Repository", report.Plural(int64(len(e.Repository.Forms)), "form", "forms") + ", " +
			report.Plural(int64(len(e.Repository.Variables)), "variable", "variables")},
	}
}

// ranked are the variables, best first.
func (a *Analysis) ranked() []*Profile {
	list := slices.Clone(a.Variables)
	slices.SortFunc(list, func(x, y *Profile) int { return x.Rank - y.Rank })
	return list
}

func prevalenceOf(text string, answers []Answer) pagePrevalence {
	p := pagePrevalence{Text: text}
	keys := Keys(answers)
	space, bits := KeySpace(keys)
	p.Space, p.Bit = CountText(space), report.Figure(bits)
	in := make(map[string]bool)
	for _, a := range keys {
		in[a.Name] = true
		p.Keys = append(p.Keys, keyOf(a))
	}
	p.Makes = Makes(len(keys))
	for _, a := range answers {
		if !in[a.Name] {
			p.Others = append(p.Others, keyOf(a))
		}
	}
	return p
}

// Makes begins to say what key some variables make.
func Makes(variables int) string {
	return report.Plural(int64(variables), "variable makes", "variables make")
}

// CountText writes a whole number for people.
func CountText(n *big.Int) string {
	if !n.IsInt64() {
		return report.Figure(decimal(new(big.Rat).SetInt(n)))
	}
	return report.Count(n.Int64())
}

func keyOf(a Answer) pageKey {
	k := pageKey{
		Rank:       a.ReviewRank,
		RawRank:    a.Rank,
		Anchor:     anchor(a.Name),
		Variable:   a.Name,
		Code:       a.Code,
		Categories: "–",
		Area:       report.Figure(decimal(a.Area)),
		Note:       a.Note(),
		Present:    a.Present,
		All:        a.All,
	}
	if n, ok := a.Categories(); ok {
		k.Categories = report.Count(n)
	} else if a.Node != nil {
		k.Categories = "value written in"
	}
	if a.Node != nil {
		k.Support = a.Node.Support
	}
	if k.Note == "" && a.Status != OK {
		k.Note = a.Status
	}
	return k
}

// anchor is a place on the page, of that variable alone.
func anchor(name string) string { return fmt.Sprintf("v-%x", name) }

// plots draw sizes against prevalence, of the best variables together.
func (a *Analysis) plots() ([]template.HTML, error) {
	var lines []figures.Line
	for _, p := range a.ranked() {
		if len(p.Runs) > 0 && len(lines) < 8 && decimal(p.Area) > 0 {
			lines = append(lines, p.steps(p.Name))
		}
	}
	if lines == nil {
		return nil, nil
	}
	picture, err := profileFigure("Categories against prevalence", lines).SVG()
	if err != nil {
		return nil, err
	}
	return []template.HTML{inline(picture)}, nil
}

func profileFigure(title string, lines []figures.Line) *figures.Figure {
	zero, one := 0.0, 1.0
	return &figures.Figure{
		Title: title,
		X:     "prevalence (share of the match set that must hold the variable)",
		Y:     "categories",
		Lines: lines,
		MinX:  &zero,
		MaxX:  &one,
		LogY:  tall(lines),
	}
}

// tall tells whether sizes differ so much that small ones could not be told apart.
func tall(lines []figures.Line) bool {
	high := 0.0
	for _, l := range lines {
		high = max(high, slices.Max(l.Y))
	}
	return high > 40
}

// steps are the sizes of a profile as a line of steps.
func (p *Profile) steps(name string) figures.Line {
	l := figures.Line{Name: name}
	sizes := keymap.Sizes{Levels: p.Levels()}
	for i, r := range p.Runs {
		from, to := float64(r.From)/float64(p.All), float64(r.To+1)/float64(p.All)
		if r.From == 1 {
			from = 0
		}
		if i == len(p.Runs)-1 {
			to = float64(r.To) / float64(p.All)
		}
		n, _ := sizes.Of(p.Nodes[r.Node].Size)
		l.X, l.Y = append(l.X, from, to), append(l.Y, float64(n), float64(n))
	}
	return l
}

// inline is a picture as part of a page.
func inline(svg []byte) template.HTML {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	return template.HTML(svg) // our own drawing, whose texts are escaped
}

func (e *Environment) variableOf(ctx context.Context, a *Analysis, p *Profile) (pageVariable, error) {
	x := pageVariable{Anchor: anchor(p.Name), Name: p.Name, Status: p.Status}
	if n := p.Variable.Note; n != "" {
		x.Note = n
	}
	if len(p.Runs) == 0 {
		return x, nil
	}
	t := (&Analysis{Variables: []*Profile{p}}).ProfilesTable()
	t.Columns = t.Columns[1:] // the variable stands above
	x.Profile = shown(t)
	picture, err := profileFigure(p.Name, []figures.Line{p.steps("")}).SVG()
	if err != nil {
		return x, err
	}
	x.Plot = inline(picture)
	if g, err := p.HarmonizationGraph(ctx, a.Question.Target); err != nil {
		x.NoGraph = err.Error()
	} else {
		g.Title, g.Note = "", ""
		x.Graph = inline([]byte(g.SVG()))
	}
	seen := make(map[string]bool)
	x.Supporters = &pageTable{Head: []pageCell{{Text: "code"}, {Text: "supported by"}}}
	for _, r := range p.Runs {
		node := &p.Nodes[r.Node]
		code := p.Codes[node.Partition]
		if seen[code] {
			continue
		}
		seen[code] = true
		forms := (Answer{Profile: p, Node: node}).Supporters()
		text := strings.Join(forms[:min(len(forms), 12)], ", ")
		if len(forms) > 12 {
			text += fmt.Sprintf(" and %d more", len(forms)-12)
		}
		x.Supporters.Rows = append(x.Supporters.Rows, []pageCell{{Text: code}, {Text: text}})
		if len(x.Codes) < mostCodes {
			x.Codes = append(x.Codes, p.codeOf(node.Partition))
		}
	}
	x.Overlap = p.overlapText(a)
	return x, nil
}

func (p *Profile) codeOf(part keymap.Partition) pageCode {
	c := pageCode{Code: p.Codes[part], Kind: "made by merging", Categories: "the value is written in"}
	if p.observed[part] {
		c.Kind = "some form has it"
	}
	if part == keymap.Any {
		return c
	}
	blocks := p.Blocks(part)
	c.Categories = report.Count(int64(len(blocks))) + " categories"
	for _, b := range blocks[:min(len(blocks), mostBlocks)] {
		c.Blocks = append(c.Blocks, b.Label)
	}
	if len(blocks) > mostBlocks {
		c.Blocks = append(c.Blocks, fmt.Sprintf("and %d more", len(blocks)-mostBlocks))
	}
	return c
}

// overlapText tells how much the harmonization with the finest form hides: which share of pairs of categories could match.
func (p *Profile) overlapText(a *Analysis) string {
	best, name := keymap.Partition(""), ""
	for _, form := range p.match {
		x := p.Forms[form]
		if x != keymap.Any && p.Target != keymap.Any && !p.Target.Refines(x) && !x.Refines(p.Target) && (name == "" || x.Size() > best.Size()) {
			best, name = x, form
		}
	}
	if name == "" {
		return ""
	}
	o := keymap.Overlaps(p.Target, best)
	return fmt.Sprintf(
		"With %s, whose categories cross those of the target, %d of %d pairs of categories are compatible, though the two harmonize to %d: matching is easier "+
			"than the code says.",
		name,
		len(o.Pairs),
		o.All,
		keymap.Join(p.Target, best).Size(),
	)
}

// other says what the other reading, strict or lenient, answers differently.
func (e *Environment) other(ctx context.Context, a *Analysis) (string, error) {
	if !slices.ContainsFunc(a.Variables, func(p *Profile) bool { return len(p.Wrong) > 0 }) {
		return "", nil
	}
	b, err := New(e.Repository, !e.Lenient, e.Limits).Ask(ctx, a.Question)
	if err != nil {
		return "", err
	}
	var says []string
	for i, p := range a.Variables {
		if q := b.Variables[i]; p.Status != q.Status {
			says = append(says, fmt.Sprintf("%s is %s here and %s there", p.Name, p.Status, q.Status))
		}
	}
	return strings.Join(says, "; "), nil
}

// shown is a table as a page has it.
func shown(t *Table) *pageTable {
	p := &pageTable{}
	for _, c := range t.Columns {
		p.Head = append(p.Head, pageCell{c.title(), c.number()})
	}
	for row := range min(t.Rows, mostRows) {
		var cells []pageCell
		for _, c := range t.Columns {
			cells = append(cells, pageCell{c.Shown(row), c.number()})
		}
		p.Rows = append(p.Rows, cells)
	}
	if t.Rows > mostRows {
		p.Note = fmt.Sprintf("and %d more rows", t.Rows-mostRows)
	}
	return p
}
