package operators

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// writeBatch hands the current batch to the sink.
func (w *worker) writeBatch(out PartWriter) error {
	fields, columns := make([]arrow.Field, len(w.scan.sink)), make([]arrow.Array, len(w.scan.sink))
	for i, pos := range w.scan.sink {
		columns[i] = w.batch.Column(pos)
		fields[i] = arrow.Field{Name: w.scan.wants[pos].Name, Type: columns[i].DataType(), Nullable: true}
	}
	rows := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(w.rows))
	defer rows.Release()
	var added []arrow.Array
	for _, id := range w.scan.chain.output {
		if w.scan.chain.columns[id].step < 0 {
			continue
		}
		a, err := w.array(id, false)
		if err != nil {
			return err
		}
		added = append(added, a)
	}
	return out.Write(rows, added, w.keep)
}

// A domainSet has the domains of a run.
type domainSet struct {
	mu   sync.Mutex
	list map[string]*domain
}

func newDomainSet() *domainSet { return &domainSet{list: map[string]*domain{}} }

// domain gives the codes of a key variable; tables that have a variable with the same meaning share them.
func (r *run) domain(key contingency.Key, id int) *domain {
	r.domains.mu.Lock()
	defer r.domains.mu.Unlock()
	name := fmt.Sprintf("%d %q %t %q", id, key.MissingCodes, key.Levels != nil, key.Levels)
	d := r.domains.list[name]
	if d == nil {
		d = newDomain(key, r.chain.columns[id].field.Type)
		r.domains.list[name] = d
	}
	return d
}

// coders gives the coders of a table's variables for one worker: provisional codes while the table is counted, final ones after.
func (r *run) coders(t tableRef) []*coder {
	coders := make([]*coder, len(t.keys))
	finals := r.finals[t.id]
	for v, id := range t.keys {
		coders[v] = &coder{domain: r.domain(t.request.Keys[v], id)}
		if finals != nil {
			coders[v].final, coders[v].null = finals[v], finals[v][0]
		}
	}
	return coders
}

// table makes a table from what the workers counted.
func (r *run) table(ctx context.Context, t tableRef, workers []*worker) (*contingency.Table, error) {
	if table, ok := r.tables[t.id]; ok {
		return table, nil
	}
	var counters []*contingency.Counter
	for _, w := range workers {
		if c := w.counters[t.id]; c != nil {
			counters = append(counters, c)
		}
	}
	variables, finals := make([]contingency.Variable, len(t.keys)), make([][]uint32, len(t.keys))
	declared := make([]int, len(t.keys))
	for v, id := range t.keys {
		d := r.domain(t.request.Keys[v], id)
		var categories []string
		categories, finals[v], declared[v] = d.order()
		variables[v] = contingency.Variable{Name: t.request.Keys[v].Name, Categories: categories, Order: orderOf(d.typ)}
	}
	memory := int64(0)
	if r.o.Memory > 0 {
		memory = max(r.o.Memory-r.held(), 1)
	}
	table, err := contingency.Merge(ctx, variables, finals, r.o.Workers, memory, r.store, counters...)
	if err != nil {
		return nil, err
	}
	if table, err = r.onlyObserved(table, t.request.Keys, finals, declared); err != nil {
		return nil, err
	}
	r.tables[t.id], r.finals[t.id] = table, finals
	return table, table.Err()
}

// held is the memory that tables hold.
func (r *run) held() int64 {
	var n int64
	for _, t := range r.tables {
		n += t.Bytes()
	}
	return n
}

// onlyObserved takes categories that no record has out of a table (a dictionary may hold values that no counted row has), except
// declared ones, and finds records with a value that is not declared. The first declared categories of a variable are the declared
// ones, if there are any. finals is brought up to date.
func (r *run) onlyObserved(t *contingency.Table, keys []contingency.Key, finals [][]uint32, declared []int) (*contingency.Table, error) {
	variables, codes := slices.Clone(t.Variables), make([][]uint32, len(t.Variables))
	changed := false
	for v := range variables {
		old := t.Variables[v]
		used := t.Observed(v)
		code, kept := make([]uint32, len(old.Categories)+1), []string{}
		for c, category := range old.Categories {
			if c >= declared[v] && keys[v].Levels != nil && used[c] {
				return nil, schemas.Contradiction(
					"levels",
					old.Name,
					"key variable %q has the value %q, which is not among its levels %q",
					old.Name,
					category,
					keys[v].Levels,
				)
			}
			if code[c] = absent; c < declared[v] || used[c] {
				code[c] = uint32(len(kept))
				kept = append(kept, category)
			}
		}
		if err := r.unfoundLevels(t, keys[v], old.Categories[:declared[v]], used); err != nil {
			return nil, err
		}
		if len(kept) == len(old.Categories) {
			continue
		}
		code[len(old.Categories)] = uint32(len(kept))
		changed = true
		codes[v], variables[v].Categories = code, kept
		for p, c := range finals[v] {
			if c != absent {
				finals[v][p] = code[c]
			}
		}
	}
	// A table on disk that cannot be read shows no categories.
	if err := t.Err(); err != nil || !changed {
		return t, err
	}
	return t.Recode(variables, codes)
}

// unfoundLevels finds declared categories that no record has.
func (r *run) unfoundLevels(t *contingency.Table, key contingency.Key, levels []string, used []bool) error {
	if r.o.AllowEmpty || t.Records() == 0 {
		return nil
	}
	e := &UnfoundError{Who: "the levels of " + key.Name, Of: "record that is counted"}
	for c, level := range levels {
		if used[c] {
			e.Known = append(e.Known, level)
		} else {
			e.Values = append(e.Values, level)
		}
	}
	if e.Values == nil {
		return nil
	}
	return e
}
