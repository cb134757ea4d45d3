package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// healthFile is a made-up table as a file.
func healthFile(t testing.TB, seed uint64) string {
	path := filepath.Join(t.TempDir(), "health.csv")
	require.NoError(t, os.WriteFile(path, []byte(healthTable(seed)), 0o666))
	return path
}

// BenchmarkHealthTables protects such tables of the seeds that MICRORISK_HEALTH has, by a limit of time each:
// MICRORISK_HEALTH=1,2,3,4,5 go test -run '^$' -bench Health -benchtime 1x -timeout 1h ./examples/tables
func BenchmarkHealthTables(b *testing.B) {
	seeds := os.Getenv("MICRORISK_HEALTH")
	if seeds == "" {
		b.Skip("MICRORISK_HEALTH is not set; 1,2,3,4,5 measures those tables")
	}
	for seed := range strings.SplitSeq(seeds, ",") {
		n, err := strconv.ParseUint(seed, 10, 64)
		require.NoError(b, err)
		source := healthFile(b, n)
		for _, how := range []struct {
			method, cost, beforehand string
			seconds                  float64
		}{{"optimal", "unity", "nothing", 120}, {"optimal", "value", "nothing", 180}, {"optimal", "unity", "occupied", 120},
			{"optimal", "value", "occupied", 180}, {"hypercube", "value", "occupied", 180}, {"modular", "value", "occupied", 180},
			{"rounding", "value", "occupied", 60}} {
			b.Run(fmt.Sprintf("%s/%s/%s/%s", seed, how.method, how.cost, how.beforehand), func(b *testing.B) {
				var s *protect.Summary
				for range b.N {
					c := &protect.Config{
						Table:      []schemas.KeyVariable{{Name: "area"}, {Name: "disease"}, {Name: "sex"}},
						Rules:      []protect.Rule{{Rule: "min"}},
						Method:     how.method,
						Cost:       how.cost,
						Beforehand: how.beforehand,
						Seconds:    &how.seconds,
						Base:       3,
						Out:        filepath.Join(b.TempDir(), "public.csv"),
						Inside:     b.TempDir(),
					}
					*c = c.For(how.method) // which does not look at all of it
					var err error
					s, err = tables.Protect(b.Context(), source, c, &protect.Columns{Count: "n"}, session.Options{})
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
