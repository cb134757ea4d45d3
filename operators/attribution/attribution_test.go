package attribution_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/attribution"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

var doubles = []arrow.Field{
	{Name: "K", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "S", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "M", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}

// matched is a table of a key, a sensitive variable and the chance of a match.
func matched(t *testing.T, rows ...string) operators.Source {
	return operatortest.Typed(t, memory.DefaultAllocator, doubles, "["+strings.Join(rows, ",")+"]")
}

func pointer[T any](v T) *T { return &v }

func row(key, value string, match float64) string {
	return fmt.Sprintf(`{"K":%q,"S":%q,"M":%v}`, key, value, match)
}

func operator(match string) attribution.Operator {
	return attribution.Operator{Key: operatortest.Key("K"),
		Config: attribution.Config{Sensitive: operatortest.Variables("S"), Match: match, Smoothing: new(float64)}}
}

func summaryOf(r *operators.Report) *attribution.Summary {
	return r.Operators[len(r.Operators)-1].Summary.(*attribution.Summary)
}

// The widow of 16: the match is right with .99, and one in 50 of the other widows has her medical history. (Smith 2011, chapter 1.)
func TestWidowOfTheThesis(t *testing.T) {
	rows := []string{row("widow", "history", .99), row("widow", "history", .99)}
	for range 49 {
		rows = append(rows, row("widow", "none", .99))
	}
	out, report, err := operatortest.Table(t, memory.DefaultAllocator, matched(t, rows...), operators.Options{}, operator("M"))
	require.NoError(t, err)
	require.Equal(t, "K S M sample_frequency attribution_S attribution_prior_S attribution_gain_S", out[0])
	require.InDelta(t, .9902, operatortest.Value(t, out[1], 4), 1e-9)
	require.InDelta(t, .02, operatortest.Value(t, out[1], 5), 1e-15, "there is nobody else")
	require.InDelta(t, .9702, operatortest.Value(t, out[1], 6), 1e-9)
	s := summaryOf(report)
	require.Equal(t, attribution.MatchColumn, s.Match)
	require.Equal(t, []attribution.Threshold{{Above: .5, Records: 51}, {Above: .9, Records: 51}}, s.Sensitive[0].Thresholds)
	require.InDelta(t, .99+.01*48/50, *s.Sensitive[0].Greatest, 1e-9)
}

// drawn makes rows of two key variables and two sensitive ones, some missing.
func drawn(r *rand.Rand) [][]string {
	list := make([][]string, 2+r.IntN(16))
	for i := range list {
		for range 4 {
			v := fmt.Sprint(r.IntN(3))
			if r.IntN(8) == 0 {
				v = "_"
			}
			list[i] = append(list[i], v)
		}
	}
	return list
}

// Where all people are in the file, an intruder takes one of the records of the key for the person's: what is told is the share of the
// pairs of such a record and another, or itself, with the same value. Everything is counted record by record.
func TestPopulationAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for round := range 80 {
		rows := drawn(r)
		policy, missing := []string{"category", "drop"}[round%2], []string{"ignore", "category"}[round/2%2]
		smoothing, smoothed := []float64{0, 2.5}[round/4%2], []*float64{nil, pointer(2.5)}[round/4%2]
		var lines []string
		for _, x := range rows {
			lines = append(lines, strings.Join(x, " "))
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 5, "A B S Z", lines...), operators.Options{Workers: 1 + round%2},
			attribution.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{Fraction: 1},
				Config: attribution.Config{MeasureOptions: schemas.MeasureOptions{Missing: policy}, Smoothing: smoothed,
					Sensitive: []schemas.KeyVariable{{Name: "Z"}, {Name: "S", Missing: missing}}, Thresholds: []float64{.4}}})
		require.NoError(t, err)
		in := func(x []string) bool { return policy == "category" || x[0] != "_" && x[1] != "_" }
		valued := func(x []string) bool { return in(x) && (x[2] != "_" || missing == "category") }
		sum, above := 0.0, int64(0)
		for i, x := range rows {
			got := strings.Fields(out[1+i])[8:]
			if !valued(x) {
				require.Equal(t, "_ _ _", strings.Join(got, " "))
				continue
			}
			f, others, same, all, alike := 0.0, 0.0, 0.0, 0.0, 0.0
			for j, o := range rows {
				agrees := o[0] == x[0] && o[1] == x[1]
				if agrees {
					f++
				}
				if j == i || !valued(o) {
					continue
				}
				all++
				if o[2] == x[2] {
					alike++
				}
				if agrees {
					others++
					if o[2] == x[2] {
						same++
					}
				}
			}
			prior := 0.0
			if all > 0 {
				prior = alike / all
			}
			given := prior
			if others+smoothing > 0 {
				given = (same + smoothing*prior) / (others + smoothing)
			}
			want := 1/f + (1-1/f)*given
			require.InDelta(t, want, operatortest.Value(t, out[1+i], 8), 1e-12)
			require.InDelta(t, prior, operatortest.Value(t, out[1+i], 9), 1e-12)
			require.InDelta(t, want-prior, operatortest.Value(t, out[1+i], 10), 1e-12)
			if smoothing == 0 && others == f-1 { // the share of the value in the class
				require.InDelta(t, (same+1)/f, want, 1e-12)
			}
			if sum += want; want > .4 {
				above++
			}
		}
		s := summaryOf(report).Sensitive[1]
		require.InDelta(t, sum, s.Expected, 1e-9)
		require.Equal(t, above, s.Thresholds[0].Records)
		require.Equal(t, attribution.MatchPopulation, summaryOf(report).Match)
	}
}

// All samples of a population whose classes are known: an intruder looks for a person with a key at random, and takes a record with it
// for the person's. What is told is on average how often the value of the record is then the person's, where another record of the key
// tells of the rest: it is calibrated because the record itself is left out.
func TestCalibratedOverAllSamples(t *testing.T) {
	population := []string{"a1", "a1", "a2", "a3", "b1", "b1", "b2", "c1", "c1"}
	size := map[string]float64{}
	for _, p := range population {
		size[p[:1]]++
		size[p]++
	}
	told, truth, records := 0.0, 0.0, 0
	for set := range 1 << len(population) {
		var chosen, rows []string
		f := map[string]int{}
		for i, p := range population {
			if set>>i&1 == 1 {
				chosen, rows = append(chosen, p), append(rows, row(p[:1], p[1:], 1/size[p[:1]]))
				f[p[:1]]++
			}
		}
		if len(chosen) != 5 {
			continue
		}
		out, _, err := operatortest.Table(t, memory.DefaultAllocator, matched(t, rows...), operators.Options{Workers: 1}, operator("M"))
		require.NoError(t, err)
		for i, p := range chosen {
			if f[p[:1]] < 2 {
				continue
			}
			told += operatortest.Value(t, out[1+i], 4)
			truth += size[p] / size[p[:1]] // of the people with the key, those with the value
			records++
		}
	}
	require.Positive(t, records)
	require.InDelta(t, truth/float64(records), told/float64(records), 1e-9)
}

// A sample has the shares of the file mixed in unless the spec says otherwise: two records with one value are no proof.
func TestSamplesAreSmoothed(t *testing.T) {
	o := operator("M")
	o.Config.Smoothing = nil
	out, report, err := operatortest.Table(t, memory.DefaultAllocator,
		matched(t, row("a", "x", .01), row("a", "x", .01), row("b", "y", .5)), operators.Options{}, o)
	require.NoError(t, err)
	require.Equal(t, 1.0, summaryOf(report).Smoothing)
	require.InDelta(t, .01+.99*(1+.5)/2, operatortest.Value(t, out[1], 4), 1e-9)
}

// A class in which all have one value tells it, whoever is matched.
func TestHomogeneousClass(t *testing.T) {
	out, report, err := operatortest.Table(t, memory.DefaultAllocator,
		matched(t, row("a", "x", .01), row("a", "x", .01), row("b", "x", .5), row("b", "y", .5), row("c", "y", .25)), operators.Options{}, operator("M"))
	require.NoError(t, err)
	require.Equal(t, 1.0, operatortest.Value(t, out[1], 4))
	require.InDelta(t, .5, operatortest.Value(t, out[3], 4), 1e-9)
	require.InDelta(t, .25+.75*.25, operatortest.Value(t, out[5], 4), 1e-9, "nobody else has the key: the share among the others")
	require.Equal(t, 1.0, summaryOf(report).Figures()[attribution.LimitGreatest])
}

// Weights weigh the shares: the mean weight of the records of a value stands for the record that is left out.
func TestWeights(t *testing.T) {
	fields := append(doubles[:2:2], arrow.Field{Name: "W", Type: arrow.PrimitiveTypes.Float64})
	source := operatortest.Typed(t, memory.DefaultAllocator, fields,
		`[{"K":"a","S":"x","W":2},{"K":"a","S":"x","W":4},{"K":"a","S":"y","W":9},{"K":"b","S":"y","W":5}]`)
	out, report, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{}, attribution.Operator{Key: operatortest.Key("K"),
		Sampling: &schemas.Sampling{Weight: "W"}, Config: attribution.Config{Smoothing: new(float64), Sensitive: operatortest.Variables("S")}})
	require.NoError(t, err)
	require.InDelta(t, 3.0/17, operatortest.Value(t, out[1], 5), 1e-12)
	match := (operatortest.Value(t, out[1], 4) - 3.0/12) / (1 - 3.0/12)
	require.Greater(t, match, 1.0/15)
	require.Less(t, match, 1.0/3)
	require.Equal(t, attribution.MatchIndividual, summaryOf(report).Match)
	require.Equal(t, 20.0, *summaryOf(report).PopulationSize)
}

// The chances of mc3 are taken where it stands before, and its records without one get nulls.
func TestMatchOfModels(t *testing.T) {
	var rows []string
	for i := range 40 {
		key := fmt.Sprint(i % 7)
		if i%7 == 6 {
			key = "_"
		}
		rows = append(rows, key+" "+fmt.Sprint(i%3))
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	o := operator("mc3_correct_match")
	out, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, "K S", rows...), operators.Options{Workers: 1},
		mc3.Operator{Key: operatortest.Key("K"), Sampling: &schemas.Sampling{Fraction: .1},
			Config: mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: "drop"}}}, o)
	require.NoError(t, err)
	names := strings.Fields(out[0])
	require.Equal(t, []string{"K", "S", "mc3_correct_match"}, names[:3])
	require.Equal(t, "attribution_S", names[6])
	for i, line := range out[1:] {
		if i%7 == 6 {
			require.Equal(t, "_ _ _", strings.Join(strings.Fields(line)[6:], " "))
			continue
		}
		match := operatortest.Value(t, line, 2)
		require.GreaterOrEqual(t, operatortest.Value(t, line, 6), match-1e-9)
	}
	require.EqualValues(t, 5, summaryOf(report).Dropped)
	require.EqualValues(t, 35, summaryOf(report).Records)
}

func TestRefuses(t *testing.T) {
	run := func(o attribution.Operator, rows ...string) error {
		_, _, err := operatortest.Table(t, memory.DefaultAllocator, matched(t, rows...), operators.Options{}, o)
		return err
	}
	require.ErrorContains(t, run(operator("M"), row("a", "x", .5), row("a", "x", .25)), "one value a key")
	require.ErrorContains(t, run(operator("M"), row("a", "x", 1.5)), "at most 1")
	require.ErrorContains(t, run(operator("M"), row("a", "x", 0)), "above 0")
	require.ErrorContains(t, run(operator("M"), row("a", "x", -1), row("a", "x", 1.5)), "at most 1")
	require.ErrorContains(t, run(operator("M"), row("a", "x", .5), `{"K":"a","S":"x","M":null}`), "one value a key")
	require.ErrorContains(t, run(operator("M"), `{"K":"a","S":"x","M":null}`, row("a", "x", .5)), "is null, and that of other records")
	require.ErrorContains(t, run(operator("S"), row("a", "x", .5)), "must be a number")
	require.ErrorContains(t, run(operator("N"), row("a", "x", .5)), `no column "N"`)
	o := operator("")
	o.Config.Sensitive = nil
	require.ErrorContains(t, run(o, row("a", "x", .5)), "nothing is said to be sensitive")
	o.Config.Sensitive = operatortest.Variables("K")
	require.ErrorContains(t, run(o, row("a", "x", .5)), `names "K" twice`)
	require.NoError(t, run(operator("M")), "no rows at all")
}
