package protect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/schemas"
)

// Parts of a protected table, as files have them.
const (
	PartPublic = "public"
	PartCells  = "cells"
	PartLog    = "log"
)

// Part is an operators.Parted's.
func (p *Protected) Part(name string) any {
	switch name {
	case PartPublic:
		return publicTable{p}
	case PartCells:
		return internalCells{p}
	case PartSAP:
		return areaTable{p}
	}
	return logDocument{p}
}

// rows are the cells that files have: those that are not empty, each total before its parts.
func (p *Protected) rows() []int {
	var list []int
	for cell, f := range p.Findings {
		if f.Status != detection.Empty {
			list = append(list, cell)
		}
	}
	return list
}

// Keys appends the variables of cells.
func (t *Table) Keys(c *operators.Columns, cell func(row int) int) {
	for v, tree := range t.Grid.Trees {
		c.Categories(tree.Name, func(row int) tabular.Category { return tree.Nodes[t.Grid.Nodes(cell(row))[v]].Code })
	}
}

// Column appends a column of values in units, null where there is none.
func (t *Table) Column(c *operators.Columns, name string, value func(row int) (int64, bool)) {
	if t.Decimals == 0 {
		c.WholesOrNull(name, value)
		return
	}
	c.DecimalsOrNull(name, t.Decimals, value)
}

// hiddenSymbol stands beside a value that is not published, whatever the reason is.
const hiddenSymbol = "x"

// publicTable is what can be published: made of published values only.
type publicTable struct{ *Protected }

// Tables is a Tabled's. A cell that became 0 has no row, as those that are empty have none: nobody can tell them apart.
func (p publicTable) Tables(mem memory.Allocator) arrow.Record {
	rows := p.rows()
	if p.Way.Changes() {
		rows = slices.DeleteFunc(rows, func(cell int) bool { return p.Published[cell] == 0 && !p.Hidden[cell] })
	}
	c := &operators.Columns{Mem: mem, Rows: len(rows), Total: p.Config.Total}
	p.Table.Keys(c, func(row int) int { return rows[row] })
	p.Table.Column(c, "value", func(row int) (int64, bool) { return p.Published[rows[row]], !p.Hidden[rows[row]] })
	symbol := hiddenSymbol
	c.TextsOrNull(schemas.SymbolColumn, func(row int) *string {
		if p.Hidden[rows[row]] {
			return &symbol
		}
		return nil
	})
	if p.Low != nil {
		p.intervals(c, rows, "")
	}
	return c.Record()
}

// intervals appends those beside hidden values.
func (p *Protected) intervals(c *operators.Columns, rows []int, prefix string) {
	p.Table.Column(c, prefix+schemas.LowerColumn, func(row int) (int64, bool) {
		v := p.Low[rows[row]]
		return v, p.Hidden[rows[row]] && v != protection.NoLow
	})
	p.Table.Column(c, prefix+schemas.UpperColumn, func(row int) (int64, bool) {
		v := p.High[rows[row]]
		return v, p.Hidden[rows[row]] && v != tabular.NoLimit
	})
}

// Footer is a Footed's: nothing but the version.
func (p publicTable) Footer() map[string]string { return footer(&tablefile.Structure{Version: 1}) }

func footer(s *tablefile.Structure) map[string]string {
	text, err := json.Marshal(s)
	if err != nil {
		return nil // there are texts and numbers only
	}
	return map[string]string{tablefile.StructureKey: string(text)}
}

// internalCells are all that is known of the cells.
type internalCells struct{ *Protected }

// cellColumns are columns that every internal table has besides published ones: no variable has one of these names.
var cellColumns = []string{"is_margin", "contributors", "status", "rules", "cost", "lower_required", "upper_required", "audit_lower", "audit_upper", "audit"}

// Tables is a Tabled's.
func (p internalCells) Tables(mem memory.Allocator) arrow.Record {
	rows := p.rows()
	t := p.Table
	c := &operators.Columns{Mem: mem, Rows: len(rows), Total: p.Config.Total}
	t.Keys(c, func(row int) int { return rows[row] })
	c.Truths("is_margin", func(row int) bool { return t.Grid.Margin(rows[row]) })
	c.Wholes("count", func(row int) int64 { return t.Cells[rows[row]].Records })
	c.Wholes("contributors", func(row int) int64 { return t.Cells[rows[row]].Contributors })
	t.Column(c, "value", func(row int) (int64, bool) { return t.Values[rows[row]], true })
	most := 0
	for _, cell := range rows {
		most = max(most, len(t.Cells[cell].Top))
	}
	for k := range most {
		t.Column(c, fmt.Sprintf("top_%d", k+1), func(row int) (int64, bool) {
			if top := t.Cells[rows[row]].Top; k < len(top) {
				return top[k], true
			}
			return 0, false
		})
	}
	c.WholesOrNull("sole_contributor", func(row int) (int64, bool) { return t.Sole[rows[row]], t.Sole[rows[row]] != 0 })
	c.Texts("status", func(row int) string { return p.Findings[rows[row]].Status.String() })
	c.TextsOrNull("rules", func(row int) *string {
		var names []string
		for _, r := range p.Findings[rows[row]].Rules {
			names = append(names, p.Config.Rules[r].Rule)
		}
		if names == nil {
			return nil
		}
		text := strings.Join(names, "; ")
		return &text
	})
	c.Wholes("cost", func(row int) int64 { return p.Cost[rows[row]] })
	primary := func(row int) bool { return p.Findings[rows[row]].Status.Primary() }
	t.Column(c, "lower_required", func(row int) (int64, bool) { return t.Values[rows[row]] - p.Findings[rows[row]].Lower, primary(row) })
	t.Column(c, "upper_required", func(row int) (int64, bool) { return t.Values[rows[row]] + p.Findings[rows[row]].Upper, primary(row) })
	audited := p.audited()
	t.Column(c, "audit_lower", func(row int) (int64, bool) {
		f, ok := audited[int32(rows[row])]
		return f.Low, ok && f.Low != protection.NoLow
	})
	t.Column(c, "audit_upper", func(row int) (int64, bool) {
		f, ok := audited[int32(rows[row])]
		return f.High, ok && f.High != tabular.NoLimit
	})
	c.TextsOrNull("audit", func(row int) *string {
		if f, ok := audited[int32(rows[row])]; ok {
			text := f.Verdict.String()
			return &text
		}
		return nil
	})
	t.Column(c, "published", func(row int) (int64, bool) { return p.Published[rows[row]], !p.Hidden[rows[row]] })
	if p.Low != nil {
		p.intervals(c, rows, "published_")
	}
	return c.Record()
}

// Footer is a Footed's.
func (p internalCells) Footer() map[string]string {
	return footer(tablefile.StructureOf(tablefile.KindCells, p.Table.Grid.Trees, p.Config.Total, p.Table.Response, p.Table.Decimals))
}

// audited are the audit's findings by cell.
func (p *Protected) audited() map[int32]protection.Finding {
	list := make(map[int32]protection.Finding)
	if p.Report != nil {
		for _, f := range p.Report.Findings {
			list[f.Need.Cell] = f
		}
	}
	return list
}

// logDocument is the internal log: everything that was decided, and what it came to.
type logDocument struct{ *Protected }

// A Log is the internal log.
type Log struct {
	Version    int            `json:"version"`
	Variables  []LoggedTree   `json:"variables"`
	Recodes    []LoggedRecode `json:"recodes,omitempty"`
	Linked     [][]string     `json:"linked,omitempty"`
	Total      string         `json:"total"`
	Missing    string         `json:"missing,omitempty"` // drop, where records without a value are in no cell
	Response   string         `json:"response,omitempty"`
	Weighted   bool           `json:"weighted,omitempty"`
	Decimals   int            `json:"decimals,omitempty"`
	Profile    string         `json:"profile,omitempty"` // policy that rules and method were taken from
	Topic      string         `json:"topic,omitempty"`
	Rules      []string       `json:"rules"`
	Method     string         `json:"method"`
	Cost       string         `json:"cost"`
	Margins    string         `json:"margins"`
	Insider    string         `json:"insider"`
	Beforehand string         `json:"beforehand,omitempty"`
	Sliding    int            `json:"sliding,omitempty"`
	Solver     string         `json:"solver,omitempty"`
	Cells      map[string]int `json:"cells"` // by status
	Hidden     int            `json:"hidden"`
	TotalCost  int64          `json:"total_cost"`
	Bound      int64          `json:"bound"`
	Gap        float64        `json:"gap"`
	Proven     bool           `json:"proven"`
	Ended      string         `json:"ended,omitempty"` // what ended the search
	Limit      float64        `json:"limit_seconds,omitempty"`
	Nodes      int            `json:"limit_nodes,omitempty"`
	Stopped    bool           `json:"stopped,omitempty"` // by the limit
	Components int            `json:"components,omitempty"`
	Largest    int            `json:"largest_component,omitempty"`
	Rounding   *LoggedRounds  `json:"rounding,omitempty"`
	Change     *LoggedChange  `json:"change,omitempty"`
	Lines      []string       `json:"lines,omitempty"`
	Settings   []LoggedCell   `json:"settings,omitempty"`
	Area       string         `json:"sap_area,omitempty"`
	SAP        []SAPFigure    `json:"sap,omitempty"`
	Seconds    float64        `json:"seconds"`
}

// A LoggedRecode is a category that several became.
type LoggedRecode struct {
	Variable string   `json:"variable"`
	Code     string   `json:"code"`
	Of       []string `json:"of"`
}

// A LoggedTree is a variable with its categories, of which the first is the total over all.
type LoggedTree struct {
	Name  string       `json:"name"`
	Nodes []LoggedNode `json:"categories"`
}

// A LoggedNode is a category below the one whose number is Parent, -1 for the total.
type LoggedNode struct {
	Code   *string `json:"code"` // nil: a missing value
	Parent int     `json:"parent"`
}

func loggedTree(t *tabular.Tree, total string) LoggedTree {
	l := LoggedTree{Name: t.Name}
	for _, n := range t.Nodes {
		x := LoggedNode{Parent: n.Parent, Code: &n.Code.Label}
		switch n.Code.Kind {
		case tabular.KindTotal:
			x.Code = &total
		case tabular.KindMissing:
			x.Code = nil
		}
		l.Nodes = append(l.Nodes, x)
	}
	return l
}

// Tree is the variable that was logged. The error says what is wrong with it.
func (l LoggedTree) Tree() (*tabular.Tree, error) {
	t := tabular.NewTree(l.Name)
	for i, n := range l.Nodes[min(1, len(l.Nodes)):] {
		if n.Parent < 0 || n.Parent > i {
			return nil, fmt.Errorf("category %d of %s has the parent %d, which does not stand before it", i+1, l.Name, n.Parent)
		}
		code := tabular.Missing
		if n.Code != nil {
			code = tabular.Of(*n.Code)
		}
		t.Add(code, n.Parent)
	}
	return t, nil
}

// LoggedRounds are what came of rounding.
type LoggedRounds struct {
	Base       int64 `json:"base"`
	Changed    int   `json:"changed"`
	Widened    int   `json:"widened"`
	Controlled bool  `json:"controlled"`
}

// A LoggedCell is what was said of a cell by hand.
type LoggedCell struct {
	Cell   []string `json:"cell"`
	Set    string   `json:"set,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Name   string   `json:"name,omitempty"`
}

// Document is a Documented's.
func (p logDocument) Document() ([]byte, error) {
	l := &Log{
		Version:    1,
		Total:      p.Config.Total,
		Linked:     p.Config.Linked,
		Response:   p.Table.Response,
		Weighted:   p.Config.Weight != "",
		Decimals:   p.Table.Decimals,
		Profile:    p.Config.Profile,
		Topic:      p.Config.Topic,
		Method:     p.Config.Method,
		Cost:       p.Config.Cost,
		Margins:    p.Config.Margins,
		Insider:    p.Config.Insider,
		Beforehand: p.Config.Beforehand,
		Solver:     p.Solver,
		Cells:      make(map[string]int),
		Lines:      p.Lines,
		Seconds:    p.Elapsed.Seconds(),
	}
	if p.Config.Missing == schemas.MissingDrop {
		l.Missing = p.Config.Missing
	}
	for _, t := range p.Table.Grid.Trees {
		l.Variables = append(l.Variables, loggedTree(t, p.Config.Total))
	}
	for _, v := range p.Table.Recodes {
		for _, r := range v.List {
			l.Recodes = append(l.Recodes, LoggedRecode{v.Variable, r.Code, r.Members})
		}
	}
	for i := range p.Config.Rules {
		l.Rules = append(l.Rules, p.Config.Rules[i].name())
	}
	for cell, f := range p.Findings {
		l.Cells[f.Status.String()]++
		if p.Hidden[cell] {
			l.Hidden++
		}
	}
	if x := p.Pattern; x != nil {
		l.TotalCost, l.Bound, l.Gap, l.Proven, l.Ended = x.Cost, x.Bound, x.Gap(), x.Proven() && p.Config.Method == "optimal", x.Solver
	}
	if p.Config.Sliding != nil {
		l.Sliding = *p.Config.Sliding
	}
	if p.Report != nil {
		l.Components, l.Largest = p.Report.Components, p.Report.Largest
	}
	if r := p.Rounding; r != nil {
		l.TotalCost, l.Proven = r.Cost, r.Optimal
		l.Rounding = &LoggedRounds{Base: p.Config.Base, Changed: p.Summary(0).Rounded, Widened: len(r.Widened), Controlled: r.Controlled}
	}
	if x := p.Changed; x != nil {
		l.TotalCost, l.Bound, l.Gap, l.Proven = x.Cost, int64(x.Bound), x.Gap, x.Best
	}
	l.Limit, l.Stopped = p.Config.most().Seconds(), p.Stopped()
	if p.Config.Seconds != nil {
		l.Limit = *p.Config.Seconds
	}
	if p.Config.Nodes != nil {
		l.Nodes = *p.Config.Nodes
	}
	l.Change = p.loggedChange()
	if p.Areas != nil {
		l.Area, l.SAP = p.Config.SAP.Area, p.Config.SAP.Attributed(p.Table.Grid, p.Areas)
	}
	for _, s := range p.Settings {
		x := LoggedCell{Set: s.Set, Reason: s.Reason, Name: s.Name}
		for _, c := range p.Table.Grid.Codes(s.Cell) {
			x.Cell = append(x.Cell, c.String())
		}
		l.Settings = append(l.Settings, x)
	}
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}
