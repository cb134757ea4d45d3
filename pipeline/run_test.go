package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// people has sample uniques 0, 3 and 4, one double and one missing value.
const people = `id,age,sex,area
0,31,m,north
1,31,f,north
2,31,f,north
3,40,m,north
4,40,f,
`

// inFolder makes files of text in a fresh current folder.
func inFolder(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

func keyOf(names ...string) *schemas.Key {
	k := &schemas.Key{}
	for _, n := range names {
		k.Variables = append(k.Variables, schemas.KeyVariable{Name: n})
	}
	return k
}

// assess is the spec that most tests change a little.
func assess(source, sink string) *schemas.Spec {
	return &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Sampling: &schemas.Sampling{Fraction: 0.1}, Key: keyOf("age", "sex", "area"),
		Operators: []schemas.Operator{{Config: &suda.Config{}}}, Sink: schemas.Sink{Path: sink}}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// listing has the names of all files below the current folder.
func listing(t *testing.T) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	}))
	return names
}

func TestRun(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	spec := assess("people.csv", "risk.csv")
	spec.Summary = "risk.json"
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, `id,age,sex,area,sample_frequency,suda_score,suda_is,suda_dis_is,suda_msu_count,suda_msu_min_size
0,31,m,north,1,`, read(t, "risk.csv")[:len("id,age,sex,area,sample_frequency,suda_score,suda_is,suda_dis_is,suda_msu_count,suda_msu_min_size\n0,31,m,north,1,")])
	assert.EqualValues(t, 5, o.Written)
	assert.Equal(t, []string{"risk.csv"}, o.Outputs)
	require.NotEmpty(t, o.Rankings)
	assert.EqualValues(t, 4, o.Rankings[0].Rows[0].Row, "the only record without an area")

	var s schemas.Summary
	require.NoError(t, json.Unmarshal([]byte(read(t, "risk.json")), &s))
	assert.EqualValues(t, 5, s.Rows)
	assert.EqualValues(t, 4, s.Key.Classes)
	assert.EqualValues(t, 3, s.Key.SampleUniques)
	assert.EqualValues(t, 1, s.Key.Doubles)
	assert.EqualValues(t, 1, s.Key.Variables[2].Missing)
	assert.Equal(t, 0.1, *s.Sampling.Fraction)
	assert.Positive(t, s.Run.PeakMemoryBytes)
	suda := o.Summary.Operators["suda"].(*suda.Summary)
	assert.Nil(t, suda.KeySummary, "the key is described once")
	assert.InDelta(t, 0.1*3/(0.1*3+2*0.9*1), *suda.DIS, 1e-15)
}

func TestKindsOfFiles(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	var want string
	from := "people.csv"
	for _, to := range []string{"a.csv", "b.arrow", "c.parquet", "d.arrow", "e.parquet", "f.csv"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			spec := assess(from, to)
			spec.Operators[0].Config.(*suda.Config).Replace = true
			_, err := Run(t.Context(), spec, session.Options{})
			require.NoError(t, err)
			if want == "" {
				want = read(t, to)
			} else if strings.HasSuffix(to, ".csv") {
				assert.Equal(t, want, read(t, to))
			}
		})
		from = to
	}
}

// The output is the same to the byte for any number of workers and any size of batches.
func TestSameBytes(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,age,sex,area\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "%d,%d,%c,%d\n", i, i*i%71, "mf"[i%2], i*7%13)
	}
	inFolder(t, map[string]string{"in.csv": text.String()})
	_, err := Run(t.Context(), assess("in.csv", "in.parquet"), session.Options{})
	require.NoError(t, err)
	for _, ending := range []string{"csv", "parquet", "arrow"} {
		var want string
		for _, o := range []session.Options{{Workers: 1}, {Workers: 2}, {Workers: 7, Batch: 33}, {Workers: 1, Batch: 1000}} {
			spec := assess("in.parquet", "out."+ending)
			spec.Operators[0].Config = &suda.Config{MeasureOptions: schemas.MeasureOptions{Replace: true}, Contributions: true, MSUs: true}
			_, err := Run(t.Context(), spec, o)
			require.NoError(t, err)
			if ending == "arrow" && o.Batch != 0 {
				continue // its record batches are the batches
			}
			if want == "" {
				want = read(t, "out."+ending)
			}
			assert.True(t, want == read(t, "out."+ending), "%s: %+v", ending, o)
		}
	}
}

func TestSeveralInputs(t *testing.T) {
	inFolder(t, map[string]string{"in/a.csv": people, "in/b.csv": people, "out/keep": "", "year=2020/c.csv": people})
	o, err := Run(t.Context(), assess("in", "out"), session.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join("out", "a.csv"), filepath.Join("out", "b.csv")}, o.Outputs)
	assert.Contains(t, read(t, "out/a.csv"), "0,31,m,north,2,", "records are counted over all inputs")
	assert.Equal(t, read(t, "out/a.csv"), read(t, "out/b.csv"))

	o, err = Run(t.Context(), assess("in", "one.csv"), session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 10, o.Written)
	assert.Equal(t, 11, strings.Count(read(t, "one.csv"), "\n"))

	spec := assess("year=*", "")
	spec.Key = keyOf("age", "year")
	spec.Source.Path = []string{"year=2020/c.csv"}
	_, err = Run(t.Context(), spec, session.Options{})
	require.NoError(t, err, "the name of a folder is a column")
}

func TestOperatorsInOrder(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	no := false
	spec := assess("people.csv", "risk.csv")
	spec.Operators = []schemas.Operator{
		{Config: &recode.Config{{Name: "age", Width: 20, Replace: true, Keep: &no}, {Name: "initial", From: "area", Truncate: 1}}},
		{Config: &selection.Config{Rows: []selection.Condition{{Column: "sex", Values: []string{"f"}}}}},
		{Config: &suda.Config{}},
		{Config: &suda.Config{MeasureOptions: schemas.MeasureOptions{Prefix: "again"}, MaxSize: 1}},
		{Config: &suda.Config{MeasureOptions: schemas.MeasureOptions{Prefix: "small", Key: keyOf("sex")}}},
	}
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, o.Written)
	header, rest, _ := strings.Cut(read(t, "risk.csv"), "\n")
	assert.Equal(t, 1, strings.Count(","+header+",", ",sample_frequency,"), "it is written once for the spec's key")
	assert.Contains(t, header, "small_sample_frequency")
	assert.NotContains(t, header, "again_sample_frequency")
	assert.True(t, strings.HasPrefix(rest, "1,31,f,north,n,2,"), "the band only feeds the key: %s", rest)

	spec.Operators[1].Config.(*selection.Config).KeepRows = true
	o, err = Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, o.Written)
	assert.Contains(t, read(t, "risk.csv"), "\n0,31,m,north,n,,,", "rows that are not chosen have no values of risk")
}

func TestTableAsSource(t *testing.T) {
	inFolder(t, map[string]string{"counts.csv": "age,sex,n\n31,m,1\n31,f,2\n40,m,0\n40,f,1\n"})
	spec := assess("", "risk.csv")
	spec.Source = schemas.Source{Table: "counts.csv", Count: "n"}
	spec.Key = keyOf("age", "sex")
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, o.Summary.Key.Classes)
	assert.EqualValues(t, 2, o.Summary.Key.SampleUniques)
	assert.EqualValues(t, 4, o.Summary.Operators["suda"].(*suda.Summary).Records)
}

func TestOnlyFits(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	var out bytes.Buffer
	spec := assess("people.csv", "")
	spec.Summary = "-"
	o, err := Run(t.Context(), spec, session.Options{Stdout: &out})
	require.NoError(t, err)
	assert.Empty(t, o.Outputs)
	assert.Equal(t, []string{"people.csv"}, listing(t))
	var s schemas.Summary
	require.NoError(t, json.Unmarshal(out.Bytes(), &s))
	assert.EqualValues(t, 4, s.Key.Classes)
}

func TestStreams(t *testing.T) {
	header, rows, _ := strings.Cut(people, "\n")
	inFolder(t, map[string]string{"people.csv": header + "\n" + strings.Repeat(rows, 5000)})
	var first, second bytes.Buffer
	_, err := Run(t.Context(), assess("people.csv", "-"), session.Options{Stdout: &first})
	require.NoError(t, err)
	spec := assess("-", "-")
	spec.Operators[0].Config.(*suda.Config).Prefix = "again"
	spec.Operators[0].Config.(*suda.Config).Replace = true
	const memory = 1 << 20 // so little that the stream is kept in a file
	require.Greater(t, first.Len(), memory/4)
	o, err := Run(t.Context(), spec, session.Options{Stdin: bytes.NewReader(first.Bytes()), Stdout: &second, Memory: memory, TempDir: "."})
	require.NoError(t, err)
	assert.Equal(t, []string{"-"}, o.Outputs)
	assert.Equal(t, []string{"people.csv"}, listing(t), "the file is gone")
	_, err = Run(t.Context(), assess("-", "out.csv"), session.Options{Stdin: strings.NewReader("")})
	require.ErrorContains(t, err, "standard input is empty")
	_, err = Run(t.Context(), assess("-", "out.csv"), session.Options{Stdin: strings.NewReader("hello, this is no stream of Arrow at all")})
	require.Error(t, err)
	assert.Equal(t, []string{"people.csv"}, listing(t))
}

// A run that waits for standard input ends when it is told to.
func TestInterruptedWhileReading(t *testing.T) {
	inFolder(t, nil)
	in, end := io.Pipe()
	defer end.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := Run(ctx, assess("-", "out.csv"), session.Options{Stdin: in})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, listing(t))
}

// A run that is cancelled at any moment leaves nothing behind.
func TestInterruptedAnywhere(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	for stop := int64(1); ; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		spec := assess("people.csv", "risk.csv")
		spec.Summary = "risk.json"
		_, err := Run(ctx, spec, session.Options{Workers: 1, Batch: 1, Progress: func(string, int64, int64) {
			if calls.Add(1) == stop {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			assert.Greater(t, stop, int64(5))
			break
		}
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
		require.Equal(t, []string{"people.csv"}, listing(t), "stopped at call %d", stop)
	}
}

func TestLimits(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	spec := assess("people.csv", "risk.csv")
	spec.Limits = map[string]schemas.Limit{
		schemas.LimitSampleUniques:     {Max: 2},
		schemas.LimitClasses:           {Max: 4},
		schemas.LimitDoubles:           {Max: 0.5},
		schemas.LimitSampleUniqueShare: {Max: 0.6},
		suda.LimitSpecialUniques:       {Max: 0},
		suda.LimitMSUs:                 {Max: 1},
		suda.LimitDIS:                  {Max: 0.01},
		suda.LimitMaxScore:             {Max: 0},
		suda.LimitFileScore:            {Max: 0},
	}
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	assert.FileExists(t, "risk.csv", "outputs are written")
	var names, texts []string
	for _, b := range o.Breaches {
		names = append(names, b.Limit)
		texts = append(texts, b.String())
	}
	slices.Sort(names)
	assert.Equal(
		t,
		[]string{"dis", "doubles", "file_score", "max_score", "msus", "sample_uniques", "special_uniques"},
		names,
		"4 classes and a share of 0.6 are allowed",
	)
	assert.Contains(t, texts, "limit breached: sample_uniques is 3, at most 2 is allowed")
	assert.Contains(t, texts, "limit breached: dis of suda is 0.142857, at most 0.01 is allowed")
}

func TestFailuresLeaveNothing(t *testing.T) {
	texts := map[string]string{
		"people.csv":      people,
		"weights.csv":     "age,sex,w\n31,m,2\n31,f,0\n",
		"huge.csv":        "age,sex,w\n31,m,2\n31,f,inf\n",
		"empty.csv":       "",
		"broken.parquet":  "PAR1",
		"renamed.parquet": people,
		"float.csv":       "age,sex,area\n1.5,m,n\n",
		"folder/readme":   "",
	}
	for name, c := range map[string]struct {
		source string
		change func(*schemas.Spec)
		want   string
		spec   bool
	}{
		"no such file":   {"peopel.csv", nil, "peopel.csv does not exist; did you mean people.csv?", false},
		"empty file":     {"empty.csv", nil, "empty.csv: it is empty", false},
		"truncated":      {"broken.parquet", nil, "broken.parquet", false},
		"CSV renamed":    {"renamed.parquet", nil, "renamed.parquet", false},
		"empty folder":   {"folder", nil, "the folder folder has no data files", false},
		"unknown column": {"people.csv", func(s *schemas.Spec) { s.Key = keyOf("age", "sxe") }, `there is no column "sxe"; did you mean "sex"?`, true},
		"float key":      {"float.csv", nil, "band them with recode", true},
		"weight of 0":    {"weights.csv", func(s *schemas.Spec) { s.Key, s.Sampling = keyOf("age", "sex"), &schemas.Sampling{Weight: "w"} }, `weights.csv: row 1: the weight "w" is 0`, false},
		"weight of inf":  {"huge.csv", func(s *schemas.Spec) { s.Key, s.Sampling = keyOf("age", "sex"), &schemas.Sampling{Weight: "w"} }, `weight "w"`, true},
		"population": {
			"people.csv", func(s *schemas.Spec) { s.Sampling = &schemas.Sampling{PopulationSize: 4} }, "the population size 4 is less than the 5 records", false,
		},
		"undeclared": {"people.csv", func(s *schemas.Spec) { s.Key.Variables[1].Levels = []string{"f"} }, `"sex" has the value "m", which is not among its levels`, false},
		"column twice": {"people.csv", func(s *schemas.Spec) {
			s.Operators[0].Config.(*suda.Config).Prefix = "x"
			s.Operators = append([]schemas.Operator{{Config: &recode.Config{{Name: "x_score", From: "age", Width: 1}}}}, s.Operators...)
		}, `"x_score" exists already`, true},
		"temp folder": {"people.csv", nil, "the folder none for temporary files does not exist", true},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, texts)
			before := listing(t)
			spec := assess(c.source, "risk.csv")
			spec.Summary = "risk.json"
			if c.change != nil {
				c.change(spec)
			}
			o := session.Options{}
			if name == "temp folder" {
				o.TempDir = "none"
			}
			_, err := Run(t.Context(), spec, o)
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, c.spec, session.IsSpec(err), "%v", err)
			assert.Equal(t, before, listing(t))
		})
	}
}

func TestValidate(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": people})
	p, err := Validate(t.Context(), assess("people.csv", "risk.csv"), session.Options{})
	require.NoError(t, err)
	assert.Equal(t, 2, p.Scans)
	assert.Equal(t, []operators.Stage{{Operators: []string{"suda"}, Tables: []string{"age x sex x area"}}}, p.Stages)
	assert.Equal(t, "sample_frequency", p.Added[0].Name)
	assert.Equal(t, []string{"people.csv"}, listing(t))

	p, err = Validate(t.Context(), assess("later.parquet", "risk.parquet"), session.Options{})
	require.NoError(t, err)
	assert.ErrorContains(t, p.Missing, "later.parquet does not exist")

	_, err = Validate(t.Context(), &schemas.Spec{}, session.Options{})
	assert.True(t, session.IsSpec(err))
	spec := assess("people.csv", "risk.csv")
	spec.Key = keyOf("aeg")
	_, err = Validate(t.Context(), spec, session.Options{})
	assert.ErrorContains(t, err, `did you mean "age"?`)
}
