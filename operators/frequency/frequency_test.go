package frequency_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators"
	"microrisk/operators/frequency"
	"microrisk/operators/operatortest"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/schemas"
)

func TestFrequency(t *testing.T) {
	for missing, want := range map[string][]string{
		"category": {"x 1 2", "x _ 1", "y 1 1", "x 1 2"},
		"drop":     {"x 1 2", "x _ _", "y 1 1", "x 1 2"},
		"wildcard": {"x 1 3", "x _ 3", "y 1 1", "x 1 3"},
		"ignore":   {"x 1 2", "x _ 1", "y 1 1", "x 1 2"},
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		t.Cleanup(func() { mem.AssertSize(t, 0) })
		source := operatortest.Lines(t, mem, 3, "A B", "x 1", "x _", "y 1", "x 1")
		out, report, err := operatortest.Table(
			t,
			mem,
			source,
			operators.Options{},
			frequency.Operator{Key: operatortest.Key("A", "B"), Config: frequency.Config{MeasureOptions: schemas.MeasureOptions{Missing: missing}}},
		)
		require.NoError(t, err)
		require.Equal(t, append([]string{"A B sample_frequency"}, want...), out, missing)
		summary := report.Operators[0].Summary.(*frequency.Summary)
		require.Equal(t, missing, summary.KeySummary.Variables[0].Policy)
	}
}

// With little memory tables spill, and go to disk: the output is the same, for any batches and workers, and nothing is left.
func TestFrequencyWithLittleMemory(t *testing.T) {
	var rows []string
	for i := range 8000 {
		rows = append(rows, fmt.Sprintf("%d %d %d", i*7919%5003, i%3, i*i%5))
	}
	rows[17] = "_ _ _"
	k := operatortest.Key("A", "B")
	no := false
	ops := []operators.Operator{
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "C", Values: []string{"0", "1"}}}, KeepRows: true}},
		recode.Operator{Config: recode.Column{Name: "A2", From: "A", Width: 2, Keep: &no}},
		frequency.Operator{Key: k},
		frequency.Operator{
			Key: k,
			Config: frequency.Config{
				MeasureOptions: schemas.MeasureOptions{Prefix: "coarse", Key: &schemas.Key{Missing: "drop", Variables: []schemas.KeyVariable{{Name: "A2"}, {Name: "B"}}}},
			},
		},
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "sample_frequency", Values: []string{"1"}}}}},
		frequency.Operator{Key: k, Config: frequency.Config{
			MeasureOptions: schemas.MeasureOptions{Prefix: "rest", Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "B"}, {Name: "A2"}}}},
		}},
	}
	want, _, err := operatortest.Table(
		t,
		memory.DefaultAllocator,
		operatortest.Lines(t, memory.DefaultAllocator, 5000, "A B C", rows...),
		operators.Options{Workers: 1},
		ops...)
	require.NoError(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "temp")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		source := operatortest.Lines(t, mem, rapid.IntRange(500, 8000).Draw(rt, "part"), "A B C", rows...)
		o := operators.Options{Workers: rapid.IntRange(1, 3).Draw(rt, "workers"), Batch: rapid.IntRange(100, 2000).Draw(rt, "batch"),
			Memory: rapid.Int64Range(1<<10, 1<<21).Draw(rt, "memory"), TempDir: dir}
		got, report, err := operatortest.Table(t, mem, source, o, ops...)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if o.Memory < 1<<15 {
			require.Positive(t, report.Spilled)
		}
		source.Release()
		mem.AssertSize(t, 0)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	})
}
