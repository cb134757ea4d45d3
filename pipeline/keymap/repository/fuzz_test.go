package repository

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// opened reads a repository that is only texts.
func opened(t testing.TB, files map[string]string) *Repository {
	t.Helper()
	texts := make(map[string][]byte)
	for path, text := range files {
		texts[path] = []byte(text)
	}
	r, err := open(t.Context(), "nowhere", texts)
	require.NoError(t, err)
	return r
}

// FuzzFile puts any text in the place of a file. It never panics, what is wrong has a line, and what is right is read the same after it was
// written, whether as it is written new or into the text that was there.
func FuzzFile(f *testing.F) {
	for path, text := range good {
		f.Add(text, uint8(len(path)))
	}
	for _, text := range []string{"", "\ufeffname: x", "name: &a x", "{name: x, schema: microrisk/keymap/form@1, variables: {Sex: {}}}", "- a\n" +
		"- b", "name: |\n  x\n",
		"schema: microrisk/keymap/variable@1\nname: \"\\ta\\n\"\nnodes: [{id: a, note: \"# no\"}]\n", "%YAML 1.1\n---\nname: a\n...\n"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		path := []string{"variables/x.yaml", "forms/x.yaml", "groups/x.yaml", "scenarios/x.yaml", ConfigName}[kind%5]
		files := maps.Clone(good)
		files[path] = text
		r := opened(t, files)
		for _, f := range r.Findings {
			require.NotEmpty(t, f.Message)
			if f.File == path {
				require.True(t, f.Line >= 1 && f.Line <= lineBreaks(text)+1, "%v of %q", f, text)
			}
		}
		if len(r.Findings) > 0 {
			return
		}
		for at, read := range r.files {
			if read.path != path {
				continue
			}
			into, err := amended(path, read.text, read.doc)
			require.NoError(t, err)
			for _, written := range []string{string(schemas.DocumentYAML(read.doc)), string(into)} {
				files[path] = written
				again := opened(t, files)
				require.Empty(t, again.Findings, "%q became %q", text, written)
				require.NotNil(t, again.files[at], "%q became %q", text, written)
				require.Equal(t, schemas.DocumentOrdered(read.doc), schemas.DocumentOrdered(again.files[at].doc), "%q became %q", text, written)
			}
		}
	})
}
