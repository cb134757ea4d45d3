package repository

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// catalogue writes a repository of forms, of variables with so many categorizations of so many smallest categories.
func catalogue(t testing.TB, folder string, formCount, variableCount, distinct, sinks int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	write := func(path string, doc schemas.Document) {
		path = filepath.Join(folder, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, schemas.DocumentYAML(doc), 0o666))
	}
	write(ConfigName, &Config{MetadataColumns: []string{"Organisation"}})
	categories := make([][][]string, variableCount)
	for v := range variableCount {
		x := &Variable{Name: fmt.Sprint("Variable ", v)}
		for s := range sinks {
			x.Nodes = append(x.Nodes, Node{ID: fmt.Sprintf("s%d", s)})
		}
		for c := range distinct {
			var list []string
			from := 0
			for s := 1; s <= sinks; s++ {
				if s < sinks && r.IntN(sinks) > 10 {
					continue
				}
				if s == from+1 {
					list = append(list, fmt.Sprintf("s%d", from))
				} else {
					id := fmt.Sprintf("c%d-%d", c, from)
					x.Nodes = append(x.Nodes, Node{ID: id})
					for child := from; child < s; child++ {
						x.Edges = append(x.Edges, [2]string{id, fmt.Sprintf("s%d", child)})
					}
					list = append(list, id)
				}
				from = s
			}
			categories[v] = append(categories[v], list)
		}
		write(fmt.Sprintf("variables/variable-%d.yaml", v), x)
	}
	for f := range formCount {
		x := &Form{Name: fmt.Sprint("Form ", f), Metadata: map[string]string{"Organisation": fmt.Sprint("O", f%7)}}
		for v := range variableCount {
			x.Variables = append(x.Variables, Instance{Variable: fmt.Sprint("Variable ", v), Categories: categories[v][r.IntN(distinct)]})
		}
		write(fmt.Sprintf("forms/form-%d.yaml", f), x)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	catalogue(t, dir, 5, 3, 2, 10)
	r, err := Open(dir)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Len(t, r.Forms, 5)
	require.Len(t, r.Variables, 3)
	require.NotNil(t, r.Graph("Variable 0"))
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	catalogue(b, dir, 200, 15, 6, 20)
	b.ReportAllocs()
	for range b.N {
		r, err := Open(dir)
		require.NoError(b, err)
		require.Empty(b, r.Findings)
	}
}

const sexFile = `# What people answer.
schema: microrisk/keymap/variable@1
name: Sex
nodes:
  - id: f # women
    label: Female
  - id: m
    label: Male
  # Asked since 2020.
  - {id: x, label: Other}
`

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

func TestChangesKeepComments(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ConfigName, "schema: microrisk/keymap/config@1\n")
	write(t, dir, "variables/sex.yaml", sexFile)
	write(t, dir, "forms/a.yaml", "schema: microrisk/keymap/form@1\nname: A # the first\nvariables:\n  Sex: {categories: [f, m, x]}\n")
	r, err := Open(dir)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	c := r.Change()
	v := *r.Variable("Sex")
	v.Nodes = append(v.Nodes, Node{ID: "not-f", Label: "Not female"})
	v.Edges = [][2]string{{"not-f", "m"}, {"not-f", "x"}}
	require.NoError(t, c.Put(&v, "Sex"))
	list, err := c.Apply(true)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, Written{Path: "variables/sex.yaml", Text: list[0].Text}, list[0])
	require.Contains(t, string(list[0].Text), "label: Not female")
	text, err := os.ReadFile(filepath.Join(dir, "variables/sex.yaml"))
	require.NoError(t, err)
	require.Equal(t, sexFile, string(text))
	_, err = c.Apply(false)
	require.NoError(t, err)
	text, err = os.ReadFile(filepath.Join(dir, "variables/sex.yaml"))
	require.NoError(t, err)
	require.Equal(t, sexFile+`  - {id: not-f, label: Not female}
edges: [[not-f, m], [not-f, x]]
codes: {C3.001: [f, m, x]}
`, string(text))
	entries, err := os.ReadDir(filepath.Join(dir, "variables"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func BenchmarkLong(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("form,variable,category\n")
	const forms, variables, distinct, sinks = 20_000, 60, 12, 61
	lists := make([][][]string, variables)
	var edges strings.Builder
	edges.WriteString("variable,parent,child\n")
	for v := range lists {
		for range distinct {
			bounds := r.Perm(sinks - 1)[:1+r.IntN(15)]
			slices.Sort(bounds)
			var list []string
			from := 0
			for _, to := range append(bounds, sinks-1) {
				id := fmt.Sprintf("%d-%d", from, to+1)
				if to > from {
					for s := from; s <= to; s++ {
						fmt.Fprintf(&edges, "v%d,%s,%d-%d\n", v, id, s, s+1)
					}
				}
				list = append(list, id)
				from = to + 1
			}
			lists[v] = append(lists[v], list)
		}
	}
	for f := range forms {
		for v := range lists {
			for _, c := range lists[v][r.IntN(distinct)] {
				fmt.Fprintf(&text, "Form %d,v%d,%s\n", f, v, c)
			}
		}
	}
	b.SetBytes(int64(text.Len()))
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		l := NewLong()
		require.NoError(b, l.Read("a.csv", strings.NewReader(text.String())))
		seen := map[string]bool{"variable,parent,child": true}
		var once strings.Builder
		once.WriteString("variable,parent,child\n")
		for line := range strings.Lines(edges.String()) {
			if line = strings.TrimSpace(line); !seen[line] {
				seen[line] = true
				once.WriteString(line + "\n")
			}
		}
		require.NoError(b, l.Read("b.csv", strings.NewReader(once.String())))
		require.Empty(b, l.Repository().Findings)
	}
}

// Labels may have characters that YAML does not have as they are.
func TestOddCharacters(t *testing.T) {
	for _, ending := range []string{".yaml", ".json"} {
		dir := t.TempDir()
		_, err := Init(dir, &Config{})
		require.NoError(t, err)
		label := "\x01\x7f\u0080\u0085\u009f\u00a0\u2028\ufeff\ufffe\uffff\U0001f600\"'\\"
		doc := &Variable{Name: "V", Nodes: []Node{{ID: "a", Label: label}, {ID: "b"}}}
		text := schemas.DocumentYAML(doc)
		if ending == ".json" {
			text, err = schemas.IndentedJSON(schemas.DocumentOrdered(doc))
			require.NoError(t, err)
		}
		write(t, dir, "variables/a"+ending, string(text))
		r, err := Open(dir)
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		c := r.Change()
		require.NoError(t, c.RenameNode("V", "b", label+"b"))
		_, err = c.Apply(false)
		require.NoError(t, err)
		r, err = Open(dir)
		require.NoError(t, err)
		require.Equal(t, label, r.Variable("V").Label("a"))
		require.Equal(t, label+"b", r.Variable("V").Label("b"))
	}
}
