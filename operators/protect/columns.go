package protect

import "microrisk/schemas"

// Columns are those of a ready-made table, besides its variables; "" for one that it does not have.
type Columns struct {
	Count, Value, Max, Second, Status, Lower, Upper string
	Tolerance                                       *float64
	Sole                                            string // who the only contributor is: a number, of internal tables
	Records                                         string // number of records, of internal tables, where Count has the contributors; "": the same
}

// Fields is the field table.
func (c *Columns) Fields() schemas.Table {
	column := func(name string, to *string, doc, usage string) schemas.Field {
		return schemas.Field{Name: name, To: to, Doc: doc, Flag: &schemas.Flag{Name: name, Usage: usage}}
	}
	return schemas.Table{What: "the columns of a ready-made table", Doc: "The columns of a ready-made table, besides its variables.", Fields: []schemas.Field{
		column("count", &c.Count, "Number of contributors of each cell.", "a ready-made table: its `COLUMN` with the number of contributors"),
		column("value", &c.Value, "Value of each cell; without it the count.", "a ready-made table: its `COLUMN` with the values"),
		column("max", &c.Max, "Largest contribution to each cell.", "a ready-made table: its `COLUMN` with the largest contributions"),
		column("second", &c.Second, "Second largest contribution to each cell.", "a ready-made table: its `COLUMN` with the second largest contributions"),
		column(
			"status",
			&c.Status,
			"What is known of each cell: safe, unsafe, protected, or S, U, P.",
			"a ready-made table: its `COLUMN` with safe, unsafe or protected (S, U, P)",
		),
		column(
			"lower",
			&c.Lower,
			"Protection that each unsafe cell needs below its value.",
			"a ready-made table: its `COLUMN` with the lower protection levels",
		),
		column(
			"upper",
			&c.Upper,
			"Protection that each unsafe cell needs above its value.",
			"a ready-made table: its `COLUMN` with the upper protection levels",
		),
		{
			Name:  "tolerance",
			To:    &c.Tolerance,
			Range: schemas.AtLeast(0),
			Doc:   "By how many units of the last decimal each cell of a sum may be off (default: 0.5 with decimals, else 0).",
			Flag: &schemas.Flag{
				Name:  "tolerance",
				Usage: "a ready-made table: by how many units of the last decimal each cell of a sum may be off (default: 0.5 with --decimals, else 0)",
			},
		},
	}}
}

// Said tells whether a table is ready-made.
func (c *Columns) Said() bool { return len(c.Fields().Write()) > 0 }
