package recoding_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
)

// Whether a node is free of minimal sample uniques is what counting all margins says.
func TestNoMSU(t *testing.T) {
	met, seeds := 0, uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
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
