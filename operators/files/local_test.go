package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
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
	a, err := CreateLocal(filepath.Join(dir, "a"))
	require.NoError(t, err)
	b, err := CreateLocal(filepath.Join(dir, "b"))
	require.NoError(t, err)
	_, err = io.WriteString(a, "one")
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "a"))
	require.NoError(t, Commit(a, b))
	require.Equal(t, []string{"a", "b"}, names(t, dir))
	a.Abort()
	require.Equal(t, []string{"a", "b"}, names(t, dir), "an abort after the commit does nothing")
}

func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	a, err := CreateLocal(filepath.Join(dir, "a"))
	require.NoError(t, err)
	a.Abort()
	require.Empty(t, names(t, dir))

	a, err = CreateLocal(filepath.Join(dir, "a"))
	require.NoError(t, err)
	b, err := CreateLocal(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.NoError(t, b.file.Close()) // as a disk that fails
	require.ErrorContains(t, Commit(a, b), "completing "+filepath.Join(dir, "b"))
	require.Empty(t, names(t, dir), "no output without the others")
}

// late is an output whose commit may fail.
type late struct {
	io.Writer
	err     error
	aborted bool
}

func (*late) Name() string    { return "late" }
func (l *late) Commit() error { return l.err }
func (l *late) Abort()        { l.aborted = true }

func TestWhatMayFailComesFirst(t *testing.T) {
	dir := t.TempDir()
	a, err := CreateLocal(filepath.Join(dir, "a"))
	require.NoError(t, err)
	l := &late{err: os.ErrDeadlineExceeded}
	require.ErrorIs(t, Commit(a, l), os.ErrDeadlineExceeded)
	require.True(t, l.aborted)
	require.Empty(t, names(t, dir))
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	_, err := CreateLocal(dir)
	require.ErrorContains(t, err, "it is a folder")
	_, err = CreateLocal(filepath.Join(dir, "no", "a"))
	require.ErrorContains(t, err, "does not exist")
	require.NotContains(t, err.Error(), "partial")
}

func TestModes(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	open, group, private := file("open", 0o644), file("group", 0o640), file("private", 0o400)
	usual := file("usual", 0o600)
	require.NoError(t, os.Remove(usual))
	f, err := os.Create(usual)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(usual))
	for _, c := range []struct {
		name   string
		path   string
		inputs []string
		want   os.FileMode
	}{
		{"the mode of what it replaces", group, []string{open}, 0o640},
		{"also if that is more than the input's", open, []string{private}, 0o644},
		{"new: as the process makes files", filepath.Join(dir, "new1"), nil, info.Mode().Perm()},
		{"new: no more than the inputs'", filepath.Join(dir, "new2"), []string{open, group}, info.Mode().Perm() & 0o640},
		{"new: the owner can write", filepath.Join(dir, "new3"), []string{private}, 0o600},
	} {
		for _, create := range []func(string, ...string) (*Local, error){CreateLocal} {
			f, err := create(c.path, c.inputs...)
			require.NoError(t, err, c.name)
			info, err := f.file.Stat()
			require.NoError(t, err)
			require.EqualValues(t, 0o600, info.Mode().Perm(), c.name)
			require.NoError(t, f.Commit(), c.name)
			info, err = os.Stat(c.path)
			require.NoError(t, err)
			require.Equal(t, c.want, info.Mode().Perm(), c.name)
			if strings.HasPrefix(filepath.Base(c.path), "new") {
				require.NoError(t, os.Remove(c.path))
			}
		}
	}
}

func TestLinksAreWrittenThrough(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "there"), 0o700))
	real, link := filepath.Join(dir, "there", "a"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join("there", "a"), link))
	for range 2 { // a link to nothing, then to a file
		f, err := CreateLocal(link)
		require.NoError(t, err)
		_, err = io.WriteString(f, "text")
		require.NoError(t, err)
		require.NoError(t, f.Commit())
		info, err := os.Lstat(link)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
		text, err := os.ReadFile(real)
		require.NoError(t, err)
		require.Equal(t, "text", string(text))
	}
	require.NoError(t, os.Symlink("round", filepath.Join(dir, "round")))
	_, err := CreateLocal(filepath.Join(dir, "round"))
	require.ErrorContains(t, err, "too many links")
}

func TestLongNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	for _, create := range []func(string, ...string) (*Local, error){CreateLocal} {
		f, err := create(path)
		require.NoError(t, err)
		require.NoError(t, f.Commit())
	}
}

func TestUnfinishedIsInvisible(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateLocal(filepath.Join(dir, "a"))
	require.NoError(t, err)
	defer f.Abort()
	for _, n := range names(t, dir) {
		require.True(t, strings.HasPrefix(n, "."), n)
	}
}
