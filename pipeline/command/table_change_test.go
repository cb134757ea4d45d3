package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scheme is said in one word, and stands in the spec by its fields; what is wrong with it is wrong usage, and nothing is written.
func TestTableProtectByScheme(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := "id,area,sex\n"
	for i := range 300 {
		text += "p" + strings.Repeat("i", i) + ",a" + string(rune('0'+i*i%3)) + "," + []string{"f", "m"}[i%2] + "\n"
	}
	require.NoError(t, os.WriteFile("r.csv", []byte(text), 0o666))
	say := func(args ...string) (int, string, string) {
		r := microrisk(t, append([]string{"table", "protect", "r.csv", "--table", "area,sex", "--rule", "min:n=3"}, args...)...)
		return r.status, r.out, r.err
	}
	status, out, _ := say("--method", "perturbation", "--scheme", "normal:sd=2:negative=reflect", "--noise-by", "people", "--record-id", "id", "--print-spec")
	require.Zero(t, status)
	for _, line := range []string{"scheme: normal", "sd: 2", "negative: reflect", "by: people", "record_id: id"} {
		require.Contains(t, out, line)
	}
	status, out, errs := say("--method", "perturbation", "--scheme", "random:base=5", "--totals", "sums")
	require.Zero(t, status, errs)
	require.Contains(t, out, "unbiased random rounding to base 5")
	require.FileExists(t, "public.parquet")
	r := microrisk(t, "table", "audit", "public.parquet", "--truth", "internal")
	require.Zero(t, r.status, r.err)
	require.NoError(t, os.RemoveAll("internal"))
	require.NoError(t, os.Remove("public.parquet"))
	for says, args := range map[string][]string{
		`--scheme is "randomly"; it is SCHEME, or SCHEME:base=3, where the scheme is none, conventional`: {"--method", "perturbation", "--scheme", "randomly"},
		"base is 0; random rounding needs a base from 2":                                                 {"--method", "perturbation", "--scheme", "random"},
		"--scheme belongs to --method perturbation":                                                      {"--scheme", "random:base=3"},
		"say how values are changed: --scheme random:base=3":                                             {"--method", "perturbation"},
		`method "perturb" is unknown; it is one of none, optimal`:                                        {"--method", "perturb"},
		"the secret nowhere cannot be read":                                                              {"--method", "partial", "--secret", "nowhere"},
	} {
		status, _, errs := say(args...)
		require.Contains(t, errs, says)
		require.Equal(t, 2, status, says)
		require.NoFileExists(t, filepath.Join(dir, "public.parquet"))
	}
}
