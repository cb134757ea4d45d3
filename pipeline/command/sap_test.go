package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/report"
	"microrisk/operators/sap"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// Flags that sap does not look at are refused where nothing else does, and unknown measures are named first.
func TestSAPFlagsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("homes.csv", []byte(homes), 0o600))
	sap := []string{"assess", "homes.csv", "--measures", "sap", "--cells", "sex", "--out", "t.csv"}
	for want, args := range map[string][]string{
		"--key belongs to measures of a key, such as suda and mc3":              append(sap, "--key", "sex"),
		"--fraction belongs to measures of a key":                               append(sap, "--fraction", "0.1"),
		"--population-size belongs to measures of a key":                        append(sap, "--population-size", "10"),
		"--weight belongs to measures of a key":                                 append(sap, "--weight", "sex"),
		`there is no measure "sapp"`:                                            {"assess", "homes.csv", "--measures", "sapp", "--cells", "sex"},
		"--value is -1; it must be at least 0":                                  append(sap, "--scheme", "small", "--last", "2", "--value", "-1", "--base", "1"),
		"--last is 0; it must be at least 1":                                    append(sap, "--scheme", "small", "--last", "0", "--value", "0", "--base", "1"),
		"base belongs to scheme conventional, random or small":                  append(sap, "--scheme", "barnard", "--probability", "0.5", "--base", "3"),
		"the limit sap is compared with a figure of sap; add sap to --measures": {"assess", "homes.csv", "--key", "sex", "--limit", "sap=0.1", "--out", "t.csv"},
	} {
		r := microrisk(t, args...)
		require.Equal(t, ExitWrong, r.status, "%s: %s", want, r.err)
		require.Contains(t, r.err, want)
		require.NoFileExists(t, "t.csv")
	}
	r := microrisk(t, append(sap, "--missing", "drop", "--limit", "sap=0.9", "--known", "5")...)
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.err, "limit breached: sap of sap is 1, at most 0.9 is allowed")
	require.FileExists(t, "t.csv")
}

// What the data shows of an impossible combination is an error of the spec.
func TestImpossibleIsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("homes.csv", []byte(homes), 0o600))
	spec := "version: 1\nsource: {path: homes.csv}\noperators: [{sap: {by: [area], cells: [sex, health], known: [1], impossible: [{health: %s, sex: m}]}}]\n"
	for category, want := range map[string]string{"bad": "[sex=m, health=bad] is among the impossible combinations, and the data has 1 of it",
		"fair": `the impossible combination [sex=m, health=fair] has "fair", which is no category of health`} {
		require.NoError(t, os.WriteFile("spec.yaml", fmt.Appendf(nil, spec, category), 0o600))
		r := microrisk(t, "run", "spec.yaml")
		require.Equal(t, ExitWrong, r.status)
		require.Contains(t, r.err, want)
	}
}

func sapOfNames(name string) *sap.Summary {
	n, m := int64(3), int64(343_396)
	s := &sap.Summary{
		Known:           []int64{1, 2, 5, 10, 20},
		Tables:          123_456,
		Cells:           12,
		MeasuredRecords: schemas.MeasuredRecords{Records: 343_398},
		By:              []string{name, name},
		Scheme:          "random rounding to base 1048576, nearest with probability 0.123456789012",
		Total:           "same",
		Threshold:       0.5,
		Variables:       []schemas.VariableSummary{{Name: name}, {Name: name}},
		NotFound:        1,
		SmallestKnown:   []sap.SmallestKnown{{Known: &n, Tables: 7}, {Known: &m, Tables: 2}, {Tables: 4}},
	}
	for _, n := range s.Known {
		s.Distribution = append(s.Distribution, sap.Distribution{Known: n, Bands: make([]int64, 10), Mean: 0.123456, Greatest: 0.5, Zero: 99_999})
	}
	for range 5 {
		s.Riskiest = append(s.Riskiest, sap.TableSummary{By: []string{name, "12"}, People: 1234, SAP: []float64{0.0001234, 0.001, 0.01, 0.1, 1}})
	}
	return s
}

// toldOf is what the report says of an operator.
func toldOf(c report.Reporting, document any) string {
	return partsText(gateOf(&schemas.Summary{}), toldSection{c.Report(nil, document), c, c.ColumnPrefix()})
}

// The report of sap fits on the screen, with its labels whole, and names the riskiest tables.
func TestAttributionText(t *testing.T) {
	text := toldOf(&sap.Config{}, sapOfNames("household"))
	for _, want := range []string{"released tables  123,456", "  people         343,398\n", "    scheme  random rounding", "    totals  published alike\n",
		"    SAP of 0.5 takes  3 to 343,396 people, median 3\n                      never for 4 tables; not found for 1 table\n", "riskiest tables  " +
			"people", "SAP(2)", "SAP(20)", "  household, 12   1,234   0.001"} {
		require.Contains(t, text, want)
	}
	for _, name := range []string{"A", "household", strings.Repeat("household_", 12)} {
		for line := range strings.Lines(toldOf(&sap.Config{}, sapOfNames(name))) {
			require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), screen, line)
		}
	}
	one := sapOfNames("A")
	one.By, one.SmallestKnown, one.NotFound = nil, one.SmallestKnown[:1], 0
	require.NotContains(t, toldOf(&sap.Config{}, one), "riskiest")
	require.Contains(t, toldOf(&sap.Config{}, one), "    SAP of 0.5 takes  3 people\n")
	one.SmallestKnown = nil
	require.NotContains(t, toldOf(&sap.Config{}, one), "takes")
}

// Long schemes and paths do not squeeze labels.
func TestTabulatedText(t *testing.T) {
	spec := &schemas.Spec{Operators: []schemas.Operator{{Config: &tabulate.Config{Path: strings.Repeat("folder/", 30) + "t.csv"}}}}
	s := &schemas.Summary{
		Operators: map[string]any{"tabulate": &tabulate.Summary{Records: 1_000_000, Rows: 12, Scheme: strings.Repeat("1 to 7 become 4, ", 9)}},
	}
	text := toldOf(spec.Operators[0].Config.(*tabulate.Config), s.Operators["tabulate"])
	for _, want := range []string{"  records in the table  1,000,000\n", "  rows of the table            12  without margins\n", "  scheme      1 to 7", "  " +
		"written to  folder/"} {
		require.Contains(t, text, want)
	}
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), screen)
	}
}

// Records are not ranked by the table that they share.
func TestReportNamesTables(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("homes.csv", []byte(homes), 0o600))
	r := microrisk(t, "assess", "homes.csv", "--measures", "sap", "--by", "area", "--cells", "sex", "--known", "1", "--out", "t.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.out, "riskiest records")
	require.Contains(t, r.out, "riskiest tables  people  SAP(1)\n    north               3  0.3333\n    south               3  0.3333\n")
}

// What tabulate prints runs, and sees the margins and totals that were published.
func TestTabulatePrintsTheCheck(t *testing.T) {
	folder(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"margins": {
			[]string{"--cells", "region,sex,job", "--margins", "--scheme", "random", "--base", "3"},
			"--by region --cells sex,job --total same --margins all --scheme random --base 3 --published table.csv",
		},
		"one variable": {[]string{"--cells", "sex", "--margins"}, "--cells sex --total same"},
		"matrix": {
			[]string{"--cells", "region,sex", "--scheme", "matrix", "--matrix", "0:1; 0:0.5,2:0.5"}, "--scheme matrix --matrix '0:1;0:0.5,2:0.5' --published table.csv",
		},
		"selected": {
			[]string{"--cells", "region,sex", "--select", "age=30..", "--missing", "drop", "--missing-codes", "x"},
			"--by region --cells sex --missing-codes x --missing drop --select age=30..",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := microrisk(t, append([]string{"tabulate", "people.csv", "--out", "table.csv"}, c.args...)...)
			require.Equal(t, ExitDone, r.status, r.err)
			_, line, found := strings.Cut(r.out, "    microrisk ")
			require.True(t, found, r.out)
			line = strings.TrimSpace(line)
			require.Contains(t, line, c.want)
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			r = microrisk(t, append(words, "--known", "1", "--out", "checked.csv")...)
			require.Equal(t, ExitDone, r.status, r.err)
		})
	}
	r := microrisk(
		t,
		"assess",
		"people.csv",
		"--measures",
		"sap",
		"--cells",
		"sex,job",
		"--impossible",
		"sex=m,job=nurse",
		"--sap-threshold",
		"0.9",
		"--margins",
		"sex",
		"--print-spec",
	)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "margins: [[sex]]")
	own := microrisk(t, "assess", "people.csv", "--measures", "sap", "--cells", "sex,job", "--base-table", "none", "--scheme", "conventional", "--base", "5",
		"--margins", "all", "--perturbed-margin", "sex=none", "--perturbed-margin", "job=random:base=3:probability=0.75", "--print-spec")
	require.Equal(t, ExitDone, own.status, own.err)
	require.Contains(
		t,
		own.out,
		"base_table: none\n        margins:\n          - {variables: [sex], scheme: none}\n"+
			"          - {variables: [job], scheme: random, base: 3, probability: 0.75}\n",
	)
	require.Contains(t, r.out, "threshold: 0.9")
	require.Contains(t, r.out, "impossible:")
}
