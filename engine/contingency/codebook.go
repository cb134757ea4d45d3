package contingency

import (
	"fmt"
	"slices"
)

// A CodeBook gives the categories of tables that were counted apart, or read, common codes, by their labels: those of each variable
// count from 0 as they were added, or by value after [CodeBook.Sort], and a missing value has the code after the last. It is filled
// first and then asked: adding a category moves the code of the missing value.
type CodeBook struct {
	variables []Variable
	codes     []map[string]uint32
	missing   []bool
}

// Add takes a variable, and categories of it that may be known already, and gives its number.
func (b *CodeBook) Add(name string, categories ...string) int {
	v := b.Variable(name)
	if v < 0 {
		v = len(b.variables)
		b.variables, b.codes, b.missing = append(b.variables, Variable{Name: name}), append(b.codes, map[string]uint32{}), append(b.missing, false)
	}
	for _, c := range categories {
		if _, known := b.codes[v][c]; !known {
			b.codes[v][c] = uint32(len(b.variables[v].Categories))
			b.variables[v].Categories = append(b.variables[v].Categories, c)
		}
	}
	return v
}

// AddMissing has variable v have missing values.
func (b *CodeBook) AddMissing(v int) { b.missing[v] = true }

// AddTable takes the variables of a table, and says of which values are missing.
func (b *CodeBook) AddTable(t *Table) {
	for v, variable := range t.Variables {
		at := b.Add(variable.Name, variable.Categories...)
		b.variables[at].Order = variable.Order
		b.missing[at] = b.missing[at] || t.Observed(v)[variable.Missing()]
	}
}

// Sort brings the categories of all variables into the order of their values.
func (b *CodeBook) Sort() {
	for v := range b.variables {
		slices.SortFunc(b.variables[v].Categories, b.variables[v].Order.Compare)
		for c, label := range b.variables[v].Categories {
			b.codes[v][label] = uint32(c)
		}
	}
}

// Len is the number of variables.
func (b *CodeBook) Len() int { return len(b.variables) }

// Variable is the number of a variable, -1 for none of that name.
func (b *CodeBook) Variable(name string) int {
	return slices.IndexFunc(b.variables, func(v Variable) bool { return v.Name == name })
}

// Variables are the variables with their categories. They must not be changed.
func (b *CodeBook) Variables() []Variable { return b.variables }

// Levels is the number of codes of variable v: its categories, and the missing value if there is one.
func (b *CodeBook) Levels(v int) int {
	n := len(b.variables[v].Categories)
	if b.missing[v] {
		n++
	}
	return n
}

// Code is the code of a category, false for one that the book does not have.
func (b *CodeBook) Code(v int, category string) (uint32, bool) {
	c, ok := b.codes[v][category]
	return c, ok
}

// Missing is the code of a missing value of variable v.
func (b *CodeBook) Missing(v int) uint32 { return b.variables[v].Missing() }

// Category is the label of a code, false for a missing value.
func (b *CodeBook) Category(v int, code uint32) (string, bool) { return b.variables[v].Category(code) }

// Category is the label of a code, false for a missing value.
func (v *Variable) Category(code uint32) (string, bool) {
	if code < uint32(len(v.Categories)) {
		return v.Categories[code], true
	}
	return "", false
}

// Translation gives, for each code of a variable, the missing one last, the code that the book has for the variable of that name.
// Categories that the book does not have get a code beyond the missing one, that of no class. An error: the book has no such variable.
func (b *CodeBook) Translation(variable Variable) ([]uint32, error) {
	at := b.Variable(variable.Name)
	if at < 0 {
		return nil, fmt.Errorf("contingency: the code book has no variable %q", variable.Name)
	}
	codes := make([]uint32, len(variable.Categories)+1)
	for c, label := range variable.Categories {
		code, ok := b.codes[at][label]
		if !ok {
			code = b.Missing(at) + 1
		}
		codes[c] = code
	}
	codes[variable.Missing()] = b.Missing(at)
	return codes, nil
}
