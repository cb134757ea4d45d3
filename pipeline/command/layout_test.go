package command

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/schemas"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		require.Equal(t, want, report.Count(n))
	}
	for x, want := range map[float64]string{0: "0", 0.01: "0.01", 0.0134668: "0.01347", 4: "4", 5.16667: "5.167", 109.17: "109.2",
		12345.68: "12,345.7", 1e-7: "1e-07", 2.5e300: "2.5e+300", 20402731: "20,402,731", 1999.97: "2,000", 0.99996: "1", 0.5: "0.5", 500.5: "500.5"} {
		require.Equal(t, want, report.Figure(x))
	}
	require.Equal(t, []string{"5.167", "4.000", "1,234.500"}, report.Figures([]float64{5.16667, 4, 1234.5}))
	require.Equal(t, []string{"4", "3"}, report.Figures([]float64{4, 3}))
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		n, of int64
		want  string
	}{{0, 0, "0.0 %"}, {0, 10, "0.0 %"}, {1, 3000, "<0.1 %"}, {1, 1000, "0.1 %"}, {1, 3, "33.3 %"}, {9994, 10000, "99.9 %"}, {9996, 10000, ">99.9 %"},
		{1<<62 - 1, 1 << 62, ">99.9 %"}, {7, 7, "100.0 %"}, {1, 1 << 62, "<0.1 %"}} {
		require.Equal(t, c.want, report.PartOf(c.n, c.of), "%d of %d", c.n, c.of)
	}
	require.Equal(t, "100.0 %", report.Percent(99.99999999999))
}

func TestInputName(t *testing.T) {
	long := strings.Repeat("household_", 12)
	require.Equal(t, "a.csv, b.csv", inputName([]string{"a.csv", "b.csv"}, screen))
	require.Equal(t, "a.csv, b.csv and 1 more", inputName([]string{"a.csv", "b.csv", "c.csv"}, screen))
	require.Equal(t, "a.csv and 2 more", inputName([]string{"a.csv", long, "c.csv"}, screen))
	name := inputName([]string{long, "b.csv", "c.csv"}, screen)
	require.Len(t, []rune(name), screen)
	require.Contains(t, name, "… and 2 more"[len("…"):])
}

func TestValueText(t *testing.T) {
	for value, want := range map[string]string{"": `""`, " a": `" a"`, "a ": `"a "`, "a b": "a b", "(missing)": `"(missing)"`, "	": `"\t"`, "a\x00": `"a\x00"`, `"x"`: `"\"x\""`, "é": "é"} {
		require.Equal(t, want, report.Value(&value))
	}
	require.Equal(t, "(missing)", report.Value(nil))
}

func TestShorten(t *testing.T) {
	require.Equal(t, "short", report.Shorten("short", 5))
	require.Equal(t, "ve…ame", report.Shorten("veryLongName", 6))
	require.Len(t, []rune(report.Shorten("häufigkeitsauszählung", 10)), 10)
	require.Equal(t, `"a\nb"`, report.Printable("a\nb"))
	require.Equal(t, `"\x1b[2J"`, report.Printable("\x1b[2J"))
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512": 512, "64KiB": 64 << 10, "1.5GB": 1.5e9, "4G": 4 << 30, "2 MiB": 2 << 20, "1tb": 1e12} {
		got, err := parseSize(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "GB", "-1GB", "0", "1XB", "1e400", "NaN", "99999999999T"} {
		_, err := parseSize(text)
		require.Error(t, err, text)
	}
}

func TestWords(t *testing.T) {
	got, err := words("key", []string{"A,B", `"C,D",E`})
	require.NoError(t, err)
	require.Equal(t, []string{"A", "B", "C,D", "E"}, got)
	_, err = words("key", []string{"A,,B"})
	require.Error(t, err)
	got, err = words("missing-codes", []string{""})
	require.NoError(t, err)
	require.Equal(t, []string{""}, got)
}

func TestConditionOf(t *testing.T) {
	text := func(s string) *string { return &s }
	for in, want := range map[string]selection.Condition{
		"part=train":   {Column: "part", Values: []string{"train"}},
		"STATE=CA,NV":  {Column: "STATE", Values: []string{"CA", "NV"}},
		"AGE=16..":     {Column: "AGE", Min: text("16")},
		"AGE=16..64":   {Column: "AGE", Min: text("16"), Max: text("64")},
		"AGE=..-1":     {Column: "AGE", Max: text("-1")},
		"note=":        {Column: "note", Values: []string{""}},
		"equation=a=b": {Column: "equation", Values: []string{"a=b"}},
	} {
		got, err := conditionOf(in)
		require.NoError(t, err)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "AGE", "=3", "AGE=.."} {
		_, err := conditionOf(in)
		require.Error(t, err, in)
	}
}

// A report stays within the screen, whatever the names.
func TestReportOfLongNames(t *testing.T) {
	long := strings.Repeat("household_", 12)
	dis := 0.123456789
	scored := &suda.Summary{
		Score:           "lattice",
		MaxSize:         3,
		Threshold:       1,
		MeasuredRecords: schemas.MeasuredRecords{Records: 123456789012},
		DIS:             &dis,
		Fraction:        &dis,
		MSUs:            98765432109,
		SpecialUniques:  5,
		FileScore:       1e6,
	}
	for range 12 {
		scored.Variables = append(scored.Variables, suda.Blame{Name: long, Score: 1, Share: 12.345})
	}
	s := &schemas.Summary{Rows: 987654321098, Key: &schemas.KeySummary{Classes: 123456789012, SampleUniques: 10},
		Operators: map[string]any{"suda": scored}}
	o := &pipeline.Outcome{Summary: s, Inputs: []string{long + ".parquet", "b.parquet", "c.parquet"}, Outputs: []string{"a", "b", "c", "d"},
		Rankings: []operators.Ranking{
			{Operator: "suda", Column: "suda_score", Rows: []operators.RiskyRow{{Input: 0, Row: 123456789, Score: 1234567.891, Frequency: 1}}},
		}}
	text := reportText(&schemas.Spec{Operators: []schemas.Operator{{Config: &suda.Config{}}}}, o)
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), screen, line)
	}
	require.Contains(t, text, "123,456,789,012")
	require.Contains(t, text, "and 4 more")
	require.Contains(t, text, "of at most 3 variables")
}

// Names and values are whole, and no line is wider than the screen.
func TestNothingIsCut(t *testing.T) {
	t.Chdir(t.TempDir())
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("characteristic_number_%d", i))
	}
	head := strings.Join(names, ",")
	text := head + "\n" + strings.Repeat("an unusual occupation,b,c,d,e,f,g\n", 3) + "another unusual occupation,b,x,d,y,f,z\n"
	require.NoError(t, os.WriteFile("wide.csv", []byte(text), 0o600))
	require.Equal(t, ExitDone, microrisk(t, "assess", "wide.csv", "--key", head, "--msus", "--out", "wide.parquet").status)
	spec := microrisk(t, "assess", "wide.csv", "--key", head, "--print-spec")
	require.NoError(t, os.WriteFile("wide.yaml", []byte(spec.out), 0o600))
	for _, args := range [][]string{
		{"explain", "wide.csv", "--key", head, "--row", "3"}, {"explain", "wide.csv", "--key", head, "--row", "0"},
		{"inspect", "wide.parquet"}, {"inspect", "wide.csv", "--key", head}, {"validate", "wide.yaml"},
	} {
		r := microrisk(t, args...)
		require.Equal(t, ExitDone, r.status, r.err)
		require.Contains(t, r.out, names[6])
		if args[0] == "inspect" && len(args) == 2 {
			require.Contains(t, r.out, "suda_msu_min_size")
		}
		for line := range strings.Lines(r.out) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), screen, line)
			require.NotRegexp(t, `^  \S*…`, line)
			require.NotRegexp(t, ` =\n`, line) // a variable and its value stand together
		}
	}
}

func TestPlanOfWhatIsNotThere(t *testing.T) {
	require.Equal(t, "no such file; did you mean b.csv?", sentence("no such file; did you mean b.csv?"))
	require.Equal(t, "the input is standard input.", sentence("the input is standard input"))
}
