package tabulate

import (
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Next is a Leading config's: the command that tells what the table teaches, table by table of its first variable if it has another.
func (c *Config) Next(s *schemas.Spec) (tells string, command []string) {
	if len(s.Source.Path) == 0 || s.Source.Path[0] == "-" {
		return "", nil
	}
	var rows []string
	for _, o := range s.Operators {
		if o.Config == schemas.Config(c) {
			break
		}
		prepared, ok := o.Config.(report.Sayable)
		if !ok {
			return "", nil
		}
		rows = append(rows, prepared.Args()...)
	}
	names := make([]string, len(c.Cells))
	for v, cell := range c.Cells {
		names[v] = schemas.Word(cell.Name)
	}
	command = slices.Concat([]string{"microrisk", "assess"}, s.Source.Path, []string{"--measures", "sap"})
	if len(names) > 1 {
		command = append(command, "--by", names[0])
		names = names[1:]
	}
	command = append(command, "--cells", strings.Join(names, ","))
	for _, code := range c.Cells[0].MissingCodes {
		command = append(command, "--missing-codes", schemas.Word(code))
	}
	if c.Missing != "" {
		command = append(command, "--missing", c.Missing)
	}
	command = append(command, rows...)
	if c.Margins {
		if command = append(command, "--total", "same"); len(names) > 1 {
			command = append(command, "--margins", "all")
		}
	}
	if p := c.Perturb; p != nil {
		known := *p
		if p.ByPeople() {
			known.Secret = "" // it does not tell the noise of cells
		}
		if command = append(command, known.Args()...); known.Secret == "" && p.Random() { // the noise is known from the file alone
			command = append(command, "--published", c.Path)
		}
	}
	return "what it teaches about people, in each table of its first variable", command
}
