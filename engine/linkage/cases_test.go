package linkage

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
)

type caseFile struct {
	People    int64 `json:"population_size"`
	Variables []struct {
		Name   string
		Levels []string
	}
	Samples []struct{ File string }
	Overlap []string
	Tables  []struct {
		File   string
		Scheme struct {
			Type string
			Base int64
		}
	}
}

// readCounts reads a table; without a column published every row counts one.
func readCounts(t *testing.T, c *caseFile, path string) Counts {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var out Counts
	columns := map[int]int{} // of variables
	published := slices.Index(rows[0], "published")
	for v := range c.Variables {
		if k := slices.Index(rows[0], c.Variables[v].Name); k >= 0 {
			out.Variables = append(out.Variables, v)
			out.Codes = append(out.Codes, nil)
			columns[v] = k
		}
	}
	for _, row := range rows[1:] {
		for j, v := range out.Variables {
			code := slices.Index(c.Variables[v].Levels, row[columns[v]])
			require.GreaterOrEqual(t, code, 0)
			out.Codes[j] = append(out.Codes[j], uint32(code))
		}
		n := int64(1)
		if published >= 0 {
			n, err = strconv.ParseInt(row[published], 10, 64)
			require.NoError(t, err)
		}
		out.Count = append(out.Count, n)
	}
	return out
}

func readProblem(t *testing.T, dir string) (*Problem, *caseFile) {
	text, err := os.ReadFile(filepath.Join(dir, "params.json"))
	require.NoError(t, err)
	var c caseFile
	require.NoError(t, json.Unmarshal(text, &c))
	p := &Problem{People: c.People}
	for v, variable := range c.Variables {
		p.Levels = append(p.Levels, len(variable.Levels))
		if slices.Contains(c.Overlap, variable.Name) {
			p.Overlap = append(p.Overlap, v)
		}
	}
	for _, s := range c.Samples {
		p.Samples = append(p.Samples, readCounts(t, &c, filepath.Join(dir, s.File)))
	}
	for _, s := range c.Tables {
		table := Table{Name: s.File, Counts: readCounts(t, &c, filepath.Join(dir, s.File))}
		switch s.Scheme.Type {
		case "random":
			table.Kernel, err = perturb.Random(s.Scheme.Base)
		case "conventional":
			table.Kernel, err = perturb.Conventional(s.Scheme.Base, "")
		default:
			require.Equal(t, "exact", s.Scheme.Type)
			table.Kernel = perturb.None()
		}
		require.NoError(t, err)
		p.Tables = append(p.Tables, table)
	}
	return p, &c
}

func TestCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/linkage-*")
	require.NoError(t, err)
	require.Len(t, dirs, 5)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			p, c := readProblem(t, dir)
			type outcome struct {
				Range     [2]int64
				Posterior []struct {
					F     int64
					Value float64
				}
				Correct struct{ Value float64 } `json:"pr_correct"`
			}
			var want struct {
				Matches []struct {
					Cell         []string
					Naive, Tight outcome
				} `json:"unique_matches"`
				Possible []struct {
					Cell  []string
					Pairs float64
				} `json:"possible_linkages"`
				Ranking [][]string `json:"ranking_by_naive_pr_correct"`
			}
			text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &want))
			words := func(m Match) (list []string) {
				for j, v := range p.Overlap {
					list = append(list, c.Variables[v].Levels[m.Codes[j]])
				}
				return list
			}
			for _, p.Tight = range []bool{false, true} {
				matches, err := p.Link(t.Context())
				require.NoError(t, err)
				var found []Match
				for i, m := range matches {
					assert.Equal(t, want.Possible[i].Cell, words(m))
					assert.Equal(t, want.Possible[i].Pairs, m.Pairs())
					if m.Unique() {
						found = append(found, m)
					}
				}
				require.Len(t, matches, len(want.Possible))
				require.Len(t, found, len(want.Matches))
				for i, m := range found {
					expected := want.Matches[i].Naive
					if p.Tight {
						expected = want.Matches[i].Tight
					}
					assert.Equal(t, want.Matches[i].Cell, words(m))
					assert.Equal(t, expected.Range, [2]int64{m.Low, m.High}, "tight %v", p.Tight)
					assert.InEpsilon(t, expected.Correct.Value, m.Correct, 1e-9)
					mean := 0.0
					for _, x := range expected.Posterior {
						mean += float64(x.F) * x.Value
					}
					assert.InEpsilon(t, mean, m.Mean, 1e-9)
				}
				if !p.Tight {
					sort.SliceStable(found, func(i, j int) bool { return found[i].Correct > found[j].Correct })
					for i, m := range found {
						assert.Equal(t, want.Ranking[i], words(m))
					}
				}
			}
		})
	}
}

// example is the worked example of Smith 2011, chapter 7: Var1, Var2 and Var3 of two categories each.
func example(rounded bool) *Problem {
	p := &Problem{People: 18, Levels: []int{2, 2, 2}, Overlap: []int{1}, Samples: []Counts{
		{Variables: []int{0, 1}, Codes: [][]uint32{{0, 0, 1}, {0, 1, 0}}, Count: []int64{2, 1, 3}},
		{Variables: []int{1, 2}, Codes: [][]uint32{{0, 0, 1}, {0, 1, 0}}, Count: []int64{3, 1, 1}},
	}}
	if !rounded {
		return p
	}
	kernel, err := perturb.Random(3)
	if err != nil {
		panic(err)
	}
	p.Tables = []Table{{Name: "rounded", Kernel: kernel, Counts: Counts{Variables: []int{0, 1, 2},
		Codes: [][]uint32{{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 1}},
		Count: []int64{0, 3, 3, 3, 6, 3, 3, 3}}}}
	return p
}

func TestWorkedExample(t *testing.T) {
	p := example(false)
	matches, err := p.Link(t.Context())
	require.NoError(t, err)
	require.Len(t, matches, 2)
	m := matches[1]
	require.True(t, m.Unique())
	assert.Equal(t, [2]int64{1, 13}, [2]int64{m.Low, m.High})
	post, err := p.posterior(1, 13, []fact{{records: 6, count: 1}, {records: 5, count: 1}})
	require.NoError(t, err)
	for i, want := range []float64{.09, .19, .22, .19, .14, .09, .05, .02, .01, 0} {
		assert.InDelta(t, want, post.p[i], .005, "F = %d", i+1)
	}

	p = example(true)
	for _, p.Tight = range []bool{false, true} {
		if matches, err = p.Link(t.Context()); err != nil {
			t.Fatal(err)
		}
		m = matches[1]
		low, high := int64(4), int64(13)
		if p.Tight {
			high = 11
		}
		assert.Equal(t, [2]int64{low, high}, [2]int64{m.Low, m.High})
		assert.InDelta(t, .2035, m.Correct, .0005)
	}
	post, err = p.posterior(4, 11, []fact{{records: 6, count: 1}, {records: 5, count: 1}})
	require.NoError(t, err)
	for i, want := range []float64{.39, .28, .17, .09, .04, .02, 0, 0} {
		assert.InDelta(t, want, post.p[i], .0055, "F = %d", i+4)
	}
}
