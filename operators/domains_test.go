package operators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/attribution"
	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/ldiversity"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// divided are the measures that tell of domains.
func divided(options schemas.MeasureOptions) map[string]operators.Operator {
	key, sampling := operatortest.Key("A", "B"), &schemas.Sampling{Fraction: .25}
	return map[string]operators.Operator{
		"suda":       suda.Operator{Key: key, Sampling: sampling, Config: suda.Config{MeasureOptions: options}},
		"mc3":        mc3.Operator{Key: key, Sampling: sampling, Config: mc3.Config{MeasureOptions: options}},
		"individual": individual.Operator{Key: key, Sampling: sampling, Config: individual.Config{MeasureOptions: options}},
		"household":  individual.Operator{Key: key, Sampling: sampling, Config: individual.Config{MeasureOptions: options, Household: "E"}},
		"ldiversity": ldiversity.Operator{Key: key, Config: ldiversity.Config{MeasureOptions: options, Sensitive: []schemas.KeyVariable{{Name: "E"}}}},
		"attribution": attribution.Operator{Key: key, Sampling: sampling, Config: attribution.Config{MeasureOptions: options,
			Sensitive: []schemas.KeyVariable{{Name: "E", MissingCodes: []string{"1"}}}}},
		"kanonymity": kanonymity.Operator{Key: key, Config: kanonymity.Config{MeasureOptions: options}},
	}
}

// A figures has those of a domain, by their names; NaN for null.
type figures map[string]float64

func (f figures) add(name string, x float64)      { f[name] += x }
func (f figures) greatest(name string, x float64) { f[name] = max(f[name], x) }

func (f figures) least(name string, x float64) {
	if old, there := f[name]; !there || x < old {
		f[name] = x
	}
}

// domainTable reads a file of domains: the names of its columns, the domains in order, and the figures of each.
func domainTable(r *operators.Report, by int) (names, order []string, rows map[string]figures) {
	record := r.Operators[len(r.Operators)-1].Fitted.(operators.Tabled).Tables(memory.DefaultAllocator)
	defer record.Release()
	rows = map[string]figures{}
	for i := range int(record.NumRows()) {
		var values []string
		row := figures{}
		for c, column := range record.Columns() {
			switch {
			case c < by && column.IsNull(i):
				values = append(values, "_")
			case c < by:
				values = append(values, column.(*array.String).Value(i))
			default:
				row[record.ColumnName(c)] = math.NaN()
				if x, there := operators.Number(column, i); there {
					row[record.ColumnName(c)] = x
				}
			}
		}
		order = append(order, strings.Join(values, " "))
		rows[order[i]] = row
	}
	for c := range record.Columns() {
		names = append(names, record.ColumnName(c))
	}
	return names, order, rows
}

// count adds a record of an output to the figures of its domain.
func (f figures) count(measure string, value func(column string) float64) {
	frequency := value("sample_frequency")
	f.add("records", 1)
	switch frequency {
	case 1:
		f.add("sample_uniques", 1)
	case 2:
		f.add("doubles", .5)
	}
	switch measure {
	case "suda":
		f.add("file_score", value("suda_score"))
		f.add("file_is", value("suda_is"))
		f.add("msus", value("suda_msu_count"))
		if value("suda_msu_count") > 0 && value("suda_msu_min_size") < 2 {
			f.add("special_uniques", 1)
		}
		if dis := value("suda_dis_is"); !math.IsNaN(dis) {
			f.add("records_with_msus", 1)
			f.add("dis is", dis)
			f.greatest("greatest_dis_is", dis)
		}
	case "household":
		f.add("household_reidentifications", value("individual_household_risk"))
	case "ldiversity":
		if distinct := value("ldiversity_distinct_E"); distinct < 2 {
			f.add("below_distinct_E", 1)
		}
		if value("ldiversity_recursive_E") < 2 {
			f.add("below_recursive_E", 1)
		}
		f.least("least_entropy_E", value("ldiversity_entropy_E"))
	case "attribution":
		if p := value("attribution_E"); !math.IsNaN(p) {
			f.add("expected_attributions_E", p)
			f.add("gains", value("attribution_gain_E"))
			f.add("values", 1)
			f.greatest("greatest_E", p)
			if p > .5 {
				f.add("above_0.5_E", 1)
			}
		}
	case "kanonymity":
		f.add("violations", value("kanonymity_violation"))
	case "individual":
		f.add("expected_reidentifications", value("individual_risk"))
		f.greatest("greatest_risk", value("individual_risk"))
	case "mc3":
		f.add("expected_reidentifications", value("mc3_correct_match"))
		f.greatest("max_correct_match", value("mc3_correct_match"))
		f.add("expected_population_uniques", value("mc3_population_unique"))
		if frequency == 1 {
			f.add("expected_correct_matches", value("mc3_correct_match"))
		}
	}
}

// follows checks what follows from the sums.
func (f figures) follows(t *testing.T, measure string, sums figures) {
	switch {
	case measure == "suda":
		if n := f["records_with_msus"]; n > 0 {
			require.InDelta(t, sums["dis is"]/n, f["mean_dis_is"], 1e-12)
		} else {
			require.True(t, math.IsNaN(f["mean_dis_is"]) && math.IsNaN(f["greatest_dis_is"]))
		}
		if f["records"] == 0 {
			require.True(t, math.IsNaN(f["dis"]), "of no records there is none")
		} else {
			require.InDelta(t, uniques.DIS(.25, int64(f["sample_uniques"]), f["doubles"]), f["dis"], 1e-12)
		}
	case measure == "mc3" && f["sample_uniques"] == 0:
		require.True(t, math.IsNaN(f["pu_su"]) && math.IsNaN(f["cm_su"]))
	case measure == "mc3":
		require.InDelta(t, f["expected_population_uniques"]/f["sample_uniques"], f["pu_su"], 1e-12)
		require.InDelta(t, f["expected_correct_matches"]/f["sample_uniques"], f["cm_su"], 1e-12)
	case measure == "attribution" && sums["values"] > 0:
		require.InDelta(t, sums["expected_attributions_E"]/sums["values"], f["mean_E"], 1e-12)
		require.InDelta(t, sums["gains"]/sums["values"], f["mean_gain_E"], 1e-12)
	case measure == "attribution":
		require.True(t, math.IsNaN(f["mean_E"]) && math.IsNaN(f["greatest_E"]))
	case measure == "individual" && f["records"] > 0:
		require.InDelta(t, 100*f["expected_reidentifications"]/f["records"], f["expected_reidentification_percent"], 1e-9)
	}
}

// Figures of domains are those of the records that the output has, added up record by record, for any policy, batches and workers, whether
// what tells domains apart is in the key or not.
func TestDomainsAgainstRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for round := range 80 {
		rows := drawRows(r, 3+r.IntN(30), 4)
		by := [][]string{{"D"}, {"E", "D"}, {"A"}, {"D", "B"}}[round%4]
		options := schemas.MeasureOptions{Missing: []string{"category", "drop"}[round/4%2], By: by}
		for name, o := range divided(options) {
			if name == "mc3" && round >= 24 {
				continue
			}
			mem := memory.DefaultAllocator
			out, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 1+r.IntN(9), "A B D E", joined(rows)...),
				operators.Options{Workers: 1 + round%2}, o)
			require.NoError(t, err)
			header, want := strings.Fields(out[0]), map[string]figures{}
			for i, row := range rows {
				var values []string
				for _, b := range by {
					value := row[strings.Index("ABDE", b)]
					if name == "attribution" && b == "E" && value == "1" {
						value = "_" // as for the sensitive variable
					}
					values = append(values, value)
				}
				domain, cells := strings.Join(values, " "), strings.Fields(out[1+i])
				if want[domain] == nil {
					want[domain] = figures{}
				}
				if cells[4] == "_" {
					want[domain].add("dropped", 1)
					continue
				}
				want[domain].count(name, func(column string) float64 {
					if cells[slices.Index(header, column)] == "_" {
						return math.NaN()
					}
					x, err := strconv.ParseFloat(cells[slices.Index(header, column)], 64)
					require.NoError(t, err)
					return x
				})
			}
			_, order, got := domainTable(report, len(by))
			require.Len(t, got, len(want))
			for domain, f := range want {
				for figure, x := range f {
					if _, told := got[domain][figure]; !told && slices.Contains([]string{"dis is", "gains", "values"}, figure) {
						continue
					}
					require.InDelta(t, x, got[domain][figure], 1e-9, "%s %s %s", name, domain, figure)
				}
				got[domain].follows(t, name, f)
			}
			s := report.Operators[0].Summary.(schemas.Measured).Domains()
			require.Equal(t, by, s.By)
			require.EqualValues(t, len(want), s.Count)
			require.Len(t, s.Rows, min(100, len(want)))
			for i, row := range s.Rows {
				require.EqualValues(t, got[order[i]]["records"], row.Records, "the summary has the rows in their order")
			}
		}
	}
}

// Where what tells domains apart is in the key, classes are within the domains: the figures of kanonymity and individual are what a file of
// the domain alone has.
func TestDomainsInTheKeyAreFilesByThemselves(t *testing.T) {
	rows := drawRows(rand.New(rand.NewPCG(7, 12)), 60, 2)
	run := func(rows [][]string, name string, by ...string) *operators.Report {
		mem := memory.DefaultAllocator
		_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 7, "A B", joined(rows)...), operators.Options{},
			divided(schemas.MeasureOptions{By: by})[name])
		require.NoError(t, err)
		return report
	}
	_, order, k := domainTable(run(rows, "kanonymity", "A"), 1)
	_, _, b := domainTable(run(rows, "individual", "A"), 1)
	require.Equal(t, []string{"0", "1", "2", "_"}, order)
	for domain := range k {
		var alone [][]string
		for _, row := range rows {
			if row[0] == domain {
				alone = append(alone, row)
			}
		}
		s := run(alone, "kanonymity").Operators[0].Summary.(*kanonymity.Summary)
		require.EqualValues(t, s.Violations, k[domain]["violations"])
		require.EqualValues(t, *s.Smallest, k[domain]["smallest_class"])
		require.EqualValues(t, s.KeySummary.SampleUniques, k[domain]["sample_uniques"])
		require.InDelta(t, s.ViolationPercent, k[domain]["violation_percent"], 1e-9)
		require.Nil(t, s.Domains())
		i := run(alone, "individual").Operators[0].Summary.(*individual.Summary)
		require.InDelta(t, i.Reidentified, b[domain]["expected_reidentifications"], 1e-9)
	}
}

// A record is unique by the whole file, whatever domain it is in.
func TestDomainsLookAtTheWholeFile(t *testing.T) {
	mem := memory.DefaultAllocator
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, "A B D", "x 1 north", "x 1 south", "y 2 south"), operators.Options{},
		divided(schemas.MeasureOptions{By: []string{"D"}})["suda"])
	require.NoError(t, err)
	names, _, got := domainTable(report, 1)
	require.Equal(t, []string{"D", "records", "dropped", "sample_uniques", "doubles", "file_score", "file_is", "msus", "records_with_msus", "special_uniques",
		"dis", "mean_dis_is", "greatest_dis_is"}, names)
	require.Equal(t, 0.0, got["north"]["sample_uniques"], "there is another one like it in the south")
	require.Equal(t, 0.5, got["north"]["doubles"])
	require.Equal(t, 1.0, got["south"]["sample_uniques"])
}

// With wildcards a record is like all that are compatible with it; domains add up to the file.
func TestDomainsWithWildcards(t *testing.T) {
	mem := memory.DefaultAllocator
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, "A B D", "x 1 n", "x _ n", "y 1 n", "z 2 s"), operators.Options{},
		divided(schemas.MeasureOptions{By: []string{"D"}, Missing: "wildcard"})["suda"])
	require.NoError(t, err)
	_, _, got := domainTable(report, 1)
	require.Equal(t, 1.0, got["n"]["sample_uniques"])
	require.Equal(t, 1.0, got["n"]["doubles"])
	s := report.Operators[0].Summary.(*suda.Summary)
	require.InDelta(t, s.KeySummary.Doubles, got["n"]["doubles"]+got["s"]["doubles"], 1e-12)
	require.InDelta(t, s.FileScore, got["n"]["file_score"]+got["s"]["file_score"], 1e-12)
}

func TestDomainsRefuse(t *testing.T) {
	mem := memory.DefaultAllocator
	run := func(header string, by ...string) (*operators.Report, error) {
		_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, header, "x 1 n", "y 1 n"), operators.Options{},
			divided(schemas.MeasureOptions{By: by})["kanonymity"])
		return report, err
	}
	_, err := run("A B REGION", "REGIO")
	require.ErrorContains(t, err, `kanonymity: there is no column "REGIO"; did you mean "REGION"?`)
	_, err = run("A B D", "D", "D")
	require.ErrorContains(t, err, `"D" is listed twice`)
	_, err = run("A B records", "records")
	require.ErrorContains(t, err, `a column of by is called "records"`)
	report, err := run("A B D", "D")
	require.NoError(t, err)
	require.Empty(t, report.Warnings)
	_, report, err = operatortest.Table(t, mem, operatortest.Lines(t, mem, 9, "A B D"), operators.Options{},
		divided(schemas.MeasureOptions{By: []string{"D"}})["kanonymity"])
	require.NoError(t, err, "no rows at all")
	require.Zero(t, report.Operators[0].Summary.(schemas.Measured).Domains().Count)
}

// Thousands of domains are warned of.
func TestTooManyDomains(t *testing.T) {
	var rows []string
	for i := range 10_001 {
		rows = append(rows, fmt.Sprintf("x 1 %d", i))
	}
	mem := memory.DefaultAllocator
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4000, "A B D", rows...), operators.Options{},
		divided(schemas.MeasureOptions{By: []string{"D"}})["kanonymity"])
	require.NoError(t, err)
	require.Contains(t, strings.Join(report.Warnings, "\n"), "there are 10001 domains")
	require.Len(t, report.Operators[0].Summary.(schemas.Measured).Domains().Rows, 100)
}
