package command

import (
	"fmt"

	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/ldiversity"
	"microrisk/schemas"
)

// classRows are the tables of the operators that look at equivalence classes: kanonymity, ldiversity, individual.
func classRows(gate *gateReport, spec *schemas.Spec, s *schemas.Summary) [][][]cell {
	var tables [][][]cell
	for _, o := range spec.Operators {
		m := o.Measure()
		if m == nil {
			continue
		}
		switch x := s.Operators[m.ColumnPrefix()].(type) {
		case *kanonymity.Summary:
			tables = append(tables, anonymityRows(gate, m.ColumnPrefix(), x))
		case *ldiversity.Summary:
			for _, v := range x.Sensitive {
				tables = append(tables, diversityRows(gate, m.ColumnPrefix(), x, v))
			}
		case *individual.Summary:
			tables = append(tables, individualRows(gate, m.ColumnPrefix(), x))
		}
	}
	return tables
}

func anonymityRows(gate *gateReport, prefix string, x *kanonymity.Summary) [][]cell {
	smallest := "-"
	if x.Smallest != nil {
		smallest = count(*x.Smallest)
	}
	rows := [][]cell{
		{left("smallest class"), right(smallest), left("records with the same key")},
		{left(fmt.Sprintf("below %d-anonymity", x.K)), right(count(x.Violations)), left(gate.limit(kanonymity.Limit, prefix, joined(percent(x.ViolationPercent)+" of the records", ofRecords(x.Records, x.Dropped))))},
	}
	for _, z := range x.CombinationsSizes {
		rows = append(rows, []cell{left("  " + plural(int64(z.Size), "variable", "variables")), right(count(z.Records)), left("records: so few need be known")})
	}
	return rows
}

func diversityRows(gate *gateReport, prefix string, x *ldiversity.Summary, v ldiversity.SensitiveSummary) [][]cell {
	rows := [][]cell{{left(v.Name), right("records"), left(fmt.Sprintf("whose class is below l = %d", x.L))},
		{left("  distinct"), right(count(v.BelowDistinct)), left(gate.limit(ldiversity.Limit, prefix, joined(partOf(v.BelowDistinct, x.Records)+" of the records", ofRecords(x.Records, x.Dropped))))},
		{left("  entropy"), right(count(v.BelowEntropy)), left(partOf(v.BelowEntropy, x.Records))},
		{left("  recursive"), right(count(v.BelowRecursive)), left(partOf(v.BelowRecursive, x.Records) + ", c = " + figure(x.C))},
	}
	if v.Missing > 0 {
		note := "counts as no value"
		if v.Policy == schemas.MissingCategory {
			note = "counts as a value of its own"
		}
		rows = append(rows, []cell{left("  missing"), right(count(v.Missing)), left(note)})
	}
	return rows
}

func individualRows(gate *gateReport, prefix string, x *individual.Summary) [][]cell {
	greatest := "-"
	if x.Greatest != nil {
		greatest = figure(*x.Greatest)
	}
	rows := [][]cell{
		{left("re-identifications"), right(figure(x.Reidentified)), left(gate.limit(schemas.LimitReidentifications, prefix, "individual risk, summed: "+joined(percent(x.ReidentifiedPercent)+" of the records", ofRecords(x.Records, x.Dropped))))},
		{left("  greatest risk"), right(greatest), left("of a record")},
	}
	if h := x.Household; h != nil {
		rows = append(rows, []cell{left("  by households"), right(figure(h.Reidentified)), left(percent(h.Percent) + ", of " + plural(h.Households, "household", "households"))})
	}
	return rows
}
