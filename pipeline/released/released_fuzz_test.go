package released

import (
	"os"
	"path/filepath"
	"testing"

	"microrisk/engine/perturb"
	"microrisk/pipeline/session"
)

// FuzzPublished: no file makes the readers of published tables panic.
func FuzzPublished(f *testing.F) {
	for _, text := range []string{"a,b,count\nx,y,1\nx,Total,1\n", "a,value\n1,2\n,0\n", "published\n5\n", "a;b;count\n1;2;3\nTotal;Total;3\n", "a,count\n" +
		"x,-1\n", "a,count\nx,\n", "count,value\n1,2\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "table.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := session.Options{}.WithDefaults()
		tables := &Tables{}
		if err := tables.Read(t.Context(), path, perturb.None(), o); err == nil {
			_, _ = tables.Release()
		}
		_, _ = session.ReadPublished(t.Context(), path, []string{"a"}, o)
	})
}
