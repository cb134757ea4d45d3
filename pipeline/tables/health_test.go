package tables_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// health is a made-up table of 499,793 people by 26 areas, 12 diseases and sex, as a file: areas by Zipf's law and one that is missing, diseases
// of an area by a Dirichlet law, two of them rare.
func health(t *testing.T, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 499_793))
	shares := make([]float64, 26*12)
	for g := range 26 {
		size := 1 / float64(g+1)
		if g == 25 {
			size = 1e-4
		}
		concentration := .5 + 4.5*r.Float64()
		diseases, sum := make([]float64, 12), 0.0
		for d := range diseases {
			diseases[d] = distuv.Gamma{Alpha: concentration, Beta: 1, Src: r}.Rand()
			if d >= 10 {
				diseases[d] *= 1e-3
			}
			sum += diseases[d]
		}
		for d, x := range diseases {
			shares[12*g+d] = size * x / sum
		}
	}
	at := distuv.NewCategorical(shares, r)
	counts := make([]int, 2*len(shares))
	for range 499_793 {
		counts[2*int(at.Rand())+r.IntN(2)]++
	}
	var text strings.Builder
	text.WriteString("area,disease,sex,n\n")
	for i, n := range counts {
		fmt.Fprintf(&text, "%02d,%02d,%d,%d\n", i/24, i/2%12, i%2, n)
	}
	path := filepath.Join(t.TempDir(), "health.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o666))
	return path
}

// TestHealthTables protects such tables of the seeds that MICRORISK_HEALTH has, by a limit of time each, and logs what comes of it.
func TestHealthTables(t *testing.T) {
	seeds := os.Getenv("MICRORISK_HEALTH")
	if seeds == "" {
		t.Skip("MICRORISK_HEALTH is not set; 1,2,3,4,5 measures those tables")
	}
	for seed := range strings.SplitSeq(seeds, ",") {
		n, err := strconv.ParseUint(seed, 10, 64)
		require.NoError(t, err)
		source := health(t, n)
		for _, how := range []struct {
			method, cost string
			seconds      float64
		}{{"optimal", "unity", 120}, {"optimal", "value", 180}, {"hypercube", "value", 180}, {"modular", "value", 180}, {"rounding", "value", 60}} {
			c := &protect.Config{Table: variables("area", "disease", "sex"), Rules: []protect.Rule{{Rule: "min"}}, Method: how.method, Cost: how.cost,
				Seconds: &how.seconds, Base: 3, Out: filepath.Join(t.TempDir(), "public.csv"), Inside: t.TempDir()}
			start := time.Now()
			s, err := tables.Protect(background, source, c, &tables.Columns{Count: "n"}, session.Options{})
			if err != nil {
				t.Logf("seed %d, %s by %s: %v", n, how.method, how.cost, err)
				continue
			}
			gap := math.Round(1e4*s.Gap) / 100
			t.Logf("seed %d, %s by %s: %d cells, %d unsafe, %d hidden, cost %d, proven %v, gap %v %%, %.2f s", n, how.method, how.cost, s.Cells, s.Unsafe, s.Hidden,
				s.Cost, s.Proven, gap, time.Since(start).Seconds())
		}
	}
}
