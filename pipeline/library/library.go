// Package library runs what another program in the same process asks for: a request in JSON, record batches in memory, and an answer in JSON, in which
// errors and warnings are values. Package library/shared makes a C library of it.
//
//	records, answer := library.Do(ctx, "assess", []byte(`{"spec": {"key": {"variables": ["AGE", "SEX"]}, "operators": [{"suda": {}}]}}`), source, library.Options{})
package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/explain"
	"microrisk/pipeline/inspect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// Verbs are what can be asked.
var Verbs = []string{"assess", "explain", "inspect"}

// Options are those of the caller besides the request.
type Options struct {
	Progress func(stage string, done, total int64) // from several goroutines
}

// A Request is what is asked. Spec is as in schemas/spec.schema.json, without source and sink: these are the record batches.
type Request struct {
	Spec    json.RawMessage `json:"spec"`
	Row     *int64          `json:"row"`    // explain: of all rows, from 0
	Values  []string        `json:"values"` // inspect: columns whose categories are listed
	Options struct {
		Workers int    `json:"workers"`
		Memory  int64  `json:"memory"` // bytes
		TempDir string `json:"temp_dir"`
		Seed    uint64 `json:"seed"`
	} `json:"options"`
}

// How a request ended.
const (
	Done        = 0
	Failed      = 1
	Misasked    = 2 // the request or the spec is wrong
	Breached    = 3 // a limit of the spec was passed; the records and the summary are there nevertheless
	Interrupted = 130
)

// An Answer is what came of a request.
type Answer struct {
	Status  int    `json:"status"`
	Error   *Error `json:"error,omitempty"`
	Summary any    `json:"summary,omitempty"` // of assess
	Record  any    `json:"record,omitempty"`  // of explain
	File    any    `json:"table,omitempty"`   // of inspect
}

// An Error is one as a value.
type Error struct {
	Kind    string         `json:"kind"`    // spec, input, memory, work, contradiction, interrupted, fault or other
	Message string         `json:"message"` // what was wrong, where, and what would be right
	Fields  map[string]any `json:"fields,omitempty"`
}

// Made are the records that a request made, to be released by the caller.
type Made struct {
	Schema  *arrow.Schema
	Records []arrow.Record
}

// Release releases the records.
func (m *Made) Release() {
	for _, r := range m.Records {
		r.Release()
	}
	m.Records = nil
}

// Do does what is asked with records, which stay the caller's. Made is nil unless records are made.
func Do(ctx context.Context, verb string, request []byte, records operators.Source, o Options) (made *Made, answer *Answer) {
	defer func() {
		if p := recover(); p != nil {
			made, answer = nil, wrong(&operators.Fault{Cause: p, Stack: string(debug.Stack())})
		}
	}()
	made, answer, err := do(ctx, verb, request, records, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &Answer{Status: Interrupted, Error: &Error{Kind: "interrupted", Message: "interrupted: nothing was made"}}
		}
		return nil, wrong(err)
	}
	return made, answer
}

// wrong is the answer of an error.
func wrong(err error) *Answer {
	a := &Answer{Status: Failed, Error: &Error{Kind: "other", Message: strings.TrimRight(err.Error(), "\n"), Fields: map[string]any{}}}
	fields := session.ErrorFields(err)
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i].(string), fields[i+1]
		if name == "error" {
			a.Error.Kind = fmt.Sprint(value)
		} else if text, is := value.([]byte); is {
			a.Error.Fields[name] = string(text)
		} else {
			a.Error.Fields[name] = value
		}
	}
	if session.IsSpec(err) {
		a.Status, a.Error.Kind = Misasked, "spec"
	}
	if spec := new(schemas.SpecError); errors.As(err, &spec) && len(spec.Problems) > 0 { // the text is not the caller's: its lines say nothing
		var lines, paths []string
		for _, p := range spec.Problems {
			lines, paths = append(lines, p.Message.String()), append(paths, p.Path)
		}
		a.Error.Message, a.Error.Fields["fields"] = strings.Join(lines, "\n"), paths
	}
	return a
}

func do(ctx context.Context, verb string, text []byte, records operators.Source, o Options) (*Made, *Answer, error) {
	if !slices.Contains(Verbs, verb) {
		return nil, nil, session.Wrong(fmt.Errorf("there is no verb %q: it is one of %s", verb, strings.Join(Verbs, ", ")))
	}
	var r Request
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, nil, session.Wrong(notTaken(err))
	}
	if r.Options.Workers < 0 || r.Options.Memory < 0 {
		return nil, nil, session.Wrong(errors.New("options: workers and memory (bytes) are whole numbers from 1 up, or left out"))
	}
	spec, err := specOf(verb, &r)
	if err != nil {
		return nil, nil, err
	}
	if records == nil {
		return nil, nil, session.Wrong(errors.New("there are no record batches"))
	}
	options := session.Options{Workers: r.Options.Workers, Memory: r.Options.Memory, TempDir: r.Options.TempDir, Seed: r.Options.Seed, Records: records,
		Progress: o.Progress}
	switch verb {
	case "explain":
		answer, err := explained(ctx, spec, &r, options)
		return nil, answer, err
	case "inspect":
		looked, err := inspect.Run(ctx, spec, inspect.Look{Values: r.Values}, options)
		if err != nil {
			return nil, nil, err
		}
		return nil, &Answer{File: inspected(looked)}, nil
	}
	return assess(ctx, spec, options)
}

// notTaken says what is wrong with a request that is none.
func notTaken(err error) error {
	var kind *json.UnmarshalTypeError
	if name, is := strings.CutPrefix(err.Error(), "json: unknown field "); is {
		return fmt.Errorf("the request has no field %s: it has spec, row, values and options, and options have workers, memory, temp_dir and seed", name)
	}
	if errors.As(err, &kind) {
		right := map[string]string{"string": "a text", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 up"}
		return fmt.Errorf("%s is a %s; it must be %s", kind.Field, kind.Value, cmp.Or(right[kind.Type.String()], "as microrisk.h has it"))
	}
	return fmt.Errorf("the request is no JSON of a request: %w", err)
}

// specOf is the spec of a request, of which source and sink are those of the call.
func specOf(verb string, r *Request) (*schemas.Spec, error) {
	whole := map[string]json.RawMessage{} // what is in it stays as it was written: order, and each digit of numbers
	if len(r.Spec) == 0 {
		r.Spec = json.RawMessage(`{}`)
	}
	if err := json.Unmarshal(r.Spec, &whole); err != nil || whole == nil {
		return nil, session.Wrong(errors.New(`spec is no mapping; it is one such as {"key": {"variables": ["AGE"]}, "operators": [{"suda": {}}]}`))
	}
	for _, name := range []string{"source", "sink"} {
		if said(whole[name]) {
			return nil, session.Wrong(fmt.Errorf("spec: %s is that of the call, record batches in memory; leave it out", name))
		}
	}
	if !said(whole["version"]) {
		whole["version"] = fmt.Append(nil, schemas.Version)
	}
	whole["source"] = json.RawMessage(`{"path": "-"}`)
	if delete(whole, "sink"); verb == "assess" {
		whole["sink"] = json.RawMessage(`{"path": "-"}`)
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	root, err := specfile.Parse("spec", text)
	if err != nil {
		return nil, err
	}
	if verb == "assess" {
		spec, _, err := schemas.Decode("spec", root)
		return spec, err
	}
	look := &looked{spec: &schemas.Spec{}}
	_, err = schemas.DecodeDocument("spec", root, look, nil)
	return look.spec, err
}

// said tells whether a part of a spec says something.
func said(part json.RawMessage) bool { return part != nil && string(part) != "null" }

// looked is the spec of a verb that only looks: it need not have operators, and has no sink.
type looked struct{ spec *schemas.Spec }

// Fields is the field table.
func (l *looked) Fields() schemas.Table {
	return schemas.Table{What: "the spec", Fields: l.spec.Part("source", "sampling", "key", "operators", "allow_empty")}
}

// Check tells what the field table cannot.
func (l *looked) Check(c *schemas.Checker) { c.Rows(l.spec) }

// assess runs the spec.
func assess(ctx context.Context, spec *schemas.Spec, o session.Options) (*Made, *Answer, error) {
	collect := &collected{parts: map[int][]arrow.Record{}}
	collect.To = collect.take
	o.Sink = collect
	outcome, err := pipeline.Run(ctx, spec, o)
	if err != nil {
		collect.release()
		return nil, nil, err
	}
	a := &Answer{Summary: outcome.Summary}
	if len(outcome.Breaches) > 0 {
		a.Status = Breached
	}
	return collect.made(), a, nil
}

// collected are the records of a run, in the order of their parts.
type collected struct {
	operators.Emit
	schema *arrow.Schema
	parts  map[int][]arrow.Record
	most   int
}

// Begin is a Sink's.
func (c *collected) Begin(ctx context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	var fields []arrow.Field
	for _, o := range out {
		fields = append(fields, o.Field)
	}
	c.schema, c.most = arrow.NewSchema(fields, nil), len(parts)
	return c.Emit.Begin(ctx, parts, out)
}

func (c *collected) take(part int, r arrow.Record) error {
	r.Retain()
	c.parts[part] = append(c.parts[part], r)
	return nil
}

func (c *collected) made() *Made {
	m := &Made{Schema: c.schema}
	for i := range c.most {
		m.Records = append(m.Records, c.parts[i]...)
	}
	return m
}

func (c *collected) release() {
	for _, list := range c.parts {
		for _, r := range list {
			r.Release()
		}
	}
	c.parts = nil
}

// explained is what is told of a record.
func explained(ctx context.Context, spec *schemas.Spec, r *Request, o session.Options) (*Answer, error) {
	if r.Row == nil || *r.Row < 0 {
		return nil, session.Wrong(errors.New("row says which record is explained: its number among all rows, from 0"))
	}
	scored := suda.Config{}
	for _, op := range spec.Operators {
		if c, is := op.Config.(*suda.Config); is {
			scored = suda.Config{Score: c.Score, MaxSize: c.MaxSize}
		}
	}
	e, err := explain.Run(ctx, spec, explain.Which{Row: *r.Row}, scored, o)
	if err != nil {
		return nil, err
	}
	return &Answer{Record: recordOf(e)}, nil
}
