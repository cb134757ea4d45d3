package command

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/parquetfile"
	"microrisk/schemas"
)

// With MICRORISK_MAIN in the environment the test's program is microrisk itself, so that a process of its own can be measured.
func init() {
	if os.Getenv("MICRORISK_MAIN") != "" {
		os.Exit(Main(os.Args))
	}
}

// manyKeys writes a Parquet file of parts with 100,000 rows each, nearly every row with a key of its own.
func manyKeys(t *testing.T, path string, parts int) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.PrimitiveTypes.Int32}}, nil)
	var records []arrow.Record
	for p := range parts {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 100_000 {
			x := uint32(p*100_000+i) * 2654435769
			b.Field(0).(*array.Int32Builder).Append(int32(x >> 20))
			b.Field(1).(*array.Int32Builder).Append(int32(x >> 8 & 0xfff))
		}
		records = append(records, b.NewRecord())
	}
	reader, err := array.NewRecordReader(schema, records)
	require.NoError(t, err)
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	sink, err := parquetfile.Create(source, []string{path}, parquetfile.SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(schema)
	require.NoError(t, err)
	_, err = chain.Run(context.Background(), source, sink, operators.Options{})
	require.NoError(t, err)
}

// The limit is obeyed by the whole process, tables that go to disk give the same file, and nothing is left in the temporary folder.
func TestMemoryIsObeyed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the largest resident size is measured on Linux")
	}
	if testing.Short() {
		t.Skip("counts 2,000,000 keys twice")
	}
	dir := t.TempDir()
	in, temp := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "temp")
	manyKeys(t, in, 20)
	require.NoError(t, os.Mkdir(temp, 0o700))
	run := func(limit string) (*schemas.RunSummary, []byte) {
		out, summary := filepath.Join(dir, limit+".parquet"), filepath.Join(dir, limit+".json")
		c := exec.Command(os.Args[0], "assess", in, "--key", "a,b", "--measures", "frequency", "--out", out, "--summary", summary,
			"--memory", limit, "--temp-dir", temp, "--quiet")
		c.Env = append(os.Environ(), "MICRORISK_MAIN=1")
		text, err := c.CombinedOutput()
		require.NoError(t, err, string(text))
		document, err := os.ReadFile(summary)
		require.NoError(t, err)
		var s schemas.Summary
		require.NoError(t, json.Unmarshal(document, &s))
		written, err := os.ReadFile(out)
		require.NoError(t, err)
		return s.Run, written
	}
	free, want := run("8GiB")
	little, got := run("16MiB")
	t.Logf(
		"peak memory %d MB without a limit, %d MB with 16 MiB for tables, %d MB spilled",
		free.PeakMemoryBytes/1e6,
		little.PeakMemoryBytes/1e6,
		little.SpilledBytes/1e6,
	)
	require.Zero(t, free.SpilledBytes)
	require.Positive(t, little.SpilledBytes)
	if !raceDetector {
		require.Less(t, little.PeakMemoryBytes, int64(16<<20+2*ownMemory))
	}
	require.Equal(t, want, got)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
