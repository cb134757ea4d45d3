package recoding_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
)

// Whether a node is free of minimal sample uniques is what counting all margins says.
func TestNoMSU(t *testing.T) {
	met := 0
	for seed := range uint64(60) {
		variables, codes, counts, sensitive := randomLattice(rand.New(rand.NewPCG(seed, 9)))
		l, err := recoding.New(variables, codes, counts)
		require.NoError(t, err)
		for size := 1; size <= len(variables)+1; size++ {
			rule, err := l.NoMSU(size)
			require.NoError(t, err)
			every(variables, func(n recoding.Node) {
				free := true
				for set := 1; set < 1<<len(variables); set++ {
					if bits.OnesCount(uint(set)) > size {
						continue
					}
					seen := map[string]int64{}
					for i, f := range counts {
						key := ""
						for v := range variables {
							if set>>v&1 == 1 {
								key += fmt.Sprint(variables[v].Levels[n[v]].Group[codes[v][i]], " ")
							}
						}
						seen[key] += f
					}
					for _, f := range seen {
						free = free && f > 1
					}
				}
				require.Equal(t, free, rule.Node(n), "seed %d size %d %v", seed, size, n)
				if free {
					met++
				}
			})
			if size == len(variables) { // the whole key: no sample unique
				found, err := l.Search(t.Context(), recoding.Options{Rule: rule, Loss: recoding.Entropy{}})
				require.NoError(t, err)
				same, err := l.Search(t.Context(), recoding.Options{Rule: recoding.Uniques(0), Loss: recoding.Entropy{}})
				require.NoError(t, err)
				require.Equal(t, len(same.Best), len(found.Best))
				if len(same.Best) > 0 {
					require.Equal(t, same.Best[0].Node, found.Best[0].Node)
				}
			}
		}
		_ = sensitive
	}
	require.Positive(t, met)
}

// The nodes of both lattices that are free, and the least loss among them.
func TestNoMSUOfLattices(t *testing.T) {
	at := folder(t)
	census := []string{"age", "sex", "race", "marital_status", "education", "class_of_worker", "major_occupation", "birth_country_self"}
	files := []*file{adult(t, false), fileOf(t, filepath.Join(filepath.Dir(at), "micro", "census_1m.parquet"), "census_hierarchy_", at, "", census)}
	want := [2][4]struct {
		nodes int
		bits  float64
		node  string
	}{
		{2: {308, 319039.38031, "0 1 1 1 2 2 2 1 1"}, 3: {150, 379417.346057, "1 1 1 1 3 2 2 1 1"}},
		{2: {2992, 4828877.34663, "1 0 0 0 2 1 1 1"}, 3: {793, 8583326.20528, "0 0 1 2 3 2 1 3"}},
	}
	for i, f := range files {
		l := f.lattice(t)
		for size := 2; size <= 3; size++ {
			start := time.Now()
			rule, err := l.NoMSU(size)
			require.NoError(t, err)
			nodes := 0
			every(f.variables, func(n recoding.Node) {
				if rule.Node(n) {
					nodes++
				}
			})
			found, err := l.Search(t.Context(), recoding.Options{Rule: rule, Loss: recoding.Entropy{}})
			require.NoError(t, err)
			t.Log(i, size, nodes, time.Since(start), found.Best[0].Node, found.Checked)
			require.Equal(t, want[i][size].nodes, nodes)
			require.InEpsilon(t, want[i][size].bits, found.Best[0].Loss[0], 1e-9)
			require.Equal(t, want[i][size].node, found.Best[0].Node.String())
		}
	}
}
