package parquetfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// addition is a set of new columns of many types, whose values follow from the row number.
type addition struct {
	fields []arrow.Field
	append func(b []array.Builder, row int64)
}

func riskColumns() addition {
	return addition{
		fields: []arrow.Field{
			{Name: "new_score", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
			{Name: "new_count", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			{Name: "new_frequency", Type: arrow.PrimitiveTypes.Int64},
			{Name: "new.label", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: "new_msus", Type: arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), Nullable: true},
		},
		append: func(b []array.Builder, row int64) {
			if row%3 == 0 {
				b[0].AppendNull()
			} else {
				b[0].(*array.Float64Builder).Append(float64(row%7) / 7)
			}
			if row%5 == 0 {
				b[1].(*array.Int32Builder).AppendNull()
			} else {
				b[1].(*array.Int32Builder).Append(int32(row%11) - 5)
			}
			b[2].(*array.Int64Builder).Append(row)
			b[3].(*array.StringBuilder).Append(fmt.Sprintf("label %d", row%13))
			lists := b[4].(*array.ListBuilder)
			if row%4 == 0 {
				lists.AppendNull()
				return
			}
			lists.Append(true)
			inner := lists.ValueBuilder().(*array.ListBuilder)
			for i := range row % 4 {
				inner.Append(true)
				for j := range i {
					inner.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprintf("K%d", j))
				}
			}
		},
	}
}

type writeCase struct {
	workers, batch int
	add            addition
	drops          []string
	keep           func(row int64) bool // nil for all
	options        SinkOptions
	metadata       map[string]string
}

// annotate writes a source with new columns as a chain would.
func annotate(t testing.TB, src operators.Source, outputs []string, c writeCase) {
	t.Helper()
	require.NoError(t, tryAnnotate(t, src, outputs, c))
}

func tryAnnotate(t testing.TB, src operators.Source, outputs []string, c writeCase) error {
	t.Helper()
	ctx := context.Background()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	sink, err := NewSink(src, outputs, c.options)
	if err != nil {
		return err
	}
	defer sink.Abort()
	parts, err := src.Parts(ctx)
	require.NoError(t, err)
	var out []operators.Output
	dropped := map[string]bool{}
	for _, d := range c.drops {
		dropped[d] = true
	}
	for _, f := range src.Schema().Fields() {
		if !dropped[f.Name] {
			out = append(out, operators.Output{Field: f, Input: true})
		}
	}
	for _, f := range c.add.fields {
		out = append(out, operators.Output{Field: f})
	}
	reads, err := sink.Begin(ctx, parts, out)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, len(parts))
	queue := make(chan int, len(parts))
	for i := range parts {
		queue <- i
	}
	close(queue)
	for range max(c.workers, 1) {
		group.Go(func() {
			for i := range queue {
				if errs[i] = writePart(ctx, mem, sink, parts[i], i, reads, c); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return sink.Commit(ctx, c.metadata)
}

func writePart(ctx context.Context, mem memory.Allocator, sink *Sink, p operators.Part, i int, reads []string, c writeCase) error {
	w, err := sink.Part(ctx, i)
	if err != nil {
		return err
	}
	want := []operators.Want{}
	for _, name := range reads {
		want = append(want, operators.Want{Name: name})
	}
	r, err := p.Read(ctx, mem, want, c.batch)
	if err != nil {
		return err
	}
	defer r.Release()
	row := p.FirstRow()
	for r.Next() {
		n := r.Record().NumRows()
		builders := make([]array.Builder, len(c.add.fields))
		for k, f := range c.add.fields {
			builders[k] = array.NewBuilder(mem, f.Type)
		}
		var keep *operators.Bitmap
		if c.keep != nil {
			keep = operators.NewBitmap(int(n))
		}
		for j := range n {
			if len(builders) > 0 {
				c.add.append(builders, row+j)
			}
			if keep != nil && c.keep(row+j) {
				keep.Set(int(j))
			}
		}
		row += n
		arrays := make([]arrow.Array, len(builders))
		for k, b := range builders {
			arrays[k] = b.NewArray()
			b.Release()
		}
		err := w.Write(r.Record(), arrays, keep)
		for _, a := range arrays {
			a.Release()
		}
		if err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	return w.Close()
}

func TestSpliceKeepsEveryColumnOfOthersFiles(t *testing.T) {
	for _, path := range sharedFiles(t, "interop/*.parquet") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := openSource(t, path)
			out := filepath.Join(t.TempDir(), "out.parquet")
			if dir := os.Getenv("MICRORISK_KEEP"); dir != "" {
				out = filepath.Join(dir, filepath.Base(path))
			}
			c := writeCase{workers: 2, batch: 1000, add: riskColumns(), metadata: map[string]string{"microrisk": "{}"}}
			annotate(t, s, []string{out}, c)
			o := openSource(t, out)
			require.Equal(t, s.Rows(), o.Rows())
			require.Equal(t, s.Schema().NumFields()+5, o.Schema().NumFields())
			for _, f := range s.Schema().Fields() {
				if arrow.IsNested(f.Type.ID()) {
					continue
				}
				require.Equal(t, columnTexts(t, s, operators.Want{Name: f.Name}, 0), columnTexts(t, o, operators.Want{Name: f.Name}, 0))
			}
			require.Equal(t, "label 5", columnTexts(t, o, operators.Want{Name: "new.label"}, 0)[5])
		})
	}
}
