package runpage

import (
	"fmt"

	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/pipeline/page"
)

// records are the riskiest ones by their values, on pages that may have them.
func (m *maker) records() []page.Block {
	if !m.confidential {
		return nil
	}
	var blocks []page.Block
	for _, r := range m.Rankings {
		if len(r.Rows) > 0 && r.Operator != "kanonymity" {
			blocks = append(blocks, page.Block{Table: m.recordTable(r)})
		}
	}
	if blocks == nil {
		return []page.Block{page.Text("No record has a score above 0.")}
	}
	return append(blocks, page.Note("Rows are numbered from 0 within a file; microrisk explain FILE --row N --key ... says what singles a record out."))
}

// recordTable has the records with the highest scores, and their values of the key variables.
func (m *maker) recordTable(r operators.Ranking) *page.Table {
	t := &page.Table{Caption: "Records with the highest " + r.Column, Head: []page.Cell{page.Left("row"), page.Right(r.Column)}}
	if m.Spec.ID != "" {
		t.Head = append(t.Head, page.Left(report.Printable(m.Spec.ID)))
	}
	for _, v := range r.Key {
		t.Head = append(t.Head, page.Left(report.Printable(v)))
	}
	scores := make([]float64, len(r.Rows))
	for i, x := range r.Rows {
		scores[i] = x.Score
	}
	texts := report.Figures(scores)
	for i, x := range r.Rows {
		name := fmt.Sprintf("row %d", x.Row)
		if len(m.Inputs) > 1 && x.Input < len(m.Inputs) {
			name += " of " + report.Printable(m.Inputs[x.Input])
		}
		row := []page.Cell{page.Left(name), page.Right(texts[i])}
		if m.Spec.ID != "" {
			row = append(row, page.Left(report.Value(x.ID)))
		}
		for _, v := range x.Values {
			row = append(row, page.Left(report.Value(v)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
