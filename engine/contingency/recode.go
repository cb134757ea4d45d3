package contingency

import "fmt"

// Observed tells for each code of variable v, the missing one last, whether a record has it.
func (t *Table) Observed(v int) []bool {
	used := make([]bool, t.Variables[v].Missing()+1)
	codes := make([]uint32, min(t.classes, chunkRows))
	for from := 0; from < t.classes; from += len(codes) {
		n := min(len(codes), t.classes-from)
		t.Codes(v, from, codes[:n])
		for _, c := range codes[:n] {
			used[c] = true
		}
	}
	return used
}

// Recode is the same table with other codes: code c of variable v becomes codes[v][c] (nil: stays as it is). New codes must keep
// the order of those observed, so that classes keep their order; they are not checked beyond the range of the new variables.
func (t *Table) Recode(variables []Variable, codes [][]uint32) (*Table, error) {
	l, err := layoutOf(variables)
	if err != nil {
		return nil, err
	}
	if len(variables) != len(t.Variables) || len(codes) != len(variables) {
		return nil, fmt.Errorf("contingency: recoding %d variables of a table of %d", len(variables), len(t.Variables))
	}
	r := &Table{Variables: variables, layout: l, classes: t.classes, records: t.records, keys: make([]uint64, t.classes*l.words),
		counts32: t.counts32, counts64: t.counts64, sums: t.sums}
	for v := range variables {
		from, to := t.layout.fields[v], l.fields[v]
		for i := range t.classes {
			c := uint32(t.keys[i*t.layout.words+from.word] >> from.shift & from.mask())
			if codes[v] != nil {
				c = codes[v][c]
			}
			if c > variables[v].Missing() {
				return nil, fmt.Errorf("contingency: code %d of class %d is beyond the %d categories of variable %q", c, i, len(variables[v].Categories), variables[v].Name)
			}
			r.keys[i*l.words+to.word] |= uint64(c) << to.shift
		}
	}
	return r, nil
}
