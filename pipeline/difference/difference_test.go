package difference_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "microrisk/operators/builtin"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/difference"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func spec(path string, key ...string) *schemas.Spec {
	s := &schemas.Spec{Source: schemas.Source{Path: []string{path}}, Key: &schemas.Key{}, Operators: []schemas.Operator{{Config: &suda.Config{}}}}
	for _, k := range key {
		s.Key.Variables = append(s.Key.Variables, schemas.KeyVariable{Name: k})
	}
	return s
}

func inFolder(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

const before = "id,a,b\n1,x,1\n2,x,1\n3,x,2\n4,y,1\n5,z,3\n"

func figure(o *difference.Outcome, operator, name string) [2]*float64 {
	for _, f := range o.Figures {
		if f.Operator == operator && f.Name == name {
			return [2]*float64{f.Before, f.After}
		}
	}
	return [2]*float64{}
}

// Figures are those of runs of each; rows that became safe leave the list, and others enter it.
func TestCompare(t *testing.T) {
	inFolder(t, map[string]string{"b.csv": before, "a.csv": "id,a,b\n1,x,9\n2,x,1\n3,x,1\n4,x,1\n5,x,1\n"})
	out, err := difference.Run(t.Context(), difference.Spec{Before: spec("b.csv", "a", "b"), After: spec("a.csv", "a", "b")}, session.Options{})
	require.NoError(t, err)
	for i, path := range []string{"b.csv", "a.csv"} {
		s := spec(path, "a", "b")
		s.Sink.Path = "out.csv"
		run, err := pipeline.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		m := run.Summary.Operators["suda"].(*suda.Summary)
		require.Equal(t, m.FileScore, *figure(out, "suda", "file_score")[i])
		require.Equal(t, float64(run.Summary.Key.SampleUniques), *figure(out, "", "sample_uniques")[i])
		require.NoError(t, os.Remove("out.csv"))
	}
	require.Equal(t, 3.0, *figure(out, "", "sample_uniques")[0])
	require.Len(t, out.Lists, 1)
	l := out.Lists[0]
	require.Equal(t, 0, l.Stayed)
	require.Len(t, l.Entered, 1)
	require.EqualValues(t, 0, l.Entered[0].Row)
	require.Len(t, l.Left, 3)
	require.Equal(t, "b", out.Categories[0].Variable)
	require.Equal(t, "9", *out.Categories[0].Category)

	out.Before.Input = []string{"/secret/folder/b.csv"}
	require.NoError(t, out.Write(t.Context(), "out.json", session.Options{}.WithDefaults()))
	text, err := os.ReadFile("out.json")
	require.NoError(t, err)
	require.NotContains(t, string(text), "secret")
	var document map[string]any
	require.NoError(t, json.Unmarshal(text, &document))
	require.ErrorContains(t, out.Write(t.Context(), "a.csv", session.Options{}.WithDefaults()), "an input")
}

// Files of other lengths are compared by identifiers alone; what the second lacks is left out of its key.
func TestCompareOthers(t *testing.T) {
	inFolder(t, map[string]string{"b.csv": before, "a.csv": "id,a\n5,z\n4,y\n3,x\n2,x\n"})
	s := difference.Spec{Before: spec("b.csv", "a", "b"), After: spec("a.csv", "a", "b"), Lacking: true}
	out, err := difference.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, out.LeftOut)
	require.Equal(t, []string{"a"}, out.After.Key)
	require.Contains(t, out.Lists[0].Unlike, "5 and 4 rows")
	s.Before.ID, s.After.ID = "id", "id"
	require.NoError(t, os.WriteFile("a.csv", []byte("id,a,b\n5,z,3\n4,y,1\n3,x,2\n2,x,2\n"), 0o600))
	s.After.Key = &schemas.Key{Variables: []schemas.KeyVariable{{Name: "a"}, {Name: "b"}}}
	s.After.Limits = map[string]schemas.Limit{schemas.LimitSampleUniques: {Max: 1}}
	out, err = difference.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, "id", out.Lists[0].By)
	require.Equal(t, 2, out.Lists[0].Stayed, "4 and 5")
	require.Len(t, out.Lists[0].Left, 1)
	require.Equal(t, "3", *out.Lists[0].Left[0].ID())
	require.Len(t, out.Breaches, 1)
	text, err := out.Document()
	require.NoError(t, err)
	require.False(t, strings.Contains(string(text), `"3"`), "no identifier")
	s.After = spec("a.csv", "p", "q")
	_, err = difference.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "none of the key variables")
	s.After = spec("none.csv", "a")
	_, err = difference.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "after")
}
