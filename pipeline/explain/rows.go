package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/suda"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// explaining is one record being explained.
type explaining struct {
	spec  *schemas.Spec
	suda  suda.Config
	which Which
	job   *session.Job
	input int
	e     *Explanation
}

// explainPrefix names the operators that measure the record: no spec made by a person has such a prefix.
const explainPrefix = "explain"

// prepared is the spec with what comes before its first measure: recodes and selections.
func (x *explaining) prepared() *schemas.Spec {
	bare := *x.spec
	bare.Operators = x.spec.Preparing()
	bare.Sink, bare.Summary, bare.Limits = schemas.Sink{}, "", nil
	return &bare
}

// measures are those with scores, suda first, as they measure the record by the spec's key; none where nothing is known of the sampling.
// told has the columns that are told of, by the names that they have here.
func (x *explaining) measures(spec *schemas.Spec) (list []operators.Operator, told map[string]Risk) {
	told = map[string]Risk{}
	if spec.Sampling == nil || x.suda.Threshold > 1 {
		return nil, told
	}
	scored := x.suda
	scored.Contributions, scored.MSUs = false, false
	measured := map[string]bool{}
	for _, o := range append([]schemas.Operator{{Config: &scored}}, x.spec.Operators...) {
		name := o.Name()
		_, scoring := o.Config.(schemas.Scoring)
		if m := o.Measure(); !scoring || m == nil || m.OwnKey() != nil || measured[name] || readsFiles(o) {
			continue
		}
		if private, ok := o.Config.(schemas.Private); ok { // it saves nothing
			o = schemas.Operator{Config: private.Public()}
		}
		c, ok := o.WithPrefix(explainPrefix + "_" + name).Config.(operators.Config)
		if !ok {
			continue
		}
		measured[name] = true
		_, _, replace := c.(schemas.Writer).Common()
		*replace = true
		list = append(list, c.Operators(operators.Setup{Key: *spec.Key, Sampling: spec.Sampling})...)
		here := c.(schemas.Measure).Columns(false, nil)
		for k, usual := range o.WithPrefix("").Measure().Columns(false, nil) {
			if usual.Type == schemas.Double && (name != suda.Name || usual.Name == schemas.Column(name, suda.ColumnDISIS)) {
				told[here[k].Name] = Risk{Column: usual.Name, Label: cmp.Or(usual.Label, usual.Name), Note: cmp.Or(usual.Note, usual.Description)}
			}
		}
	}
	return list, told
}

// readsFiles tells whether an operator has files that it reads, as a model is.
func readsFiles(o schemas.Operator) bool {
	f, ok := o.Config.(operators.Filing)
	return ok && slices.ContainsFunc(f.Files(), func(f operators.SideFile) bool { return f.Kind != operators.MadeDocument })
}

// find finds the record and compares it with all others.
func (x *explaining) find(ctx context.Context) error {
	j, spec := x.job, x.prepared()
	inputs := j.Source.Inputs()
	switch x.input = slices.Index(inputs, x.which.Input); {
	case x.which.Input == "" && len(inputs) > 1:
		return session.Wrong(fmt.Errorf("%d files are counted together: say which of them has the record (--in FILE)", len(inputs)))
	case x.which.Input == "":
		x.input = 0
	case x.input < 0:
		text := fmt.Sprintf("%s is none of the files that are counted", x.which.Input)
		if n := schemas.Nearest(x.which.Input, inputs); n != "" {
			text += "; did you mean " + n + "?"
		}
		return session.Wrong(fmt.Errorf("%s", text))
	}
	count := &session.Counting{Requests: session.KeyRequest(*spec.Key), Classes: true}
	measures, told := x.measures(spec.WithLevels())
	ops := append(session.OperatorsOf(spec, &session.Companions{}), measures...)
	var err error
	if j.Chain, err = j.Bind(true, append(ops, count)...); err != nil {
		return err
	}
	e := &Explanation{
		Inputs:    inputs,
		Input:     inputs[x.input],
		Row:       x.which.Row,
		ScoreName: cmp.Or(x.suda.Score, suda.ScoreLattice),
		MaxSize:   len(spec.Key.Variables),
	}
	x.e = e
	for _, v := range spec.Key.Variables {
		e.Variables = append(e.Variables, v.Name)
	}
	if x.suda.MaxSize > 0 {
		e.MaxSize = min(x.suda.MaxSize, e.MaxSize)
	}
	find := &rowSink{input: x.input, row: x.which.Row, class: -1, told: told, from: sourcesOf(spec, j.Source.Schema())}
	count.Look = func(ctx context.Context, tables []*contingency.Table, _ *operators.Report) error {
		if find.rows <= e.Row {
			return session.Wrong(
				fmt.Errorf("there is no row %d; %s has %d rows, numbered from 0", e.Row, cmp.Or(strings.TrimPrefix(e.Input, "-"), "the input"), find.rows),
			)
		}
		if e.Records, e.From = tables[0].Records(), find.values; find.class < 0 {
			return nil
		}
		e.Risks = find.risks
		return e.compare(ctx, tables[0], int(find.class), session.PoliciesOf(*spec.Key))
	}
	_, err = j.Count(ctx, count, find)
	return err
}

// nearby finds rows of the nearest classes, in a scan of its own.
func (x *explaining) nearby(ctx context.Context) error {
	if len(x.e.Near) == 0 {
		return nil
	}
	j, spec := x.job, x.prepared()
	count := &session.Counting{Requests: session.KeyRequest(*spec.Key), Classes: true}
	var err error
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), count)...); err != nil {
		return err
	}
	found := map[int64][]session.Place{}
	for _, n := range x.e.Near {
		found[int64(n.class)] = nil
	}
	sink := &session.ClassSink{Take: func(class int64, at session.Place) {
		if list, wanted := found[class]; wanted {
			list = append(list, at)
			slices.SortFunc(list, session.ComparePlaces)
			found[class] = list[:min(len(list), nearRows)]
		}
	}}
	count.Look = func(context.Context, []*contingency.Table, *operators.Report) error { return nil }
	if _, err := j.Count(ctx, count, sink); err != nil {
		return err
	}
	for i, n := range x.e.Near {
		for _, at := range found[int64(n.class)] {
			x.e.Near[i].Rows = append(x.e.Near[i].Rows, RowAt{x.e.Inputs[at.Input], at.Row})
		}
	}
	return nil
}

// sourcesOf are the input's columns that recoded key variables are made from.
func sourcesOf(spec *schemas.Spec, in *arrow.Schema) []Source {
	from := map[string]string{} // by name, the input's column that it is made from
	for _, o := range spec.Operators {
		recodes, ok := o.Config.(*recode.Config)
		if !ok {
			continue
		}
		for _, r := range *recodes {
			of := cmp.Or(r.From, r.Name)
			from[r.Name] = cmp.Or(from[of], of)
		}
	}
	var list []Source
	for v, k := range spec.Key.Variables {
		if column := from[k.Name]; column != "" && len(in.FieldIndices(column)) == 1 {
			list = append(list, Source{Variable: v, Column: column})
		}
	}
	return list
}

// A rowSink writes nothing; it looks for the class, the values and the risks of one row.
type rowSink struct {
	input int
	row   int64
	from  []Source
	told  map[string]Risk // by column that is made
	parts []operators.Part
	names []string // of the columns that are made

	mu     sync.Mutex
	rows   int64 // of the input
	class  int64
	values []Source
	risks  []Risk
}

func (s *rowSink) Begin(_ context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	s.parts = parts
	for _, p := range parts {
		if p.Input() == s.input {
			s.rows += p.Rows()
		}
	}
	for _, o := range out {
		if !o.Input {
			s.names = append(s.names, o.Field.Name)
		}
	}
	var reads []string
	for _, f := range s.from {
		if !slices.Contains(reads, f.Column) {
			reads = append(reads, f.Column)
		}
	}
	return reads, nil
}

func (s *rowSink) Part(_ context.Context, i int) (operators.PartWriter, error) {
	if s.parts[i].Input() != s.input {
		return passing{}, nil
	}
	return &rowWriter{sink: s, next: s.parts[i].FirstRow()}, nil
}

func (s *rowSink) Commit(context.Context, map[string]string) error { return nil }
func (s *rowSink) Abort()                                          {}

// passing lets rows pass.
type passing struct{}

func (passing) Write(arrow.Record, []arrow.Array, *operators.Bitmap) error { return nil }
func (passing) Close() error                                               { return nil }

type rowWriter struct {
	sink *rowSink
	next int64
}

func (w *rowWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	class := added[len(added)-1].(*array.Int64)
	at := int(w.sink.row - w.next)
	w.next += int64(class.Len())
	if at < 0 || at >= class.Len() {
		return nil
	}
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.from {
		if a := rows.Column(rows.Schema().FieldIndices(f.Column)[0]); a.IsValid(at) {
			text := strings.Clone(operators.Text(a, at))
			f.Value = &text
		}
		s.values = append(s.values, f)
	}
	if keep != nil && !keep.Get(at) {
		return nil
	}
	s.class = class.Value(at)
	for k, a := range added {
		risk, wanted := s.told[s.names[k]]
		x, isFloat := a.(*array.Float64)
		if !wanted || !isFloat {
			continue
		}
		if x.IsValid(at) {
			value := x.Value(at)
			risk.Value = &value
		}
		s.risks = append(s.risks, risk)
	}
	return nil
}

func (w *rowWriter) Close() error { return nil }
