package protect

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/attribution"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/schemas"
)

// PartSAP is the file of areas of a protected table.
const (
	PartSAP = "sap"
	SAPFile = "sap.parquet"
)

// A SAP asks for the subtraction-attribution probability of a table before and after it is protected.
type SAP struct {
	Area  string  // the variable whose finest categories have a figure each; "": all people are one row
	Known []int64 // numbers of people known; nil with an area: usualKnown
}

var usualKnown = []int64{1, 2, 5}

// Fields is the field table.
func (s *SAP) Fields() schemas.Table {
	return schemas.Table{
		What: "the attribution risk that remains",
		Doc: "Asks how likely it is, before and after protection, that somebody who knows so many people of an area can subtract them and see that a " +
			"combination is empty.",
		Fields: []schemas.Field{
			{Name: "area", To: &s.Area, Doc: "Variable of the table whose finest categories have a figure each; without it all people are one row.",
				Flag: &schemas.Flag{
					Name:  "sap-area",
					Usage: "find the attribution risk (SAP) before and after, for each category of this `VARIABLE` (default: of all people)",
				}},
			{Name: "known", To: &s.Known, Single: true, Range: schemas.AtLeast(0).Saying("it must be 0 or more people"),
				Doc:  "Numbers of people known (1, 2 and 5 if only the area is said).",
				Flag: &schemas.Flag{Name: "sap-known", Usage: "numbers of people known, for the attribution risk (SAP) before and after (default: 1,2,5)"}},
		},
	}
}

// Asked tells whether anything is asked.
func (s *SAP) Asked() bool { return s.Area != "" || len(s.Known) > 0 }

// Numbers are the numbers of people known, ascending.
func (s *SAP) Numbers() []int64 {
	if len(s.Known) == 0 {
		return usualKnown
	}
	list := slices.Clone(s.Known)
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *SAP) check(c *Config, add func(field, format string, args ...any)) {
	switch {
	case !s.Asked():
	case c.Linked != nil:
		add("sap", "SAP is of one table, and several are linked: ask it of each")
	case c.Response != "" || c.Weight != "":
		add("sap", "SAP is of counts of people, and this table is none")
	case s.Area != "" && !slices.Contains(schemas.VariableNames(c.Table), s.Area):
		add("sap.area", "%s is to tell the areas apart, and is no variable of the table", s.Area)
	}
}

// Attribution finds SAP of the rows of areas before and after protection, whether the table passed its audit or not. Rounded values give away
// that they are less than the base off; of hidden cells the intervals count that somebody outside can work out, of those hidden for others too.
// Values that a way changed give away its limits.
func (p *Protected) Attribution(ctx context.Context, s *SAP) ([]attribution.Row, error) {
	a := &attribution.Protected{Grid: p.Table.Grid, Area: -1, True: p.Table.Values, Published: make([]tabular.Figure, len(p.Published)), Hidden: p.Hidden}
	for v, t := range p.Table.Grid.Trees {
		if t.Name == s.Area {
			a.Area = v
		}
	}
	base := int64(0)
	if p.Rounding != nil {
		base = p.Config.Base
		var err error
		if a.Kernel, err = perturb.Random(base); err != nil {
			return nil, err
		}
	}
	switch {
	case p.Way != nil && p.Way.kernel != nil:
		return p.perturbedAttribution(ctx, s, a)
	case p.Way != nil && p.Rounding == nil && p.Way.Changes():
		var err error
		if a.Published, a.Empty, err = p.changedFigures(); err != nil {
			return nil, err
		}
		return a.Rows(ctx, s.Numbers())
	}
	var hidden []int32
	for cell, y := range p.Published {
		off := max(y-p.Table.Values[cell], p.Table.Values[cell]-y)
		switch {
		case p.Hidden[cell]:
			hidden = append(hidden, int32(cell))
		case base > 0 && off >= base: // widened
			a.Published[cell] = tabular.Interval(max(0, y-off), y+off)
		default:
			a.Published[cell] = tabular.Exact(y)
		}
	}
	known := p.Table.Known(p.Config.Beforehand)
	if p.Low != nil { // which are published too
		var err error
		if known, err = Narrowed(p.Table, known, p.Given()); err != nil {
			return nil, err
		}
	}
	intervals, err := protection.Intervals(ctx, known, p.Hidden, hidden)
	if err != nil {
		return nil, err
	}
	for i, cell := range hidden {
		a.Published[cell] = tabular.Interval(max(0, intervals[i].Low), intervals[i].High)
	}
	return a.Rows(ctx, s.Numbers())
}

// perturbedAttribution is Attribution of counts that were perturbed by a scheme: totals that are sums tell nothing by themselves.
func (p *Protected) perturbedAttribution(ctx context.Context, s *SAP, a *attribution.Protected) ([]attribution.Row, error) {
	a.Kernel = p.Way.kernel
	for cell, y := range p.Published {
		if a.Published[cell] = tabular.Exact(y); p.Way.sums && !p.Table.Grid.Leaf(cell) {
			a.Published[cell] = tabular.Interval(0, tabular.NoLimit)
		}
	}
	return a.Rows(ctx, s.Numbers())
}

// changedFigures are what everybody knows of the cells of a table that a way changed, and of empty ones. A cell that became 0 has no row, as
// empty ones; totals that the config keeps are true.
func (p *Protected) changedFigures() (list []tabular.Figure, empty tabular.Figure, err error) {
	low, high, err := p.Way.Limits(p.Table, p.Given(), "occupied") // what is hidden has a row
	if err != nil {
		return nil, empty, err
	}
	kept := make([]bool, len(p.Published))
	if p.Way.Method == "adjustment" {
		kept = p.fixed()
	}
	empty = p.Way.empty()
	for cell, y := range p.Published {
		f := tabular.Interval(max(0, low[cell]), high[cell])
		switch {
		case kept[cell] && !p.Table.Grid.Leaf(cell):
			f = tabular.Exact(y)
		case p.Table.Values[cell] == 0:
			f = empty
		case y == 0 && !p.Hidden[cell]:
			f.Low = 0
		}
		list = append(list, f)
	}
	return list, empty, nil
}

// A SAPFigure is what came of all areas, for a number of people known.
type SAPFigure struct {
	Known       int64   `json:"known"`
	MeanBefore  float64 `json:"mean_before"`
	MeanAfter   float64 `json:"mean_after"`
	MostBefore  float64 `json:"most_before"`
	MostAfter   float64 `json:"most_after"`
	Riskiest    string  `json:"riskiest,omitempty"` // the area of MostAfter, the first in the table
	CertainOnes int     `json:"certain"`            // areas whose SAP is 1 after
	Areas       int     `json:"areas"`              // with people
}

// Attributed sums up the rows of areas; those without people are left out, as nobody can be known there.
func (s *SAP) Attributed(g *tabular.Grid, rows []attribution.Row) []SAPFigure {
	var list []SAPFigure
	for k, n := range s.Numbers() {
		f := SAPFigure{Known: n}
		for _, r := range rows {
			if r.People == 0 {
				continue
			}
			f.Areas++
			f.MeanBefore += r.Before[k]
			f.MeanAfter += r.After[k]
			f.MostBefore = max(f.MostBefore, r.Before[k])
			if r.After[k] > f.MostAfter {
				f.MostAfter, f.Riskiest = r.After[k], s.name(g, r.Node)
			}
			if r.After[k] == 1 {
				f.CertainOnes++
			}
		}
		f.MeanBefore /= float64(max(f.Areas, 1))
		f.MeanAfter /= float64(max(f.Areas, 1))
		list = append(list, f)
	}
	return list
}

// name is that of an area, "" without areas.
func (s *SAP) name(g *tabular.Grid, node int32) string {
	for _, t := range g.Trees {
		if t.Name == s.Area {
			return t.Nodes[node].Code.String()
		}
	}
	return ""
}

// attribution finds SAP if that is asked.
func (p *Protected) attribution(ctx context.Context) (err error) {
	if p.Config.SAP.Asked() {
		p.Areas, err = p.Attribution(ctx, &p.Config.SAP)
	}
	return err
}

// areaTable has the areas and their figures.
type areaTable struct{ *Protected }

// Tables is a Tabled's.
func (p areaTable) Tables(mem memory.Allocator) arrow.Record {
	s := &p.Config.SAP
	c := &operators.Columns{Mem: mem, Rows: len(p.Areas), Total: p.Config.Total}
	for _, t := range p.Table.Grid.Trees {
		if t.Name == s.Area {
			c.Categories(t.Name, func(row int) tabular.Category { return t.Nodes[p.Areas[row].Node].Code })
		}
	}
	c.Wholes("people", func(row int) int64 { return p.Areas[row].People })
	c.Wholes("hidden", func(row int) int64 { return int64(p.Areas[row].Hidden) })
	for k, n := range s.Numbers() {
		c.Numbers(fmt.Sprintf("sap_%d_before", n), func(row int) float64 { return p.Areas[row].Before[k] })
		c.Numbers(fmt.Sprintf("sap_%d_after", n), func(row int) float64 { return p.Areas[row].After[k] })
	}
	return c.Record()
}

// sapRows say what came of SAP, for a terminal.
func sapRows(list []SAPFigure, area bool) [][]report.Cell {
	var rows [][]report.Cell
	for _, f := range list {
		remark := fmt.Sprintf("%s before", report.Figure(f.MeanBefore))
		name := fmt.Sprintf("SAP, %s known", report.Count(f.Known))
		if area {
			name += ", mean"
			most := report.Figure(f.MostAfter)
			if f.Riskiest != "" {
				most += " (" + f.Riskiest + ")"
			}
			remark += fmt.Sprintf("; at most %s, %s before", most, report.Figure(f.MostBefore))
		}
		rows = append(rows, []report.Cell{report.Left(name), report.Right(report.Figure(f.MeanAfter)), report.Left(remark)})
	}
	return rows
}
