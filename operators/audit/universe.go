package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/overlap"
	"microrisk/operators/tablefile"
)

// universe numbers the variables of all tables and their finest categories.
type universe struct {
	variables map[string]int
	finest    []map[string]int
	names     []string
	codes     [][]string
}

func (u *universe) variable(name string) int {
	v, is := u.variables[name]
	if !is {
		v = len(u.names)
		u.variables[name], u.names = v, append(u.names, name)
		u.finest, u.codes = append(u.finest, make(map[string]int)), append(u.codes, nil)
	}
	return v
}

func (u *universe) add(v int, code string) {
	if _, is := u.finest[v][code]; !is {
		u.finest[v][code] = len(u.codes[v])
		u.codes[v] = append(u.codes[v], code)
	}
}

// tables are the releases by what their cells stand for.
func (t *Together) tables(parts []tablefile.Part) ([]overlap.Table, error) {
	u := &universe{variables: make(map[string]int)}
	said := make(map[[3]string][]string) // finest codes, by table, variable and code
	for _, p := range parts {
		if err := t.has(p); err != nil {
			return nil, err
		}
		key := [3]string{p.Table, p.Variable, p.Code}
		said[key] = append(said[key], p.Finest)
		u.add(u.variable(p.Variable), p.Finest)
	}
	t.recoded(u, said)
	t.answered(u, said)
	for _, r := range t.Releases {
		for _, tree := range r.Table.Grid.Trees {
			v := u.variable(tree.Name)
			for n := range tree.Nodes {
				if code := nameOf(tree, n); tree.Leaf(n) && n > 0 && said[[3]string{r.Name, tree.Name, code}] == nil {
					u.add(v, code)
				}
			}
		}
	}
	t.names, t.finest = u.names, u.codes
	var list []overlap.Table
	for _, r := range t.Releases {
		x, err := u.table(r, said)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	t.strangers(said)
	return list, nil
}

// answered are the totals of tables that leave out who has no value: they stand for the values that there are.
func (t *Together) answered(u *universe, said map[[3]string][]string) {
	for _, r := range t.Releases {
		if !r.Answered {
			continue
		}
		for _, tree := range r.Table.Grid.Trees {
			key := [3]string{r.Name, tree.Name, r.Total}
			if said[key] != nil {
				continue
			}
			u.add(u.variable(tree.Name), nameOfMissing)
			for n := range tree.Nodes {
				if n == 0 || !tree.Leaf(n) || tree.Nodes[n].Code.Kind == tabular.KindMissing {
					continue
				}
				codes := said[[3]string{r.Name, tree.Name, nameOf(tree, n)}]
				if codes == nil {
					codes = []string{nameOf(tree, n)}
				}
				said[key] = append(said[key], codes...)
			}
			for _, code := range said[key] {
				u.add(u.variable(tree.Name), code)
			}
		}
	}
}

// nameOfMissing is what a missing value is called in files.
const nameOfMissing = ""

// recoded takes what merged categories stand for from the logs, where parts do not say it.
func (t *Together) recoded(u *universe, said map[[3]string][]string) {
	for _, r := range t.Releases {
		for _, merged := range r.Recodes {
			key := [3]string{r.Name, merged.Variable, merged.Code}
			if said[key] != nil {
				continue
			}
			for _, code := range merged.Of {
				said[key] = append(said[key], t.below(merged.Variable, code)...)
			}
			for _, code := range said[key] {
				u.add(u.variable(merged.Variable), code)
			}
		}
	}
}

// below are the finest categories of a code: those below it in the first table that has it with some, else itself.
func (t *Together) below(variable, code string) (list []string) {
	for _, r := range t.Releases {
		for _, tree := range r.Table.Grid.Trees {
			for n := 1; tree.Name == variable && n < len(tree.Nodes); n++ {
				if nameOf(tree, n) != code || tree.Leaf(n) {
					continue
				}
				for _, child := range tree.Nodes[n].Children {
					list = append(list, t.below(variable, nameOf(tree, int(child)))...)
				}
				return list
			}
		}
	}
	return []string{code}
}

// has judges whether a part is of some table: that it has the code is only told, as categories without anybody have no rows.
func (t *Together) has(p tablefile.Part) error {
	at := slices.IndexFunc(t.Releases, func(r Release) bool { return r.Name == p.Table })
	if at < 0 {
		return fmt.Errorf("line %d of the parts names the table %q, which is none of %s", p.Line, p.Table, t.all())
	}
	r := t.Releases[at]
	if p.Code == r.Total {
		return nil
	}
	v := slices.IndexFunc(r.Table.Grid.Trees, func(tree *tabular.Tree) bool { return tree.Name == p.Variable })
	if v < 0 {
		return fmt.Errorf("line %d of the parts: %s has no variable %q; of one that it does not have, only %s can be said", p.Line, p.Table, p.Variable, r.Total)
	}
	tree := r.Table.Grid.Trees[v]
	for n := 1; n < len(tree.Nodes); n++ {
		if nameOf(tree, n) == p.Code {
			return nil
		}
	}
	t.Warnings = append(t.Warnings, fmt.Sprintf("line %d of the parts: %s has no category %q of %s, or nobody is in it", p.Line, p.Table, p.Code, p.Variable))
	return nil
}

// all are the names of the tables.
func (t *Together) all() string {
	var names []string
	for _, r := range t.Releases {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// nameOf is what a node is called in files.
func nameOf(t *tabular.Tree, node int) string {
	if t.Nodes[node].Code.Kind == tabular.KindMissing {
		return nameOfMissing
	}
	return t.Nodes[node].Code.Label
}

// table is a release by what its cells stand for.
func (u *universe) table(r Release, said map[[3]string][]string) (overlap.Table, error) {
	x := overlap.Table{Grid: r.Table.Grid, Of: make([]int, len(u.names)), Sets: make([][]overlap.Set, len(u.names))}
	for v, name := range u.names {
		size := len(u.codes[v])
		of := func(codes []string) overlap.Set {
			var members []int
			for _, c := range codes {
				members = append(members, u.finest[v][c])
			}
			return overlap.SetOf(size, members...)
		}
		whole := overlap.All(size)
		if codes := said[[3]string{r.Name, name, r.Total}]; codes != nil {
			whole = of(codes)
		}
		x.Of[v] = slices.IndexFunc(r.Table.Grid.Trees, func(t *tabular.Tree) bool { return t.Name == name })
		if x.Of[v] < 0 {
			x.Sets[v] = []overlap.Set{whole}
			continue
		}
		tree := r.Table.Grid.Trees[x.Of[v]]
		sets := make([]overlap.Set, len(tree.Nodes))
		for n := len(sets) - 1; n >= 0; n-- { // children stand after their parents
			codes := said[[3]string{r.Name, name, nameOf(tree, n)}]
			switch {
			case n == 0:
				sets[n] = whole
			case codes != nil:
				sets[n] = of(codes)
			case r.Answered && tree.Nodes[n].Code.Kind == tabular.KindMissing:
				sets[n] = overlap.SetOf(size) // nobody is in it
			case tree.Leaf(n):
				sets[n] = of([]string{nameOf(tree, n)})
			default:
				sets[n] = overlap.SetOf(size)
				for _, c := range tree.Nodes[n].Children {
					sets[n] = sets[n].Union(sets[c])
				}
			}
			met := overlap.SetOf(size)
			for _, c := range tree.Nodes[n].Children {
				if met.Meets(sets[c]) {
					return x, fmt.Errorf("%s: categories of %s in %s have finest categories in common, such as those of %s", r.Name, cmp.Or(tree.Nodes[n].Code.Label, r.Total),
						name, nameOf(tree, c))
				}
				met = met.Union(sets[c])
			}
			if n > 0 && !sets[n].Within(whole) {
				return x, fmt.Errorf("%s: the category %s of %s has finest categories that its total does not have", r.Name, nameOf(tree, n), name)
			}
		}
		x.Sets[v] = sets
	}
	return x, nil
}

// strangers warns of variables whose categories differ, where nothing says what they stand for.
func (t *Together) strangers(said map[[3]string][]string) {
	for _, name := range t.names {
		var first map[string]bool
		var of string
		for _, r := range t.Releases {
			at := slices.IndexFunc(r.Table.Grid.Trees, func(tree *tabular.Tree) bool { return tree.Name == name })
			if at < 0 {
				continue
			}
			codes, told := make(map[string]bool), false
			tree := r.Table.Grid.Trees[at]
			for n := 1; n < len(tree.Nodes); n++ {
				told = told || said[[3]string{r.Name, name, nameOf(tree, n)}] != nil
				codes[nameOf(tree, n)] = true
			}
			shared := 0
			for c := range codes {
				if first[c] {
					shared++
				}
			}
			switch {
			case told:
			case first == nil:
				first, of = codes, r.Name
			case shared < min(len(codes), len(first)):
				t.Warnings = append(t.Warnings, fmt.Sprintf("%s has other categories in %s than in %s: say what they stand for (--parts), or nothing is known of how "+
					"they hang together", name, r.Name, of))
			}
		}
	}
}
