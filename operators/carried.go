package operators

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
)

// A Carried is a fitted operator as it is sent from the process that fitted it to others: what its columns have for each class, and its
// scores if it ranks.
type Carried struct {
	Columns     []CarriedColumn
	Ranks       bool
	RankedBy    string
	RankedTable int
	Score       []float64 // by class of that table
	Frequency   []int64
}

// A CarriedColumn is a ClassColumn.
type CarriedColumn struct {
	Type   string // float64, int64 or int32
	Floats []float64
	Ints   []int64
	Narrow []int32
	Null   []bool // nil: none is
	At     []int32
	Table  int
}

// Carry gives the fitted operators of stage n by their place in the chain, in a form that can be sent. What cannot be put in it is left
// out: it looks at more than the classes of rows, and is to be fitted once more, from the same tables, where it is applied.
func (a *Apart) Carry(n int) (map[int]*Carried, error) {
	all := map[int]*Carried{}
	for i, st := range a.r.chain.steps {
		if !st.fitted() || st.stage != n {
			continue
		}
		c, err := a.r.carry(&st, a.r.fitted[i])
		if err != nil {
			return nil, st.plan.named(err)
		}
		if c != nil {
			all[i] = c
		}
	}
	return all, nil
}

func (r *run) carry(st *step, f Fitted) (*Carried, error) {
	c := &Carried{}
	if len(st.plan.Reads) > 0 || st.plan.Filters || st.plan.Counts {
		return nil, nil
	}
	if held, ok := f.(interface{ byClass() *ByClass }); ok && len(st.plan.Adds) > 0 {
		columns := held.byClass().Columns
		if len(columns) != len(st.plan.Adds) {
			return nil, nil
		}
		for _, column := range columns {
			c.Columns = append(c.Columns, carriedColumn(column))
		}
	} else if len(st.plan.Adds) > 0 {
		return nil, nil
	}
	ranked, ok := f.(Ranked)
	if !ok {
		return c, nil
	}
	c.Ranks, c.RankedBy, c.RankedTable = true, ranked.RankedBy(), rankedTable(ranked)
	classes := r.tables[st.tables[c.RankedTable].id].Classes()
	c.Score, c.Frequency = make([]float64, classes), make([]int64, classes)
	for class := range classes {
		c.Score[class], c.Frequency[class] = ranked.Rank(int64(class))
	}
	return c, nil
}

func carriedColumn(column ClassColumn) CarriedColumn {
	c := CarriedColumn{At: column.At, Table: column.Table, Type: column.Values.DataType().Name()}
	switch v := column.Values.(type) {
	case *array.Float64:
		c.Floats = v.Float64Values()
	case *array.Int64:
		c.Ints = v.Int64Values()
	case *array.Int32:
		c.Narrow = v.Int32Values()
	}
	if column.Values.NullN() > 0 {
		c.Null = make([]bool, column.Values.Len())
		for i := range c.Null {
			c.Null[i] = column.Values.IsNull(i)
		}
	}
	return c
}

func (c CarriedColumn) column() (ClassColumn, error) {
	var has func(i int) bool
	if c.Null != nil {
		has = func(i int) bool { return i < len(c.Null) && !c.Null[i] }
	}
	of := ClassColumn{Table: c.Table, At: c.At}
	switch c.Type {
	case arrow.PrimitiveTypes.Float64.Name():
		of.Values = Values(c.Floats, has)
	case arrow.PrimitiveTypes.Int64.Name():
		of.Values = Values(c.Ints, has)
	case arrow.PrimitiveTypes.Int32.Name():
		of.Values = Values(c.Narrow, has)
	default:
		return of, fmt.Errorf("values by class cannot be of type %s", c.Type)
	}
	return of, nil
}

// Restore is for a worker: it takes the tables of stage n and its operators as Carry gave them, and fits those that it left out.
func (a *Apart) Restore(ctx context.Context, n int, tables []*contingency.Table, carried map[int]*Carried) error {
	if err := a.Put(n, tables); err != nil {
		return err
	}
	env := a.r.env
	env.Warn = func(string, ...any) {} // who fitted it first has said it
	for i := range a.r.chain.steps {
		st := &a.r.chain.steps[i]
		if !st.fitted() || st.stage != n {
			continue
		}
		mine := make([]*contingency.Table, len(st.tables))
		for k, t := range st.tables {
			mine[k] = a.r.tables[t.id]
		}
		var err error
		if c := carried[i]; c != nil {
			a.r.fitted[i], err = c.fitted()
		} else {
			a.r.fitted[i], err = st.plan.Fit(ctx, mine, env)
		}
		if err == nil {
			err = st.plan.checkClasses(a.r.fitted[i], mine)
		}
		if err != nil {
			return st.plan.named(err)
		}
	}
	return nil
}

func (c *Carried) fitted() (Fitted, error) {
	f := &restored{}
	for _, column := range c.Columns {
		of, err := column.column()
		if err != nil {
			return nil, err
		}
		f.Columns = append(f.Columns, of)
	}
	if !c.Ranks {
		return f, nil
	}
	if len(c.Score) != len(c.Frequency) {
		return nil, fmt.Errorf("%d scores of %d classes", len(c.Score), len(c.Frequency))
	}
	return &restoredRank{f, c}, nil
}

// restored is an operator that was fitted elsewhere.
type restored struct{ ByClass }

// Apply is a Fitted's.
func (f *restored) Apply(ctx context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	if len(f.Columns) == 0 {
		return nil, nil, nil
	}
	return f.ByClass.Apply(ctx, mem, rows)
}

// restoredRank is one that ranks.
type restoredRank struct {
	*restored
	of *Carried
}

func (f *restoredRank) RankedBy() string { return f.of.RankedBy }
func (f *restoredRank) RankedTable() int { return f.of.RankedTable }
func (f *restoredRank) Rank(class int64) (float64, int64) {
	return f.of.Score[class], f.of.Frequency[class]
}
