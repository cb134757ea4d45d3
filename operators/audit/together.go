package audit

import (
	"cmp"
	"context"
	"fmt"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/overlap"
	"microrisk/engine/tabular/protection"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/operators/tablefile"
)

// A Release is one of several tables that are published of the same people.
type Release struct {
	Name string
	*Audit
}

// Together is several tables, each with what all of them together leave of its cells.
type Together struct {
	Releases []Release
	Groups   []Difference // people whose number is found by subtraction, and is small
	Warnings []string
	system   *overlap.System
	names    []string // of all variables
	finest   [][]string
	values   []int64
}

// A Difference is a group of people of one cell who are in none of some cells of another table.
type Difference struct {
	protection.Finding
	Group overlap.Group
	Value int64
	Words string // the subtraction
}

// A ContradictionError says that tables that should be of the same people are not.
type ContradictionError struct {
	What  string
	Right string // what would be right, where somebody knows better than that flags of audits would be
}

func (e *ContradictionError) Error() string {
	const usual = "they are of different people, or one was rounded: name its internal folder, or say which people it is of (--parts); one that leaves out " +
		"who has no value (--missing drop) is of the others: its total stands for the values that there are"
	return e.What + ": " + cmp.Or(e.Right, usual)
}

// Combine tries all attackers on tables that are published of the same people: cells of the same people are one unknown. parts say what
// categories stand for where tables differ in them. A group of fewer than few people that subtractions give away needs what an unsafe cell does.
// Each release's report is then what is known of its cells from all. Errors: a *ContradictionError, tables of different things.
func Combine(ctx context.Context, releases []Release, parts []tablefile.Part, few int64) (*Together, error) {
	t := &Together{Releases: releases}
	tables, err := t.tables(parts)
	if err != nil {
		return nil, err
	}
	if t.system, err = overlap.Join(tables); err != nil {
		return nil, err
	}
	if err := t.agree(); err != nil {
		return nil, err
	}
	known, hidden, err := t.seen()
	if err != nil {
		return nil, err
	}
	needs, owner := t.needs(few)
	insider := protection.InsiderOff
	for _, r := range releases {
		switch i := protect.InsiderOf(r.Insider); {
		case i == protection.InsiderFull, i == protection.InsiderExact && insider == protection.InsiderOff:
			insider = i
		}
	}
	report, err := protection.Audit(ctx, known, hidden, needs, insider)
	if err != nil {
		return nil, err
	}
	t.narrow(report, known)
	t.tell(report, owner)
	return t, nil
}

// narrow finds intervals that published figures make narrower than a cell needs: what was published is no bound that was known beforehand.
func (t *Together) narrow(report *protection.Report, known *protection.Table) {
	before := make([]int64, len(t.values))
	for i, r := range t.Releases {
		for cell, low := range r.beforehand().Low {
			n := t.system.Cells[i][cell]
			before[n] = max(before[n], low)
			if low == protection.NoLow {
				before[n] = low
			}
		}
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		n := f.Need.Cell
		least, most := max(t.values[n]-f.Need.Lower, before[n]), t.values[n]+f.Need.Upper
		if f.Verdict == protection.Pass && (known.Low[n] > least || known.High[n] < most) {
			f.Verdict = protection.Under
		}
	}
}

// seen is what everybody knows of the unknowns.
func (t *Together) seen() (*protection.Table, []bool, error) {
	n := len(t.values)
	known := &protection.Table{System: t.system.System, Values: t.values, Low: make([]int64, n), High: make([]int64, n), Sole: make([]int64, n)}
	hidden := make([]bool, n)
	for i := range hidden {
		hidden[i], known.Low[i], known.High[i] = true, protection.NoLow, tabular.NoLimit
	}
	negative := false
	holders := make(map[[2]int64]int64) // of a table, as one of all
	for i, r := range t.Releases {
		low, high, err := r.bounds()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		for cell, n := range t.system.Cells[i] {
			known.Low[n], known.High[n] = max(known.Low[n], low[cell]), min(known.High[n], high[cell])
			negative = negative || r.Table.Values[cell] < 0
			if low[cell] == high[cell] {
				hidden[n] = false
			}
			if s := r.Table.Sole; s != nil && s[cell] != 0 {
				who := [2]int64{int64(i), s[cell]}
				switch {
				case known.Sole[n] != 0:
					holders[who] = known.Sole[n]
				case holders[who] == 0:
					holders[who] = int64(len(holders)) + 1
				}
				known.Sole[n] = holders[who]
			}
		}
	}
	for _, g := range t.system.Groups {
		if !negative {
			known.Low[g.Cell] = max(known.Low[g.Cell], 0)
		}
	}
	return known, hidden, nil
}

// an owner is who needs something: a table, or a group.
type owner struct{ table, group int }

// needs are those of all tables, and of small groups.
func (t *Together) needs(few int64) (list []protection.Need, of map[int32][]owner) {
	of = make(map[int32][]owner)
	at := make(map[int32]int)
	add := func(n protection.Need, who owner) {
		if of[n.Cell] == nil {
			at[n.Cell] = len(list)
			list = append(list, n)
		} else {
			x := &list[at[n.Cell]]
			x.Lower, x.Upper, x.Sliding = max(x.Lower, n.Lower), max(x.Upper, n.Upper), max(x.Sliding, n.Sliding)
		}
		of[n.Cell] = append(of[n.Cell], who)
	}
	for i, r := range t.Releases {
		for _, n := range r.Table.Needs(r.findings(), r.Sliding) {
			if r.way.Changes() {
				n = protection.Need{Cell: n.Cell, Sliding: r.width()}
			}
			n.Cell = t.system.Cells[i][n.Cell]
			add(n, owner{i, -1})
		}
	}
	for i, g := range t.system.Groups {
		if v := t.values[g.Cell]; v > 0 && v < few && t.Releases[0].Response == "" {
			level := detection.ShareLevel(v, detection.DefaultRange)
			add(protection.Need{Cell: g.Cell, Lower: level, Upper: level}, owner{-1, i})
		}
	}
	return list, of
}

// tell gives each table what was found out of its cells, and the groups theirs. What a table gives away by itself it does not keep by others.
func (t *Together) tell(report *protection.Report, of map[int32][]owner) {
	alone := make([]map[int32]protection.Finding, len(t.Releases))
	for i, r := range t.Releases {
		own := *report
		own.Findings = nil
		if r.Report != nil {
			alone[i] = make(map[int32]protection.Finding)
			for _, f := range r.Report.Findings {
				alone[i][f.Need.Cell] = f
			}
		}
		t.Releases[i].Report = &own
	}
	place := make([]map[int32]int32, len(t.Releases)) // cells of tables by unknown
	for i, cells := range t.system.Cells {
		place[i] = make(map[int32]int32, len(cells))
		for cell, n := range cells {
			place[i][n] = int32(cell)
		}
	}
	for _, f := range report.Findings {
		for _, who := range of[f.Need.Cell] {
			if who.group >= 0 {
				if f.Verdict != protection.Pass {
					g := t.system.Groups[who.group]
					t.Groups = append(t.Groups, Difference{f, g, t.values[g.Cell], t.subtraction(&g)})
				}
				continue
			}
			own := f
			own.Need.Cell = place[who.table][f.Need.Cell]
			if by, is := alone[who.table][own.Need.Cell]; is && by.Verdict > own.Verdict {
				own = by
			}
			r := t.Releases[who.table].Report
			r.Findings = append(r.Findings, own)
		}
	}
}

// Passed is a *FailedError of all cells and groups that did not pass.
func (t *Together) Passed() error {
	e := &FailedError{Many: true}
	add := func(words string) {
		if e.All++; len(e.Cells) < shownCells {
			e.Cells = append(e.Cells, words)
		}
	}
	for _, g := range t.Groups {
		add(g.Words)
	}
	for _, r := range t.Releases {
		for _, f := range r.Report.Failed() {
			add(r.Name + ": " + protect.Failure(r.Table, f))
		}
	}
	if e.All == 0 {
		return nil
	}
	return e
}

// Rows say what was found out of the tables together, for a terminal.
func (t *Together) Rows() [][]report.Cell {
	var rows [][]report.Cell
	for _, r := range t.Releases {
		failed := r.Report.Failed()
		exact := 0
		for _, f := range failed {
			if f.Verdict == protection.Exact {
				exact++
			}
		}
		rows = append(rows, []report.Cell{report.Left(r.Name), report.Right(report.Count(int64(len(r.Report.Findings)))), report.Left("unsafe cells"),
			report.Right(report.Count(int64(len(failed) - exact))), report.Left("known too well"), report.Right(report.Count(int64(exact))),
			report.Left("known exactly")})
	}
	return append(rows, []report.Cell{report.Left("by subtraction"), report.Right(report.Count(int64(len(t.Groups)))), report.Left("small groups of people")})
}
