package operators

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"microrisk/engine/contingency"
)

// aside is a run of some of the parts, for one goroutine. What it counts does not mix with what other such runs count at the same time.
func (a *Apart) aside(parts []int) (*run, error) {
	r := a.r
	some := &run{chain: r.chain, o: r.o, env: r.env, fitted: r.fitted, tables: maps.Clone(r.tables), domains: r.domains, store: r.store,
		finals: maps.Clone(r.finals)}
	some.prepare()
	if r.o.Memory > 0 { // others like this one take their part of it
		some.o.Memory = max(r.o.Memory/int64(r.o.Workers), 1)
	}
	some.o.Workers, some.o.AllowEmpty = 1, true // whether all rows have something is for who knows all
	for i := range some.asked {
		some.asked[i] = true
	}
	if len(r.tables) == 0 {
		some.domains = newDomainSet() // of the parts alone
	}
	for _, p := range parts {
		if p < 0 || p >= len(r.parts) {
			return nil, fmt.Errorf("there is no part %d of %d: the input has changed during the run", p, len(r.parts))
		}
		some.parts = append(some.parts, r.parts[p])
		some.rows += r.parts[p].Rows()
	}
	some.o.Progress = func(string, int64, int64) {}
	return some, nil
}

// A Counted is what a scan of some parts counted.
type Counted struct {
	Tables []*contingency.Table // as Requests has them; their variables have what the parts have, and the declared levels
	Seen
}

// Count counts the tables of stage n over some of the parts, in one goroutine. The tables are in memory, or in Store.
func (a *Apart) Count(ctx context.Context, n int, parts []int) (*Counted, error) {
	r, err := a.aside(parts)
	if err != nil {
		return nil, err
	}
	workers, err := r.scan(ctx, r.chain.plan(n, nil, r.o.Count), "counting", nil)
	if err != nil {
		return nil, err
	}
	c := &Counted{}
	for _, t := range r.chain.counted(n) {
		table, err := r.table(ctx, t.tableRef, workers)
		if err != nil {
			return nil, t.plan.named(err)
		}
		c.Tables = append(c.Tables, table)
	}
	c.Seen, err = r.seen()
	return c, err
}

// A Wrote is what was written of some of the parts.
type Wrote struct {
	Rows int64
	Seen
	Ranked map[int][]RankedRow // by operator that ranks
	Spread map[int]Spread
}

// A RankedRow is one of the riskiest of some parts, with its class.
type RankedRow struct {
	RiskyRow
	Class int64
}

// Write takes some of the parts through the last scan, in one goroutine, to a sink that was begun with all parts and that asked for some
// columns.
func (a *Apart) Write(ctx context.Context, sink Sink, reads []string, parts []int) (*Wrote, error) {
	r, err := a.aside(parts)
	if err != nil {
		return nil, err
	}
	workers, err := r.scan(ctx, r.final(reads), "writing", someParts{sink, slices.Clone(parts)})
	if err != nil {
		return nil, err
	}
	w := &Wrote{Rows: r.report.Written, Ranked: map[int][]RankedRow{}, Spread: map[int]Spread{}}
	for _, worker := range workers {
		for i, top := range worker.top {
			for _, row := range top {
				w.Ranked[i] = append(w.Ranked[i], RankedRow{row, row.class})
			}
		}
		for i, spread := range worker.spread {
			w.Spread[i] = merged(w.Spread[i], spread)
		}
	}
	w.Seen, err = r.seen()
	return w, err
}

// worker is one that wrote the parts.
func (w *Wrote) worker() *worker {
	of := &worker{top: map[int][]RiskyRow{}, spread: w.Spread}
	for i, rows := range w.Ranked {
		for _, row := range rows {
			row.class, row.at = row.Class, -1
			of.top[i] = append(of.top[i], row.RiskyRow)
		}
	}
	return of
}

// someParts is a sink of all parts for a run of some.
type someParts struct {
	Sink
	parts []int
}

func (s someParts) Part(ctx context.Context, i int) (PartWriter, error) {
	return s.Sink.Part(ctx, s.parts[i])
}
