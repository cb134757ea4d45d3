package operators

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/schemas/advice"
)

// Options of a run. The zero value is good.
type Options struct {
	Allocator memory.Allocator // nil: Go's
	Workers   int              // 0: GOMAXPROCS
	Batch     int              // rows a batch, 0: the source's choice
	Memory    int64            // bytes that tables may take before they go to TempDir, 0: no limit
	// MemoryGiven says that Memory was asked for and is not a default taken from the machine: no choice between methods depends on that.
	MemoryGiven bool
	TempDir     string // "": the system's
	Seed        uint64
	Logger      *slog.Logger // nil: none
	// AllowEmpty lets the spec name values that no row has, and choose no row.
	AllowEmpty bool
	// Identify is the input column by which the riskiest records are named in the report, "" for none. It goes nowhere else.
	Identify string
	Riskiest int // how many of the riskiest records the report names; 0: 5
	// Spread counts the records by their scores, in Ranking.Spread.
	Spread   bool
	Count    string                                // the column that says how many records a row stands for, "" for one each
	Progress func(stage string, done, total int64) // called from several goroutines; rows, or the unit of a search
	// Finish is called when all operators are fitted and all rows written, before the sink commits: it gives the metadata for the
	// sink, or an error that stops the run.
	Finish func(*Report) (map[string]string, error)
}

// A Report tells what a run saw.
type Report struct {
	Rows      int64            // of the source
	Written   int64            // rows of the output
	Operators []OperatorReport // one an operator with a summary, in order
	Warnings  []string
	Spilled   int64     // bytes written to TempDir
	Rankings  []Ranking // one an operator that ranks, in order, if something was written
}

// An OperatorReport is the summary of a fitted operator.
type OperatorReport struct {
	Name    string // the prefix of its columns
	Summary any
	Fitted  Fitted // for who knows what else it is
}

// A run is one execution of a chain.
type run struct {
	chain   *Chain
	o       Options
	parts   []Part
	env     Env
	fitted  []Fitted // by step
	tables  map[string]*contingency.Table
	domains *domainSet
	store   *contingency.Store
	finals  map[string][][]uint32 // final codes by table, variable and provisional code
	report  Report
	mu      sync.Mutex // guards report.Warnings
	rows    int64
	asked   []bool         // by step: its values that no row has were asked for
	chosen  []atomic.Int64 // by step: rows chosen by it and the selections before it, in any scan
}

// Run reads source, fits the operators, and writes to sink (nil: nothing is written, the operators are only fitted).
func (c *Chain) Run(ctx context.Context, source Source, sink Sink, o Options) (*Report, error) {
	if sink != nil {
		defer sink.Abort()
	}
	r, err := c.start(ctx, source, o)
	if err != nil {
		return nil, err
	}
	defer r.store.Close()
	defer r.release()
	for n := 1; n <= c.stages; n++ {
		if err := r.count(ctx, n); err != nil {
			return nil, err
		}
	}
	if sink != nil {
		if err := r.write(ctx, sink); err != nil {
			return nil, err
		}
	}
	r.report.Spilled = r.store.Bytes()
	var metadata map[string]string
	if o.Finish != nil {
		if metadata, err = o.Finish(&r.report); err != nil {
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

func (c *Chain) start(ctx context.Context, source Source, o Options) (*run, error) {
	o.Workers = max(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), 1)
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	parts, err := source.Parts(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{
		chain: c, o: o, parts: parts, store: contingency.NewStore(ctx, o.TempDir), fitted: make([]Fitted, len(c.steps)),
		tables: map[string]*contingency.Table{}, domains: newDomainSet(), finals: map[string][][]uint32{},
	}
	r.prepare()
	for _, p := range parts {
		r.rows += p.Rows()
	}
	r.report.Rows = r.rows
	r.env = Env{
		Allocator:   o.Allocator,
		Workers:     o.Workers,
		Budget:      budget.Budget{Bytes: o.Memory},
		MemoryGiven: o.MemoryGiven,
		Seed:        o.Seed,
		Logger:      o.Logger,
		Progress:    o.Progress,
		Warn: func(format string, args ...any) {
			text := advice.Textf(format, args...)
			message := text.String()
			r.mu.Lock()
			defer r.mu.Unlock()
			if slices.Contains(r.report.Warnings, message) {
				return // another operator of the same key has said it
			}
			r.report.Warnings = append(r.report.Warnings, message)
			advice.Log(o.Logger, slog.LevelWarn, text)
		},
	}
	return r, nil
}

// prepare makes room for what is kept by step.
func (r *run) prepare() {
	r.asked, r.chosen = make([]bool, len(r.chain.steps)), make([]atomic.Int64, len(r.chain.steps))
}

// count makes the tables of a stage in one scan and fits the operators that need them.
func (r *run) count(ctx context.Context, n int) error {
	s := r.chain.plan(n, nil, r.o.Count)
	name := "counting"
	if r.chain.stages > 1 {
		name = fmt.Sprintf("counting, stage %d of %d", n, r.chain.stages)
	}
	workers, err := r.scan(ctx, s, name, nil)
	if err != nil {
		return err
	}
	return r.fit(ctx, s, workers)
}

// fit fits the operators of a scan that counted.
func (r *run) fit(ctx context.Context, s *scan, workers []*worker) (err error) {
	for _, i := range s.count {
		st := &r.chain.steps[i]
		tables := make([]*contingency.Table, len(st.tables))
		for k, t := range st.tables {
			if tables[k], err = r.table(ctx, t, workers); err != nil {
				return st.plan.named(err)
			}
		}
		if r.fitted[i], err = st.plan.Fit(ctx, tables, r.env); err != nil {
			return st.plan.named(err)
		}
		if r.fitted[i] == nil {
			return fmt.Errorf("%s: Fit gave nothing, and no error", st.plan.Name)
		}
		if err := st.plan.checkClasses(r.fitted[i], tables); err != nil {
			return st.plan.named(err)
		}
		if summary := r.fitted[i].Summary(); summary != nil {
			r.report.Operators = append(r.report.Operators, OperatorReport{Name: st.plan.Name, Summary: summary, Fitted: r.fitted[i]})
		}
	}
	return nil
}

// release lets go of what fitted operators hold.
func (r *run) release() {
	for _, f := range r.fitted {
		if held, ok := f.(Releaser); ok {
			held.Release()
		}
	}
}

// write is the last scan.
func (r *run) write(ctx context.Context, sink Sink) error {
	reads, err := sink.Begin(ctx, r.parts, r.chain.Output())
	if err != nil {
		return err
	}
	workers, err := r.scan(ctx, r.final(reads), "writing", sink)
	if err != nil {
		return err
	}
	return r.rankings(workers)
}

// final is the scan that writes.
func (r *run) final(reads []string) *scan {
	s := r.chain.plan(r.chain.stages+1, reads, r.o.Count)
	if s.id = -1; r.o.Identify != "" {
		s.id = s.want(r.o.Identify)
	}
	return s
}

// rankings puts together what the workers of the last scan ranked.
func (r *run) rankings(workers []*worker) error {
	for i, f := range r.fitted {
		ranked, ok := f.(Ranked)
		if !ok {
			continue
		}
		var top []RiskyRow
		for _, w := range workers {
			top = append(top, w.top[i]...)
		}
		ranking := Ranking{Operator: r.chain.steps[i].plan.Name, Column: ranked.RankedBy(), Rows: leading(top, cmp.Or(r.o.Riskiest, riskiest))}
		for _, w := range workers {
			ranking.Spread = merged(ranking.Spread, w.spread[i])
		}
		if err := r.describe(&ranking, r.tables[r.chain.steps[i].tables[rankedTable(ranked)].id]); err != nil {
			return err
		}
		r.report.Rankings = append(r.report.Rankings, ranking)
	}
	return nil
}

// spill writes the worker's counters to the store when they hold more than the worker's part of half the memory; the other half is
// for the tables.
func (w *worker) spill(workers int) error {
	if w.run.o.Memory <= 0 {
		return nil
	}
	var held int64
	for _, c := range w.counters {
		held += c.Bytes()
	}
	if held <= w.run.o.Memory/2/int64(workers) {
		return nil
	}
	for _, c := range w.counters {
		if err := c.Spill(w.run.store); err != nil {
			return err
		}
	}
	return nil
}

// guard tells what goes wrong in a part with the part's name, panics too.
func (w *worker) guard(part Part, err *error) {
	if x := recover(); x != nil {
		*err = inPart(part, Recovered(x, nil))
	}
}

// takePart reads a part and takes its batches through the scan.
func (w *worker) takePart(ctx context.Context, p, _ int, after func(rows int64) error) (err error) {
	part := w.parts[p]
	defer w.guard(part, &err)
	var out PartWriter
	if w.sink != nil {
		if out, err = w.sink.Part(ctx, p); err != nil {
			return err
		}
	}
	err = w.read(ctx, part, func(batch arrow.Record, offset int64) error {
		w.part, w.offset = part, offset
		if err := w.takeBatch(ctx, batch, out, map[string]*located{}); err != nil {
			return err
		}
		return after(batch.NumRows())
	})
	if err != nil || out == nil {
		return err
	}
	return out.Close()
}

// read hands the batches of a part to a function, with the number of their first row in the part.
func (w *worker) read(ctx context.Context, part Part, take func(batch arrow.Record, offset int64) error) error {
	reader, err := part.Read(ctx, w.mem, w.scan.wants, w.run.o.Batch)
	if err != nil {
		return err
	}
	var in batches = inPlace{reader}
	if len(w.parts) < w.run.o.Workers {
		in = readAhead(reader)
	}
	defer in.close()
	offset := int64(0)
	for {
		batch, err := in.next()
		if err != nil {
			return err
		}
		if batch == nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := batch.NumRows()
		if err := take(batch, offset); err != nil {
			return err
		}
		offset += rows
	}
	if offset != part.Rows() {
		return inPart(part, fmt.Errorf("%d rows were read of %d", offset, part.Rows()))
	}
	return nil
}

// takeBatch takes a batch through all steps, and hands it to the sink if there is one.
func (w *worker) takeBatch(ctx context.Context, batch arrow.Record, out PartWriter, found map[string]*located) error {
	w.batch, w.rows = batch, int(batch.NumRows())
	defer w.free()
	if err := w.process(ctx, len(w.scan.chain.steps), found); err != nil {
		return inPart(w.part, err)
	}
	if out == nil {
		return nil
	}
	if err := w.writeBatch(out); err != nil {
		return err // it is about the output, not the part
	}
	if w.keep != nil {
		w.written.Add(int64(w.keep.Count()))
	} else {
		w.written.Add(int64(w.rows))
	}
	return nil
}
