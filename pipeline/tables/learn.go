package tables

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A tally is what records tell of the cells of a table, along those of its variables that they have.
type tally struct {
	of       audit.Release
	names    []string // of variables
	trees    []int
	places   []map[tabular.Category][]int
	strange  []int   // categories that the table does not have, by variable
	response bool    // values are added up, and not records
	counts   []int64 // by cell
}

// learn teaches a table what the records of another release tell of its cells; false for nothing. What cannot be compared is told.
func (j *judge) learn(ctx context.Context, to audit.Release, e *Entry) (bool, error) {
	job, err := session.OpenToLook(ctx, &schemas.Spec{Source: schemas.Source{Path: []string{e.Records}}}, j.options)
	if err != nil {
		return false, e.wrong(err)
	}
	defer job.Source.Close()
	t := &tally{of: to, response: to.Response != "", counts: make([]int64, to.Table.Grid.Cells())}
	for v, tree := range to.Table.Grid.Trees {
		if len(job.Source.Schema().FieldIndices(tree.Name)) == 1 {
			t.names, t.trees, t.places = append(t.names, tree.Name), append(t.trees, v), append(t.places, placesOf(to, tree))
		}
	}
	skip := func(why string) (bool, error) {
		j.Skipped = append(j.Skipped, fmt.Sprintf("%s with the records of %s: %s", to.Name, e.Name, why))
		return false, nil
	}
	switch {
	case to.Weighted:
		return skip("the table is of weighted records")
	case t.response && len(job.Source.Schema().FieldIndices(to.Response)) != 1:
		return skip("they have no column " + to.Response)
	case len(t.names) == 0:
		return skip("they have none of its variables")
	}
	t.strange = make([]int, len(t.names))
	count := &session.Counting{
		Requests: t.requests("the records of " + e.Name),
		Look: func(ctx context.Context, list []*contingency.Table, _ *operators.Report) error {
			return t.take(ctx, list[0])
		},
	}
	if job.Chain, err = job.Bind(false, count); err == nil {
		_, err = job.Count(ctx, count, nil)
	}
	if err != nil {
		return false, e.wrong(err)
	}
	if err := to.Learn(t.told(), e.Fraction == nil || *e.Fraction == 1); err != nil {
		return false, session.Wrong(
			fmt.Errorf("the records of %s and the table %s contradict each other: %w; if the records are of a part of its people, say of "+
				"how large a one (fraction)", e.Name, to.Name, err),
		)
	}
	for k, n := range t.strange {
		if n > 0 {
			j.options.Logger.Warn(fmt.Sprintf("the records of %s have codes of %s that the table %s does not: what they tell of its cells is not known", e.Name,
				t.names[k], to.Name))
			_, err = skip(fmt.Sprintf("%s has other categories there, so that only its total was compared", t.names[k]))
		}
	}
	return true, err
}

// placesOf are the nodes of codes, also of those that became one with others.
func placesOf(of audit.Release, tree *tabular.Tree) map[tabular.Category][]int {
	places := maps.Clone(tree.Places())
	for _, made := range of.Recodes {
		node := tree.Find(tabular.Of(made.Code))
		if made.Variable != tree.Name || node < 0 {
			continue
		}
		for _, code := range made.Of {
			if c := tabular.Of(code); len(places[c]) == 0 {
				places[c] = []int{node}
			}
		}
	}
	return places
}

// requests is the table of records that is counted: by variables, and by the response.
func (t *tally) requests(who string) func(in *arrow.Schema) ([]contingency.Request, error) {
	return func(in *arrow.Schema) ([]contingency.Request, error) {
		key := schemas.Key{}
		for _, name := range t.names {
			key.Variables = append(key.Variables, schemas.KeyVariable{Name: name})
		}
		if t.response {
			key.Variables = append(key.Variables, schemas.KeyVariable{Name: t.of.Response})
		}
		request, err := operators.Key{Who: who, Policy: schemas.MissingCategory, Key: key}.Request(in)
		return []contingency.Request{request}, err
	}
}

// take adds up the classes of what was counted, along some of the trees; along the others each is in the total.
func (t *tally) take(ctx context.Context, c *contingency.Table) error {
	last := len(t.trees)
	var units []int64
	if t.response {
		for _, text := range c.Variables[last].Categories {
			u, err := protect.ParseUnits(text, t.of.Table.Decimals)
			if err != nil {
				return fmt.Errorf("the response %s: %w", t.of.Response, err)
			}
			units = append(units, u)
		}
	}
	if err := t.known(ctx, c); err != nil {
		return err
	}
	nodes := make([]int32, len(t.of.Table.Grid.Trees))
	for class := range c.Classes() {
		if class%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := c.Count(class)
		if t.response {
			code := c.Code(class, last)
			if code == c.Variables[last].Missing() {
				continue
			}
			n *= units[code]
		}
		t.add(c, class, 0, nodes, n)
	}
	return c.Err()
}

// known finds variables of other categories than the table has: of these the records tell nothing.
func (t *tally) known(ctx context.Context, c *contingency.Table) error {
	for class := range c.Classes() {
		if class%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for k := range t.trees {
			if code := category(c, class, k); len(t.places[k][code]) != 1 && code != tabular.Missing {
				t.strange[k]++
			}
		}
	}
	return c.Err()
}

func category(c *contingency.Table, class, k int) tabular.Category {
	if code := c.Code(class, k); code != c.Variables[k].Missing() {
		return tabular.Of(c.Variables[k].Categories[code])
	}
	return tabular.Missing
}

// add adds a class to all cells that it is in, from variable k on. Records without a value are in none where the table has none of these.
func (t *tally) add(c *contingency.Table, class, k int, nodes []int32, n int64) {
	grid := t.of.Table.Grid
	if k == len(t.trees) {
		if cell := grid.Find(nodes); cell >= 0 {
			t.counts[cell] += n
		}
		return
	}
	v := t.trees[k]
	nodes[v] = 0
	if code := category(c, class, k); t.strange[k] == 0 {
		at := t.places[k][code]
		if len(at) == 0 {
			return
		}
		for node := at[0]; node > 0; node = grid.Trees[v].Nodes[node].Parent {
			nodes[v] = int32(node)
			t.add(c, class, k+1, nodes, n)
		}
		nodes[v] = 0
	}
	t.add(c, class, k+1, nodes, n)
}

// told are the counts, -1 for cells of variables that the records do not have, or have otherwise.
func (t *tally) told() []int64 {
	grid := t.of.Table.Grid
	for cell := range t.counts {
		for v, n := range grid.Nodes(cell) {
			if k := slices.Index(t.trees, v); n != 0 && (k < 0 || t.strange[k] > 0) {
				t.counts[cell] = audit.Untold
			}
		}
	}
	return t.counts
}
