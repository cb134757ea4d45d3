package tables

import (
	"fmt"

	"microrisk/operators/audit"
	"microrisk/operators/report"
)

// A Judgement is what came of it.
type Judgement struct {
	Name      string
	Audit     *audit.Audit      // of the table by itself; nil of records
	Together  []*audit.Together // with what went out before; of records one for each kind of tables
	Standings []Standing
	Skipped   []string // releases that were not compared, with the reason
	Refused   []string // why it must not go out, whatever audits say
	Noted     bool     // the note was written
}

// Passed is an error of all that speaks against the release.
func (j *Judgement) Passed() error {
	if len(j.Refused) > 0 {
		return &RefusedError{j.Refused[0], len(j.Refused) - 1}
	}
	for _, t := range j.Together {
		if err := t.Passed(); err != nil {
			return err
		}
	}
	if j.Audit == nil || len(j.Together) > 0 {
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
