package released

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/engine/linkage"
)

// MissingCategory stands for a missing value among the categories of published tables.
const MissingCategory = "\x01"

// A codebook gives the categories of variables of several tables common codes: the categories of all of them, by their labels.
type Codebook struct {
	Names      []string
	Categories [][]string
	codes      []map[string]uint32
}

// Add takes a variable, and categories of it.
func (w *Codebook) Add(name string, categories []string) int {
	v := slices.Index(w.Names, name)
	if v < 0 {
		v = len(w.Names)
		w.Names, w.Categories, w.codes = append(w.Names, name), append(w.Categories, nil), append(w.codes, map[string]uint32{})
	}
	for _, c := range categories {
		if _, known := w.codes[v][c]; !known {
			w.codes[v][c] = uint32(len(w.Categories[v]))
			w.Categories[v] = append(w.Categories[v], c)
		}
	}
	return v
}

func (w *Codebook) Variable(name string) int { return slices.Index(w.Names, name) }

// Category is a label, nil for a missing value.
func (w *Codebook) Category(v int, code uint32) *string {
	if w.Categories[v][code] == MissingCategory {
		return nil
	}
	return &w.Categories[v][code]
}

// AddTable takes the variables of a table.
func (w *Codebook) AddTable(t *contingency.Table) {
	for v, variable := range t.Variables {
		w.Add(variable.Name, variable.Categories)
		if t.Observed(v)[variable.Missing()] {
			w.Add(variable.Name, []string{MissingCategory})
		}
	}
}

// translation gives the common code of each code of a table's variable.
func (w *Codebook) translation(t *contingency.Table, v int) []uint32 {
	variable := t.Variables[v]
	to := w.codes[w.Variable(variable.Name)]
	list := make([]uint32, len(variable.Categories)+1)
	for c, category := range variable.Categories {
		list[c] = to[category]
	}
	list[variable.Missing()] = to[MissingCategory]
	return list
}

// Counts are the cells of a table, for linkage.
func (w *Codebook) Counts(t *contingency.Table) linkage.Counts {
	order := make([]int, len(t.Variables)) // of the table's variables, as their common numbers ascend
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int { return w.Variable(t.Variables[a].Name) - w.Variable(t.Variables[b].Name) })
	c := linkage.Counts{Count: make([]int64, t.Classes())}
	for _, v := range order {
		c.Variables = append(c.Variables, w.Variable(t.Variables[v].Name))
		codes, to := make([]uint32, t.Classes()), w.translation(t, v)
		t.Codes(v, 0, codes)
		for i, code := range codes {
			codes[i] = to[code]
		}
		c.Codes = append(c.Codes, codes)
	}
	for i := range c.Count {
		c.Count[i] = t.Count(i)
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

// Named names the class that an error is about by its values.
func (w *Codebook) Named(err error) error {
	var bad *linkage.ClassError
	if !errors.As(err, &bad) {
		return err
	}
	words := make([]string, len(bad.Codes))
	for v, code := range bad.Codes {
		value := "missing"
		if c := w.Category(v, code); c != nil {
			value = *c
		}
		words[v] = w.Names[v] + " = " + value
	}
	return errors.New(bad.Text(strings.Join(words, ", ")))
}

// Margin are the rows of a published margin.
func (w *Codebook) Margin(t *Tables, m *releasedMargin) linkage.Counts {
	order := slices.Clone(m.Variables)
	slices.SortFunc(order, func(a, b int) int { return w.Variable(t.Names[a]) - w.Variable(t.Names[b]) })
	var c linkage.Counts
	for _, v := range order {
		c.Variables = append(c.Variables, w.Variable(t.Names[v]))
		c.Codes = append(c.Codes, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(m.rows)) {
		texts := strings.Split(name, "\x00")
		for j, v := range order {
			code := w.codes[c.Variables[j]][texts[slices.Index(m.Variables, v)]]
			c.Codes[j] = append(c.Codes[j], code)
		}
		c.Count = append(c.Count, m.rows[name])
	}
	return c
}

// Unmatched are categories of a variable that only one sample has.
type Unmatched struct {
	Variable           string
	OnlyA              []string
	OnlyB              []string
	RecordsA, RecordsB int64 // with them
}
