package specfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// FuzzDecode: no text makes the decoder panic or hang; errors have places; what is valid stays the same when it is written and read.
func FuzzDecode(f *testing.F) {
	paths, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, "testdata/full.yaml", "testdata/full.golden.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "~", "a", "- a", "{", "[[[[", "? a\n: b", "&a *a", "!!x y", "%YAML 1.2\n---\n", "\"\\u0000\"", "version: 1\nsource: {path: |\n  a\n}",
		`{"version":1,"source":{"path":"a.parquet"},"key":{"variables":["A"]},"operators":["suda"],"limits":{"dis":1e-3}}`,
		"version: 1\nsource: {path: a}\noperators: [{recode: {A: {from: B, map: {? [x] : y}}}}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		watch := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("decoding takes too long: %q", text)) })
		defer watch.Stop()
		spec, err := specfile.Decode("f.yaml", text)
		if err != nil {
			var wrong *schemas.SpecError
			if !errors.As(err, &wrong) || len(wrong.Problems) == 0 {
				t.Fatalf("an error of another kind: %v", err)
			}
			for _, p := range wrong.Problems {
				if p.Line < 1 || p.Column < 1 {
					t.Fatalf("a problem has no place: %+v", p)
				}
			}
			return
		}
		written := spec.YAML()
		again, err := specfile.Decode("again.yaml", written)
		if err != nil {
			t.Fatalf("a valid spec is not read back: %v\n%s\nfrom\n%s", err, written, text)
		}
		if second := again.YAML(); string(second) != string(written) {
			t.Fatalf("a spec changed:\n%s\nbecame\n%s", written, second)
		}
	})
}

func TestSpecsAreUTF8(t *testing.T) {
	_, err := specfile.Decode("s.yaml", []byte("version: 1\nsource: {path: \xcf\xcfa.parquet}\n"))
	if err == nil ||
		err.Error() != "s.yaml:2:16: the spec is not UTF-8 here; convert it first, as from Latin-1 or Windows-1252: iconv -f WINDOWS-1252 -t UTF-8" {
		t.Fatal(err)
	}
	if _, err := decodeRecodes("r.yaml", []byte("A: {map: {1: \xe9}}")); err == nil {
		t.Fatal("recodes that are not UTF-8 are taken")
	}
}
