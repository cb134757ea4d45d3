package tables_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/operators/selection"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// converted is a text of rows as another kind of file.
func converted(t *testing.T, text, path string) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "from.csv")
	require.NoError(t, os.WriteFile(from, []byte(text), 0o666))
	header, _, _ := strings.Cut(text, "\n")
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{from}}, Sink: schemas.Sink{Path: path},
		Operators: []schemas.Operator{{Config: &selection.Config{Columns: strings.Split(header, ",")}}}}
	_, err := pipeline.Run(background, spec, session.Options{})
	require.NoError(t, err)
}

// A hierarchy is the same whatever file it is in: its codes are text, and 01 is not 1.
func TestHierarchyFiles(t *testing.T) {
	const parents = "code,parent\n01,north\n1,north\nnorth,Total\ns1,south\nsouth,\n"
	const levels = "area,place\nnorth,01\nnorth,1\nsouth,s1\n"
	texts := map[string]string{
		"h.csv": parents, "levels.csv": levels, "h.hrc": "north\n@01\n@1\nsouth\n@s1\n", "h.yaml": "Total: {north: [01, 1], south: [s1]}\n",
		"h.json":   `{"north": ["01", "1"], "south": ["s1"]}`,
		"bad.yaml": "north: [01, 1]\nsouth: [s1, 01]\n", "bad.csv": "code,parent\n01,north\n01,south\n",
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "in.csv")
	require.NoError(t, os.WriteFile(source, []byte(repeated("r,s\n01,x\n01,y\n1,x\n1,y\ns1,x\ns1,y\n")), 0o666))
	for name, text := range texts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	converted(t, parents, filepath.Join(dir, "h.parquet"))
	converted(t, parents, filepath.Join(dir, "h.arrow"))
	converted(t, levels, filepath.Join(dir, "levels.parquet"))
	converted(t, "code,parent\n01,north\nnorth,\n01,south\nsouth,\n", filepath.Join(dir, "two.parquet"))
	converted(t, "code,parent\na,a\n", filepath.Join(dir, "own.parquet"))
	converted(t, "code,parent\na,Total\nTotal,\n", filepath.Join(dir, "total.parquet"))
	converted(t, "l1,l2\na,Total\n", filepath.Join(dir, "level.parquet"))
	converted(t, "code,parent\na,b\n", filepath.Join(dir, "none.parquet"))
	converted(t, "code,parent\n1.5,2.5\n", filepath.Join(dir, "numbers.parquet"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.parquet"), []byte("PAR1 and no more PAR1"), 0o666))
	made := func(hierarchy string) (string, error) {
		c := &protect.Config{
			Table:       variables("r", "s"),
			Hierarchies: map[string]string{"r": filepath.Join(dir, hierarchy)},
			Rules:       []protect.Rule{{Rule: "min"}},
			Out:         filepath.Join(t.TempDir(), "public.csv"),
			Inside:      filepath.Join(t.TempDir(), "inside"),
		}
		if _, err := run(t, source, c); err != nil {
			return "", err
		}
		text, err := os.ReadFile(c.Out)
		return string(text), err
	}
	want, err := made("h.csv")
	require.NoError(t, err)
	require.Contains(t, want, "north,x,8,\n")
	for _, name := range []string{"levels.csv", "h.hrc", "h.yaml", "h.json", "h.arrow", "h.parquet", "levels.parquet"} {
		got, err := made(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for name, says := range map[string]string{
		"bad.yaml":        `bad.yaml:2: the code "01" is below south, and below north too (line 1)`,
		"bad.csv":         `bad.csv:3: the code "01" is below "south", and below "north"`,
		"two.parquet":     `two.parquet, row 3: the code "01" is below "south", and below "north"`,
		"own.parquet":     `own.parquet, row 1: "a" is below itself`,
		"total.parquet":   `total.parquet, row 2: the code "Total" is that of the total`,
		"level.parquet":   `level.parquet has the code "Total", which names the total over all`,
		"none.parquet":    `none.parquet, row 1: the parent "b" of "a" has no row`,
		"numbers.parquet": `numbers.parquet: the column "code" is of type float64; codes are text or whole numbers`,
		"broken.parquet":  "broken.parquet",
		"nothing.parquet": "nothing.parquet",
		"nothing.yaml":    "nothing.yaml",
	} {
		_, err := made(name)
		require.ErrorContains(t, err, says)
	}
}
