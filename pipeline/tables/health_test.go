package tables_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// health is a made-up table of 499,793 people by 26 areas, 12 diseases and sex, as a file: areas by Zipf's law and one that is missing, diseases
// of an area by a Dirichlet law, two of them rare.
func health(t testing.TB, seed uint64) string {
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

// BenchmarkHealthTables protects such tables of the seeds that MICRORISK_HEALTH has, by a limit of time each:
// MICRORISK_HEALTH=1,2,3,4,5 go test -run '^$' -bench Health -benchtime 1x -timeout 1h ./pipeline/tables
func BenchmarkHealthTables(b *testing.B) {
	seeds := os.Getenv("MICRORISK_HEALTH")
	if seeds == "" {
		b.Skip("MICRORISK_HEALTH is not set; 1,2,3,4,5 measures those tables")
	}
	for seed := range strings.SplitSeq(seeds, ",") {
		n, err := strconv.ParseUint(seed, 10, 64)
		require.NoError(b, err)
		source := health(b, n)
		for _, how := range []struct {
			method, cost, beforehand string
			seconds                  float64
		}{{"optimal", "unity", "nothing", 120}, {"optimal", "value", "nothing", 180}, {"optimal", "unity", "occupied", 120},
			{"optimal", "value", "occupied", 180}, {"hypercube", "value", "occupied", 180}, {"modular", "value", "occupied", 180},
			{"rounding", "value", "occupied", 60}} {
			b.Run(fmt.Sprintf("%s/%s/%s/%s", seed, how.method, how.cost, how.beforehand), func(b *testing.B) {
				var s *protect.Summary
				for range b.N {
					c := &protect.Config{Table: variables("area", "disease", "sex"), Rules: []protect.Rule{{Rule: "min"}}, Method: how.method, Cost: how.cost,
						Beforehand: how.beforehand, Seconds: &how.seconds, Base: 3, Out: filepath.Join(b.TempDir(), "public.csv"), Inside: b.TempDir()}
					var err error
					s, err = tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
					require.NoError(b, err)
				}
				b.ReportMetric(float64(s.Unsafe), "unsafe")
				b.ReportMetric(float64(s.Hidden), "hidden")
				b.ReportMetric(float64(s.Cost), "cost")
				b.ReportMetric(100*s.Gap, "gap-%")
			})
		}
	}
}
