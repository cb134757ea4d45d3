package operators

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// lines makes records of text columns: "name name" and one line a row, "_" for null, cut into batches of the given size.
func lines(t *testing.T, mem memory.Allocator, batch int, header string, rows ...string) *Records {
	t.Helper()
	var fields []arrow.Field
	for _, name := range strings.Fields(header) {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for from := 0; from < len(rows); from += batch {
		b := array.NewRecordBuilder(mem, schema)
		for _, row := range rows[from:min(from+batch, len(rows))] {
			for c, text := range strings.Fields(row) {
				if text == "_" {
					b.Field(c).AppendNull()
				} else {
					b.Field(c).(*array.StringBuilder).Append(text)
				}
			}
		}
		records = append(records, b.NewRecord())
		b.Release()
	}
	reader, err := array.NewRecordReader(schema, records)
	require.NoError(t, err)
	for _, r := range records {
		r.Release()
	}
	defer reader.Release()
	source, err := NewRecords(reader)
	require.NoError(t, err)
	t.Cleanup(source.Release)
	return source
}

// table runs a chain and gives its output as text: the header, then the rows in order.
func table(t *testing.T, mem memory.Allocator, source Source, o Options, ops ...Operator) ([]string, *Report, error) {
	t.Helper()
	chain, err := NewChain(source.Schema(), ops...)
	if err != nil {
		return nil, nil, err
	}
	o.Allocator = mem
	byPart := map[int][]string{}
	var header []string
	for _, out := range chain.Output() {
		header = append(header, out.Field.Name)
	}
	report, err := chain.Run(context.Background(), source, &Emit{To: func(part int, r arrow.Record) error {
		for i := range int(r.NumRows()) {
			var row []string
			for _, c := range r.Columns() {
				if c.IsNull(i) {
					row = append(row, "_")
				} else {
					row = append(row, Text(c, i))
				}
			}
			byPart[part] = append(byPart[part], strings.Join(row, " "))
		}
		return nil
	}}, o)
	if err != nil {
		return nil, nil, err
	}
	out := []string{strings.Join(header, " ")}
	var parts []int
	for p := range byPart {
		parts = append(parts, p)
	}
	sort.Ints(parts)
	for _, p := range parts {
		out = append(out, byPart[p]...)
	}
	return out, report, nil
}

func key(names ...string) schemas.Key {
	var k schemas.Key
	for _, n := range names {
		k.Variables = append(k.Variables, schemas.KeyVariable{Name: n})
	}
	return k
}

// The file of sdcMicro's guideline: 10 records, 4 key variables (peers' scores: 6, 12, 6, 10 for records 3, 5, 7, 8).
var guideline = []string{
	"Urban Female Secondary-incomplete Employed", "Urban Female Secondary-incomplete Employed", "Urban Female Primary-incomplete Non-LF",
	"Urban Male Secondary-complete Employed", "Rural Female Secondary-complete Unemployed", "Urban Male Secondary-complete Employed",
	"Urban Female Primary-complete Non-LF", "Urban Male Post-secondary Unemployed", "Urban Female Secondary-incomplete Non-LF", "Urban Female Secondary-incomplete Non-LF",
}

func TestSudaOnTheGuidelineTable(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, batch := range []int{1, 3, 100} {
			t.Run(fmt.Sprint(workers, " workers, batches of ", batch), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				t.Cleanup(func() { mem.AssertSize(t, 0) }) // after the source is released
				source := lines(t, mem, batch, "Residence Gender Education Labor", guideline...)
				out, report, err := table(t, mem, source, Options{Workers: workers}, Suda{
					Config: schemas.Suda{Score: schemas.ScoreFactorial, MSUs: true, Contributions: true}, Shared: true,
					Key: key("Residence", "Gender", "Education", "Labor"), Sampling: &schemas.Sampling{Fraction: 0.01},
				})
				require.NoError(t, err)
				require.Len(t, out, 11)
				require.Equal(t, "Residence Gender Education Labor sample_frequency suda_score suda_is suda_dis_is suda_msu_count suda_msu_min_size suda_msus suda_share_Residence suda_share_Gender suda_share_Education suda_share_Labor", out[0])
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
				summary := report.Operators[0].Summary.(*schemas.SudaSummary)
				require.Equal(t, 34.0, summary.FileScore)
				require.InDelta(t, 64.706, summary.Variables[2].Share, 5e-4)
			})
		}
	}
}

func TestChainStages(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	source := lines(t, mem, 4, "Residence Gender Education Labor", guideline...)
	zero := "0"
	chain, err := NewChain(source.Schema(),
		Suda{Key: key("Residence", "Gender", "Education", "Labor"), Shared: true},
		Suda{Key: key("Residence", "Gender", "Education", "Labor"), Config: schemas.Suda{Prefix: "again"}},
		Select{schemas.Select{Rows: []schemas.Condition{{Column: "suda_score", Max: &zero}}, KeepRows: true}},
		Suda{Key: key("Gender", "Labor"), Config: schemas.Suda{Prefix: "rest"}},
	)
	require.NoError(t, err)
	require.Equal(t, []Stage{
		{Operators: []string{"suda", "again"}, Tables: []string{"Residence x Gender x Education x Labor"}},
		{Operators: []string{"rest"}, Tables: []string{"Gender x Labor"}},
	}, chain.Stages())
	require.False(t, chain.Filters())
	out, report, err := table(t, mem, source, Options{Workers: 2},
		Suda{Key: key("Residence", "Gender", "Education", "Labor"), Shared: true},
		Select{schemas.Select{Rows: []schemas.Condition{{Column: "suda_score", Max: &zero}}, KeepRows: true, Columns: []string{"Gender", "Labor", "suda_score"}}},
		Suda{Key: key("Gender", "Labor"), Config: schemas.Suda{Prefix: "rest"}},
	)
	require.NoError(t, err)
	require.Equal(t, int64(10), report.Written)
	require.Equal(t, "Female Employed 0 0 0 _ 0 _", out[1])
	require.Equal(t, "Female Non-LF 1.75 _ _ _ _ _", out[3], "a record that was not chosen has nulls")
	require.Equal(t, int64(6), report.Operators[1].Summary.(*schemas.SudaSummary).Records)
}

func TestRowsThatLeave(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	source := lines(t, mem, 3, "part A B", "train x 1", "test x 1", "train y 1", "train y 2", "_ z 3", "train x 2")
	out, report, err := table(t, mem, source, Options{},
		Select{schemas.Select{Rows: []schemas.Condition{{Column: "part", Values: []string{"train"}}}}},
		Suda{Key: key("A", "B"), Shared: true, Config: schemas.Suda{MSUs: true}})
	require.NoError(t, err)
	require.Equal(t, int64(6), report.Rows)
	require.Equal(t, int64(4), report.Written)
	require.Len(t, out, 5)
	require.Equal(t, `train x 1 1 0 1 _ 1 2 [["A","B"]]`, out[1])
	summary := report.Operators[0].Summary.(*schemas.SudaSummary)
	require.Equal(t, int64(2), summary.KeySummary.Variables[0].Categories, "z is in no row that was counted")
}

func TestRecode(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	no := false
	other := "rest"
	for _, c := range []struct {
		name, in, want string
		recode         schemas.Recode
	}{
		{"width", "17 20 24 25 NA _ -3", "15-19 20-24 20-24 25-29 NA _ -5 to -1", schemas.Recode{Width: 5}},
		{"width, origin", "17 20 24 25", "16-20 16-20 21-25 21-25", schemas.Recode{Width: 5, Origin: 16}},
		{"width 1", "17 20", "17 20", schemas.Recode{Width: 1}},
		{"large whole numbers", "9007199254740993 9007199254741000 -9007199254740993", "9007199254740990-9007199254740999 9007199254741000-9007199254741009 -9007199254741000 to -9007199254740991", schemas.Recode{Width: 10}},
		{"tenths", "0 0.1 0.2 0.3 0.6 0.7 1.1 0.30", "[0,0.1) [0.1,0.2) [0.2,0.3) [0.3,0.4) [0.6,0.7) [0.7,0.8) [1.1,1.2) [0.3,0.4)", schemas.Recode{Width: 0.1}},
		{"hundredths from a third", "0.29 1.14 1.13", "[0.28,0.31) [1.12,1.15) [1.12,1.15)", schemas.Recode{Width: 0.03, Origin: 0.01}},
		{"more digits than a double", "0.29999999999999999999 0.3", "[0.2,0.3) [0.3,0.4)", schemas.Recode{Width: 0.1}},
		{"cut of a tenth", "0.29999999999999999999 0.3", "<0.3 >=0.3", schemas.Recode{Cuts: []float64{0.3}}},
		{"width of fractions", "0.2 1.4", "[0,0.5) [1,1.5)", schemas.Recode{Width: 0.5}},
		{"width with ends", "3 16 19 84 85 99", "<16 16-19 16-19 80-84 85+ 85+", schemas.Recode{Width: 5, Bottom: number(16), Top: number(85)}},
		{"cuts", "0 15 16 64 65 80", "0-15 0-15 16-64 16-64 65+ 65+", schemas.Recode{Cuts: []float64{0, 16, 65}}},
		{"cuts from above", "-1 15 16", "<16 <16 16+", schemas.Recode{Cuts: []float64{16}}},
		{"top", "3 84 85 86 x", "3 84 85 85 x", schemas.Recode{Top: number(85)}},
		{"bottom", "3 84 85", "16 84 85", schemas.Recode{Bottom: number(16)}},
		{"truncate", "8001 80 éàü", "80 80 éà", schemas.Recode{Truncate: 2}},
		{"map", "a b c _", "x _ c _", schemas.Recode{Map: map[string]string{"a": "x", "b": ""}}},
		{"map with other", "a b c _", "x rest rest _", schemas.Recode{Map: map[string]string{"a": "x"}, Other: &other}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			source := lines(t, mem, 2, "A", strings.Fields(c.in)...)
			c.recode.Name, c.recode.From, c.recode.Replace = "A", "A", true
			out, _, err := table(t, mem, source, Options{}, Recode{Config: c.recode})
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(out[1:], " "))
			c.recode.Name, c.recode.Replace, c.recode.Keep = "A2", false, &no
			out, _, err = table(t, mem, source, Options{}, Recode{Config: c.recode}, Suda{Key: key("A2"), Shared: true})
			require.NoError(t, err)
			require.Equal(t, "A sample_frequency suda_score suda_is suda_dis_is suda_msu_count suda_msu_min_size", out[0], "keep: false feeds the key only")
		})
	}
}

func TestCategoriesInTheOrderOfValues(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		want string
	}{
		{arrow.PrimitiveTypes.Int32, "-10 -9 0 9 10 100"},
		{arrow.BinaryTypes.String, "-10 -9 0 10 100 9"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 0}, "-10 -9 0 9 10 100"},
	} {
		texts := strings.Fields(c.want)
		compare := compareText(c.typ)
		rand.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		sort.Slice(texts, func(i, j int) bool { return compare(texts[i], texts[j]) < 0 })
		require.Equal(t, c.want, strings.Join(texts, " "), c.typ)
	}
	require.Negative(t, compareDecimals("-1.50", "-1.25"))
	require.Negative(t, compareDecimals("1.05", "1.5"))
	require.Zero(t, compareDecimals("1.50", "1.5"))
}

func TestBindFindsMistakes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "AGE", Type: arrow.PrimitiveTypes.Int64}, {Name: "SEX", Type: arrow.BinaryTypes.String},
		{Name: "income", Type: arrow.PrimitiveTypes.Float64}, {Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)},
		{Name: "suda_is", Type: arrow.PrimitiveTypes.Float64}, {Name: "twice", Type: arrow.BinaryTypes.String}, {Name: "twice", Type: arrow.BinaryTypes.String},
	}, nil)
	word := "high"
	for want, op := range map[string]Operator{
		`suda: there is no column "age"; did you mean "AGE"?`:    Suda{Key: key("age", "SEX")},
		`suda: "income" is of type float64: floating-point`:      Suda{Key: key("income")},
		`suda: "tags" is nested`:                                 Suda{Key: key("tags")},
		`suda: the key names "SEX" twice`:                        Suda{Key: key("SEX", "SEX")},
		`suda: the key has no variables`:                         Suda{},
		`suda: the column "suda_is" exists already`:              Suda{Key: key("SEX")},
		`more than one column "twice"`:                           Suda{Key: key("twice"), Config: schemas.Suda{Prefix: "p"}},
		`suda: the weight "SEX" is of type utf8`:                 Suda{Key: key("SEX"), Sampling: &schemas.Sampling{Weight: "SEX"}},
		`suda: there is no score "latice"`:                       Suda{Key: key("SEX"), Config: schemas.Suda{Score: "latice"}},
		`recode A: say one of map, truncate, or bands`:           Recode{Config: schemas.Recode{Name: "A", From: "AGE"}},
		`recode: the column "SEX" exists already`:                Recode{Config: schemas.Recode{Name: "SEX", From: "AGE", Width: 5}},
		`select: "SEX": say a list or a range`:                   Select{schemas.Select{Rows: []schemas.Condition{{Column: "SEX", Values: []string{"m"}, Min: &word}}}},
		`select: "AGE": "high" is no number`:                     Select{schemas.Select{Rows: []schemas.Condition{{Column: "AGE", Min: &word}}}},
		`select: there is no column "SEXX"; did you mean "SEX"?`: Select{schemas.Select{Columns: []string{"SEXX"}}},
	} {
		_, err := NewChain(schema, op)
		require.ErrorContains(t, err, want)
	}
	_, err := NewChain(schema, Suda{Key: key("SEX"), Config: schemas.Suda{Replace: true}})
	require.NoError(t, err)
}
