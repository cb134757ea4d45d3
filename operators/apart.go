package operators

import (
	"context"
	"fmt"

	"microrisk/engine/contingency"
)

// An Apart is a run of a chain whose scans are done elsewhere, in other processes perhaps, some parts at a time. One Apart, that of the
// driver, goes through the run:
//
//	for each stage: tables of all that Count gave, added up -> Take -> Carry
//	pieces of all that Write gave, in the sink            -> Finish
//
// Those of the workers have the same chain, source and options, and follow by Take or Restore before they Count or Write.
type Apart struct{ r *run }

// Apart prepares a run. Apartable must not have an error.
func (c *Chain) Apart(ctx context.Context, source Source, o Options) (*Apart, error) {
	r, err := c.start(ctx, source, o)
	if err != nil {
		return nil, err
	}
	return &Apart{r}, nil
}

// Apartable says which operator must see all rows itself.
func (c *Chain) Apartable() error {
	for _, s := range c.steps {
		name := s.plan.Name
		if name == "" {
			name = s.plan.Who
		}
		if s.plan.InOrder {
			return fmt.Errorf("%s must see all rows in their order, in one process", name)
		}
		if k, ok := s.plan.Apply.(recordKeys); ok && k.made {
			return fmt.Errorf("%s: a secret that is made for the run is known to one process alone: put one in a file, and name that", k.who)
		}
	}
	return nil
}

// On is the same run with the same operators bound once more: for another goroutine, since what stateless operators noticed is kept by the
// chain.
func (a *Apart) On(c *Chain) *Apart {
	r := a.r
	return &Apart{&run{chain: c, o: r.o, parts: r.parts, env: r.env, fitted: r.fitted, tables: r.tables, domains: r.domains, store: r.store,
		finals: r.finals, rows: r.rows}}
}

// Close lets go of what the run holds.
func (a *Apart) Close() error {
	a.r.release()
	return a.r.store.Close()
}

// Parts are those of the source.
func (a *Apart) Parts() []Part { return a.r.parts }

// Stages is the number of scans that count.
func (a *Apart) Stages() int { return a.r.chain.stages }

// Store is where tables are kept that do not fit in memory; it lasts until Close.
func (a *Apart) Store() *contingency.Store { return a.r.store }

// Requests are the tables that stage n counts, in the order of Counted.Tables.
func (a *Apart) Requests(n int) []contingency.Request {
	var list []contingency.Request
	for _, t := range a.r.chain.counted(n) {
		list = append(list, t.request)
	}
	return list
}

// An askedTable is a table, and the operator that asks for it first.
type askedTable struct {
	tableRef
	plan *Plan
}

// counted are the tables that stage n counts, each once.
func (c *Chain) counted(n int) []askedTable {
	var list []askedTable
	before := map[string]bool{}
	for _, s := range c.steps {
		for _, t := range s.tables {
			if s.fitted() && s.stage < n {
				before[t.id] = true
			}
		}
	}
	for _, s := range c.steps {
		if !s.fitted() || s.stage != n {
			continue
		}
		for _, t := range s.tables {
			if !before[t.id] {
				before[t.id] = true
				list = append(list, askedTable{t, s.plan})
			}
		}
	}
	return list
}

// Take takes the tables of stage n, of all parts, and what was noticed while they were counted, and fits the operators. It ends the run
// where a scan of all parts by itself would: at values that no row has, at a selection of no row.
func (a *Apart) Take(ctx context.Context, n int, tables []*contingency.Table, seen ...Seen) error {
	s := a.r.chain.plan(n, nil, a.r.o.Count)
	if err := a.notice(s, seen); err != nil {
		return err
	}
	if err := a.Put(n, tables); err != nil {
		return err
	}
	for _, t := range a.r.chain.counted(n) {
		table := a.r.tables[t.id]
		for v, key := range t.request.Keys {
			if key.Levels == nil {
				continue
			}
			if err := a.r.unfoundLevels(table, key, table.Variables[v].Categories[:len(key.Levels)], table.Observed(v)); err != nil {
				return t.plan.named(err)
			}
		}
		if err := table.Err(); err != nil {
			return err
		}
	}
	return a.r.fit(ctx, s, nil)
}

// Put puts the tables of stage n where rows are looked up, and fits nothing.
func (a *Apart) Put(n int, tables []*contingency.Table) error {
	list := a.r.chain.counted(n)
	if len(list) != len(tables) {
		return fmt.Errorf("%d tables for the %d of stage %d", len(tables), len(list), n)
	}
	for k, t := range list {
		table := tables[k]
		if len(table.Variables) != len(t.keys) {
			return fmt.Errorf("table %d of stage %d has %d variables instead of %d", k, n, len(table.Variables), len(t.keys))
		}
		finals := make([][]uint32, len(t.keys))
		for v, id := range t.keys {
			if key := t.request.Keys[v]; key.Levels != nil && len(table.Variables[v].Categories) != len(key.Levels) {
				return fmt.Errorf("table %d of stage %d has %d values of %q, whose levels are %q", k, n, len(table.Variables[v].Categories), key.Name,
					key.Levels)
			}
			finals[v] = a.r.domain(t.request.Keys[v], id).learn(table.Variables[v])
		}
		a.r.tables[t.id], a.r.finals[t.id] = table, finals
	}
	return nil
}

// learn gives the categories of a table provisional codes; it tells the codes in the table of all provisional ones.
func (d *domain) learn(v contingency.Variable) []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := make([]uint32, len(v.Categories))
	for c, text := range v.Categories {
		p, ok := d.codes[text]
		if !ok {
			d.texts = append(d.texts, text)
			p = uint32(len(d.texts))
			d.codes[text] = p
		}
		of[c] = p
	}
	final := make([]uint32, len(d.texts)+1)
	for p := range final {
		final[p] = absent
	}
	final[0] = v.Missing()
	for c, p := range of {
		final[p] = uint32(c)
	}
	return final
}

// Finish ends the run when all parts are in the sink: it asks what is to be asked of all rows, ranks, calls Options.Finish and commits
// the sink.
func (a *Apart) Finish(ctx context.Context, sink Sink, wrote []*Wrote) (*Report, error) {
	r := a.r
	var seen []Seen
	var workers []*worker
	for _, w := range wrote {
		seen = append(seen, w.Seen)
		r.report.Written += w.Rows
		workers = append(workers, w.worker())
	}
	if err := a.notice(r.final(nil), seen); err != nil {
		return nil, err
	}
	if err := r.rankings(workers); err != nil {
		return nil, err
	}
	r.report.Spilled = r.store.Bytes()
	var metadata map[string]string
	if r.o.Finish != nil {
		var err error
		if metadata, err = r.o.Finish(&r.report); err != nil {
			return nil, err
		}
	}
	if sink != nil {
		if err := sink.Commit(ctx, metadata); err != nil {
			return nil, err
		}
	}
	return &r.report, nil
}
