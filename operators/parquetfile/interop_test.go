package parquetfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// sharedFiles are the Parquet files of other writers that are kept beside the repository, not in it.
func sharedFiles(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../../shared/data", pattern))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skipf("no files shared/data/%s beside the repository: they are other writers' files, too large to be in it", pattern)
	}
	return paths
}

func openSource(t testing.TB, paths ...string) *Source {
	t.Helper()
	s, err := Open(context.Background(), paths, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// columnTexts reads a column as text, row by row; null is "<null>".
func columnTexts(t testing.TB, s *Source, want operators.Want, batch int) []string {
	t.Helper()
	texts, err := tryColumnTexts(t, s, want, batch)
	require.NoError(t, err)
	return texts
}

func tryColumnTexts(t testing.TB, s *Source, want operators.Want, batch int) ([]string, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	var texts []string
	for _, p := range s.parts {
		r, err := p.Read(context.Background(), mem, []operators.Want{want}, batch)
		if err != nil {
			return nil, err
		}
		for r.Next() {
			texts = appendTexts(texts, r.Record().Column(0))
		}
		err = r.Err()
		r.Release()
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func appendTexts(texts []string, a arrow.Array) []string {
	values := a
	index := func(i int) int { return i }
	if d, ok := a.(*array.Dictionary); ok {
		values = d.Dictionary()
		index = d.GetValueIndex
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			texts = append(texts, "<null>")
		} else {
			texts = append(texts, strings.Clone(values.ValueStr(index(i))))
		}
	}
	return texts
}

func TestCodedAndPlainReadsAgree(t *testing.T) {
	for _, path := range append(sharedFiles(t, "interop/*.parquet"), sharedFiles(t, "micro/*.parquet")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if info, _ := os.Stat(path); info.Size() > 1<<19 {
				t.Skip("large")
			}
			s := openSource(t, path)
			for _, field := range s.Schema().Fields() {
				if arrow.IsNested(field.Type.ID()) {
					continue
				}
				plain := columnTexts(t, s, operators.Want{Name: field.Name}, 0)
				require.Len(t, plain, int(s.Rows()))
				if operators.HasEquality(field.Type) {
					coded := columnTexts(t, s, operators.Want{Name: field.Name, Coded: true}, 777)
					require.True(t, slices.Equal(plain, coded), field.Name)
				}
			}
		})
	}
}

// The eleven files have the same rows, in the same order, by as many writers, codecs and encodings.
func TestAllFormsOfAdultAreTheSame(t *testing.T) {
	paths := sharedFiles(t, "interop/adult_*.parquet")
	require.Len(t, paths, 11)
	first := openSource(t, paths[0])
	want := map[string][]string{}
	for _, field := range first.Schema().Fields() {
		want[field.Name] = columnTexts(t, first, operators.Want{Name: field.Name, Coded: true}, 0)
	}
	for _, path := range paths[1:] {
		s := openSource(t, path)
		for _, field := range first.Schema().Fields() {
			got := columnTexts(t, s, operators.Want{Name: field.Name, Coded: true}, 0)
			require.True(t, slices.Equal(want[field.Name], got), "%s, column %s", path, field.Name)
		}
	}
}

func TestFootersOfOthersStayAsTheyAre(t *testing.T) {
	for _, path := range append(sharedFiles(t, "interop/*.parquet"), sharedFiles(t, "micro/*.parquet")...) {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		s := openSource(t, path)
		f := s.files[0].footer
		require.Equal(t, b[f.start:len(b)-8], f.append(nil), path)
		for g := range f.groups {
			group, err := f.group(g)
			require.NoError(t, err)
			require.Equal(t, f.groups[g], group.append(nil), path)
		}
	}
}
