package operators_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// The file of sdcMicro's guideline: 10 records, 4 key variables (peers' scores: 6, 12, 6, 10 for records 3, 5, 7, 8).
var guideline = []string{
	"Urban Female Secondary-incomplete Employed", "Urban Female Secondary-incomplete Employed", "Urban Female Primary-incomplete Non-LF",
	"Urban Male Secondary-complete Employed", "Rural Female Secondary-complete Unemployed", "Urban Male Secondary-complete Employed",
	"Urban Female Primary-complete Non-LF", "Urban Male Post-secondary Unemployed", "Urban Female Secondary-incomplete Non-LF", "Urban Female " +
		"Secondary-incomplete Non-LF",
}

func TestSudaOnTheGuidelineTable(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, batch := range []int{1, 3, 100} {
			t.Run(fmt.Sprint(workers, " workers, batches of ", batch), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				t.Cleanup(func() { mem.AssertSize(t, 0) }) // after the source is released
				source := operatortest.Lines(t, mem, batch, "Residence Gender Education Labor", guideline...)
				out, report, err := operatortest.Table(t, mem, source, operators.Options{Workers: workers}, suda.Operator{
					Config: suda.Config{Score: suda.ScoreFactorial, MSUs: true, Contributions: true},
					Key:    operatortest.Key("Residence", "Gender", "Education", "Labor"), Sampling: &schemas.Sampling{Fraction: 0.01},
				})
				require.NoError(t, err)
				require.Len(t, out, 11)
				require.Equal(
					t,
					"Residence Gender Education Labor sample_frequency suda_score suda_is suda_dis_is suda_msu_count suda_msu_min_size suda_msus suda_share_Residence "+
						"suda_share_Gender suda_share_Education suda_share_Labor",
					out[0],
				)
				var scores, frequencies []string
				for _, row := range out[1:] {
					f := strings.Fields(row)
					frequencies, scores = append(frequencies, f[4]), append(scores, f[5])
				}
				require.Equal(t, "2 2 1 2 1 2 1 1 2 2", strings.Join(frequencies, " "))
				require.Equal(t, "0 0 6 0 12 0 6 10 0 0", strings.Join(scores, " "))
				require.Contains(t, out[3], `[["Education"]]`)
				require.Len(t, report.Rankings, 1)
				require.Len(t, report.Rankings[0].Rows, 4)
				top := report.Rankings[0].Rows[0]
				require.Equal(t, []any{0, int64(4), 12.0, int64(1)}, []any{top.Input, top.Row, top.Score, top.Frequency})
				summary := report.Operators[0].Summary.(*suda.Summary)
				require.Equal(t, 34.0, summary.FileScore)
				require.InDelta(t, 64.706, summary.Variables[2].Share, 5e-4)
			})
		}
	}
}

func TestChainStages(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	source := operatortest.Lines(t, mem, 4, "Residence Gender Education Labor", guideline...)
	zero := "0"
	chain, err := operators.NewChain(source.Schema(),
		suda.Operator{Key: operatortest.Key("Residence", "Gender", "Education", "Labor")},
		suda.Operator{Key: operatortest.Key("Residence", "Gender", "Education", "Labor"), Config: suda.Config{
			MeasureOptions: schemas.MeasureOptions{Prefix: "again"},
		}},
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "suda_score", Max: &zero}}, KeepRows: true}},
		suda.Operator{Key: operatortest.Key("Gender", "Labor"), Config: suda.Config{MeasureOptions: schemas.MeasureOptions{Prefix: "rest"}}},
	)
	require.NoError(t, err)
	require.Equal(t, []operators.Stage{
		{Operators: []string{"suda", "again"}, Tables: []string{"Residence x Gender x Education x Labor"}},
		{Operators: []string{"rest"}, Tables: []string{"Gender x Labor"}},
	}, chain.Stages())
	require.False(t, chain.Filters())
	out, report, err := operatortest.Table(
		t,
		mem,
		source,
		operators.Options{Workers: 2},
		suda.Operator{Key: operatortest.Key("Residence", "Gender", "Education", "Labor")},
		selection.Operator{
			Config: selection.Config{
				Rows:     []selection.Condition{{Column: "suda_score", Max: &zero}},
				KeepRows: true,
				Columns:  []string{"Gender", "Labor", "suda_score"},
			},
		},
		suda.Operator{Key: operatortest.Key("Gender", "Labor"), Config: suda.Config{MeasureOptions: schemas.MeasureOptions{Prefix: "rest"}}},
	)
	require.NoError(t, err)
	require.Equal(t, int64(10), report.Written)
	require.Equal(t, "Female Employed 0 0 0 _ 0 _", out[1])
	require.Equal(t, "Female Non-LF 1.75 _ _ _ _ _", out[3], "a record that was not chosen has nulls")
	require.Equal(t, int64(6), report.Operators[1].Summary.(*suda.Summary).Records)
}

func TestRowsThatLeave(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	source := operatortest.Lines(t, mem, 3, "part A B", "train x 1", "test x 1", "train y 1", "train y 2", "_ z 3", "train x 2")
	out, report, err := operatortest.Table(t, mem, source, operators.Options{},
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "part", Values: []string{"train"}}}}},
		suda.Operator{Key: operatortest.Key("A", "B"), Config: suda.Config{MSUs: true}})
	require.NoError(t, err)
	require.Equal(t, int64(6), report.Rows)
	require.Equal(t, int64(4), report.Written)
	require.Len(t, out, 5)
	require.Equal(t, `train x 1 1 0 1 _ 1 2 [["A","B"]]`, out[1])
	summary := report.Operators[0].Summary.(*suda.Summary)
	require.Equal(t, int64(2), summary.KeySummary.Variables[0].Categories, "z is in no row that was counted")
}

func TestRecode(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	no := false
	other := "rest"
	for _, c := range []struct {
		name, in, want string
		recode         recode.Column
	}{
		{"width", "17 20 24 25 NA _ -3", "15-19 20-24 20-24 25-29 NA _ -5 to -1", recode.Column{Width: 5}},
		{"width, origin", "17 20 24 25", "16-20 16-20 21-25 21-25", recode.Column{Width: 5, Origin: 16}},
		{"width 1", "17 20", "17 20", recode.Column{Width: 1}},
		{
			"large whole numbers", "9007199254740993 9007199254741000 -9007199254740993",
			"9007199254740990-9007199254740999 9007199254741000-9007199254741009 -9007199254741000 to -9007199254740991", recode.Column{Width: 10},
		},
		{"tenths", "0 0.1 0.2 0.3 0.6 0.7 1.1 0.30", "[0,0.1) [0.1,0.2) [0.2,0.3) [0.3,0.4) [0.6,0.7) [0.7,0.8) [1.1,1.2) [0.3,0.4)", recode.Column{Width: 0.1}},
		{"hundredths from a third", "0.29 1.14 1.13", "[0.28,0.31) [1.12,1.15) [1.12,1.15)", recode.Column{Width: 0.03, Origin: 0.01}},
		{"more digits than a double", "0.29999999999999999999 0.3", "[0.2,0.3) [0.3,0.4)", recode.Column{Width: 0.1}},
		{"cut of a tenth", "0.29999999999999999999 0.3", "<0.3 >=0.3", recode.Column{Cuts: []float64{0.3}}},
		{"width of fractions", "0.2 1.4", "[0,0.5) [1,1.5)", recode.Column{Width: 0.5}},
		{"width with ends", "3 16 19 84 85 99", "<16 16-19 16-19 80-84 85+ 85+", recode.Column{Width: 5, Bottom: number(16), Top: number(85)}},
		{"cuts", "0 15 16 64 65 80", "0-15 0-15 16-64 16-64 65+ 65+", recode.Column{Cuts: []float64{0, 16, 65}}},
		{"cuts from above", "-1 15 16", "<16 <16 16+", recode.Column{Cuts: []float64{16}}},
		{"top", "3 84 85 86 x", "3 84 85 85 x", recode.Column{Top: number(85)}},
		{"bottom", "3 84 85", "16 84 85", recode.Column{Bottom: number(16)}},
		{"truncate", "8001 80 éàü", "80 80 éà", recode.Column{Truncate: 2}},
		{"map", "a b c _", "x _ c _", recode.Column{Map: map[string]string{"a": "x", "b": ""}}},
		{"map with other", "a b c _", "x rest rest _", recode.Column{Map: map[string]string{"a": "x"}, Other: &other}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			source := operatortest.Lines(t, mem, 2, "A", strings.Fields(c.in)...)
			c.recode.Name, c.recode.From, c.recode.Replace = "A", "A", true
			out, _, err := operatortest.Table(t, mem, source, operators.Options{}, recode.Operator{Config: c.recode})
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(out[1:], " "))
			c.recode.Name, c.recode.Replace, c.recode.Keep = "A2", false, &no
			out, _, err = operatortest.Table(t, mem, source, operators.Options{}, recode.Operator{Config: c.recode}, suda.Operator{Key: operatortest.Key("A2")})
			require.NoError(t, err)
			require.Equal(t, "A sample_frequency suda_score suda_is suda_dis_is suda_msu_count suda_msu_min_size", out[0], "keep: false feeds the key only")
		})
	}
}

func TestBindFindsMistakes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "AGE", Type: arrow.PrimitiveTypes.Int64}, {Name: "SEX", Type: arrow.BinaryTypes.String},
		{Name: "income", Type: arrow.PrimitiveTypes.Float64}, {Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)},
		{Name: "suda_is", Type: arrow.PrimitiveTypes.Float64}, {Name: "twice", Type: arrow.BinaryTypes.String}, {Name: "twice", Type: arrow.BinaryTypes.String},
	}, nil)
	word := "high"
	for want, op := range map[string]operators.Operator{
		`suda: there is no column "age"; did you mean "AGE"?`: suda.Operator{Key: operatortest.Key("age", "SEX")},
		`suda: "income" is of type float64: floating-point`:   suda.Operator{Key: operatortest.Key("income")},
		`suda: "tags" is nested`:                              suda.Operator{Key: operatortest.Key("tags")},
		`suda: the key names "SEX" twice`:                     suda.Operator{Key: operatortest.Key("SEX", "SEX")},
		`suda: the key has no variables`:                      suda.Operator{},
		`suda: the column "suda_is" exists already`:           suda.Operator{Key: operatortest.Key("SEX")},
		`more than one column "twice"`: suda.Operator{Key: operatortest.Key("twice"), Config: suda.Config{
			MeasureOptions: schemas.MeasureOptions{Prefix: "p"},
		}},
		`suda: the weight "SEX" is of type utf8`:                 suda.Operator{Key: operatortest.Key("SEX"), Sampling: &schemas.Sampling{Weight: "SEX"}},
		`suda: score "latice" is unknown; did you mean lattice?`: suda.Operator{Key: operatortest.Key("SEX"), Config: suda.Config{Score: "latice"}},
		`recode A: say one of map, truncate, or bands`:           recode.Operator{Config: recode.Column{Name: "A", From: "AGE"}},
		`recode: the column "SEX" exists already`:                recode.Operator{Config: recode.Column{Name: "SEX", From: "AGE", Width: 5}},
		`select: "SEX": say a list or a range`:                   selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "SEX", Values: []string{"m"}, Min: &word}}}},
		`select: "AGE": "high" is no number`:                     selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "AGE", Min: &word}}}},
		`select: there is no column "SEXX"; did you mean "SEX"?`: selection.Operator{Config: selection.Config{Columns: []string{"SEXX"}}},
	} {
		_, err := operators.NewChain(schema, op)
		require.ErrorContains(t, err, want)
	}
	_, err := operators.NewChain(
		schema,
		suda.Operator{Key: operatortest.Key("SEX"), Config: suda.Config{MeasureOptions: schemas.MeasureOptions{Replace: true}}},
	)
	require.NoError(t, err)
}
