package attribution_test

import (
	"encoding/json"
	"fmt"
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

// people are a small population of two key variables and a sensitive one.
var people = []string{"a x 1", "a x 1", "a y 2", "a z 2", "b x 1", "b y 3", "b y 3", "b z 3", "c z 1"}

// modelled is an operator whose models have one graph.
func modelled(graph string, fraction float64) attribution.Operator {
	return attribution.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{Fraction: fraction},
		Config: attribution.Config{Sensitive: operatortest.Variables("S"),
			Model: mc3.Config{Search: "fixed", Graph: graph, PriorPrecision: []float64{2}}}}
}

// All samples of a population: what a model of B given A, and S given A, says is counted record by record among those of other keys, and mixed
// with the shares of the others of the key.
func TestModelOverAllSamples(t *testing.T) {
	records := 0
	for set := range 1 << len(people) {
		var rows [][]string
		for i, p := range people {
			if set>>i&1 == 1 {
				rows = append(rows, strings.Fields(p))
			}
		}
		if len(rows) != 6 {
			continue
		}
		var lines []string
		as, ss := map[string]bool{}, map[string]bool{}
		for _, x := range rows {
			lines = append(lines, strings.Join(x, " ")+" 0.25")
			as[x[0]], ss[x[2]] = true, true
		}
		o := modelled("[A B][A S]", .5)
		o.Config.Match = "W"
		out, report, err := operatortest.Table(t, memory.DefaultAllocator, numbered(t, lines), operators.Options{Workers: 1}, o)
		require.NoError(t, err)
		s := summaryOf(report)
		require.Equal(t, attribution.ValuesModel, s.Values)
		require.Equal(t, attribution.ModelSmoothing, s.Smoothing)
		require.Equal(t, 1, s.Sensitive[0].Models)
		for i, x := range rows {
			n, same, of, with := 0.0, 0.0, 2/float64(len(as)), 2/float64(len(as)*len(ss)) // the prior's, of A and of A and S
			for j, o := range rows {
				switch {
				case o[0] == x[0] && o[1] == x[1]:
					if j != i {
						n++
						if o[2] == x[2] {
							same++
						}
					}
				case o[0] == x[0]:
					of++
					if o[2] == x[2] {
						with++
					}
				}
			}
			given := (same + attribution.ModelSmoothing*with/of) / (n + attribution.ModelSmoothing)
			learnt, prior := operatortest.Value(t, out[1+i], 5), operatortest.Value(t, out[1+i], 6)
			require.InDelta(t, .25+.75*given, learnt, 1e-12)
			require.InDelta(t, learnt-prior, operatortest.Value(t, out[1+i], 7), 1e-15)
			records++
		}
	}
	require.Equal(t, 84*6, records)
}

// Records that the policies leave out are no part of the models: those without a value of the sensitive variable, and of the key.
func TestModelLeavesOut(t *testing.T) {
	o := modelled("[A B][A S]", .5)
	o.Config.Missing = schemas.MissingDrop
	run := func(lines ...string) map[string]string {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out, _, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4, "A B S", lines...), operators.Options{Workers: 1}, o)
		require.NoError(t, err)
		told := map[string]string{}
		for i, line := range lines {
			told[line] = strings.Join(strings.Fields(out[1+i])[4:], " ")
		}
		return told
	}
	more := run(append([]string{"_ x 1", "a _ 2"}, people...)...)
	for line, want := range run(people...) {
		require.Equal(t, want, more[line])
	}
	require.Equal(t, "_ _ _", more["_ x 1"])
	require.Equal(t, "_ _ _", run(append([]string{"a x _"}, people...)...)["a x _"])
	o.Config.Sensitive[0].Missing = schemas.MissingCategory
	require.NotEqual(t, "_ _ _", run(append([]string{"a x _"}, people...)...)["a x _"])
}

// A population, a file of which nothing is said and weights have no model unless the spec says so.
func TestClassWithoutModel(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	for _, sampling := range []*schemas.Sampling{nil, {Fraction: 1}, {PopulationSize: int64(len(people))}} {
		o := modelled("saturated", 1)
		o.Sampling = sampling
		_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4, "A B S", people...), operators.Options{}, o)
		require.NoError(t, err)
		require.Equal(t, attribution.ValuesClass, summaryOf(report).Values)
		require.Zero(t, summaryOf(report).Sensitive[0].Models)
	}
	o := modelled("saturated", .1)
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4, "A B S"), operators.Options{}, o)
	require.NoError(t, err, "no rows")
	require.Equal(t, attribution.ValuesClass, summaryOf(report).Values)
}

func TestModelOfWeights(t *testing.T) {
	weigh := func(last string) ([]string, *operators.Report, error) {
		var lines []string
		for i, p := range people {
			weight := "10"
			if i == len(people)-1 {
				weight = last
			}
			lines = append(lines, fmt.Sprintf("%s %s", p, weight))
		}
		o := modelled("[A B][A S]", 0)
		o.Sampling, o.Config.Values = &schemas.Sampling{Weight: "W"}, attribution.ValuesModel
		return operatortest.Table(t, memory.DefaultAllocator, numbered(t, lines), operators.Options{}, o)
	}
	_, report, err := weigh("10")
	require.NoError(t, err)
	require.Equal(t, attribution.ValuesModel, summaryOf(report).Values)
	_, _, err = weigh("20")
	require.ErrorContains(t, err, `the weights "W" differ, from 10 to 20 people a record by key combination, and models count records: take values: class`)
}

// What cannot be fitted says what would do.
func TestModelThatIsNone(t *testing.T) {
	_, _, err := operatortest.Table(t, memory.DefaultAllocator, operatortest.Lines(t, memory.DefaultAllocator, 4, "A B S", people...), operators.Options{},
		modelled("[A C]", .5))
	require.ErrorContains(t, err, "values: class does without")
}

// numbered is a table of A, B, S and a number W.
func numbered(t *testing.T, lines []string) operators.Source {
	var rows []map[string]any
	for _, line := range lines {
		x := strings.Fields(line)
		rows = append(rows, map[string]any{"A": x[0], "B": x[1], "S": x[2], "W": json.Number(x[3])})
	}
	text, err := json.Marshal(rows)
	require.NoError(t, err)
	return operatortest.Typed(t, memory.DefaultAllocator, fields("A B S", "W"), string(text))
}

// fields are texts and a number.
func fields(texts, number string) (list []arrow.Field) {
	for name := range strings.FieldsSeq(texts) {
		list = append(list, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	return append(list, arrow.Field{Name: number, Type: arrow.PrimitiveTypes.Float64})
}
