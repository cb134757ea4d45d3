package specfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// scalars are taken as they are written, whatever a YAML reader would make of them.
func TestScalarsAsWritten(t *testing.T) {
	for _, text := range []string{"01", "007", "NO", "yes", "on", "1e3", "1.50", "1_000", "0x1F", "0o17", "+1", "-9", ".5", "2024-01-31", "true", "TRUE", "~x", ".inf", "a b", "é"} {
		s, err := specfile.Decode(
			"s.yaml",
			fmt.Appendf(
				nil,
				"version: 1\nsource: {path: a.parquet}\nkey: {variables: [{name: A, levels: [%s, other]}], missing_codes: [x]}\noperators: [suda]\n",
				text,
			),
		)
		require.NoError(t, err, text)
		assert.Equal(t, []string{text, "other"}, s.Key.Variables[0].Levels)
	}
}

// withoutLists has names in place of lists of operators and limits, so that one more of them changes no test.
func withoutLists(text string) string {
	var names, alone, keyed []string
	for _, k := range schemas.Kinds() {
		names = append(names, k.Name)
		if k.Alone {
			alone = append(alone, k.Name)
		}
		if k.Offers(schemas.LimitClasses) {
			keyed = append(keyed, k.Name)
		}
	}
	or := func(list []string, word string) string {
		return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
	}
	return strings.NewReplacer(or(names, "and"), "{operators}", or(alone, "or"), "{alone}", or(keyed, "or"), "{measures}", strings.Join(names, ", "), "{operators}",
		strings.Join(schemas.LimitNames(), ", "), "{limits}").
		Replace(text)
}

// TestErrors decodes the specs of testdata/invalid and compares their errors with the golden file, which people have read.
func TestErrors(t *testing.T) {
	paths, err := filepath.Glob("testdata/invalid/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	slices.Sort(paths)
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = specfile.Decode(filepath.Base(path), text)
		require.Error(t, err, path)
		fmt.Fprintf(&all, "%s\n\n", withoutLists(err.Error()))
	}
	const golden = "testdata/invalid/errors.golden"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String())
}

func TestBrokenText(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comment": "# nothing\n", "list": "- a\n", "scalar": "hello", "null": "~",
		"open": "{a: [", "tab": "version: 1\n\tsource: x\n", "two documents": "version: 1\n---\nversion: 1\n",
		"binary": "\x00\x01\x02", "not UTF-8": "version: \xff\n", "deep": strings.Repeat("[", 10000), "deep block": strings.Repeat("- ", 10000),
		"alias": "a: &x [1]\nversion: *x\n", "merge": "<<: {version: 1}\n", "tag": "version: !!int 1\n", "large": strings.Repeat("a", specfile.MaxSpecSize+1),
		"twice": "version: 1\nversion: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := specfile.Decode("s.yaml", []byte(text))
			var wrong *schemas.SpecError
			require.ErrorAs(t, err, &wrong)
			for _, p := range wrong.Problems {
				assert.Positive(t, p.Line)
				assert.Positive(t, p.Column)
				assert.NotContains(t, p.Message.String(), "\n")
			}
		})
	}
}
