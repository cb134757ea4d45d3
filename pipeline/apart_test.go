package pipeline

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/carried"
	"microrisk/operators/parquetfile"
	"microrisk/pipeline/session"
	"microrisk/schemas/specfile"
)

// apart runs jobs as several processes would: each element of parts is counted and written by a worker that knows no more than a spec and
// bytes.
type apart struct {
	t    *testing.T
	each int // parts an element
	fits int // operators that workers had to fit once more
}

func (a *apart) Check(j *session.Job) error { return j.Apartable() }

func (a *apart) Run(ctx context.Context, j *session.Job, sink operators.Sink, o operators.Options) (*operators.Report, error) {
	driver, err := j.Chain.Apart(ctx, j.Source, o)
	if err != nil {
		return nil, err
	}
	defer driver.Close()
	var elements [][]int
	for i := range driver.Parts() {
		if i%a.each == 0 {
			elements = append(elements, nil)
		}
		elements[len(elements)-1] = append(elements[len(elements)-1], i)
	}
	text, err := j.Bare().JSON()
	require.NoError(a.t, err)
	var states []state
	for n := 1; n <= driver.Stages(); n++ {
		shards := map[string][]*contingency.Table{}
		var seen []operators.Seen
		for _, parts := range elements {
			w := a.worker(ctx, text, states)
			counted, err := w.Count(ctx, n, parts)
			if err != nil {
				return nil, err
			}
			seen = append(seen, counted.Seen)
			for k, t := range counted.Tables {
				whole := make([]bool, len(t.Variables))
				for v, key := range driver.Requests(n)[k].Keys {
					whole[v] = key.Levels != nil
				}
				list, err := t.Shards(ctx, 3, whole)
				require.NoError(a.t, err)
				for s := range list {
					at := fmt.Sprint(k, "/", s)
					shards[at] = append(shards[at], recoded(a.t, list[s]))
				}
			}
			w.Close()
		}
		var tables []*contingency.Table
		for k := range driver.Requests(n) {
			var list []*contingency.Table
			for s := range 3 {
				list = append(list, shards[fmt.Sprint(k, "/", s)]...)
			}
			table, err := contingency.Combine(ctx, 1, o.Memory, driver.Store(), list...)
			require.NoError(a.t, err)
			tables = append(tables, table)
		}
		if err := driver.Take(ctx, n, tables, seen...); err != nil {
			return nil, err
		}
		fitted, err := driver.Carry(n)
		require.NoError(a.t, err)
		var b bytes.Buffer
		require.NoError(a.t, carried.Encode(&b, fitted))
		states = append(states, state{tables, b.Bytes()})
		a.fits += len(j.Chain.Stages()[n-1].Operators) - len(fitted)
	}
	var wrote []*operators.Wrote
	var pieces map[int][]byte
	if sink != nil {
		pieces, wrote, err = a.write(ctx, driver, text, states, elements, len(j.Outputs.Paths) > 1)
		if err != nil {
			return nil, err
		}
		if _, err := sink.Begin(ctx, driver.Parts(), j.Chain.Output()); err != nil {
			return nil, err
		}
		for i := range driver.Parts() {
			require.NoError(a.t, sink.(*parquetfile.Sink).Take(ctx, i, pieces[i]))
		}
	}
	return driver.Finish(ctx, sink, wrote)
}

func (a *apart) write(ctx context.Context, driver *operators.Apart, text []byte, states []state, elements [][]int, several bool) (
	map[int][]byte, []*operators.Wrote, error,
) {
	pieces := map[int][]byte{}
	var wrote []*operators.Wrote
	for _, parts := range elements {
		w := a.worker(ctx, text, states)
		to, err := w.job.Pieces(several, func(part int, piece []byte) error {
			pieces[part] = piece
			return nil
		})
		require.NoError(a.t, err)
		reads, err := to.Begin(ctx, w.Parts(), w.job.Chain.Output())
		require.NoError(a.t, err)
		part, err := w.Write(ctx, to, reads, parts)
		if err != nil {
			return nil, nil, err
		}
		var b bytes.Buffer
		require.NoError(a.t, gob.NewEncoder(&b).Encode(part))
		part = &operators.Wrote{}
		require.NoError(a.t, gob.NewDecoder(&b).Decode(part))
		wrote = append(wrote, part)
		w.Close()
	}
	return pieces, wrote, nil
}

type state struct {
	tables  []*contingency.Table
	carried []byte
}

type worker struct {
	*operators.Apart
	job *session.Job
}

func (w *worker) Close() {
	w.Apart.Close()
	w.job.Source.Close()
}

func (a *apart) worker(ctx context.Context, text []byte, states []state) *worker {
	spec, err := specfile.Decode("bare", text)
	require.NoError(a.t, err)
	job, err := session.Prepare(ctx, spec, session.Options{Spread: true})
	require.NoError(a.t, err)
	w, err := job.Chain.Apart(ctx, job.Source, job.ChainOptions())
	require.NoError(a.t, err)
	for n, s := range states {
		fitted, err := carried.Decode(s.carried)
		require.NoError(a.t, err)
		var tables []*contingency.Table
		for _, t := range s.tables {
			tables = append(tables, recoded(a.t, t))
		}
		require.NoError(a.t, w.Restore(ctx, n+1, tables, fitted))
	}
	return &worker{w, job}
}

// recoded is a table written and read.
func recoded(t *testing.T, table *contingency.Table) *contingency.Table {
	var b bytes.Buffer
	require.NoError(t, contingency.Encode(t.Context(), &b, table))
	table, err := contingency.Decode(t.Context(), &b, 1, 0, nil)
	require.NoError(t, err)
	return table
}

// A resident is a row of the test's files.
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

// apartSpecs are run by one process and by several.
var apartSpecs = map[string]string{
	"suda": `
operators:
  - suda: {contributions: true}`,
	"sets": `
operators:
  - suda: {msus: true}`,
	"mc3": `
operators:
  - mc3: {search: exact}`,
	"frequency": `
operators:
  - frequency: {}`,
	"wildcard": `
key: {variables: [age, sex, area, status], missing: wildcard}
operators:
  - suda: {}`,
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
operators:
  - individual: {}
  - suda: {}`,
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

func apartSpec(name, from, to string) string {
	spec := apartSpecs[name]
	head := "version: 1\nsource: {path: " + from + "}\n"
	if !strings.Contains(spec, "sampling:") {
		head += "sampling: {fraction: 0.1}\n"
	}
	if !strings.Contains(spec, "\nkey: {variables") {
		head += "key: {variables: [age, sex, area, status]}\n"
	}
	return head + "sink: {path: " + to + "}\nsummary: " + filepath.Join(to, "summary.json") + spec
}

// refitted are specs with operators that are more than values by class.
var refitted = map[string]bool{"sets": true, "frequency": true, "several stages": true}

// By parts, in workers, the bytes are those of one process, and so is what is told.
func TestApart(t *testing.T) {
	t.Chdir(t.TempDir())
	residents(t, 2500, 400, "one.parquet", "two.parquet")
	for name := range apartSpecs {
		t.Run(name, func(t *testing.T) {
			run := func(runner session.Runner) (*Outcome, string) {
				dir := filepath.Join(t.TempDir(), "out") + "/"
				spec, err := specfile.Decode("spec", []byte(apartSpec(name, "'*.parquet'", dir)))
				require.NoError(t, err)
				outcome, err := Run(t.Context(), spec, session.Options{Runner: runner, Spread: true})
				require.NoError(t, err)
				outcome.Summary.Run, outcome.Summary.Spec = nil, nil
				return outcome, dir
			}
			want, one := run(nil)
			for _, each := range []int{1, 3} {
				a := &apart{t: t, each: each}
				got, several := run(a)
				assert.Equal(t, want.Summary, got.Summary)
				assert.Equal(t, want.Rankings, got.Rankings)
				assert.Equal(t, want.Written, got.Written)
				assert.Equal(t, refitted[name], a.fits > 0, "%d operators were fitted by workers", a.fits)
				for _, file := range []string{"one.parquet", "two.parquet"} {
					assert.True(t, read(t, one+file) == read(t, several+file), "%s by %d parts", file, each)
				}
			}
		})
	}
}

// What no row has is found though no part knows it.
func TestApartFindsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	residents(t, 500, 100, "one.parquet")
	for name, wrong := range map[string]string{
		"values": "\noperators:\n  - select: {rows: {area: [a1, a77]}}\n  - suda: {}",
		"none":   "\noperators:\n  - select: {rows: {age: {min: 200}}}\n  - suda: {}",
		"map":    "\noperators:\n  - recode: {sex: {map: {q: w}, replace: true}}\n  - suda: {}",
		"bands":  "\noperators:\n  - recode: {status: {width: 3, replace: true}}\n  - suda: {}",
		"levels": "\nkey: {variables: [{name: sex, levels: [m, f, x]}, area]}\noperators:\n  - suda: {}",
		"other":  "\nkey: {variables: [{name: sex, levels: [m]}, area]}\noperators:\n  - suda: {}",
	} {
		t.Run(name, func(t *testing.T) {
			apartSpecs["wrong"] = wrong
			defer delete(apartSpecs, "wrong")
			var said []string
			for _, runner := range []session.Runner{nil, &apart{t: t, each: 2}} {
				spec, err := specfile.Decode("spec", []byte(apartSpec("wrong", "one.parquet", filepath.Join(t.TempDir(), "out")+"/")))
				require.NoError(t, err)
				_, err = Run(t.Context(), spec, session.Options{Runner: runner})
				require.Error(t, err)
				said = append(said, fmt.Sprint(session.IsSpec(err), err))
			}
			assert.Equal(t, said[0], said[1])
		})
	}
}

// What only one process can do is refused before anything is written.
func TestApartRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	residents(t, 500, 100, "one.parquet")
	require.NoError(t, os.WriteFile("people.csv", []byte(people), 0o666))
	for wrong, spec := range map[string]string{
		"people.csv is not Parquet": "version: 1\nsource: {path: people.csv}\nkey: {variables: [sex]}\noperators: [suda: {}]\nsink: {path: out.parquet}\nsampling: {fraction: 0.1}",
		"the output is not Parquet": "version: 1\nsource: {path: one.parquet}\nkey: {variables: [sex]}\noperators: [suda: {}]\nsink: {path: out.csv}\nsampling: {fraction: 0.1}",
		"protect_records must see all rows in their order": "version: 1\nsource: {path: one.parquet}\nkey: {variables: [sex, area]}\noperators: " +
			"[protect_records: {safe: {k: 3}, suppress: cells}]\nsink: {path: out.parquet}",
	} {
		s, err := specfile.Decode("spec", []byte(spec))
		require.NoError(t, err)
		_, err = Run(t.Context(), s, session.Options{Runner: &apart{t: t, each: 2}})
		require.ErrorContains(t, err, wrong)
		assert.True(t, session.IsSpec(err))
		assert.NotContains(t, listing(t), "out.parquet")
	}
}
