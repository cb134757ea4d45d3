package objects

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of several outputs and a summary none is there if one cannot be, though the others are at their end.
func TestSeveralOutputs(t *testing.T) {
	file := wide()
	s3Front, b := s3Server(t)
	for _, key := range []string{"in/a.parquet", "in/b.parquet"} {
		b.put(key, file)
	}
	azureFront, a := azureServer(t, "several")
	a.put("several/in/a.parquet", file)
	a.put("several/in/b.parquet", file)
	for name, c := range map[string]struct {
		front *front
		root  string
		part  func(r *http.Request) bool // of an output or the summary
		keys  func() []string
	}{
		"S3": {s3Front, b.path(""), isPart, b.keys},
		"Azure": {azureFront, "azblob://several/", func(r *http.Request) bool { return r.URL.Query().Get("comp") == "block" }, func() (keys []string) {
			for k := range a.blobs {
				keys = append(keys, strings.TrimPrefix(k, "several/"))
			}
			slices.Sort(keys)
			return keys
		}},
	} {
		assess := func(spoilt string) (status int, said string) {
			c.front.spoiling(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				fails := spoilt != "" && c.part(r) && strings.HasSuffix(r.URL.Path, spoilt)
				return fails && answer(w, http.StatusForbidden, "AccessDenied")
			})
			defer c.front.spoiling(nil)
			return run(t, "assess", c.root+"in/", "--key", keys, "--fraction", "0.1", "--quiet", "--out", c.root+"out/", "--summary", c.root+"risk.json")
		}
		in := []string{"in/a.parquet", "in/b.parquet"}
		for _, spoilt := range []string{"out/a.parquet", "out/b.parquet", "risk.json"} {
			t.Run(name+", "+spoilt, func(t *testing.T) {
				status, said := assess(spoilt)
				require.Equal(t, 1, status, said)
				require.Contains(t, said, c.root+spoilt+": access is denied")
				require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
				require.Equal(t, in, c.keys())
				require.Empty(t, b.uploads())
			})
		}
		t.Run(name, func(t *testing.T) {
			status, said := assess("")
			require.Zero(t, status, said)
			require.Equal(t, append(in, "out/a.parquet", "out/b.parquet", "risk.json"), c.keys())
		})
	}
}
