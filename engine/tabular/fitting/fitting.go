// Package fitting adjusts tables to margins and fits log-linear models to them.
//
//	m, err := fitting.Parse("AGE*SEX + AREA", []string{"AGE", "SEX", "AREA"})
//	f, err := m.Fit(ctx, &fitting.Table{Shape: tabular.Shape{10, 2, 26}, Counts: counts}, fitting.Options{})
//	f.G2, f.DF // how far the table is from the model
//
// Proportional is iterative proportional fitting of any start to any margins; Groups is the same to sums over any sets of cells. A model is
// fitted by it from ones; cells that are omitted are not fitted and not counted (quasi-independence).
//
// Sources: Deming & Stephan 1940; Bishop, Fienberg & Holland 1975, Discrete Multivariate Analysis, chapters 3 to 5.
package fitting

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/graph"
)

// A Model is a hierarchical log-linear model by its generators, none within another: the margins that its fit has. A variable in none is
// taken to be uniform; the model without generators is that of the total alone.
type Model []graph.Set

// NewModel has the generators that are within no other, in ascending order.
func NewModel(generators ...graph.Set) Model {
	var m Model
	for i, s := range generators {
		within := s == 0
		for j, t := range generators {
			within = within || t.Contains(s) && (s != t || j < i)
		}
		if !within {
			m = append(m, s)
		}
	}
	slices.Sort(m)
	return m
}

// Independence is the model of main effects of the first n variables.
func Independence(n int) Model { return ways(n, 1) }

// TwoWay is the model of all interactions of two of the first n variables.
func TwoWay(n int) Model { return ways(n, min(n, 2)) }

func ways(n, size int) Model {
	var m Model
	var add func(s graph.Set, from int)
	add = func(s graph.Set, from int) {
		if s.Len() == size {
			m = append(m, s)
			return
		}
		for v := from; v < n; v++ {
			add(s.With(v), v+1)
		}
	}
	add(0, 0)
	return NewModel(m...)
}

// An UnknownError says that a formula has a name that no variable has.
type UnknownError struct {
	Name  string
	Names []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the model has %q, and the variables are %s", e.Name, strings.Join(e.Names, ", "))
}

// Parse reads a formula such as A + B*C: terms joined by +, each the variables, joined by * or :, whose margin the model fits, with all that
// is within. A name with such characters or spaces at its ends stands in "" or “. The term 1, unless a variable has the name, is the total.
// Errors: a name missing, *UnknownError, a quote without its end.
func Parse(formula string, names []string) (Model, error) {
	if len(names) > graph.MaxVertices {
		return nil, fmt.Errorf("there are %d variables, and a model is of %d at most", len(names), graph.MaxVertices)
	}
	var generators []graph.Set
	var term graph.Set
	for rest := formula; ; {
		name, quoted, after, err := nextName(rest)
		if err != nil {
			return nil, fmt.Errorf("the model %q: %w", formula, err)
		}
		switch v := slices.Index(names, name); {
		case v >= 0:
			term = term.With(v)
		case name == "" && !quoted:
			return nil, fmt.Errorf("the model %q has a term without a variable: it must be such as A + B*C", formula)
		case name != "1" || quoted:
			return nil, &UnknownError{name, names}
		}
		if after == "" || after[0] == '+' {
			generators, term = append(generators, term), 0
		}
		if after == "" {
			return NewModel(generators...), nil
		}
		rest = after[1:]
	}
}

// nextName takes a name, and what comes after it: nothing, or a text that begins with +, * or :.
func nextName(text string) (name string, quoted bool, after string, err error) {
	text = strings.TrimSpace(text)
	if text != "" && (text[0] == '"' || text[0] == '`') {
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 {
			return "", true, "", errors.New("a quote has no end")
		}
		name, after = text[1:1+end], strings.TrimSpace(text[end+2:])
		if after != "" && !strings.ContainsRune("+*:", rune(after[0])) {
			return "", true, "", fmt.Errorf("after %q there must be +, * or the end", name)
		}
		return name, true, after, nil
	}
	if end := strings.IndexAny(text, "+*:"); end >= 0 {
		text, after = text[:end], text[end:]
	}
	return strings.TrimSpace(text), false, after, nil
}

// Formula writes the model as Parse reads it.
func (m Model) Formula(names []string) string {
	if len(m) == 0 {
		return "1"
	}
	var terms []string
	for _, s := range m {
		var words []string
		for v := range s.Vertices() {
			words = append(words, quote(names[v]))
		}
		terms = append(terms, strings.Join(words, "*"))
	}
	return strings.Join(terms, " + ")
}

// quote puts a name in quotes if it needs them.
func quote(name string) string {
	switch {
	case !strings.ContainsAny(name, "+*:\"`") && strings.TrimSpace(name) == name && name != "":
		return name
	case strings.Contains(name, `"`):
		return "`" + name + "`"
	}
	return `"` + name + `"`
}
