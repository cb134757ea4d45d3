package released

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/engine/linkage"
	"microrisk/engine/tabular"
	"microrisk/schemas"
)

// A Codebook gives the categories of several tables common codes, and puts them into the words of linkage.
type Codebook struct{ contingency.CodeBook }

// Label is a label, nil for a missing value.
func (w *Codebook) Label(v int, code uint32) *string {
	if label, ok := w.Category(v, code); ok {
		return &label
	}
	return nil
}

// Take takes categories of a variable.
func (w *Codebook) Take(name string, categories []tabular.Category) {
	v := w.Add(name)
	for _, c := range categories {
		if c.Kind == tabular.KindMissing {
			w.AddMissing(v)
		} else {
			w.Add(name, c.Label)
		}
	}
}

// ascending are the positions of variables as their common numbers ascend.
func (w *Codebook) ascending(names []string) []int {
	order := make([]int, len(names))
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int { return w.Variable(names[a]) - w.Variable(names[b]) })
	return order
}

// Counts are the cells of a table, for linkage.
func (w *Codebook) Counts(t *contingency.Table) (linkage.Counts, error) {
	var names []string
	for _, v := range t.Variables {
		names = append(names, v.Name)
	}
	c := linkage.Counts{Count: make([]int64, t.Classes())}
	for _, v := range w.ascending(names) {
		c.Variables = append(c.Variables, w.Variable(names[v]))
		to, err := w.Translation(t.Variables[v])
		if err != nil {
			return c, err
		}
		codes := make([]uint32, t.Classes())
		t.Codes(v, 0, codes)
		for i, code := range codes {
			codes[i] = to[code]
		}
		c.Codes = append(c.Codes, codes)
	}
	for i := range c.Count {
		c.Count[i] = t.Count(i)
	}
	return c, nil
}

// Margin are the rows of a published margin.
func (w *Codebook) Margin(t *Tables, m *tabular.Margin) linkage.Counts {
	var names []string
	for _, v := range m.Variables {
		names = append(names, t.Variables[v].Name)
	}
	order := w.ascending(names)
	var c linkage.Counts
	for _, k := range order {
		c.Variables = append(c.Variables, w.Variable(names[k]))
		c.Codes = append(c.Codes, nil)
	}
	cell := make([]tabular.Category, len(names))
	for _, i := range m.Sorted() {
		m.Cell(i, cell)
		for j, k := range order {
			code := w.Missing(c.Variables[j])
			if cell[k].Kind == tabular.Value {
				code, _ = w.Code(c.Variables[j], cell[k].Label)
			}
			c.Codes[j] = append(c.Codes[j], code)
		}
		c.Count = append(c.Count, m.Figure(i).Low)
	}
	return c
}

// ClassesOf are the cells with the same codes over some of their variables.
func ClassesOf(c *linkage.Counts, over []int) map[string][]int64 {
	columns := make([][]uint32, len(over))
	for k, v := range over {
		columns[k] = c.Codes[slices.Index(c.Variables, v)]
	}
	of := make(map[string][]int64, len(c.Count))
	codes := make([]uint32, len(over))
	for i := range c.Count {
		for k, column := range columns {
			codes[k] = column[i]
		}
		id := CodesText(codes)
		of[id] = append(of[id], int64(i))
	}
	return of
}

// CodesText is a name for codes.
func CodesText(codes []uint32) string {
	b := make([]byte, 0, 4*len(codes))
	for _, c := range codes {
		b = binary.BigEndian.AppendUint32(b, c)
	}
	return string(b)
}

// Unmatched are the categories that only one of two tables has, of the first variables.
func (w *Codebook) Unmatched(a, b *contingency.Table, variables int) []Unmatched {
	var list []Unmatched
	for v := range variables {
		u := Unmatched{Variable: a.Variables[v].Name}
		u.OnlyA, u.RecordsA = onlyIn(a, b, v)
		u.OnlyB, u.RecordsB = onlyIn(b, a, v)
		if len(u.OnlyA)+len(u.OnlyB) > 0 {
			list = append(list, u)
		}
	}
	return list
}

// onlyIn are the observed categories of variable v of a table that another has not, and the records with them.
func onlyIn(t, other *contingency.Table, v int) (only []string, records int64) {
	there := map[string]bool{}
	seen := other.Observed(v)
	for c, category := range other.Variables[v].Categories {
		there[category] = seen[c]
	}
	lone := make([]bool, len(t.Variables[v].Categories)+1)
	seen = t.Observed(v)
	for c, category := range t.Variables[v].Categories {
		if lone[c] = seen[c] && !there[category]; lone[c] {
			only = append(only, category)
		}
	}
	if only == nil {
		return nil, 0
	}
	for i := range t.Classes() {
		if lone[t.Code(i, v)] {
			records += t.Count(i)
		}
	}
	return only, records
}

// Named makes what contradicts itself a [schemas.ContradictionError], which names the class that it is about by its values.
func (w *Codebook) Named(err error) error {
	var bad *linkage.ClassError
	if !errors.As(err, &bad) {
		return err
	}
	words := make([]string, len(bad.Codes))
	for v, code := range bad.Codes {
		value := "missing"
		if c := w.Label(v, code); c != nil {
			value = *c
		}
		words[v] = w.Variables()[v].Name + " = " + value
	}
	return &schemas.ContradictionError{Said: "published", Err: errors.New(bad.Text(strings.Join(words, ", ")))}
}

// Unmatched are categories of a variable that only one sample has.
type Unmatched struct {
	Variable           string
	OnlyA              []string
	OnlyB              []string
	RecordsA, RecordsB int64 // with them
	Sample             int   // of B, where several are compared with A: 0 for the first, 1 for the next
}
