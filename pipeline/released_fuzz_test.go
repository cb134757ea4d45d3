package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"microrisk/engine/perturb"
)

// FuzzPublished: no file makes the readers of published tables panic.
func FuzzPublished(f *testing.F) {
	for _, text := range []string{"a,b,count\nx,y,1\nx,Total,1\n", "a,value\n1,2\n,0\n", "published\n5\n", "a;b;count\n1;2;3\nTotal;Total;3\n", "a,count\nx,-1\n", "a,count\nx,\n", "count,value\n1,2\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "table.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{}.withDefaults()
		tables := &releasedTables{}
		if err := tables.read(t.Context(), path, perturb.None(), o); err == nil {
			_, _ = tables.release()
		}
		_, _ = readPublished(t.Context(), path, []string{"a"}, o)
	})
}
