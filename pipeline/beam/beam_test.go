package beam

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas/specfile"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args))
	}
	flag.Parse()
	sdk.Init()
	quiet()
	os.Exit(m.Run())
}

// A resident is a row of the tests' files.
type resident struct {
	ID     int64   `parquet:"id"`
	Age    int32   `parquet:"age"`
	Sex    string  `parquet:"sex,dict"`
	Area   *string `parquet:"area,dict"`
	Status *string `parquet:"status,dict"`
	Weight float64 `parquet:"weight"`
}

// residents writes files of several row groups, with values that not all of these have.
func residents(t *testing.T, rows, group int, paths ...string) {
	r := rand.New(rand.NewPCG(1, 2))
	for n, path := range paths {
		f, err := os.Create(path)
		require.NoError(t, err)
		w := parquet.NewGenericWriter[resident](f, parquet.MaxRowsPerRowGroup(int64(group)))
		for i := range rows {
			p := resident{ID: int64(n*rows + i), Age: int32(r.IntN(90)), Sex: []string{"m", "f"}[r.IntN(2)], Weight: 1 + float64(r.IntN(50))/7}
			if area := fmt.Sprint("a", r.IntN(4)+i/group); r.IntN(20) > 0 {
				p.Area = &area
			}
			if status := []string{"single", "married", "widowed"}[r.IntN(3)]; r.IntN(9) > 0 {
				p.Status = &status
			}
			_, err := w.Write([]resident{p})
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.NoError(t, f.Close())
	}
}

// specs are run by one process and by Beam.
var specs = map[string]string{
	"suda": `
operators: [suda: {contributions: true}]`,
	"sets": `
operators: [suda: {msus: true}]`,
	"mc3": `
operators: [mc3: {search: exact}]`,
	"frequency": `
operators: [frequency: {}]`,
	"wildcard": `
key: {variables: [age, sex, area, status], missing: wildcard}
operators: [suda: {}]`,
	"recode and select": `
key: {variables: [band, sex, area, status], missing: drop}
operators:
  - recode: {band: {from: age, width: 10}}
  - select: {rows: {age: {min: 16}, area: [a1, a2, a6]}}
  - suda: {}`,
	"kept rows": `
operators:
  - select: {rows: {sex: [m]}, keep_rows: true}
  - suda: {}
  - mc3: {}`,
	"several stages": `
operators:
  - frequency: {}
  - recode: {often: {from: sample_frequency, width: 3}}
  - kanonymity: {k: 3, key: {variables: [often, sex]}}
  - suda: {}`,
	"weights": `
sampling: {weight: weight}
operators: [individual: {}, suda: {}]`,
	"levels": `
key: {variables: [{name: sex, levels: [m, f, x]}, area, status]}
allow_empty: true
operators:
  - suda: {}
  - ldiversity: {sensitive: [status], key: {variables: [sex, area]}}`,
	"sap": `
operators:
  - sap: {by: [area], cells: [sex, status], release: {scheme: conventional, base: 5, total: same}, known: [2, 5]}`,
}

func specOf(spec, from, to string) string {
	head := "version: 1\nsource: {path: " + from + "}\n"
	if !strings.Contains(spec, "sampling:") {
		head += "sampling: {fraction: 0.1}\n"
	}
	if !strings.Contains(spec, "\nkey: {variables") {
		head += "key: {variables: [age, sex, area, status]}\n"
	}
	return head + "sink: {path: " + to + "}\nsummary: " + filepath.Join(filepath.Dir(to), "summary.json") + spec
}

// ran runs a spec; it gives the outcome and the bytes of the outputs.
func ran(t *testing.T, text string, runner session.Runner) (*pipeline.Outcome, []string) {
	t.Helper()
	outcome, err := run(t, text, runner)
	require.NoError(t, err)
	outcome.Summary.Run, outcome.Summary.Spec = nil, nil
	var outputs []string
	for _, path := range outcome.Outputs {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		outputs = append(outputs, string(b))
	}
	return outcome, outputs
}

func run(t *testing.T, text string, runner session.Runner) (*pipeline.Outcome, error) {
	spec, err := specfile.Decode("spec", []byte(text))
	require.NoError(t, err)
	return pipeline.Run(t.Context(), spec, session.Options{Runner: runner, Spread: true, TempDir: t.TempDir()})
}

// same compares what came of two runs.
func same(t *testing.T, text func(to string) string, runner session.Runner) {
	t.Helper()
	want, one := ran(t, text(t.TempDir()+"/"), nil)
	got, other := ran(t, text(t.TempDir()+"/"), runner)
	assert.Equal(t, want.Summary, got.Summary)
	assert.Equal(t, want.Rankings, got.Rankings)
	require.Len(t, other, len(one))
	for i := range one {
		assert.True(t, one[i] == other[i], "output %d: %d bytes, %d by Beam", i, len(one[i]), len(other[i]))
	}
}

// The outputs of Beam are those of one process, byte for byte, whether workers know the driver or only what it wrote.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"), filepath.Join(dir, "two.parquet"))
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			text := func(to string) string { return specOf(spec, "'"+filepath.Join(dir, "*.parquet")+"'", to) }
			same(t, text, &Runner{Rows: 900, Shards: 3})
			same(t, text, &Runner{Rows: 1, Shards: 2, reload: true})
		})
	}
}

// Tables that do not fit in memory are kept on the disk of driver and workers, and the bytes are the same; what an element cannot hold is told.
func TestLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.parquet")
	residents(t, 20000, 500, path)
	text := func(to string) string {
		return specOf("\nkey: {variables: [id, age]}\noperators: [frequency: {}]", path, to)
	}
	_, want := ran(t, text(t.TempDir()+"/"), nil)
	for _, reload := range []bool{false, true} {
		spec, err := specfile.Decode("spec", []byte(text(t.TempDir()+"/")))
		require.NoError(t, err)
		outcome, err := pipeline.Run(t.Context(), spec, session.Options{Runner: &Runner{Rows: 1, Shards: 2, reload: reload}, Memory: 200_000, Workers: 2})
		require.NoError(t, err)
		assert.Positive(t, outcome.Summary.Run.SpilledBytes)
		got, err := os.ReadFile(outcome.Outputs[0])
		require.NoError(t, err)
		assert.True(t, want[0] == string(got))
	}
	spec, err := specfile.Decode("spec", []byte(text(t.TempDir()+"/")))
	require.NoError(t, err)
	_, err = pipeline.Run(t.Context(), spec, session.Options{Runner: &Runner{Rows: 1 << 20}, Memory: 200_000})
	require.ErrorContains(t, err, "take smaller elements (--element_rows)")
}
