package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestFilesAppearWhole(t *testing.T) {
	dir := t.TempDir()
	a, err := Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	b, err := Create(filepath.Join(dir, "b"))
	require.NoError(t, err)
	_, err = a.WriteString("one")
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "a"))
	require.NoError(t, Commit(a, b))
	require.Equal(t, []string{"a", "b"}, names(t, dir))
	a.Abort()
	require.Equal(t, []string{"a", "b"}, names(t, dir), "an abort after the commit does nothing")
}

func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	a, err := Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	a.Abort()
	require.Empty(t, names(t, dir))

	a, err = Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	b, err := Create(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.NoError(t, b.File.Close()) // as a disk that fails
	require.ErrorContains(t, Commit(a, b), "completing "+filepath.Join(dir, "b"))
	require.Empty(t, names(t, dir), "no output without the others")
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(dir)
	require.ErrorContains(t, err, "it is a folder")
	_, err = Create(filepath.Join(dir, "no", "a"))
	require.ErrorContains(t, err, "does not exist")
	require.NotContains(t, err.Error(), "partial")
}
