package anonymity

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestViolatingAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, variables := range []int{1, 2, 5, 6, 7, 10} {
		for size := range variables + 1 {
			c, err := NewCombinations(variables, size)
			require.NoError(t, err)
			most := size
			if size == 0 {
				most = variables
			}
			all := int64(0)
			for set := 1; set < 1<<variables; set++ {
				if bits.OnesCount(uint(set)) <= most {
					all++
				}
			}
			assert.Equal(t, all, c.All())
			assert.Zero(t, c.Violating(nil))
			assert.Equal(t, all, c.Violating([]uint64{0}))
			for range 20 {
				var sets []uint64
				for range 1 + r.IntN(4) {
					sets = append(sets, 1+r.Uint64N(1<<variables-1))
				}
				want := int64(0)
				for set := uint64(1); set < 1<<variables; set++ {
					has := false
					for _, s := range sets {
						has = has || set&s == s
					}
					if has && bits.OnesCount64(set) <= most {
						want++
					}
				}
				require.Equal(t, want, c.Violating(sets), "%d variables, size %d, %b", variables, size, sets)
			}
		}
	}
	_, err := NewCombinations(21, 0)
	assert.ErrorContains(t, err, "at most 20")
}

// The definitions read word by word.
func TestDiverseAgainstDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 500 {
		counts := make([]int64, 1+r.IntN(5))
		total := 0.0
		for i := range counts {
			counts[i] = 1 + r.Int64N(6)
			total += float64(counts[i])
		}
		c := .5 + 3*r.Float64()
		d := Diverse(counts, c)
		entropy := 0.0
		for _, n := range counts {
			entropy -= float64(n) / total * math.Log(float64(n)/total)
		}
		assert.InDelta(t, entropy, math.Log(d.Entropy), 1e-12)
		assert.LessOrEqual(t, d.Entropy, float64(d.Distinct)+1e-9)
		best := int64(0)
		for l := 1; l <= len(counts); l++ { // Diverse has sorted them
			sum := 0.0
			for _, n := range counts[l-1:] {
				sum += float64(n)
			}
			if float64(counts[0]) < c*sum {
				best = int64(l)
			}
		}
		assert.Equal(t, best, d.Recursive)
	}
	assert.Equal(t, Diversity{}, Diverse(nil, 2))
	assert.Equal(t, Diversity{Distinct: 1, Entropy: 1, Recursive: 1}, Diverse([]int64{7}, 2))
}

// The inpatient table of Machanavajjhala et al. 2007, figure 3: three classes of four, 3-diverse by distinct values.
func ExampleDiverse() {
	for _, counts := range [][]int64{{1, 2, 1}, {1, 1, 2}, {2, 1, 1}} {
		d := Diverse(counts, 2)
		fmt.Printf("%d %.3f %d\n", d.Distinct, d.Entropy, d.Recursive)
	}
	// Output:
	// 3 2.828 2
	// 3 2.828 2
	// 3 2.828 2
}

func BenchmarkViolating12(b *testing.B) {
	c, err := NewCombinations(12, 0)
	require.NoError(b, err)
	sets := []uint64{0b101, 0b11000, 0b100000000001}
	for b.Loop() {
		c.Violating(sets)
	}
}
