package perturb

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// The same people get the same noise in whatever table they are a cell of; 300 groups of them, that are cells of three tables each.
func TestSamePeopleSameNoise(t *testing.T) {
	key := KeyOf([]byte("secret"))
	r := rand.New(rand.NewPCG(3, 4))
	k := must(Normal{SD: 2, Reach: 4, Negative: Truncate}.Kernel())
	changed, same := 0, 0
	for g := range 300 {
		people := make([]uint64, 1+r.IntN(40))
		for p := range people {
			people[p] = RecordKey(key, fmt.Appendf(nil, "person %d of %d", p, g))
			require.Less(t, people[p], uint64(1)<<RecordKeyBits)
		}
		n := int64(len(people))
		whole := Draw(k, n, UniformOf(key, CellKey(people...)))
		r.Shuffle(len(people), func(a, b int) { people[a], people[b] = people[b], people[a] })
		cut := r.IntN(len(people))
		parts := CellKey(people[:cut]...) + CellKey(people[cut:]...) // counted by two machines
		require.Equal(t, CellKey(people...), parts)
		require.Equal(t, whole, Draw(k, n, UniformOf(key, parts)))
		// Others of the same number get noise of their own.
		people[0] = RecordKey(key, fmt.Appendf(nil, "a stranger to %d", g))
		if Draw(k, n, UniformOf(key, CellKey(people...))) == whole {
			same++
		} else {
			changed++
		}
	}
	require.Greater(t, changed, 2*same)
}

// Uniforms of cells of few and of neighbouring keys are uniform, by intervals and by serial pairs, and change with the secret.
func TestUniformsOfCells(t *testing.T) {
	const n, bins = 40000, 20
	for _, secret := range []string{"a", "b"} {
		key := KeyOf([]byte(secret))
		for name, cell := range map[string]func(i int) uint64{
			"sums of two": func(i int) uint64 {
				return CellKey(RecordKey(key, fmt.Append(nil, i)), RecordKey(key, fmt.Append(nil, -i-1)))
			},
			"small numbers": func(i int) uint64 { return uint64(i) },
			"high numbers":  func(i int) uint64 { return uint64(i) << 48 },
		} {
			one, pair, last := [bins]float64{}, [bins * bins]float64{}, 0
			for i := range n {
				u := UniformOf(key, cell(i))
				require.True(t, u >= 0 && u < 1)
				at := int(u * bins)
				one[at]++
				pair[last*bins+at]++
				last = at
			}
			for _, c := range []struct {
				counts []float64
				name   string
			}{{one[:], "alone"}, {pair[:], "pairs"}} {
				sum, expected := 0.0, float64(n)/float64(len(c.counts))
				for _, x := range c.counts {
					sum += (x - expected) * (x - expected) / expected
				}
				require.Greater(t, distuv.ChiSquared{K: float64(len(c.counts) - 1)}.Survival(sum), 1e-4, "%s, %s", name, c.name)
			}
		}
	}
	a, b := KeyOf([]byte("a")), KeyOf([]byte("b"))
	require.NotEqual(t, UniformOf(a, 1), UniformOf(b, 1))
	require.NotEqual(t, RecordKey(a, []byte("x")), RecordKey(b, []byte("x")))
	require.NotEqual(t, UniformOf(a, 7), Uniform(a, binary.LittleEndian.AppendUint64(nil, 7)), "purposes have hashes of their own")
}

// One more record changes a cell's uniform to one that has nothing to do with it.
func TestOneRecordMore(t *testing.T) {
	key := KeyOf([]byte("secret"))
	n, sx, sy, sxy, sxx, syy := 20000.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range int(n) {
		cell := RecordKey(key, fmt.Append(nil, i))
		x, y := UniformOf(key, cell), UniformOf(key, cell+1)
		sx, sy, sxy, sxx, syy = sx+x, sy+y, sxy+x*y, sxx+x*x, syy+y*y
	}
	correlation := (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
	require.Less(t, math.Abs(correlation), 4/math.Sqrt(n))
}

func BenchmarkUniformOf(b *testing.B) {
	key := KeyOf([]byte("secret"))
	for i := range b.N {
		UniformOf(key, uint64(i))
	}
}
