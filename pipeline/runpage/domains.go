package runpage

import (
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// domains are the riskiest ones of each measure that tells of them, for the office.
func (m *maker) domains() []page.Block {
	if m.public {
		return nil
	}
	var blocks []page.Block
	for _, o := range m.measured() {
		x, ok := o.part.(schemas.Measured)
		if !ok || x.Domains() == nil || x.Domains().Count == 0 {
			continue
		}
		d := x.Domains()
		t := &page.Table{Caption: "By " + report.Printable(strings.Join(d.By, ", ")) + ", as " + o.prefix + " tells",
			Head: []page.Cell{page.Left("domain"), page.Right("records"), page.Right("sample uniques")}}
		for _, f := range d.Told {
			t.Head = append(t.Head, page.Right(f.As))
		}
		for _, r := range d.Riskiest {
			var values []string
			for _, v := range r.Values {
				values = append(values, report.Value(v))
			}
			row := []page.Cell{page.Left(strings.Join(values, ", ")), page.Right(report.Count(r.Records)), page.Right(report.Count(r.Uniques))}
			for _, f := range d.Told {
				figure := "-"
				if v := r.Figures[f.Name]; v != nil {
					figure = report.Figure(*v)
				}
				row = append(row, page.Right(figure))
			}
			t.Rows = append(t.Rows, row)
		}
		blocks = append(blocks, page.Block{Table: t})
		if more := d.Count - int64(len(d.Riskiest)); more > 0 {
			blocks = append(blocks, page.Note("%s more are not told here.", report.Count(more)))
		}
	}
	if blocks == nil {
		return nil
	}
	return append([]page.Block{page.Text("A file may be safe as a whole and not in one part of it. Sample uniques are those of the whole file.")}, blocks...)
}
