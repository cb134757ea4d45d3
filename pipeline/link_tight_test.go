package pipeline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
	"microrisk/operators/tabulate"
	"microrisk/pipeline/link"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Samples that show one category of a variable do not say that there are no others.
func TestTightAllowsForUnseenCategories(t *testing.T) {
	files := map[string]string{"s1.csv": "V,W\na,1\nb,1\nb,1\n", "s2.csv": "V,W\na,1\nb,1\n", "v.csv": "V,count\na,10\nb,90\n",
		"vw.csv": "V,W,count\na,1,4\na,2,6\nb,1,60\nb,2,30\n", "full.csv": "V,W,published\na,1,3\na,2,0\nb,1,60\nb,2,30\n", "part.csv": "V,W,published\na,1,3\n" +
			"b,1,90\n"}
	for name, c := range map[string]struct {
		change    func(s *link.Spec)
		low, high int64
		warned    bool
	}{
		"nothing lists W":         {func(*link.Spec) {}, 1, 10, true},
		"declared":                {func(s *link.Spec) { s.Levels = []schemas.KeyVariable{{Name: "W", Levels: []string{"1"}}} }, 10, 10, false},
		"another is declared":     {func(s *link.Spec) { s.Levels = []schemas.KeyVariable{{Name: "W", Levels: []string{"1", "2"}}} }, 1, 10, false},
		"an exact table lists W":  {func(s *link.Spec) { s.Exact = append(s.Exact, "vw.csv") }, 4, 4, false},
		"a rounded table in full": {func(s *link.Spec) { s.Tables, s.Scheme.Scheme, s.Scheme.Base = []string{"full.csv"}, "random", 3 }, 8, 5, false},
		"a rounded table in part": {func(s *link.Spec) { s.Tables, s.Scheme.Scheme, s.Scheme.Base = []string{"part.csv"}, "random", 3 }, 1, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, files)
			s := link.Spec{A: []string{"s1.csv"}, B: []string{"s2.csv"}, Exact: []string{"v.csv"}, PopulationSize: 100, Bounds: "tight"}
			c.change(&s)
			o, err := link.Run(t.Context(), s, session.Options{})
			if c.low > c.high {
				require.ErrorContains(t, err, "contradict")
				return
			}
			require.NoError(t, err)
			a := o.Classes[0]
			assert.Equal(t, []int64{c.low, c.high}, []int64{a.Low, a.High})
			assert.Equal(t, c.warned, len(o.Warnings) > 0, o.Warnings)
		})
	}
	for levels, want := range map[string]string{"Q=1": "levels are declared of Q", "V=a": "a table has V = \"b\"", "W=2": "not among its levels"} {
		inFolder(t, files)
		name, list, _ := strings.Cut(levels, "=")
		_, err := link.Run(t.Context(), link.Spec{A: []string{"s1.csv"}, B: []string{"s2.csv"}, Exact: []string{"v.csv"}, PopulationSize: 100, Bounds: "tight",
			Levels: []schemas.KeyVariable{{Name: name, Levels: strings.Split(list, "|")}}}, session.Options{})
		assert.ErrorContains(t, err, want)
	}
}

// Whatever is published of a population, and however few of its categories the samples show, its people are within the bounds: Link
// compares each class with the population.
func TestBoundsNeverExcludeTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	kernel, err := perturb.Random(3)
	require.NoError(t, err)
	classes := 0
	for round := range 400 {
		people := make([][]string, 10+r.IntN(60))
		for i := range people {
			people[i] = []string{fmt.Sprint(r.IntN(2)), fmt.Sprint(r.IntN(1 + r.IntN(4))), fmt.Sprint(r.IntN(2 + r.IntN(3)))}
		}
		names := []string{"X", "Y", "Z"}
		take := func(share float64, columns ...int) string {
			text := ""
			for i, c := range columns {
				text += strings.Repeat(",", min(i, 1)) + names[c]
			}
			text += "\n"
			for i, p := range people {
				if i > 0 && r.Float64() > share {
					continue
				}
				for j, c := range columns {
					text += strings.Repeat(",", min(j, 1)) + p[c]
				}
				text += "\n"
			}
			return text
		}
		overlap := [][]int{{0, 1}, {0, 1, 2}, {2}}[r.IntN(3)]
		files := map[string]string{"p.csv": take(1, 0, 1, 2), "a.csv": take(.1, 0, 1, 2), "b.csv": take(.1, overlap...)}
		s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, Population: []string{"p.csv"}, Bounds: []string{"tight", "tight", "naive"}[r.IntN(3)]}
		for i := range 1 + r.IntN(2) {
			margin := [][]int{{0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}}[r.IntN(5)]
			name, rounded, full := fmt.Sprintf("t%d.csv", i), r.IntN(2) == 0, r.IntN(2) == 0
			files[name] = publish(r, names, people, margin, rounded, full, kernel)
			if rounded {
				s.Tables = append(s.Tables, name)
				s.Scheme = schemas.Perturbation{Scheme: "random", Base: 3}
			} else {
				s.Exact = append(s.Exact, name)
			}
		}
		inFolder(t, files)
		o, err := link.Run(t.Context(), s, session.Options{})
		if err != nil && strings.Contains(err.Error(), "has no rows") { // all counts were published as 0
			continue
		}
		require.NoError(t, err, "round %d: %+v", round, s)
		classes += len(o.Classes)
	}
	assert.Greater(t, classes, 400)
}

// publish counts people over some variables; only full tables list their zeros.
func publish(r *rand.Rand, names []string, people [][]string, margin []int, rounded, full bool, kernel perturb.Kernel) string {
	counts := map[string]int64{"": 0}
	delete(counts, "")
	cells := []string{""}
	text := ""
	for _, v := range margin {
		text += names[v] + ","
		seen := map[string]bool{}
		var next []string
		for _, p := range people {
			if seen[p[v]] {
				continue
			}
			seen[p[v]] = true
			for _, c := range cells {
				next = append(next, c+p[v]+",")
			}
		}
		cells = next
	}
	for _, p := range people {
		k := ""
		for _, v := range margin {
			k += p[v] + ","
		}
		counts[k]++
	}
	text += "published\n"
	for _, c := range cells {
		n := counts[c]
		if rounded {
			n = perturb.Draw(kernel, n, r.Float64())
		}
		if n > 0 || full {
			text += fmt.Sprintf("%s%d\n", c, n)
		}
	}
	return text
}

// Two samples of 8 of a survey, and an exact table of one variable: Link compares each class with the population.
func TestTightOnASurvey(t *testing.T) {
	path, err := filepath.Abs("../examples/data/cps1988.parquet")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	_, err = Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{path}}, Key: keyOf("ethnicity"), Sink: schemas.Sink{Path: "p.csv"},
		Operators: []schemas.Operator{
			{Config: &tabulate.Config{Cells: []schemas.KeyVariable{{Name: "ethnicity"}}, Perturb: &schemas.Perturbation{Scheme: "none"}, Path: "e.csv"}},
		}}, session.Options{})
	require.NoError(t, err)
	people := strings.Split(strings.TrimSpace(read(t, "p.csv")), "\n")
	r := rand.New(rand.NewPCG(32, 2))
	ranges := 0
	for round := range 24 {
		for _, name := range []string{"a.csv", "b.csv"} {
			text := people[0] + "\n"
			for _, i := range r.Perm(len(people) - 1)[:8] {
				text += people[1+i] + "\n"
			}
			require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		}
		for _, key := range []*schemas.Key{keyOf("ethnicity", "parttime"), keyOf("ethnicity", "smsa", "parttime")} {
			o, err := link.Run(
				t.Context(),
				link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, Population: []string{"p.csv"}, Exact: []string{"e.csv"}, Key: key, Bounds: "tight"},
				session.Options{},
			)
			require.NoError(t, err, "round %d", round)
			ranges += len(o.Classes)
		}
	}
	assert.Greater(t, ranges, 80)
}
