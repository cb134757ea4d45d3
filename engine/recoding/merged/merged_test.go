package merged_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/graph"
	"microrisk/engine/recoding"
	"microrisk/engine/recoding/merged"
)

var graphs = []string{
	"[a][b][c][d][e]",
	"[a b][b c][c d][d e]",
	"[a b c][b c d][d e]",
	"[a b][a c][a d][a e]",
	"[a b c d e]",
	"[a b][c d e]",
	"[a b][b c][d e]",
}

// drawn is a sample of five variables, with hierarchies that halve the codes.
func drawn(t *testing.T, seed uint64) (*bayes.Data, []recoding.Variable) {
	r := rand.New(rand.NewPCG(seed, 5))
	d := &bayes.Data{Levels: []int{4, 3, 5, 2, 4}, Codes: make([][]uint32, 5)}
	seen := map[string]int{}
	for range 120 {
		cell := make([]uint32, 5)
		for v, levels := range d.Levels {
			cell[v] = uint32(min(levels-1, int(r.ExpFloat64()*float64(levels)/3)))
			if v > 0 && r.IntN(2) == 0 {
				cell[v] = min(uint32(levels-1), cell[v-1])
			}
		}
		key := fmt.Sprint(cell)
		i, is := seen[key]
		if !is {
			i = len(d.Counts)
			seen[key] = i
			d.Counts = append(d.Counts, 0)
			for v := range cell {
				d.Codes[v] = append(d.Codes[v], cell[v])
			}
		}
		d.Counts[i]++
		d.Records++
	}
	var variables []recoding.Variable
	for v, levels := range d.Levels {
		x := recoding.Variable{Name: string(rune('a' + v)), Weight: 1}
		for l := 0; ; l++ {
			level := recoding.Level{}
			for c := range levels {
				level.Group = append(level.Group, uint32(c>>l))
			}
			x.Levels = append(x.Levels, level)
			if (levels-1)>>l == 0 {
				break
			}
		}
		x.Most = len(x.Levels) - 1
		variables = append(variables, x)
	}
	return d, variables
}

func lawOf(t *testing.T, d *bayes.Data, text ...string) *risk.Law {
	var models []bayes.Model
	for i, x := range text {
		g, err := graph.Parse(x, []string{"a", "b", "c", "d", "e"})
		require.NoError(t, err)
		models = append(models, bayes.Model{Graph: g, Weight: []float64{1, .25, .75}[i+min(1, len(text)-1)]})
	}
	law, err := risk.NewLaw(t.Context(), d, 1, models, 1)
	require.NoError(t, err)
	return law
}

// The probability of a merged key is the sum of those of all keys in it, and all of them sum to 1.
func TestProbabilitiesAreSums(t *testing.T) {
	for seed, text := range graphs {
		d, variables := drawn(t, uint64(seed))
		law := lawOf(t, d, text)
		l, err := recoding.New(variables, d.Codes, d.Counts)
		require.NoError(t, err)
		const unsampled = 1000
		m, err := merged.New(law, l, unsampled, 0)
		require.NoError(t, err)
		every := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, 5)} // all cells, to have their probabilities by the product's own cells
		cells := 1
		for _, r := range d.Levels {
			cells *= r
		}
		for i := range cells {
			rest := i
			for v, r := range d.Levels {
				every.Codes[v] = append(every.Codes[v], uint32(rest%r))
				rest /= r
			}
			every.Counts = append(every.Counts, 1)
			every.Records++
		}
		of, err := law.Cells(t.Context(), every, risk.Options{Estimator: risk.Gamma, Unsampled: unsampled})
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		for range 12 {
			n := make(recoding.Node, 5)
			for v := range n {
				n[v] = uint8(r.IntN(variables[v].Most + 1))
			}
			sums := map[string]float64{}
			groups := map[string][]uint32{}
			for i := range cells {
				g := make([]uint32, 5)
				for v := range g {
					g[v] = variables[v].Levels[n[v]].Group[every.Codes[v][i]]
				}
				key := fmt.Sprint(g)
				groups[key] = g
				sums[key] += (of.ExpectedFrequency[i] - 1) / unsampled
			}
			total := 0.0
			for key, g := range groups {
				p := m.Probabilities(n, g, nil)[0]
				require.InDelta(t, sums[key], p, 1e-12, "%s at %v, %v", text, n, g)
				total += p
			}
			require.InDelta(t, 1, total, 1e-9, text)
		}
	}
}

// Without one variable, the correct matches among sample uniques are those of the product's relative risk.
func TestRelativeRisk(t *testing.T) {
	for seed, text := range graphs {
		d, variables := drawn(t, uint64(100+seed))
		law := lawOf(t, d, text)
		l, err := recoding.New(variables, d.Codes, d.Counts)
		require.NoError(t, err)
		o := risk.Options{Estimator: risk.Poisson, Unsampled: 1000}
		relative, err := law.Variables(t.Context(), d, o)
		require.NoError(t, err)
		likelihood := *law // poisson takes proportions
		likelihood.Precision = 1e-300
		m, err := merged.New(&likelihood, l, 1000, 0)
		require.NoError(t, err)
		all, err := l.Outcome(l.Bottom(), nil)
		require.NoError(t, err)
		whole, err := m.Of(l, all)
		require.NoError(t, err)
		for v := range variables {
			n := l.Bottom()
			n[v] = uint8(variables[v].Most)
			o, err := l.Outcome(n, nil)
			require.NoError(t, err)
			f, err := m.Of(l, o)
			require.NoError(t, err)
			require.Equal(t, relative[v].Unique, f.Uniques)
			require.InDelta(t, relative[v].Tau2, 1-f.CorrectMatches/whole.CorrectMatches, 1e-9, "%s without %s", text, variables[v].Name)
		}
	}
}

// Expected re-identifications, and the greatest E[1/F], never rise with a recoding; merged by the same graph on merged tables they can.
func TestNoRise(t *testing.T) {
	for seed, text := range graphs {
		d, variables := drawn(t, uint64(200+seed))
		law := lawOf(t, d, text, graphs[(seed+1)%len(graphs)])
		l, err := recoding.New(variables, d.Codes, d.Counts)
		require.NoError(t, err)
		m, err := merged.New(law, l, 1000, 0)
		require.NoError(t, err)
		figures := map[string]merged.Figures{}
		var nodes []recoding.Node
		var from func(n recoding.Node, v int)
		from = func(n recoding.Node, v int) {
			if v == len(n) {
				nodes = append(nodes, append(recoding.Node{}, n...))
				return
			}
			for k := range variables[v].Levels {
				n[v] = uint8(k)
				from(n, v+1)
			}
		}
		from(make(recoding.Node, 5), 0)
		for _, n := range nodes {
			o, err := l.Outcome(n, nil)
			require.NoError(t, err)
			figures[n.String()], err = m.Of(l, o)
			require.NoError(t, err)
		}
		for _, n := range nodes {
			f := figures[n.String()]
			for v := range n {
				if int(n[v]) == variables[v].Most {
					continue
				}
				up := append(recoding.Node{}, n...)
				up[v]++
				g := figures[up.String()]
				require.LessOrEqual(t, g.Reidentifications, f.Reidentifications*(1+1e-6)+.02, "%v %v", n, up) // classes of many are taken as their records say
				require.LessOrEqual(t, g.Greatest, f.Greatest*(1+1e-9), "%v %v", n, up)
			}
		}
		found, err := l.Search(t.Context(), recoding.Options{Rule: m.Expected(figures[l.Bottom().String()].Reidentifications / 2), Loss: recoding.Cells{}})
		require.NoError(t, err)
		require.NotEmpty(t, found.Best)
		least := math.Inf(1)
		for _, n := range nodes {
			if figures[n.String()].Reidentifications <= figures[l.Bottom().String()].Reidentifications/2 {
				least = min(least, recoding.Cells{}.Bound(l, n)[0])
			}
		}
		require.InDelta(t, least, found.Best[0].Loss[0], 1e-9)
	}
}

// A copy of a variable tells nothing: to leave the variable out that links two copies does not raise what is expected of them.
func TestCopies(t *testing.T) {
	d := &bayes.Data{Levels: []int{100, 100, 100}, Codes: make([][]uint32, 3)}
	for c := range uint32(100) {
		for v := range d.Codes {
			d.Codes[v] = append(d.Codes[v], c)
		}
		d.Counts = append(d.Counts, 1)
		d.Records++
	}
	g, err := graph.Parse("[a v][v b]", []string{"a", "v", "b"})
	require.NoError(t, err)
	law, err := risk.NewLaw(t.Context(), d, 1e-9, []bayes.Model{{Graph: g, Weight: 1}}, 1)
	require.NoError(t, err)
	var variables []recoding.Variable
	for _, name := range []string{"a", "v", "b"} {
		x := recoding.Variable{Name: name, Weight: 1, Most: 1, Levels: make([]recoding.Level, 2)}
		for c := range uint32(100) {
			x.Levels[0].Group, x.Levels[1].Group = append(x.Levels[0].Group, c), append(x.Levels[1].Group, 0)
		}
		variables = append(variables, x)
	}
	l, err := recoding.New(variables, d.Codes, d.Counts)
	require.NoError(t, err)
	m, err := merged.New(law, l, 990, 0)
	require.NoError(t, err)
	require.InDelta(t, .01, m.Probabilities(recoding.Node{0, 1, 0}, []uint32{7, 0, 7}, nil)[0], 1e-9)
	require.InDelta(t, 0, m.Probabilities(recoding.Node{0, 1, 0}, []uint32{7, 0, 8}, nil)[0], 1e-9)
	o, err := l.Outcome(recoding.Node{0, 1, 0}, nil)
	require.NoError(t, err)
	f, err := m.Of(l, o)
	require.NoError(t, err)
	require.InDelta(t, .10, f.Greatest, .005)
}
