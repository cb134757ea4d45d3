package session

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
)

// Counting is an operator that keeps the tables it is given, for those who look at tables and write nothing. With classes it makes
// a column with each row's class in the first table. A table that went to disk lasts only as long as the run that counted it, so that it
// is refused, unless Look looks at it before the run ends (see [Job.Count]).
type Counting struct {
	Requests func(in *arrow.Schema) ([]contingency.Request, error)
	Classes  bool
	As       string                          // tells several in a chain apart
	Check    func(ctx context.Context) error // of the tables, before the operators that follow are fitted; nil: none
	Look     func(ctx context.Context, tables []*contingency.Table, report *operators.Report) error
	Tables   []*contingency.Table // in memory; nil with Look
	env      operators.Env        // it was fitted in
}

// ClassColumn cannot be the name of a column that an operator before it makes from a spec's flags.
const ClassColumn = "\x00class"

// Bind is an Operator's.
func (c *Counting) Bind(in *arrow.Schema) (*operators.Plan, error) {
	requests, err := c.Requests(in)
	if err != nil {
		return nil, err
	}
	plan := &operators.Plan{Name: "counting" + c.As, Tables: requests}
	if c.Classes {
		plan.Adds = []operators.Added{{Field: arrow.Field{Name: ClassColumn + c.As, Type: arrow.PrimitiveTypes.Int64}}}
	}
	plan.Fit = func(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
		c.Tables, c.env = tables, env
		if c.Look == nil {
			for _, t := range tables {
				if err := c.InMemory(t); err != nil {
					return nil, err
				}
			}
		}
		if c.Check == nil {
			return c, nil
		}
		return c, c.Check(ctx)
	}
	return plan, nil
}

// InMemory refuses a table that went to disk.
func (c *Counting) InMemory(t *contingency.Table) error {
	return c.env.InMemory(t, fmt.Sprintf("the table of %d key combinations", t.Classes()), 0, operators.FewerVariables)
}

// Count runs the job's chain with a counting operator in it that looks at its tables, while they are there.
func (j *Job) Count(ctx context.Context, count *Counting, sink operators.Sink) (*operators.Report, error) {
	o := j.ChainOptions()
	o.Finish = func(report *operators.Report) (map[string]string, error) {
		tables := count.Tables
		defer func() { count.Tables = nil }()
		if err := count.Look(ctx, tables, report); err != nil {
			return nil, err
		}
		for _, t := range tables {
			if err := t.Err(); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return j.Chain.Run(ctx, j.Source, sink, o)
}

// Apply is a Fitted's.
func (c *Counting) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	if !c.Classes {
		return nil, nil, nil
	}
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.AppendValues(rows.Class[0], nil)
	return []arrow.Array{b.NewArray()}, nil, nil
}

// Summary is a Fitted's: there is none.
func (c *Counting) Summary() any { return nil }

// KeyRequest is the table of a key.
func KeyRequest(key schemas.Key) func(in *arrow.Schema) ([]contingency.Request, error) {
	return func(in *arrow.Schema) ([]contingency.Request, error) {
		request, err := operators.Key{Key: key, Who: "key"}.Request(in)
		if err != nil {
			return nil, err
		}
		return []contingency.Request{request}, nil
	}
}

// PoliciesOf are the missing-value policies of a key's variables.
func PoliciesOf(key schemas.Key) []uniques.Policy {
	words := map[string]uniques.Policy{schemas.MissingCategory: uniques.Category, schemas.MissingWildcard: uniques.Wildcard,
		schemas.MissingIgnore: uniques.Ignore, schemas.MissingDrop: uniques.Drop}
	list := make([]uniques.Policy, len(key.Variables))
	for v, variable := range key.Variables {
		word := variable.Missing
		if word == "" {
			word = key.Missing
		}
		list[v] = words[word] // category when nothing is said
	}
	return list
}

// OpenToLook opens the inputs of a spec of which no more is looked at than its rows.
func OpenToLook(ctx context.Context, spec *schemas.Spec, options Options) (*Job, error) {
	if err := spec.ValidateRows(); err != nil {
		return nil, err
	}
	j, err := OpenJob(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	if err := j.Verify(ctx); err != nil {
		j.Source.Close()
		return nil, err
	}
	return j, nil
}
