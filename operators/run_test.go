package operators_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"microrisk/operators"
	"microrisk/operators/frequency"
	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The value of each record depends on nothing but the records: not on their order, the batches, or the number of workers.
func TestSameValueForAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(rt, "rows")
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf(
				"r%d %d %d %s",
				i,
				rapid.IntRange(8, 11).Draw(rt, "a"),
				rapid.IntRange(0, 2).Draw(rt, "b"),
				rapid.SampledFrom([]string{"x", "y", "_", "NA"}).Draw(rt, "c"),
			)
		}
		k := operatortest.Key("a", "b", "c")
		k.MissingCodes = []string{"NA"}
		k.Missing = rapid.SampledFrom([]string{"category", "wildcard", "ignore", "drop"}).Draw(rt, "missing")
		suda := suda.Operator{Key: k, Config: suda.Config{Contributions: true, MSUs: true}, Sampling: &schemas.Sampling{Fraction: 0.1}}
		run := func(rows []string, batch, workers int) []string {
			out, _, err := operatortest.Table(
				t,
				memory.DefaultAllocator,
				operatortest.Lines(t, memory.DefaultAllocator, batch, "id a b c", rows...),
				operators.Options{Workers: workers, Batch: rapid.IntRange(0, 4).Draw(rt, "batch")},
				suda,
			)
			require.NoError(t, err)
			slices.Sort(out[1:])
			return out
		}
		want := run(rows, max(n, 1), 1)
		shuffled := rapid.Permutation(rows).Draw(rt, "shuffled")
		require.Equal(t, want, run(shuffled, rapid.IntRange(1, 10).Draw(rt, "part"), 2))
	})
}

func TestTableAsSource(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	fields := []arrow.Field{
		{Name: "A", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "B", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}
	source := operatortest.Typed(t, mem, fields, `[{"A":1,"B":true,"n":1},{"A":1,"B":false,"n":5000000000},{"A":null,"B":true,"n":2},{"A":2,"B":true,"n":0}]`)
	out, report, err := operatortest.Table(t, mem, source, operators.Options{Count: "n"}, suda.Operator{Key: operatortest.Key("A", "B")})
	require.NoError(t, err)
	require.Equal(t, []string{
		"1 true 1 1 0 1 _ 1 2",
		"1 false 5000000000 5000000000 0 0 _ 0 _",
		"_ true 2 2 0 0 _ 0 _",
		"2 true 0 _ _ _ _ _ _",
	}, out[1:])
	require.Equal(t, int64(5000000003), report.Operators[0].Summary.(*suda.Summary).Records)
	_, _, err = operatortest.Table(
		t,
		mem,
		operatortest.Typed(t, mem, fields, `[{"A":1,"B":true,"n":3},{"A":1,"B":true,"n":-1}]`),
		operators.Options{Count: "n"},
		suda.Operator{Key: operatortest.Key("A")},
	)
	require.ErrorContains(t, err, `record batch 0: row 1: the count "n" is -1`)
	_, _, err = operatortest.Table(
		t,
		mem,
		operatortest.Typed(t, mem, fields, `[{"A":1,"B":true,"n":null}]`),
		operators.Options{Count: "n"},
		suda.Operator{Key: operatortest.Key("A")},
	)
	require.ErrorContains(t, err, `row 0: the count "n" is null`)
}

func TestSampling(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	fields := []arrow.Field{{Name: "A", Type: arrow.BinaryTypes.String}, {Name: "w", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}
	rows := `[{"A":"x","w":2.5},{"A":"y","w":2.5},{"A":"y","w":5}]`
	dis := func(s *schemas.Sampling, rows string) (*float64, *operators.Report, error) {
		_, report, err := operatortest.Table(
			t,
			mem,
			operatortest.Typed(t, mem, fields, rows),
			operators.Options{},
			suda.Operator{Key: operatortest.Key("A"), Sampling: s},
		)
		if err != nil {
			return nil, nil, err
		}
		return report.Operators[0].Summary.(*suda.Summary).DIS, report, nil
	}
	want := 0.3 / (0.3 + 2*0.7)
	for _, s := range []*schemas.Sampling{{Fraction: 0.3}, {PopulationSize: 10}, {Weight: "w"}} {
		got, _, err := dis(s, rows)
		require.NoError(t, err)
		require.InDelta(t, want, *got, 1e-15)
	}
	none, report, err := dis(nil, rows)
	require.NoError(t, err)
	require.Nil(t, none)
	require.Len(t, report.Warnings, 1)
	for want, c := range map[string]struct {
		s    *schemas.Sampling
		rows string
	}{
		"the population size 2 is less than the 3 records":       {&schemas.Sampling{PopulationSize: 2}, rows},
		"the sampling fraction is 1.5":                           {&schemas.Sampling{Fraction: 1.5}, rows},
		"the sampling fraction is NaN":                           {&schemas.Sampling{Fraction: math.NaN()}, rows},
		`record batch 0: row 1: the weight "w" is null`:          {&schemas.Sampling{Weight: "w"}, `[{"A":"x","w":2},{"A":"y","w":null}]`},
		`row 0: the weight "w" is 0: a weight must be a finite`:  {&schemas.Sampling{Weight: "w"}, `[{"A":"x","w":0}]`},
		`row 0: the weight "w" is -1`:                            {&schemas.Sampling{Weight: "w"}, `[{"A":"x","w":-1}]`},
		`the weights "w" add up to 1.5, less than the 2 records`: {&schemas.Sampling{Weight: "w"}, `[{"A":"x","w":0.5},{"A":"y","w":1}]`},
	} {
		_, _, err := dis(c.s, c.rows)
		require.ErrorContains(t, err, want)
	}
}

// The population of a sampling statement is that of the records asked about, so that fraction, records and population size agree.
func TestSampleOfSelection(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	fields := []arrow.Field{{Name: "A", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "w", Type: arrow.PrimitiveTypes.Float64}}
	rows := `[{"A":"x","w":4},{"A":"y","w":3},{"A":"y","w":5},{"A":null,"w":100},{"A":"z","w":1000}]`
	choose := selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "w", Max: new("999")}}}}
	dropping := operatortest.Key("A")
	dropping.Missing = schemas.MissingDrop
	for _, c := range []struct {
		sampling             *schemas.Sampling
		fraction, population float64
	}{
		{&schemas.Sampling{Fraction: 0.25}, 0.25, 12},
		{&schemas.Sampling{PopulationSize: 30}, 0.1, 30},
		{&schemas.Sampling{Weight: "w"}, 0.25, 12},
	} {
		_, report, err := operatortest.Table(
			t,
			mem,
			operatortest.Typed(t, mem, fields, rows),
			operators.Options{},
			choose,
			suda.Operator{Key: dropping, Sampling: c.sampling},
			mc3.Operator{Key: dropping, Sampling: c.sampling},
			individual.Operator{Key: dropping, Sampling: c.sampling},
		)
		require.NoError(t, err)
		for _, o := range report.Operators {
			fraction, population := o.Summary.(schemas.Sampled).Sampled()
			require.EqualValues(t, 3, o.Summary.(schemas.Judged).Counted(), o.Name)
			require.InDelta(t, c.fraction, *fraction, 1e-15, o.Name)
			require.InDelta(t, c.population, *population, 1e-12, o.Name)
		}
	}
}

func TestLevels(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	source := operatortest.Lines(t, mem, 2, "A B", "own 1", "rent 1", "_ 2")
	k := operatortest.Key("A", "B")
	k.Variables[0].Levels = []string{"own", "rent", "other"}
	_, report, err := operatortest.Table(t, mem, source, operators.Options{AllowEmpty: true}, suda.Operator{Key: k})
	require.NoError(t, err)
	require.Equal(t, int64(3), report.Operators[0].Summary.(*suda.Summary).KeySummary.Variables[0].Categories)
	k.Variables[0].Levels = []string{"own", "other"}
	_, _, err = operatortest.Table(t, mem, source, operators.Options{}, suda.Operator{Key: k})
	require.ErrorContains(t, err, `key variable "A" has the value "rent", which is not among its levels`)
	rent := []string{"own"}
	_, _, err = operatortest.Table(
		t,
		mem,
		source,
		operators.Options{AllowEmpty: true},
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "A", Values: rent}}}},
		suda.Operator{Key: k},
	)
	require.NoError(t, err, "rent is in no row that was counted")
}

func TestMemoryLimitAndCancellation(t *testing.T) {
	var rows []string
	for i := range 20000 {
		rows = append(rows, fmt.Sprint(i, " ", i%7))
	}
	source := operatortest.Lines(t, memory.DefaultAllocator, 1000, "A B", rows...)
	_, _, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Memory: 1000}, suda.Operator{Key: operatortest.Key("A", "B")})
	require.ErrorContains(t, err, "the search of 20000 key combinations needs about 1.95 MiB of memory, the limit is 0.977 KiB")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	chain, err := operators.NewChain(source.Schema(), suda.Operator{Key: operatortest.Key("A", "B")})
	require.NoError(t, err)
	_, err = chain.Run(ctx, source, nil, operators.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSelect(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	source := operatortest.Typed(t, mem, fields, `[
		{"n":1,"x":0.5,"d":"2024-01-31","s":"9"},
		{"n":"9007199254740993","x":1e300,"d":"2023-12-31","s":"16"},
		{"n":null,"x":null,"d":null,"s":null},
		{"n":-5,"x":-1,"d":"2024-12-31","s":"NA"}]`)
	p := func(s string) *string { return &s }
	for _, c := range []struct {
		condition selection.Condition
		want      string
	}{
		{selection.Condition{Column: "n", Min: p("9007199254740993")}, "9007199254740993"},
		{selection.Condition{Column: "n", Min: p("9007199254740994")}, ""},
		{selection.Condition{Column: "n", Min: p("-5"), Max: p("1.5")}, "1 -5"},
		{selection.Condition{Column: "n", Values: []string{"1", "2"}}, "1"},
		{selection.Condition{Column: "x", Min: p("0.5"), Max: p("1e300")}, "1 9007199254740993"},
		{selection.Condition{Column: "d", Min: p("2024-01-31"), Max: p("2024")}, "1 -5"},
		{selection.Condition{Column: "d", Values: []string{"2023-12-31"}}, "9007199254740993"},
		{selection.Condition{Column: "s", Min: p("10")}, "9007199254740993"},
	} {
		out, _, err := operatortest.Table(
			t,
			mem,
			source,
			operators.Options{AllowEmpty: true},
			selection.Operator{Config: selection.Config{Rows: []selection.Condition{c.condition}}},
			selection.Operator{Config: selection.Config{Columns: []string{"n"}}},
		)
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Join(out[1:], " "), c.condition)
	}
}

// What names a value that no row has is most often a mistake; of a gate it would be a passed one.
func TestValuesThatNoRowHas(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	fields := []arrow.Field{
		{Name: "sex", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "job", Type: arrow.BinaryTypes.String},
	}
	source := operatortest.Typed(t, mem, fields, `[{"sex":1,"x":0.5,"job":"baker"},{"sex":2,"x":1,"job":"cook"},{"sex":2,"x":2,"job":"clerk"}]`)
	choose := func(c selection.Condition) operators.Operator {
		return selection.Operator{Config: selection.Config{Rows: []selection.Condition{c}}}
	}
	levels := func(list ...string) operators.Operator {
		return frequency.Operator{Key: schemas.Key{Variables: []schemas.KeyVariable{{Name: "job", Levels: list}}}}
	}
	mapped := recode.Operator{Config: recode.Column{Name: "job", Map: map[string]string{"bakker": "food"}, Replace: true}}
	impossible := sap.Operator{
		Config: sap.Config{
			Cells:      []schemas.KeyVariable{{Name: "job"}, {Name: "sex"}},
			Known:      []int64{1},
			Impossible: []map[string]string{{"job": "cook", "sex": "3"}},
		},
	}
	for want, list := range map[string][]operators.Operator{
		`select sex: no row has the value "male"; the nearest values are "1" and "2"; if that is meant, allow it (allow_empty: true in a spec, --allow-empty)`: {choose(selection.Condition{Column: "sex", Values: []string{"1", "male"}})},
		`select x: no row has the value "1.0"`:                               {choose(selection.Condition{Column: "x", Values: []string{"1.0"}})},
		`select: none of the 3 rows is chosen`:                               {choose(selection.Condition{Column: "x", Min: new("3")})},
		`select: none of the 3 rows is chosen, so`:                           {choose(selection.Condition{Column: "sex", Values: []string{"1"}}), choose(selection.Condition{Column: "job", Values: []string{"cook"}})},
		`recode job: no row has the value "bakker"`:                          {mapped},
		`the levels of job: no record that is counted has the value "clerc"`: {levels("baker", "clerc", "clerk", "cook")},
		`the impossible combination [job=cook, sex=3] has "3", which is no category of sex; the nearest are "1" and "2"`: {impossible},
	} {
		_, _, err := operatortest.Table(
			t,
			mem,
			source,
			operators.Options{},
			append(list, frequency.Operator{Key: operatortest.Key("sex"), Config: frequency.Config{
				MeasureOptions: schemas.MeasureOptions{Prefix: "last", Key: new(operatortest.Key("sex"))},
			}})...)
		require.ErrorContains(t, err, want)
		var unfound *operators.UnfoundError
		if !strings.Contains(want, "impossible") {
			require.ErrorAs(t, err, &unfound)
		}
		if strings.Contains(want, "impossible") {
			continue
		}
		_, _, err = operatortest.Table(t, mem, source, operators.Options{AllowEmpty: true}, list...)
		require.NoError(t, err, want)
	}
}

// failing is a sink that fails when it is asked to write.
type failing struct {
	operators.Emit
	aborted bool
}

func (f *failing) Abort() { f.aborted = true }

func TestSinkIsAbortedOnError(t *testing.T) {
	source := operatortest.Lines(t, memory.DefaultAllocator, 1, "A", "x", "y")
	chain, err := operators.NewChain(source.Schema(), suda.Operator{Key: operatortest.Key("A")})
	require.NoError(t, err)
	broken := errors.New("disk full")
	sink := &failing{Emit: operators.Emit{To: func(int, arrow.Record) error { return broken }}}
	_, err = chain.Run(context.Background(), source, sink, operators.Options{})
	require.ErrorIs(t, err, broken)
	require.True(t, sink.aborted)
	sink = &failing{Emit: operators.Emit{To: func(int, arrow.Record) error { panic("bug") }}}
	_, err = chain.Run(context.Background(), source, sink, operators.Options{})
	require.ErrorContains(t, err, "internal error: bug")
}

// Floating-point numbers are the decimals that they are written as, in both sizes: bands of a tenth are those that a person expects.
func TestBandsOfFloatingPoint(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32} {
		var rows, want []string
		for i := -20; i < 200; i++ {
			rows = append(rows, fmt.Sprintf(`{"x":%d.%d}`, i/10, i%10))
			if i < 0 {
				rows[len(rows)-1] = fmt.Sprintf(`{"x":-%d.%d}`, -i/10, -i%10)
			}
			name := func(i int) string { return strconv.FormatFloat(float64(i)/10, 'f', -1, 64) }
			want = append(want, "["+name(i)+","+name(i+1)+")")
		}
		source := operatortest.Typed(t, mem, []arrow.Field{{Name: "x", Type: typ}}, "["+strings.Join(rows, ",")+"]")
		out, _, err := operatortest.Table(
			t,
			mem,
			source,
			operators.Options{},
			recode.Operator{Config: recode.Column{Name: "b", From: "x", Width: 0.1}},
			selection.Operator{Config: selection.Config{Columns: []string{"b"}}},
		)
		require.NoError(t, err)
		require.Equal(t, want, out[1:], typ)
		out, _, err = operatortest.Table(
			t,
			mem,
			source,
			operators.Options{},
			selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "x", Min: new("0.3"), Max: new("0.7")}}}},
		)
		require.NoError(t, err)
		require.Len(t, out, 6, "0.3 to 0.7 of %s", typ)
	}
}

// Values that are no numbers beside bands are told, and a column without any number is no column to band.
func TestBandsOfText(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	age := recode.Operator{Config: recode.Column{Name: "A", Width: 5, Replace: true}}
	_, report, err := operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 2, "A", "17", "85+", "85+", "NA", "_", "20"),
		operators.Options{},
		age,
		frequency.Operator{Key: operatortest.Key("A")},
	)
	require.NoError(t, err)
	require.Equal(
		t,
		[]string{
			`recode A: 3 rows have values of "A" that are no numbers (such as "85+", "NA"): they stay as they are, beside the bands; say what they mean by missing_codes, or by a map`,
		},
		report.Warnings,
	)
	_, _, err = operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 2, "A", "young", "old"),
		operators.Options{},
		age,
		frequency.Operator{Key: operatortest.Key("A")},
	)
	require.ErrorContains(t, err, `recode A: no row has a number in the column of text "A" (its values are such as "old", "young")`)
}
