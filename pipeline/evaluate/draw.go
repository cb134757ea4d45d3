package evaluate

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/evaluate"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// groupColumn names the counting operator of strata or households.
const groupColumn = " group"

// A population is a file from which samples are drawn.
type population struct {
	job     *session.Job
	with    *session.Companions // tables that are known of it
	reads   []string            // columns that the judged operators look at
	key     *session.Counting
	group   *session.Counting // of strata or households; nil for none
	domain  *session.Counting // of domains; nil for none
	wholes  bool              // groups are drawn as a whole
	classes int               // position of the column with the key's class among those added
}

// openPopulation opens the file and binds what is counted of it.
func openPopulation(ctx context.Context, s *Spec, o session.Options) (*population, error) {
	if progress := o.Progress; progress != nil {
		o.Progress = func(stage string, done, total int64) {
			if stage == "writing" {
				stage = "drawing"
			}
			progress(stage, done, total)
		}
	}
	spec := *s.Spec
	spec.Operators = nil
	for _, op := range s.Spec.Operators {
		if op.Measure() == nil {
			spec.Operators = append(spec.Operators, op)
		}
	}
	j, err := session.OpenToLook(ctx, &spec, o)
	if err != nil {
		return nil, err
	}
	with, err := session.ReadBeside(ctx, s.Spec, o)
	if err != nil {
		j.Source.Close()
		return nil, err
	}
	p := &population{job: j, with: with, key: &session.Counting{Requests: session.KeyRequest(*spec.Key), Classes: true}, wholes: s.Household != ""}
	list := append(session.OperatorsOf(&spec, &session.Companions{}), p.key)
	if s.By != nil {
		p.domain = countDomains(s.By)
		list = append(list, p.domain)
	}
	if column := s.Stratify + s.Household; column != "" {
		role := "strata"
		if p.wholes {
			role = "households"
		}
		request := session.KeyRequest(schemas.Key{Variables: []schemas.KeyVariable{{Name: column}}})
		p.group = &session.Counting{Classes: true, As: groupColumn, Requests: func(in *arrow.Schema) ([]contingency.Request, error) {
			r, err := request(in)
			if err != nil {
				err = advice.Errorf("%s: %w", role, err)
			}
			return r, err
		}}
		list = append(list, p.group)
	}
	whole, err := j.Bind(true, append(list[:len(list):len(list)], p.operators(s, func([]uniques.Policy) int64 { return 1 })...)...)
	if err == nil {
		p.reads = whole.Reads()
		j.Chain, err = j.Bind(true, list...)
	}
	if err != nil {
		j.Source.Close()
		return nil, err
	}
	for _, out := range j.Chain.Output() {
		if !out.Input && out.Field.Name == session.ClassColumn {
			break
		}
		if !out.Input {
			p.classes++
		}
	}
	return p, nil
}

// operators are the judged operators, as for a sample of a population with this many people under the policies of each.
func (p *population) operators(s *Spec, people func(policies []uniques.Policy) int64) []operators.Operator {
	spec := s.Spec.WithLevels()
	var list []operators.Operator
	for _, op := range spec.Operators {
		m := op.Measure()
		if m == nil {
			continue
		}
		key := *spec.Key
		if own := m.OwnKey(); own != nil {
			key = *own
		}
		if word := m.MissingPolicy(); word != "" {
			key = schemas.Key{Variables: make([]schemas.KeyVariable, len(key.Variables)), Missing: word}
		}
		one := *spec
		one.Operators = []schemas.Operator{op}
		one.Sampling = &schemas.Sampling{PopulationSize: people(session.PoliciesOf(key))}
		list = append(list, session.OperatorsOf(&one, p.with)...)
	}
	return list
}

// A sampleOf is a sample that was drawn: records with the columns that operators look at, and the class of the population's table.
type sampleOf struct {
	repetition int
	records    []arrow.Record
	rows       int64
}

func (s *sampleOf) release() {
	for _, r := range s.records {
		r.Release()
	}
}

// draw draws samples of the population in one scan.
func (p *population) draw(ctx context.Context, d evaluate.Design, seed uint64, repetitions []int) ([]*sampleOf, error) {
	sink := &drawing{population: p, design: d, seed: seed, repetitions: repetitions}
	if _, err := p.job.Chain.Run(ctx, p.job.Source, sink, p.job.ChainOptions()); err != nil {
		for _, s := range sink.samples {
			s.release()
		}
		return nil, err
	}
	return sink.samples, nil
}

// A drawing is the sink that decides which rows are drawn, in their order.
type drawing struct {
	population  *population
	design      evaluate.Design
	seed        uint64
	repetitions []int

	samples   []*sampleOf
	selectors []*evaluate.Selector
	clusters  [][]bool
	out       []operators.Output
	schema    *arrow.Schema
	order     *operators.InOrder
}

// Begin is a Sink's: all is counted, so that the strata are known.
func (d *drawing) Begin(context.Context, []operators.Part, []operators.Output) ([]string, error) {
	var strata []int64
	group := d.population.group
	records := d.population.key.Tables[0].Records()
	if records == 0 {
		return nil, errors.New("the population has no record, or none was chosen: there is nothing to draw from")
	}
	if group != nil {
		t := group.Tables[0]
		if n := t.MissingRecords(0); n > 0 && d.population.wholes {
			return nil, fmt.Errorf("%d records have no value of %s: whole households cannot be drawn", n, t.Variables[0].Name)
		}
		for i := range t.Classes() {
			strata = append(strata, t.Count(i))
		}
	} else {
		strata = []int64{records}
	}
	for _, n := range d.repetitions {
		d.samples = append(d.samples, &sampleOf{repetition: n})
		if d.population.wholes {
			chosen, err := evaluate.DrawClusters(int64(len(strata)), d.design, d.seed, uint64(n))
			if err != nil {
				return nil, err
			}
			d.clusters = append(d.clusters, chosen)
			continue
		}
		s, err := evaluate.NewSelector(strata, d.design, d.seed, uint64(n))
		if err != nil {
			return nil, err
		}
		d.selectors = append(d.selectors, s)
	}
	var fields []arrow.Field
	for _, name := range d.population.reads {
		f, _ := d.population.job.Source.Schema().FieldsByName(name)
		d.out = append(d.out, operators.Output{Field: f[0], Input: true})
		fields = append(fields, f[0])
	}
	class := arrow.Field{Name: session.ClassColumn, Type: arrow.PrimitiveTypes.Int64}
	d.out, fields = append(d.out, operators.Output{Field: class}), append(fields, class)
	if d.population.domain != nil {
		domain := arrow.Field{Name: session.ClassColumn + domainColumn, Type: arrow.PrimitiveTypes.Int64}
		d.out, fields = append(d.out, operators.Output{Field: domain}), append(fields, domain)
	}
	d.schema = arrow.NewSchema(fields, nil)
	d.order = operators.NewInOrder(64<<20, func(_ int, item any) error { return d.take(item.(*drawnBatch)) })
	return d.population.reads, nil
}

// A drawnBatch waits for its turn.
type drawnBatch struct {
	rows                 arrow.Record
	class, domain, group arrow.Array // domain and group are nil for none
}

func (d *drawing) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	return &drawingPart{d, ctx, i}, nil
}

func (d *drawing) Commit(context.Context, map[string]string) error {
	for _, s := range d.selectors {
		if err := s.Finish(); err != nil {
			return err
		}
	}
	return nil
}

func (d *drawing) Abort() {}

type drawingPart struct {
	drawing *drawing
	ctx     context.Context
	part    int
}

// Write hands a batch on; rows that are not kept, and those that select leaves out of what follows, have no class.
func (p *drawingPart) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	b := &drawnBatch{rows: rows, class: added[p.drawing.population.classes]}
	if keep != nil {
		b.class = without(b.class.(*array.Int64), keep)
	} else {
		b.class.Retain()
	}
	if p.drawing.population.domain != nil {
		b.domain = added[p.drawing.population.classes+1]
		b.domain.Retain()
	}
	if p.drawing.population.group != nil {
		b.group = added[len(added)-1]
		b.group.Retain()
	}
	rows.Retain()
	return p.drawing.order.Add(p.ctx, p.part, b, 8*rows.NumRows()*(rows.NumCols()+1))
}

func (p *drawingPart) Close() error { return p.drawing.order.Done(p.part) }

// without takes the class from rows that are not kept.
func without(class *array.Int64, keep *operators.Bitmap) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for r, c := range class.Int64Values() {
		if !keep.Get(r) {
			c = -1
		}
		b.Append(c)
	}
	return b.NewArray()
}

// take decides on the rows of a batch.
func (d *drawing) take(b *drawnBatch) error {
	defer b.rows.Release()
	defer b.class.Release()
	class := b.class.(*array.Int64).Int64Values()
	added := []arrow.Array{b.class}
	if b.domain != nil {
		defer b.domain.Release()
		added = append(added, b.domain)
	}
	var group []int64
	if b.group != nil {
		defer b.group.Release()
		group = b.group.(*array.Int64).Int64Values()
	}
	for i, s := range d.samples {
		chosen := operators.NewBitmap(len(class))
		for r, c := range class {
			if c < 0 {
				continue
			}
			var g int64
			if group != nil {
				g = group[r]
			}
			if d.clusters != nil && d.clusters[i][g] || d.clusters == nil && d.selectors[i].Take(int(g)) {
				chosen.Set(r)
			}
		}
		if chosen.Count() == 0 {
			continue
		}
		r, err := operators.Assemble(memory.DefaultAllocator, d.schema, d.out, b.rows, added, chosen)
		if err != nil {
			return err
		}
		s.records = append(s.records, r)
		s.rows += r.NumRows()
	}
	return nil
}
