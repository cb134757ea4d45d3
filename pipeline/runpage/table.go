package runpage

import (
	"microrisk/operators/protect"
	"microrisk/operators/tabulate"
	"microrisk/pipeline"
	"microrisk/pipeline/page"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// tabled is the page of a run that makes a table and measures nothing; nil for another run.
func tabled(o *pipeline.Outcome, reader string) *page.Page {
	from := &tables.Origin{Inputs: o.Inputs, Program: o.Summary.Program, Warnings: o.Summary.Warnings}
	var made *page.Page
	for _, x := range o.Spec.Operators {
		n, ok := x.Config.(schemas.Named)
		if !ok {
			continue
		}
		part := o.Summary.Operators[n.ColumnPrefix()]
		switch c := x.Config.(type) {
		case *protect.Config:
			if m, ok := part.(*protect.Summary); ok {
				made = tables.ProtectedPage(c, m, from, reader)
			}
		case *tabulate.Config:
			if m, ok := part.(*tabulate.Summary); ok {
				made = tables.TabulatedPage(c, m, from, reader)
			}
		default:
			if _, measured := part.(schemas.Judged); measured {
				return nil
			}
		}
	}
	return made
}
