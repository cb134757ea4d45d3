// Package operators holds what microrisk does to columns: Arrow in, Arrow out.
//
// An [Operator] is bound to a schema and becomes a [Plan]: which contingency tables it needs and which columns it makes.
// A [Chain] counts the tables of all its operators in one scan of a [Source], hands them over to be fitted, and streams the
// rows through a second time to look up each row's class and hand the new columns to a [Sink]:
//
//	key := schemas.Key{Variables: []schemas.KeyVariable{{Name: "age"}, {Name: "sex"}}}
//	chain, err := operators.NewChain(source.Schema(), suda.Operator{Key: key})
//	report, err := chain.Run(ctx, source, sink, operators.Options{})
//
// The package knows Arrow but no file format; parquetfile, arrowfile and csvfile have the sources and sinks of files.
package operators

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// An Operator makes columns, or chooses rows, from the columns it is given. Bind does no I/O: wrong names and types are
// found here.
type Operator interface {
	Bind(in *arrow.Schema) (*Plan, error)
}

// A Plan is an operator bound to a schema.
type Plan struct {
	Name   string                // prefix of its columns, and its key in the summary; "" for one without a summary
	Who    string                // what to call it where Name is ""
	Reads  []string              // columns wanted row by row (none for an operator that only looks at classes)
	Tables []contingency.Request // equal requests of a chain are counted once
	Adds   []Added               // columns made, in order
	Drops  []string              // columns that leave the output; operators that follow still see them

	Counts   bool // Apply looks at Rows.Count
	Filters  bool // Apply may return a bitmap of the rows to keep
	KeepRows bool // rows not kept stay in the output, without values from the operators that follow
	// InOrder says that Apply is to be called with the rows in their order, by one goroutine; the Fitted is a Starting.
	InOrder bool

	// Fit makes the operator from its tables, in the order of Tables; nil if it is stateless, then Apply says what it does.
	Fit   func(ctx context.Context, tables []*contingency.Table, env Env) (Fitted, error)
	Apply Fitted
}

// An Added is a column that an operator makes.
type Added struct {
	arrow.Field
	Replaces string // the column whose place it takes, "" for a place at the end
	Hidden   bool   // for the operators that follow, not for the output
}

// Env is what an operator may use while it is fitted.
type Env struct {
	Allocator memory.Allocator
	Workers   int           // goroutines, at least 1
	Budget    budget.Budget // of memory and work
	// MemoryGiven is Options'.
	MemoryGiven bool
	Seed        uint64
	Logger      *slog.Logger
	Warn        func(format string, args ...any)      // a warning for the summary and the log, as of package advice
	Progress    func(stage string, done, total int64) // never nil
}

// A Fitted operator is immutable and safe for concurrent use.
type Fitted interface {
	// Apply returns one array a column of Plan.Adds, of the batch's length and of the column's type or coded (see Want), and
	// which rows to keep, nil for all. Rows with a class of -1 in a table are not in it: they get null.
	Apply(ctx context.Context, mem memory.Allocator, rows Rows) (columns []arrow.Array, keep *Bitmap, err error)
	// Summary is a plain struct of package schemas, nil for none.
	Summary() any
}

// A Starting is a Fitted that looks at rows in their order: Start is called before the first of each scan.
type Starting interface{ Start() }

// Rows is a batch that is being annotated.
type Rows struct {
	Batch arrow.Record // the columns of Plan.Reads, in that order: coded if their type has equality, else as they are
	Class [][]int64    // Class[t][r]: ordinal of row r in table t, -1 for none; nil for a table without keys
	Count [][]int64    // Count[t][r]: records in that class, if Plan.Counts asks for it; undefined for class -1

	Chosen *Bitmap // rows that the operators before it chose; nil for all. What becomes of others is not looked at
}

// Has tells whether row r counts, as no operator before left it out.
func (r Rows) Has(row int) bool { return r.Chosen == nil || r.Chosen.Get(row) }

// A RowError is what Apply says of a value of a row of its batch.
type RowError struct {
	Row    int
	Column string // that the text names
	Err    error
}

func (e *RowError) Error() string { return e.Err.Error() }
func (e *RowError) Unwrap() error { return e.Err }

// A Releaser is what a Fitted may also be: it holds memory of Env.Allocator. Release is called once, at the end of the run that fitted it,
// however that ends.
type Releaser interface{ Release() }

// Ranked is what a Fitted may also be: it ranks the classes of its first table by their risk, for Report.Rankings.
type Ranked interface {
	RankedBy() string // the column with the score
	Rank(class int64) (score float64, frequency int64)
}

// RankedBeside is what a Ranked may also be: it ranks the classes of another table of its plan.
type RankedBeside interface{ RankedTable() int }

// rankedTable is the place of the table whose classes are ranked.
func rankedTable(f Ranked) int {
	if r, ok := f.(RankedBeside); ok {
		return r.RankedTable()
	}
	return 0
}

// An UnknownColumnError says that an operator names a column that is not there.
type UnknownColumnError struct {
	Operator, Column string
	Nearest          string // a column with a similar name, "" for none
}

func (e *UnknownColumnError) Error() string {
	s := fmt.Sprintf("%s: there is no column %q", e.Operator, e.Column)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// LookUp finds a column that an operator names.
func LookUp(operator string, in *arrow.Schema, name string) (arrow.Field, error) {
	fields, ok := in.FieldsByName(name)
	if ok {
		return fields[0], nil
	}
	names := make([]string, 0, in.NumFields())
	for _, f := range in.Fields() {
		names = append(names, f.Name)
	}
	return arrow.Field{}, &UnknownColumnError{Operator: operator, Column: name, Nearest: schemas.Nearest(name, names)}
}
