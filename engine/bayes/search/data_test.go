package search

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

func readCSV(t testing.TB, path ...string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

// dataOf makes data of coded records, each with a count.
func dataOf(levels []int, rows [][]uint32, counts []int64) *bayes.Data {
	d := &bayes.Data{Levels: levels, Codes: make([][]uint32, len(levels))}
	at := map[string]int{}
	for i, row := range rows {
		key := make([]byte, 0, len(row))
		for _, c := range row {
			key = append(key, byte(c), byte(c>>8))
		}
		j, ok := at[string(key)]
		if !ok {
			j = len(d.Counts)
			at[string(key)] = j
			d.Counts = append(d.Counts, 0)
			for v, c := range row {
				d.Codes[v] = append(d.Codes[v], c)
			}
		}
		d.Counts[j] += counts[i]
		d.Records += counts[i]
	}
	return d
}

func scoresOf(t testing.TB, d *bayes.Data, alpha float64) *bayes.Scores {
	t.Helper()
	s, err := bayes.NewScores(d, alpha)
	require.NoError(t, err)
	return s
}

// czech is the table of Edwards & Havranek 1985: 1,841 car workers, six binary risk factors.
func czech(t testing.TB) *bayes.Data {
	var rows [][]uint32
	var counts []int64
	for _, r := range readCSV(t, "czech", "czech_cells.csv") {
		row := make([]uint32, 6)
		for v := range row {
			row[v] = uint32(number(t, r[v]))
		}
		if n := int64(number(t, r[6])); n > 0 {
			rows, counts = append(rows, row), append(counts, n)
		}
	}
	return dataOf([]int{2, 2, 2, 2, 2, 2}, rows, counts)
}

// czechEdges are the exact posterior probabilities of the edges.
func czechEdges(t testing.TB, alpha string) [6][6]float64 {
	var m [6][6]float64
	for _, r := range readCSV(t, "czech", "edges_alpha"+alpha+".csv") {
		v, w := r[0][0]-'a', r[1][0]-'a'
		m[v][w], m[w][v] = number(t, r[2]), number(t, r[2])
	}
	return m
}

// A knownModel is one of the 300 most probable models of the Czech table.
type knownModel struct {
	graph            *graph.Graph
	score, posterior float64
}

func czechModels(t testing.TB, alpha string) []knownModel {
	var list []knownModel
	for _, r := range readCSV(t, "czech", "models_alpha"+alpha+".csv") {
		g := graph.New(6)
		for _, clique := range strings.FieldsFunc(r[1], func(c rune) bool { return c == '[' || c == ']' }) {
			for i := range clique {
				for j := range i {
					g.Connect(int(clique[i]-'a'), int(clique[j]-'a'))
				}
			}
		}
		list = append(list, knownModel{g, number(t, r[4]), number(t, r[5])})
	}
	return list
}

// A graphCase is one of the small random cases with exact answers.
type graphCase struct {
	Variables []struct {
		Name   string
		Levels []*string
	}
	Precision string `json:"total_prior_precision"`
}

type graphAnswer struct {
	Graphs []struct {
		Edges     [][2]string
		Score     float64 `json:"log_marginal_likelihood"`
		Posterior float64
	}
	Inclusion []struct {
		Edge        [2]string
		Probability float64
	} `json:"edge_inclusion"`
}

func readCase(t testing.TB, dir string) (*bayes.Scores, map[string]int, graphAnswer) {
	var c graphCase
	var a graphAnswer
	for name, to := range map[string]any{"params.json": &c, "expected.json": &a} {
		text, err := os.ReadFile(filepath.Join("testdata", dir, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, to))
	}
	f, err := os.Open(filepath.Join("testdata", dir, "data.csv"))
	require.NoError(t, err)
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range table[0] {
		column[name] = i
	}
	place := map[string]int{}
	levels := make([]int, len(c.Variables))
	rows := make([][]uint32, len(table)-1)
	counts := make([]int64, len(rows))
	for i := range rows {
		rows[i], counts[i] = make([]uint32, len(c.Variables)), 1
	}
	for v, variable := range c.Variables {
		place[variable.Name] = v
		levels[v] = len(variable.Levels)
		code := map[string]uint32{}
		for i, l := range variable.Levels {
			if l == nil {
				code[""] = uint32(i)
			} else {
				code[*l] = uint32(i)
			}
		}
		for i := range rows {
			x, ok := code[table[i+1][column[variable.Name]]]
			require.True(t, ok)
			rows[i][v] = x
		}
	}
	return scoresOf(t, dataOf(levels, rows, counts), number(t, c.Precision)), place, a
}

// decomposable lists all decomposable graphs of k vertices.
func decomposable(k int) []*graph.Graph {
	p := newSpace(mustScores(&bayes.Data{Levels: ones(k), Codes: make([][]uint32, k)}), 0)
	var list []*graph.Graph
	for edges := range uint64(1) << len(p.pairs) {
		s := p.empty(nil)
		s.become([]uint64{edges})
		if s.chordal() {
			list = append(list, p.graph(s.edges))
		}
	}
	return list
}

func ones(k int) []int {
	list := make([]int, k)
	for i := range list {
		list[i] = 1
	}
	return list
}

func mustScores(d *bayes.Data) *bayes.Scores {
	s, err := bayes.NewScores(d, 1)
	if err != nil {
		panic(err)
	}
	return s
}

// posterior is the exact posterior over all decomposable graphs, by key, and the probability of each edge.
func posterior(scores *bayes.Scores, penalty float64) (map[string]float64, [][]float64) {
	k := scores.Data().Variables()
	graphs := decomposable(k)
	weights := make([]float64, len(graphs))
	top, total := math.Inf(-1), 0.0
	for i, g := range graphs {
		weights[i] = scores.Graph(g) - penalty*float64(g.Size())
		top = max(top, weights[i])
	}
	for i := range weights {
		weights[i] = math.Exp(weights[i] - top)
		total += weights[i]
	}
	p := map[string]float64{}
	edges := make([][]float64, k)
	for v := range edges {
		edges[v] = make([]float64, k)
	}
	for i, g := range graphs {
		p[g.Key()] = weights[i] / total
		for _, e := range g.Edges() {
			edges[e[0]][e[1]] += weights[i] / total
			edges[e[1]][e[0]] = edges[e[0]][e[1]]
		}
	}
	return p, edges
}

// dependent makes records of k variables where each depends on one before it.
func dependent(k, n, levels int, strength float64, seed uint64) *bayes.Data {
	rng := rand.New(rand.NewPCG(seed, 3))
	rows := make([][]uint32, n)
	counts := make([]int64, n)
	size := make([]int, k)
	parent := make([]int, k)
	for v := range k {
		size[v] = 2 + (v*7)%(levels-1)
		if v > 0 {
			parent[v] = rng.IntN(v)
		}
	}
	for i := range rows {
		rows[i], counts[i] = make([]uint32, k), 1
		for v := range k {
			x := int(math.Pow(rng.Float64(), 2) * float64(size[v]))
			if v > 0 && rng.Float64() < strength {
				x = int(rows[i][parent[v]]) * size[v] / size[parent[v]]
			}
			rows[i][v] = uint32(min(x, size[v]-1))
		}
	}
	return dataOf(size, rows, counts)
}
