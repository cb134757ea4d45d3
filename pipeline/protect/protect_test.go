package protect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "microrisk/operators/builtin"
	"microrisk/operators/hierarchy"
	"microrisk/pipeline"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"

	"microrisk/operators/protectrecords"
)

// toProtect is a file of people with ages, places within regions, and a sensitive column.
func toProtect(seed uint64, rows int) string {
	r := rand.New(rand.NewPCG(seed, 6))
	var b strings.Builder
	b.WriteString("id,age,place,sex,health\n")
	for i := range rows {
		age := 18 + int(math.Abs(r.NormFloat64())*18)
		place := string(rune('a'+min(7, int(r.ExpFloat64()*3)))) + fmt.Sprint(r.IntN(2))
		if r.IntN(40) == 0 {
			place = "" // missing
		}
		fmt.Fprintf(&b, "%d,%d,%s,%s,%s\n", i, age, place, []string{"m", "f"}[r.IntN(2)], []string{"good", "fair", "bad"}[r.IntN(3)])
	}
	return b.String()
}

const places = "a0;A;*\na1;A;*\nb0;A;*\nb1;A;*\nc0;B;*\nc1;B;*\nd0;B;*\nd1;B;*\ne0;B;*\ne1;B;*\nf0;B;*\nf1;B;*\ng0;B;*\ng1;B;*\nh0;B;*\nh1;B;*\n"

func protection(t *testing.T, target string, suppress string) protect.Spec {
	t.Helper()
	s := protect.Spec{
		Spec: &schemas.Spec{Source: schemas.Source{Path: []string{"in.csv"}}, Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "age"}, {Name: "place"},
			{Name: "sex"}}}},
		Ask:     protectrecords.Ask{Suppress: suppress, Checks: 5000},
		Release: "release.yaml",
		Out:     "release.csv",
		JSON:    "release.json",
	}
	for _, f := range []string{"age=5,10,20", "place=places.csv"} {
		require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, f))
	}
	require.NoError(t, s.Target.Say(target))
	return s
}

// rowsOf are the rows of a CSV by the columns that are named; those that it lacks are left out.
func rowsOf(t *testing.T, path string, columns ...string) (rows [][]string, there []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	head := strings.Split(lines[0], ",")
	for _, c := range columns {
		if slices.Contains(head, c) {
			there = append(there, c)
		}
	}
	for _, line := range lines[1:] {
		cells := strings.Split(line, ",")
		var row []string
		for _, c := range there {
			row = append(row, cells[slices.Index(head, c)])
		}
		rows = append(rows, row)
	}
	return rows, there
}

// smallest is the size of the smallest class of rows.
func smallest(rows [][]string) int {
	counts := map[string]int{}
	for _, r := range rows {
		counts[strings.Join(r, ",")]++
	}
	least := math.MaxInt
	for _, n := range counts {
		least = min(least, n)
	}
	return least
}

// The release is safe, as is counted by plain means from its file, its spec makes the same file again, and all rows and other columns are as they were.
func TestProtectByRecoding(t *testing.T) {
	for seed := range uint64(4) {
		inFolder(t, map[string]string{"in.csv": toProtect(seed, 400), "places.csv": places})
		s := protection(t, "k=4", protectrecords.SuppressNone)
		out, err := protect.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		require.NotEmpty(t, out.Best)
		require.True(t, out.Proven)
		require.True(t, out.Released.Met, out.Released.Missed)
		rows, there := rowsOf(t, "release.csv", "age", "place", "sex")
		require.GreaterOrEqual(t, smallest(rows), 4)
		require.Len(t, rows, 400)
		before, _ := rowsOf(t, "in.csv", "id", "health")
		after, _ := rowsOf(t, "release.csv", "id", "health")
		require.Equal(t, before, after)
		for _, l := range out.Best[0].Levels {
			assert.Equal(t, l.Words != "left out", slices.Contains(there, l.Variable))
		}
		made, err := os.ReadFile("release.csv")
		require.NoError(t, err)
		require.NoError(t, os.Remove("release.csv"))
		spec := decoded(t, "release.yaml")
		_, err = pipeline.Run(t.Context(), spec, session.Options{Workers: 1})
		require.NoError(t, err)
		again, err := os.ReadFile("release.csv")
		require.NoError(t, err)
		require.Equal(t, string(made), string(again))
		require.FileExists(t, "release.json")
		require.Greater(t, len(out.Frontier), 1)
		for i := 1; i < len(out.Frontier); i++ {
			require.Less(t, out.Frontier[i].Risk, out.Frontier[i-1].Risk)
			require.GreaterOrEqual(t, out.Frontier[i].Loss, out.Frontier[i-1].Loss)
		}
	}
}

// Suppressed cells and records leave a release in which k rows are identical, or, under own, in which k records have what is shown; no other cell
// is changed.
func TestProtectBySuppression(t *testing.T) {
	for _, c := range []struct{ suppress, fit string }{{protectrecords.SuppressCells, protectrecords.FitClass}, {protectrecords.SuppressCells, protectrecords.FitOwn}, {protectrecords.SuppressRecords, ""}} {
		t.Run(c.suppress+" "+c.fit, func(t *testing.T) {
			inFolder(t, map[string]string{"in.csv": toProtect(9, 500), "places.csv": places})
			s := protection(t, "k=3", c.suppress)
			s.Fit = c.fit
			for i := range s.Hierarchies { // levels as they are
				most := 0
				s.Hierarchies[i].Most = &most
			}
			require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, "sex=fixed"))
			if c.suppress == protectrecords.SuppressRecords {
				s.Hierarchies = s.Hierarchies[:2]
				most := 0
				s.Hierarchies = append(s.Hierarchies, hierarchy.Config{Variable: "sex", Most: &most})
			}
			out, err := protect.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Best)
			best := out.Best[0]
			before, _ := rowsOf(t, "in.csv", "age", "place", "sex")
			after, there := rowsOf(t, "release.csv", "age", "place", "sex")
			require.Len(t, there, 3)
			hidden := int64(0)
			for i := range before {
				for v := range before[i] {
					if before[i][v] != after[i][v] {
						require.Empty(t, after[i][v])
						hidden++
					}
				}
			}
			require.Positive(t, hidden)
			switch {
			case c.suppress == protectrecords.SuppressRecords:
				kept := slices.DeleteFunc(slices.Clone(after), func(r []string) bool { return strings.Join(r, "") == "" })
				require.GreaterOrEqual(t, smallest(kept), 3)
				require.EqualValues(t, len(after)-len(kept), best.Suppressed)
			case c.fit == protectrecords.FitClass:
				require.GreaterOrEqual(t, smallest(after), 3)
				require.Zero(t, best.Recounted.NotClass)
				fallthrough
			default:
				sum := int64(0)
				for _, n := range best.Cells {
					sum += n
				}
				require.Equal(t, hidden, sum)
				require.Zero(t, best.Cells["sex"], "fixed")
				for _, r := range after {
					fit := 0
					for _, b := range before {
						same := true
						for v := range r {
							same = same && (r[v] == "" || r[v] == b[v])
						}
						if same {
							fit++
						}
					}
					require.GreaterOrEqual(t, fit, 3, r)
				}
			}
		})
	}
}

// Targets of all kinds are met by the file that is written.
func TestProtectTargets(t *testing.T) {
	for _, target := range []string{"uniques=0", "msu=2", "mean_risk=0.1", "dis=0.02", "distinct=2", "entropy=1.5", "expected=40%", "correct_match=0.3", "pu_su=0.2"} {
		t.Run(target, func(t *testing.T) {
			inFolder(t, map[string]string{"in.csv": toProtect(3, 300), "places.csv": places})
			s := protection(t, target, protectrecords.SuppressNone)
			if strings.HasPrefix(target, "distinct") || strings.HasPrefix(target, "entropy") {
				s.Target.Sensitive = "health"
			}
			if slices.ContainsFunc([]string{"dis=", "expected", "correct", "pu_su"}, func(p string) bool { return strings.HasPrefix(target, p) }) {
				s.Spec.Sampling = &schemas.Sampling{Fraction: .05}
			}
			out, err := protect.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Best)
			require.True(t, out.Released.Met, out.Released.Missed)
			rows, _ := rowsOf(t, "release.csv", "age", "place", "sex")
			switch {
			case target == "uniques=0":
				require.Greater(t, smallest(rows), 1)
			case target == "msu=2":
				for a := range rows[0] {
					for b := range a {
						var pairs [][]string
						for _, r := range rows {
							pairs = append(pairs, []string{r[a], r[b]})
						}
						require.Greater(t, smallest(pairs), 1)
					}
				}
			case target == "expected=40%":
				require.LessOrEqual(t, *out.Best[0].Measures.Expected, .4**out.Before.Expected*(1+1e-9))
				require.NotNil(t, out.Released.Refitted)
			case target == "correct_match=0.3":
				require.LessOrEqual(t, *out.Best[0].Measures.Greatest, .3)
			}
		})
	}
}

// What is wrong is told before the search, and nothing is written.
func TestProtectWrong(t *testing.T) {
	for want, change := range map[string]func(s *protect.Spec){
		"needs the size of the population": func(s *protect.Spec) { s.Target.DIS = .1 },
		"is no key variable":               func(s *protect.Spec) { s.Hierarchies = append(s.Hierarchies, hierarchy.Config{Variable: "zz"}) },
		"are a category of their own":      func(s *protect.Spec) { s.Spec.Key.Missing = "drop" },
		"told from missing ones":           func(s *protect.Spec) { s.Spec.Key.Variables[1].MissingCodes = []string{"NA"} },
		`no column "zz"`:                   func(s *protect.Spec) { s.Spec.Key.Variables[0].Name = "zz"; s.Hierarchies = nil },
		"for k alone": func(s *protect.Spec) {
			s.Suppress = protectrecords.SuppressCells
			x := 0.0
			s.Target.Uniques = &x
		},
		"no multiple of":       func(s *protect.Spec) { s.Hierarchies[0].Widths = []float64{5, 12} },
		"its levels are 0":     func(s *protect.Spec) { s.Hierarchies[0].Least, s.Hierarchies[0].Most = 9, pointer(9) },
		"is a key variable":    func(s *protect.Spec) { s.Target.Distinct, s.Target.Sensitive = 2, "sex" },
		"the output in.csv is": func(s *protect.Spec) { s.Out = "in.csv" },
		"goes with distinct":   func(s *protect.Spec) { s.Target.Sensitive = "health" },
		"neither a number":     func(s *protect.Spec) { s.Target.Expected = "few"; s.Spec.Sampling = &schemas.Sampling{Fraction: .1} },
	} {
		inFolder(t, map[string]string{"in.csv": toProtect(1, 50), "places.csv": places})
		s := protection(t, "k=3", protectrecords.SuppressNone)
		change(&s)
		_, err := protect.Run(t.Context(), s, session.Options{})
		require.ErrorContains(t, err, want)
		require.True(t, session.IsSpec(err), want)
		require.NoFileExists(t, "release.csv")
	}
}

// A target that nothing reaches is told with the nearest release; a file that is safe stays as it is.
func TestProtectEnds(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": toProtect(1, 30), "places.csv": places})
	s := protection(t, "k=31", protectrecords.SuppressNone)
	out, err := protect.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Empty(t, out.Best)
	require.NotNil(t, out.Nearest)
	require.NoFileExists(t, "release.csv")
	out, err = protect.Run(t.Context(), protection(t, "k=31", protectrecords.SuppressCells), session.Options{})
	require.NoError(t, err)
	require.Empty(t, out.Best, "fewer records than k")
	inFolder(t, map[string]string{"in.csv": "id,age,place,sex,health\n" + strings.Repeat("1,20,a0,m,good\n", 12), "places.csv": places})
	out, err = protect.Run(t.Context(), protection(t, "k=3", protectrecords.SuppressCells), session.Options{})
	require.NoError(t, err)
	require.Zero(t, out.Best[0].Loss)
	require.True(t, out.Released.Met)
	inFolder(t, map[string]string{"in.csv": "id,age,place,sex,health\n", "places.csv": places})
	_, err = protect.Run(t.Context(), protection(t, "k=3", protectrecords.SuppressNone), session.Options{})
	require.ErrorContains(t, err, "nothing to protect")
}

func pointer[T any](x T) *T { return &x }

func decoded(t *testing.T, path string) *schemas.Spec {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	spec, err := specfile.Decode(path, text)
	require.NoError(t, err)
	return spec
}

// inFolder puts the test into a folder of its own with these files.
func inFolder(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// A search that is interrupted before it found anything writes nothing, and says so.
func TestInterruptedBeforeAnything(t *testing.T) {
	for _, suppress := range []string{protectrecords.SuppressNone, protectrecords.SuppressCells} {
		inFolder(t, map[string]string{"in.csv": toProtect(8, 600), "places.csv": places})
		ended := false
		_, err := protect.Run(t.Context(), protection(t, "k=3", suppress), session.Options{Enough: func() (<-chan struct{}, func()) {
			enough := make(chan struct{})
			close(enough)
			return enough, func() { ended = true }
		}})
		require.ErrorIs(t, err, protectrecords.ErrNothing)
		require.True(t, ended)
		left, err := os.ReadDir(".")
		require.NoError(t, err)
		require.Len(t, left, 2)
	}
}
