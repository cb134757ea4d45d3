package pipeline

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/recode"
	"microrisk/pipeline/link"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

const (
	worksA = "Var1,Var2\n1,1\n1,1\n1,2\n2,1\n2,1\n2,1\n"
	worksB = "Var2,Var3\n1,1\n1,1\n1,1\n1,2\n2,1\n"
	worksT = "Var1,Var2,Var3,published\n1,1,1,0\n1,1,2,3\n1,2,1,3\n1,2,2,3\n2,1,1,6\n2,1,2,3\n2,2,1,3\n2,2,2,3\n"
)

// The worked example of Smith 2011, chapter 7, from files to file.
func TestLinkWorkedExample(t *testing.T) {
	for bounds, upper := range map[string]string{"naive": "13", "tight": "11"} {
		inFolder(t, map[string]string{"a.csv": worksA, "b.csv": worksB, "t.csv": worksT})
		o, err := link.Run(t.Context(), link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 18, Tables: []string{"t.csv"},
			Scheme: schemas.Perturbation{Scheme: "random", Base: 3}, Bounds: bounds, Out: "links.csv", Pairs: "pairs.csv"}, session.Options{})
		require.NoError(t, err)
		assert.Equal(t, []string{"Var2"}, o.Overlap)
		assert.Equal(t, 1, o.Unique)
		assert.Equal(t, 21.0, o.Total.Pairs)
		assert.InDelta(t, .2035, o.Total.ExpectedUnique, .0005)
		rows := table(t, "links.csv")
		require.Len(t, rows, 3)
		assert.Equal(t, []string{"2", "1", "1", "a.csv", "2", "b.csv", "4", "1", "4", upper}, rows[1][:10])
		pairs := table(t, "pairs.csv")
		require.Len(t, pairs, 1+21)
		assert.Equal(t, []string{"a.csv", "2", "b.csv", "4", "0"}, pairs[1][:5])
		assert.Equal(t, rows[1][11], pairs[1][5])
	}
}

func table(t *testing.T, path string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(read(t, path))).ReadAll()
	require.NoError(t, err)
	return rows
}

// A shared case with a rounded table, from files to file.
func TestLinkCase(t *testing.T) {
	dir, err := filepath.Abs("../engine/linkage/testdata/linkage-02-rounded-superset")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	o, err := link.Run(
		t.Context(),
		link.Spec{A: []string{filepath.Join(dir, "sample1.csv")}, B: []string{filepath.Join(dir, "sample2.csv")}, PopulationSize: 30,
			Tables: []string{filepath.Join(dir, "table1.csv")}, Scheme: schemas.Perturbation{Scheme: "random", Base: 3}, Out: "links.csv"},
		session.Options{},
	)
	require.NoError(t, err)
	assert.InEpsilon(t, 547135517769./3481894633955, o.Classes[0].Correct, 1e-9)
	assert.Equal(t, []string{"5", "17"}, table(t, "links.csv")[1][8:10])
}

// A population with two samples of it: against counting by hand, with categories coded otherwise in the second sample.
func TestLinkAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for round := range 20 {
		people, codes := "X,Y\n", map[string]string{"a": "1", "b": "2", "c": "3"}
		a, b := "X,Y,Z\n", "Y,Q,X\n"
		f, fa, fb := map[string]int{}, map[string]int{}, map[string]int{}
		for range 40 {
			x, y := string(rune('a'+r.IntN(3))), strconv.Itoa(r.IntN(4))
			if r.IntN(9) == 0 {
				y = ""
			}
			people += x + "," + y + "\n"
			f[x+y]++
			if r.IntN(3) == 0 {
				a += x + "," + y + ",z\n"
				fa[x+y]++
			}
			if r.IntN(3) == 0 {
				b += y + ",q," + codes[x] + "\n"
				fb[x+y]++
			}
		}
		inFolder(t, map[string]string{"p.csv": people, "a.csv": a, "b.csv": b})
		s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, Population: []string{"p.csv"}, Out: "links.csv", MissingCodes: []string{""},
			RecodeB: []recode.Column{{Name: "X", Replace: true, Map: map[string]string{"1": "a", "2": "b", "3": "c"}}}}
		o, err := link.Run(t.Context(), s, session.Options{Workers: 1 + round%2, Batch: 1 + r.IntN(9)})
		require.NoError(t, err)
		unique, shared, truth := 0, 0, 0.0
		for k, n := range fa {
			if fb[k] > 0 {
				shared++
				if n == 1 && fb[k] == 1 {
					unique++
					truth += 1 / float64(f[k])
				}
			}
		}
		assert.Equal(t, shared, len(o.Classes))
		assert.Equal(t, unique, o.Unique)
		assert.InDelta(t, truth, o.Total.KnownUnique, 1e-12)
		for _, c := range o.Classes {
			k := ""
			for _, v := range c.Values {
				if v != nil {
					k += *v
				}
			}
			assert.Equal(t, int64(f[k]), c.F)
			assert.Equal(t, int64(fa[k]), c.Records[0])
			row := strings.Split(a, "\n")[c.First[0].Row+1]
			if c.Values[1] != nil {
				assert.True(t, strings.HasPrefix(row, fmt.Sprintf("%s,%s,", *c.Values[0], *c.Values[1])), row)
			}
		}
		s.Missing = "drop"
		dropped, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		for _, c := range dropped.Classes {
			assert.NotNil(t, c.Values[1])
		}
		assert.LessOrEqual(t, len(dropped.Classes), len(o.Classes))
	}
}

// Without a recode nothing agrees, and that is said.
func TestLinkUnmatched(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "X,Y\nm,1\nf,1\n", "b.csv": "X,Y\n1,1\n2,1\n"})
	o, err := link.Run(t.Context(), link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 9, Out: "links.csv"}, session.Options{})
	require.NoError(t, err)
	assert.Empty(t, o.Classes)
	require.Len(t, o.Unmatched, 1)
	assert.Equal(t, released.Unmatched{Variable: "X", OnlyA: []string{"f", "m"}, OnlyB: []string{"1", "2"}, RecordsA: 2, RecordsB: 2}, o.Unmatched[0])
	assert.Equal(t, 1, len(table(t, "links.csv")), "an empty, well-formed file")
}

func TestLinkRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *link.Spec)
		want   string
		spec   bool
	}{
		"small population": {func(s *link.Spec) { s.PopulationSize = 5 }, "sample A has 6 records, the population 5", false},
		"no population":    {func(s *link.Spec) { s.PopulationSize = 0 }, "how large is the population", true},
		"both":             {func(s *link.Spec) { s.Population = []string{"a.csv"} }, "leave the population size out", true},
		"not its sample": {
			func(s *link.Spec) { s.Tables, s.PopulationSize, s.Population = nil, 0, []string{"p.csv"} }, "the population 0 people of Var2 = 1", false,
		},
		"nothing common": {func(s *link.Spec) { s.B = []string{"c.csv"} }, "no column in common", true},
		"unknown":        {func(s *link.Spec) { s.Key = &schemas.Key{Variables: []schemas.KeyVariable{{Name: "Var3"}}} }, `sample A: key: there is no column "Var3"`, true},
		"scheme":         {func(s *link.Spec) { s.Tables = nil; s.Scheme = schemas.Perturbation{Scheme: "random", Base: 3} }, "there are none", true},
		"perturbed":      {func(s *link.Spec) { s.Scheme = schemas.Perturbation{Scheme: "random", Base: 5} }, "never publishes a count of 3", false},
		"contradicts":    {func(s *link.Spec) { s.Tables = nil; s.Exact = []string{"e.csv"} }, "Var2 = 1 would have at least 5 and at most 2 people", false},
		"bounds":         {func(s *link.Spec) { s.Bounds = "sharp" }, "naive or tight", true},
		"over input":     {func(s *link.Spec) { s.Out = "t.csv" }, "t.csv", true},
		"pairs":          {func(s *link.Spec) { s.Pairs, s.MostPairs = "pairs.csv", 20 }, "21 candidate pairs", false},
		"wildcard": {func(s *link.Spec) {
			s.Key = &schemas.Key{Missing: "wildcard", Variables: []schemas.KeyVariable{{Name: "Var2"}}}
		}, "category or drop", true},
		"same file":    {func(s *link.Spec) { s.B = s.A }, "are the same file", true},
		"missing file": {func(s *link.Spec) { s.A = []string{"nope.csv"} }, "nope.csv does not exist", false},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(
				t,
				map[string]string{
					"a.csv": worksA,
					"b.csv": worksB,
					"c.csv": "Z\n1\n",
					"t.csv": worksT,
					"p.csv": "Var2\n2\n2\n2\n2\n2\n2\n2\n",
					"e.csv": "Var2,published\n1,2\n2,16\n",
				},
			)
			s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 18, Tables: []string{"t.csv"}, Out: "links.csv"}
			c.change(&s)
			_, err := link.Run(t.Context(), s, session.Options{})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.spec, session.IsSpec(err))
			for _, path := range []string{"links.csv", "pairs.csv"} {
				_, err := os.Stat(path)
				assert.True(t, os.IsNotExist(err), path)
			}
		})
	}
}

// Outputs are none of the files that were read, nor each other; tables of samples have no margins; samples are of the population.
func TestLinkGuards(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *link.Spec)
		want   string
	}{
		"recodes":    {func(s *link.Spec) { s.Out = "r.csv" }, "r.csv"},
		"each other": {func(s *link.Spec) { s.Pairs = "./links.csv" }, "are one file"},
		"totals":     {func(s *link.Spec) { s.Sampled = []string{"s.csv"} }, "has margins (Total) beside its cells"},
		"base alone": {func(s *link.Spec) { s.Scheme.Base = 3 }, "base belongs to scheme"},
		"huge":       {func(s *link.Spec) { s.PopulationSize = 1<<53 + 1 }, "more than can be computed with"},
		"class of B only": {
			func(s *link.Spec) { s.PopulationSize, s.Population = 0, []string{"p.csv"} }, "sample B has 1 records and the population 0 people of Var2 = 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(
				t,
				map[string]string{
					"a.csv": worksA,
					"b.csv": worksB,
					"r.csv": "as it was",
					"s.csv": "Var2,count\n1,3\n2,1\nTotal,4\n",
					"p.csv": "Var2\n" + strings.Repeat("1\n", 12),
				},
			)
			s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 18, Out: "links.csv"}
			c.change(&s)
			_, err := link.Run(t.Context(), s, session.Options{Reads: []session.Reading{{What: "the file of recodes", Path: "r.csv"}}})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, "as it was", read(t, "r.csv"))
			assert.NoFileExists(t, "links.csv")
		})
	}
	inFolder(t, map[string]string{"a.csv": "K,X\n1,0.5\n2,1.5\n", "b.csv": "K,X\n1,0.5\n3,2.5\n"})
	o, err := link.Run(t.Context(), link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 9}, session.Options{})
	require.NoError(t, err)
	require.Len(t, o.Warnings, 1)
	assert.Contains(t, o.Warnings[0], "not linked by X")
	inFolder(t, map[string]string{
		"a.csv": "K,X,sample_frequency,mc3_correct_match\n1,0.5,2,0.5\n2,1.5,1,1\n",
		"b.csv": "K,X,sample_frequency,mc3_correct_match\n1,0.5,1,0.1\n3,2.5,1,0.2\n",
	})
	o, err = link.Run(t.Context(), link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: 9}, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"K"}, o.Overlap)
	require.Len(t, o.Warnings, 2)
	assert.Contains(t, o.Warnings[1], "not linked by mc3_correct_match, sample_frequency, which an earlier run wrote of risk")
}
