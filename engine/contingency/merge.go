package contingency

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
)

// leastMemory is what a worker of Merge takes at least once a table has to go through the store, in bytes.
const leastMemory = 2 << 20

// Merge makes one table of all counters, which may have spilled. final[v][p] is the final code of variable v's provisional code p;
// final[v][0] must be variables[v].Missing(). Several provisional codes may have the same final code. The table is the same, to the
// byte, however the rows were split over counters, and whatever the number of workers (goroutines; 0 means GOMAXPROCS). The counters
// are used up. The table is in memory if it and its lookup index fit in memory bytes (0: no limit), else in the store: its classes lie
// in files in their order and must not be used after the store is closed.
//
// memory is for this call, buffers included, on top of what the counters hold and of one word for each code in final. If it is less than
// 2 MiB a worker, that much is used all the same (the limit of a table in memory stays as it is said).
func Merge(ctx context.Context, variables []Variable, final [][]uint32, workers int, memory int64, s *Store, counters ...*Counter) (*Table, error) {
	return merge(ctx, variables, final, goroutines(workers), memory, leastMemory, s, counters)
}

func merge(ctx context.Context, variables []Variable, final [][]uint32, workers int, memory, least int64, s *Store, counters []*Counter) (*Table, error) {
	m := &merger{ctx: ctx, variables: variables, workers: workers, memory: memory, store: s}
	var err error
	if m.layout, err = layoutOf(variables); err != nil {
		return nil, err
	}
	if err := checkFinal(variables, final); err != nil {
		return nil, err
	}
	if err := m.take(counters, shiftCodes(&m.layout, final)); err != nil {
		return nil, err
	}
	if m.fits() {
		return m.inMemory()
	}
	if s == nil {
		return nil, fmt.Errorf("contingency: a table that may not fit in %d bytes needs a store", memory)
	}
	return m.external(max(memory, least*int64(workers)))
}

func checkFinal(variables []Variable, final [][]uint32) error {
	if len(final) != len(variables) {
		return fmt.Errorf("contingency: final codes of %d variables for a table of %d", len(final), len(variables))
	}
	for v := range final {
		if len(final[v]) > 0 && final[v][0] != variables[v].Missing() {
			return fmt.Errorf("contingency: final code of missing on variable %q is %d, must be %d", variables[v].Name, final[v][0], variables[v].Missing())
		}
		for p, code := range final[v] {
			if code > variables[v].Missing() {
				return fmt.Errorf(
					"contingency: final code %d of provisional code %d on variable %q is beyond its %d categories",
					code,
					p,
					variables[v].Name,
					len(variables[v].Categories),
				)
			}
		}
	}
	return nil
}

// A merger brings what counters hold and what they spilled together.
type merger struct {
	ctx       context.Context
	variables []Variable
	layout    layout
	sums      int
	workers   int
	memory    int64
	store     *Store
	sources   []*source
	spilled   []*tempFile
	records   int64
	entries   int64 // at most so many, of all sources
	onDisk    int64 // words of the sources that are on disk
}

// stride is the number of words of an entry: key, count, sums.
func (m *merger) stride() int { return m.layout.words + 1 + 2*m.sums }

// A source is a piece of what a counter has counted: slots of words+values words, or, when dense, of values words for keys from first
// on, of which those with count 0 are free. slots is nil while they are on disk.
type source struct {
	translator *translator
	slots      []uint64
	words      int // 0 when dense
	values     int
	first      uint64
	file       *tempFile
	at         int64
	n          int // slots
}

func (s *source) slot() int { return s.words + s.values }

// take empties the counters.
func (m *merger) take(counters []*Counter, shifted [][]uint64) error {
	translators := map[string]*translator{}
	translator := func(l layout) *translator {
		id := make([]byte, len(l.fields))
		for v, f := range l.fields {
			id[v] = f.bits
		}
		t := translators[string(id)]
		if t == nil {
			t = newTranslator(&l, &m.layout, shifted)
			translators[string(id)] = t
		}
		return t
	}
	for i, c := range counters {
		if c.variables != len(m.variables) {
			return fmt.Errorf("contingency: a counter of %d key variables for a table of %d", c.variables, len(m.variables))
		}
		if i == 0 {
			m.sums = c.sums
		}
		if c.sums != m.sums {
			return fmt.Errorf("contingency: counters with %d and %d sums", m.sums, c.sums)
		}
		if m.records > math.MaxInt64-c.records {
			return errRecords
		}
		m.records += c.records
		m.release(c, translator)
	}
	return nil
}

// release hands a counter's table over in pieces.
func (m *merger) release(c *Counter, translator func(layout) *translator) {
	values := 1 + 2*c.sums
	if c.spilled.file != nil {
		m.spilled = append(m.spilled, c.spilled.file)
	}
	for _, r := range c.spilled.runs {
		s := &source{translator: translator(r.layout), words: r.layout.words, values: values, file: c.spilled.file, at: r.at, n: r.entries}
		m.sources = append(m.sources, s)
		m.entries += int64(s.n)
		m.onDisk += int64(s.n) * int64(s.slot())
	}
	if c.records > c.since && c.dense != nil {
		const piece = 1 << 14
		m.entries += min(int64(len(c.dense)/values), c.records-c.since)
		for at := 0; at < len(c.dense); at += piece * values {
			slots := c.dense[at:min(at+piece*values, len(c.dense))]
			m.sources = append(
				m.sources,
				&source{translator: translator(c.layout), slots: slots, values: values, first: uint64(at / values), n: len(slots) / values},
			)
		}
	}
	if c.sorted != nil {
		c.sorted.flush()
		const piece = 1 << 15 // slots, for several workers
		for _, run := range c.sorted.runs {
			m.entries += int64(len(run) / 2)
			for at := 0; at < len(run); at += 2 * piece {
				slots := run[at:min(at+2*piece, len(run))]
				m.sources = append(m.sources, &source{translator: translator(c.layout), slots: slots, words: 1, values: values, n: len(slots) / 2})
			}
		}
	}
	for p := range c.table.part {
		part := &c.table.part[p]
		if part.used > 0 {
			m.entries += int64(part.used)
			m.sources = append(
				m.sources,
				&source{translator: translator(c.layout), slots: part.slots, words: c.table.words, values: values, n: len(part.slots) / c.table.stride},
			)
		}
	}
	*c = Counter{variables: c.variables, sums: c.sums}
}

// fits tells whether the table can be made in memory: entries read back, entries sorted and the table are there at the same time.
func (m *merger) fits() bool {
	if m.memory <= 0 {
		return true
	}
	table := tableBytes(m.entries, &m.layout, m.sums, m.records > math.MaxUint32)
	sorted := m.entries * int64(8*m.stride()+2)
	return 8*m.onDisk+sorted+table <= m.memory && table+indexBytes(m.entries, &m.layout) <= m.memory
}

func (m *merger) inMemory() (*Table, error) {
	g, ctx := errgroup.WithContext(m.ctx)
	g.SetLimit(m.workers)
	slabs := make([][]uint64, len(m.sources))
	for i, s := range m.sources {
		g.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			slabs[i], err = s.translated(m.stride())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := m.dropSpilled(); err != nil {
		return nil, err
	}
	return assemble(m.ctx, m.variables, m.layout, m.sums, m.workers, slabs)
}

// dropSpilled gives back the disk space of what has been read.
func (m *merger) dropSpilled() error {
	m.sources = nil
	for _, f := range m.spilled {
		if err := f.drop(); err != nil {
			return err
		}
	}
	return nil
}

// translated gives the entries of a source final keys, in place when they fit. The source is used up.
func (s *source) translated(stride int) ([]uint64, error) {
	if s.file != nil {
		s.slots = make([]uint64, s.n*s.slot())
		if err := s.file.read(bytesOf(s.slots), s.at); err != nil {
			return nil, err
		}
	}
	out := s.slots[:0]
	if stride > s.slot() {
		used := 0
		for at := s.words; at < len(s.slots); at += s.slot() {
			if s.slots[at] != 0 {
				used++
			}
		}
		out = make([]uint64, 0, used*stride)
	}
	out, err := s.translator.entries(out, s.slots, s.words, s.values, s.first)
	s.slots = nil
	return out, err
}
