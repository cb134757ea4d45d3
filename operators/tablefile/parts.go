package tablefile

import (
	"fmt"
	"slices"
	"strings"
)

// A Part says of a category of a table that it has a finest category, which all tables know.
type Part struct {
	Line                          int // of the file
	Table, Variable, Code, Finest string
}

// ParseParts reads what categories of tables stand for: .csv with the columns table, variable, code and finest, a row for each finest category
// of each code. A code that is the total, or a variable that the table does not have, says which people a table is of.
func ParseParts(name string, text []byte) ([]Part, error) {
	rows, lines, err := readCSV(name, text)
	if err != nil {
		return nil, err
	}
	columns := []string{"table", "variable", "code", "finest"}
	var at []int
	for _, c := range columns {
		i := slices.Index(rows[0], c)
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %q; it has a row for each finest category of a code: %s", name, c, strings.Join(columns, ", "))
		}
		at = append(at, i)
	}
	var list []Part
	for i, r := range rows[1:] {
		text := func(k int) string { return strings.TrimSpace(r[at[k]]) }
		p := Part{lines[i+1], text(0), text(1), text(2), text(3)}
		if p.Table == "" || p.Variable == "" || p.Finest == "" {
			return nil, fmt.Errorf("%s:%d: a row has a table, a variable, a code and a finest category; this one has no %s", name, p.Line,
				columns[slices.Index([]string{p.Table, p.Variable, "-", p.Finest}, "")])
		}
		list = append(list, p)
	}
	return list, nil
}
