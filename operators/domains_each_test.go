package operators_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// each is mc3 with a model of each domain; with no by it is one of the file.
func each(sampling schemas.Sampling, c mc3.Config, by ...string) mc3.Operator {
	if c.By = by; by != nil {
		c.Fit = mc3.FitEach
	}
	return mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &sampling, Config: c}
}

// A model of each domain says of its records what a model of a file of them says, to the last digit.
func TestEachDomainIsAFile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 21))
	rounds := 40
	if testing.Short() {
		rounds = 12
	}
	for round := range rounds {
		rows := drawRows(r, 3+r.IntN(120), 4)
		for _, row := range rows {
			row[3] = map[string]string{"_": "9", "0": "4", "1": "7", "2": "2.5"}[row[2]] // weights, of one size in a domain
		}
		by := [][]string{{"D"}, {"A"}, {"B", "D"}}[round%3]
		c := mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: []string{"category", "drop"}[round/3%2]},
			Effects: []string{"", mc3.EffectsLognormal}[round/6%2]}
		sampling, alone := schemas.Sampling{Fraction: .2}, schemas.Sampling{Fraction: .2}
		if by[0] != "A" && round%4 == 0 {
			sampling, alone = schemas.Sampling{Weight: "E"}, schemas.Sampling{Weight: "E"}
		}
		mem := memory.DefaultAllocator
		run := func(rows [][]string, workers int, o mc3.Operator) ([]string, *operators.Report) {
			out, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 1+r.IntN(9), "A B D E:number", joined(rows)...),
				operators.Options{Workers: workers, Seed: 3}, o)
			require.NoError(t, err)
			return out, report
		}
		out, report := run(rows, 1+round%2, each(sampling, c, by...))
		header := strings.Fields(out[0])
		_, order, figures := domainTable(report, len(by))
		parts := map[string][]int{}
		for i, row := range rows {
			var values []string
			for _, b := range by {
				values = append(values, row[strings.Index("ABDE", b)])
			}
			parts[strings.Join(values, " ")] = append(parts[strings.Join(values, " ")], i)
		}
		require.Len(t, order, len(parts))
		for domain, list := range parts {
			var own [][]string
			for _, i := range list {
				own = append(own, rows[i])
			}
			want, model := run(own, 1, each(alone, c))
			titles := strings.Fields(want[0])
			for k, i := range list {
				wanted, got := strings.Fields(want[1+k]), strings.Fields(out[1+i])
				for _, column := range []string{"mc3_correct_match", "mc3_population_unique", "mc3_expected_frequency"} {
					require.Equal(t, wanted[slices.Index(titles, column)], got[slices.Index(header, column)], "%s of %s", column, domain)
				}
				require.Equal(t, wanted[slices.Index(titles, "sample_frequency")], got[slices.Index(header, "mc3_domain_frequency")])
			}
			s := model.Operators[0].Summary.(*mc3.Summary)
			f := figures[domain]
			require.EqualValues(t, s.Records, f["records"])
			require.EqualValues(t, s.Dropped, f["dropped"])
			require.EqualValues(t, s.KeySummary.SampleUniques, f["sample_uniques"])
			require.EqualValues(t, s.KeySummary.Doubles, f["doubles"])
			for name, x := range map[string]*float64{"pu": s.PU, "pu_su": s.PUSU, "cm_um": s.CMUM, "cm_su": s.CMSU, "expected_reidentifications": s.Reidentified} {
				if x == nil {
					require.NotEqual(t, f[name], f[name], "%s of %s is null", name, domain)
					continue
				}
				require.InEpsilon(t, 1+*x, 1+f[name], 1e-12, "%s of %s", name, domain)
			}
		}
		whole := report.Operators[0].Summary.(*mc3.Summary)
		require.EqualValues(t, len(parts), whole.Domains().Count)
		sum := 0.0
		for _, f := range figures {
			sum += f["expected_reidentifications"]
		}
		require.InDelta(t, sum, *whole.Reidentified, 1e-9)
	}
}

// With one domain the file's figures are those of one model.
func TestOneDomainIsTheFile(t *testing.T) {
	mem := memory.DefaultAllocator
	rows := drawRows(rand.New(rand.NewPCG(7, 22)), 90, 4)
	for _, row := range rows {
		row[2] = "all"
	}
	run := func(by ...string) *mc3.Summary {
		_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 7, "A B D E", joined(rows)...), operators.Options{},
			each(schemas.Sampling{PopulationSize: 700}, mc3.Config{}, by...))
		require.NoError(t, err)
		return report.Operators[0].Summary.(*mc3.Summary)
	}
	one, own := run(), run("D")
	for name, x := range one.Figures() {
		require.InEpsilon(t, x, own.Figures()[name], 1e-12, name)
	}
	require.Len(t, own.Figures(), len(one.Figures()))
	require.InEpsilon(t, *one.DIS, *own.DIS, 1e-12)
	require.Equal(t, one.KeySummary, own.KeySummary)
	require.Equal(t, len(one.Calibration), len(own.Calibration))
}

// Domains without records that count have no figures, small ones are named, and too many are refused.
func TestEachDomainWarns(t *testing.T) {
	mem := memory.DefaultAllocator
	run := func(rows []string) (*operators.Report, error) {
		_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4000, "A B D", rows...), operators.Options{},
			each(schemas.Sampling{Fraction: .1}, mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: "drop"}}, "D"))
		return report, err
	}
	report, err := run([]string{"x 1 n", "y 1 n", "_ 1 s"})
	require.NoError(t, err)
	said := strings.Join(report.Warnings, "\n")
	require.Contains(t, said, "fewer than 100 records are in D = n:")
	require.Contains(t, said, "of D = s: mc3: no record was counted")
	_, _, got := domainTable(report, 1)
	require.Equal(t, 1.0, got["s"]["dropped"])
	for _, name := range []string{"pu", "cm_um", "cm_su", "max_correct_match"} {
		require.NotEqual(t, got["s"][name], got["s"][name], name)
	}
	var rows []string
	for i := range 10_001 {
		rows = append(rows, "x 1 "+strconv.Itoa(i))
	}
	_, err = run(rows)
	require.ErrorContains(t, err, "there are 10001 domains, and each would have a model of its own: at most 10000 can be fitted")
	report, err = run(nil)
	require.NoError(t, err)
	require.Zero(t, report.Operators[0].Summary.(*mc3.Summary).Domains().Count)
	_, _, err = operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, "A B D", "x 1 n"), operators.Options{},
		each(schemas.Sampling{Fraction: .1}, mc3.Config{Fit: mc3.FitEach}))
	require.ErrorContains(t, err, "by names no columns")
}
