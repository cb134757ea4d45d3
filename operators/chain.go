package operators

import (
	"context"
	"errors"
	"log/slog"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A Chain is a list of operators bound to a schema, in stages: all operators of a stage are counted in one scan.
type Chain struct{}

// Options of a run. The zero value is good.
type Options struct {
	Allocator memory.Allocator // nil: Go's
	Workers   int              // 0: GOMAXPROCS
	Batch     int              // rows a batch, 0: the source's choice
	Memory    int64            // bytes that tables may take, 0: no limit
	Seed      uint64
	Logger    *slog.Logger                          // nil: none
	Count     string                                // the column that says how many records a row stands for, "" for one each
	Progress  func(stage string, done, total int64) // called from several goroutines; rows, or the unit of a search
	// Finish is called when all operators are fitted and all rows written, before the sink commits: it gives the metadata for the sink,
	// or an error that stops the run.
	Finish func(*Report) (map[string]string, error)
}

// A Report tells what a run saw.
type Report struct {
	Rows      int64            // of the source
	Written   int64            // rows of the output
	Operators []OperatorReport // one an operator with a summary, in order
	Warnings  []string
	Riskiest  []RiskyRow // filled by the final scan for the first suda operator: the five highest scores, by score then row
}

// An OperatorReport is the summary of a fitted operator.
type OperatorReport struct {
	Name    string // the prefix of its columns
	Summary any
}

// A RiskyRow is one of the records with the highest scores.
type RiskyRow struct {
	Input     int   // index of the input
	Row       int64 // in that input, from 0
	Score     float64
	Frequency int64
}

// A Stage is a scan that counts tables.
type Stage struct {
	Operators []string // what is fitted from its tables
	Tables    []string // the key variables of each table, as text
}

// NewChain binds the operators one after the other, each to the schema that the ones before it leave.
func NewChain(in *arrow.Schema, operators ...Operator) (*Chain, error) {
	return nil, errors.New("chain: unfinished")
}

// Stages are the counting scans; after them comes the scan that writes.
func (c *Chain) Stages() []Stage { return nil }

// Output has the columns of the output, in order.
func (c *Chain) Output() []Output { return nil }

// Filters reports whether rows leave the output.
func (c *Chain) Filters() bool { return false }

// Run reads source, fits the operators, and writes to sink (nil: nothing is written, the operators are only fitted).
func (c *Chain) Run(ctx context.Context, source Source, sink Sink, o Options) (*Report, error) {
	return nil, errors.New("chain: unfinished")
}
