package protect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"microrisk/engine/attribution"
	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/schemas/advice"
)

// With is what protection is made with, besides what a spec says.
type With struct {
	Settings   []Setting         // said by hand, in the order of the file
	Solver     program.Solver    // nil: the embedded one
	SolverName string            // what it is called
	Chance     *operators.Chance // what is left to chance; nil: nothing is
	Warn       func(format string, args ...any)
	Progress   func(stage string, done, total int64) // nil: nobody looks on
}

// A Setting is what somebody said of a cell.
type Setting struct {
	Cell int
	tablefile.Setting
}

// A Protected table is what came of protecting one. Slices are by cell.
type Protected struct {
	Table     *Table
	Config    *Config
	Findings  []detection.Finding // of rules, and of what was said by hand; Secondary for cells hidden for others
	Cost      []int64
	Hidden    []bool
	Published []int64 // values as they are published, unless hidden
	Low, High []int64 // intervals beside hidden values; nil if none are published
	Needs     []protection.Need
	Levels    []protection.Need // those of rules, whatever width is needed instead
	Way       *Way
	Changed   *Change            // nil for patterns and rounding
	Report    *protection.Report // nil if nothing discloses
	Rounding  *protection.Rounded
	Pattern   *protection.Pattern // nil where none was searched
	Lines     []string            // lines that fail, for logs
	Settings  []Setting
	Chance    *operators.Chance // what was left to chance; nil: nothing was
	Solver    string
	Elapsed   time.Duration
	Areas     []attribution.Row // of areas, if SAP was asked for
	byCubes   bool              // the search found nothing cheaper than hypercubes before its limit
}

// A FailedError says that a protected table did not pass its audit, so that nothing can be published.
type FailedError struct {
	Method string
	Cells  []string // with what is wrong
	All    int
}

func (e *FailedError) Error() string {
	more := ""
	if n := e.All - len(e.Cells); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("the table is not safe with the method %s, and nothing is published: %s%s", e.Method, strings.Join(e.Cells, "; "), more)
}

// shownCells is how many cells an error names.
const shownCells = 5

// Protect finds the cells of a table that disclose, protects them by the config's method, and audits the result. A table that does not pass
// gives a *FailedError beside what was found.
func Protect(ctx context.Context, t *Table, c *Config, with With) (*Protected, error) {
	start := time.Now()
	if c.Cost == "" {
		whole := *c
		whole.Cost = c.defaultCost()
		c = &whole
	}
	way, err := wayOf(c, t.Response != "" || c.Weight != "")
	if err != nil {
		return nil, err
	}
	if with.Chance == nil && c.byChance() {
		if with.Chance, err = operators.NewChance(c.people(), nil); err != nil {
			return nil, err
		}
	}
	p := &Protected{Table: t, Config: c, Way: way, Chance: with.Chance, Settings: with.Settings}
	if Looks(c.Method, "solver") {
		p.Solver = cmp.Or(with.SolverName, "embedded")
	}
	if err := p.hideable(); err != nil {
		return nil, err
	}
	if err := p.judge(); err != nil {
		return nil, err
	}
	err = p.make(ctx, with)
	p.Elapsed = time.Since(start)
	if err != nil {
		return p, err
	}
	if ended := p.Ended(); ended != nil && with.Warn != nil {
		with.Warn("%v", ended)
	}
	if err = p.attribution(ctx); err == nil && c.Judge != nil {
		err = c.Judge(ctx, p)
	}
	return p, err
}

// Find asks the rules of a config of all cells of a table. Nothing is said by hand.
func Find(t *Table, c *Config) ([]detection.Finding, error) {
	p := &Protected{Table: t, Config: c}
	err := p.judge()
	return p.Findings, err
}

// CellRules are the rules that look at one cell at a time; all tells whether there are no others.
func (c *Config) CellRules() (list []detection.Rule, all bool) {
	for i := range c.Rules {
		if r := c.Rules[i].cells(); r != nil {
			list = append(list, r)
		}
	}
	return list, len(list) == len(c.Rules)
}

// judge asks all rules of all cells, and then what was said by hand.
func (p *Protected) judge() error {
	var rules []detection.Rule
	number := make([]int, 0, len(p.Config.Rules)) // of the rule in the config
	for i := range p.Config.Rules {
		if r := p.Config.Rules[i].cells(); r != nil {
			rules, number = append(rules, r), append(number, i)
		}
	}
	p.Findings = make([]detection.Finding, len(p.Table.Cells))
	for cell := range p.Table.Cells {
		f := detection.Judge(&p.Table.Cells[cell], rules)
		for i, r := range f.Rules {
			f.Rules[i] = number[r]
		}
		p.Findings[cell] = f
	}
	if err := p.lines(); err != nil {
		return err
	}
	p.given()
	p.byHand()
	p.costs()
	p.margins()
	return nil
}

// hideable is an error if a cell is to be hidden by hand, and never hidden too, or the method would publish something of it.
func (p *Protected) hideable() error {
	never := make(map[int]bool)
	for _, s := range p.Settings {
		if s.Set == "protected" {
			never[s.Cell] = true
		}
	}
	for _, s := range p.Settings {
		if s.Set == "hidden" && never[s.Cell] {
			return fmt.Errorf("%s is set hidden by hand, and protected, which is never hidden: leave one of them out", p.Table.Words(s.Cell))
		}
	}
	if slices.Contains(methodsOfPatterns, p.Config.Method) {
		return nil
	}
	for _, s := range p.Settings {
		if s.Set == "hidden" {
			return advice.Errorf("%s is to be hidden by hand, and the method %s hides no cells by hand: take another method (%s), or leave it out",
				p.Table.Words(s.Cell), p.Config.Method, methodsAdvice(methodsOfPatterns))
		}
	}
	return nil
}

// given takes what a ready-made table says of its cells: which are unsafe besides those that rules find, which are never hidden, and levels.
func (p *Protected) given() {
	t := p.Table
	for cell := range p.Findings {
		f := &p.Findings[cell]
		if t.Status != nil && f.Status.Candidate() {
			switch s := detection.StatusOf(t.Status[cell]); {
			case s.Primary():
				f.Status, f.Lower, f.Upper = s, t.Level(cell), t.Level(cell)
			case s == detection.Protected:
				f.Status = s
			}
		}
		if f.Status.Primary() && t.Lower != nil {
			f.Lower, f.Upper = max(t.Lower[cell], 1), max(t.Upper[cell], 1)
		}
	}
}

// byHand takes what was said of cells by hand.
func (p *Protected) byHand() {
	for _, s := range p.Settings {
		f := &p.Findings[s.Cell]
		switch s.Set {
		case "safe":
			*f = detection.Finding{Status: detection.SafeManual}
		case "protected":
			*f = detection.Finding{Status: detection.Protected}
		case "unsafe":
			if !f.Status.Primary() {
				level := p.Table.Level(s.Cell)
				*f = detection.Finding{Status: detection.UnsafeManual, Lower: level, Upper: level}
			}
		}
		if f.Status.Primary() {
			if s.Lower != nil {
				f.Lower = p.units(*s.Lower)
			}
			if s.Upper != nil {
				f.Upper = p.units(*s.Upper)
			}
		}
	}
}

func (p *Protected) units(v float64) int64 {
	return int64(math.Min(math.Ceil(v*math.Pow10(p.Table.Decimals)), MaxUnits))
}

// costs are those of hiding cells.
func (p *Protected) costs() {
	p.Cost = p.sizes()
	for cell := range p.Cost {
		switch p.Config.Cost {
		case "unity":
			p.Cost[cell] = 1
		case "contributors":
			p.Cost[cell] = max(p.Table.Cells[cell].Contributors, 1)
		}
	}
	for _, s := range p.Settings {
		if s.Cost != nil {
			p.Cost[s.Cell] = max(p.units(*s.Cost), 0)
			if p.Config.Cost != "value" {
				p.Cost[s.Cell] = int64(math.Ceil(*s.Cost))
			}
		}
	}
}

// margins are never hidden, as the config says, unless they disclose themselves.
func (p *Protected) margins() {
	if p.Config.Margins == "none" {
		return
	}
	g := p.Table.Grid
	for cell := range p.Findings {
		if !p.Findings[cell].Status.Candidate() {
			continue
		}
		totals := 0
		for _, n := range g.Nodes(cell) {
			if n == 0 {
				totals++
			}
		}
		keep := false
		switch p.Config.Margins {
		case "grand":
			keep = totals == len(g.Trees)
		case "one_way":
			keep = totals >= len(g.Trees)-1
		case "all":
			keep = g.Margin(cell)
		}
		if keep {
			p.Findings[cell].Status = detection.Protected
		}
	}
}

// Known is the table as package protection has it: nobody knows more beforehand than that nothing is negative, if that is so, and, unless the
// word is nothing, that what is hidden is not 0, as cells that are empty are not in files and zeros are not hidden.
func (table *Table) Known(beforehand string) *protection.Table {
	if beforehand == "nothing" {
		return table.KnownFrom(0)
	}
	return table.KnownFrom(1)
}

// KnownFrom is Known, if everybody knows that what is not 0 is at least so much: 0 where zeros might be hidden too.
func (table *Table) KnownFrom(least int64) *protection.Table {
	t := &protection.Table{System: table.Grid.System(), Values: table.Values, Sole: table.Sole, Grid: table.Grid,
		Low: make([]int64, len(table.Values))}
	negative := slices.ContainsFunc(t.Values, func(v int64) bool { return v < 0 })
	for i, v := range t.Values {
		if t.Low[i] = min(v, least); negative {
			t.Low[i] = protection.NoLow
		}
	}
	if negative {
		return t
	}
	// A total has what all its parts have at least: what nobody can be kept from knowing, no cell needs.
	splits := t.System.Splits()
	for total := t.System.Cells - 1; total >= 0; total-- { // parts stand after their totals
		for _, e := range splits[total] {
			sum := int64(0)
			for _, part := range t.System.Equations[e].Parts {
				sum += t.Low[part]
			}
			t.Low[total] = max(t.Low[total], min(sum, t.Values[total]))
		}
	}
	return t
}

func (p *Protected) insider() protection.Insider { return InsiderOf(p.Config.Insider) }

// InsiderOf is what a word of a config says of insiders.
func InsiderOf(word string) protection.Insider {
	return map[string]protection.Insider{"full": protection.InsiderFull, "off": protection.InsiderOff}[word]
}

// make protects and audits.
func (p *Protected) make(ctx context.Context, with With) error {
	p.Needs, p.Levels = p.Table.Needs(p.Findings, p.Config.Sliding), p.Table.Needs(p.Findings, nil)
	p.Published = slices.Clone(p.Table.Values)
	p.Hidden = make([]bool, len(p.Table.Cells))
	switch {
	case p.Config.Method == "rounding":
		return p.round(ctx, p.Table.KnownFrom(0), with) // rounded to 0 is like empty
	case slices.Contains(methodsOfPatterns, p.Config.Method):
		known := p.Table.Known(p.Config.Beforehand)
		for cell, f := range p.Findings {
			p.Hidden[cell] = f.Status.Primary()
		}
		if err := p.suppress(ctx, known, with); err != nil {
			return err
		}
		if p.Config.View == "intervals" {
			if err := p.view(ctx, known); err != nil {
				return err
			}
		}
	default:
		if err := p.change(ctx, with); err != nil {
			return err
		}
	}
	for cell, hidden := range p.Hidden {
		if hidden && !p.Findings[cell].Status.Hidden() {
			p.Findings[cell].Status = detection.Secondary
		}
	}
	return p.audit(ctx, with)
}

// audit tries all attackers on what is to be published.
func (p *Protected) audit(ctx context.Context, with With) (err error) {
	if with.Progress != nil {
		cells := int64(len(p.Table.Cells))
		with.Progress("protecting cells", cells, cells)
		with.Progress("auditing cells", 0, int64(len(p.Needs)))
		ctx = protection.Telling(ctx, func(done, all int) { with.Progress("auditing cells", int64(done), int64(all)) })
	}
	if p.Report, err = p.Way.Audit(ctx, p.Table, p.Given(), p.attack()); err != nil {
		return err
	}
	return p.passed()
}

// attack is what attackers must not learn.
func (p *Protected) attack() *Attack {
	return &Attack{Needs: p.Levels, Sliding: p.Config.Sliding, Insider: p.Config.Insider, Beforehand: p.Config.Beforehand}
}

// passed is a *FailedError of cells that did not pass the audit.
func (p *Protected) passed() error {
	failed := p.Report.Failed()
	if len(failed) == 0 {
		return nil
	}
	e := &FailedError{Method: p.Config.Method, All: len(failed)}
	for _, f := range failed[:min(len(failed), shownCells)] {
		e.Cells = append(e.Cells, p.Way.Failure(p.Table, f))
	}
	return e
}

// Failure says what an audit found out of a cell of a table.
func Failure(t *Table, f protection.Finding) string {
	who := "anybody"
	if f.Holder != 0 {
		who = "the only contributor of another hidden cell"
	}
	cell := tabular.Words(t.Grid.Codes(int(f.Need.Cell)))
	if f.Verdict == protection.Exact {
		return fmt.Sprintf("%s knows %s exactly", who, cell)
	}
	low, high := "no limit", "no limit"
	if f.Low != protection.NoLow {
		low = t.Text(f.Low)
	}
	if f.High != tabular.NoLimit {
		high = t.Text(f.High)
	}
	return fmt.Sprintf("%s knows %s to be from %s to %s", who, cell, low, high)
}
