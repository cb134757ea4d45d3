package scratch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNameFits(t *testing.T) {
	require.Regexp(t, nameForm(), Name())
	require.NotEqual(t, Name(), Name())
	require.Less(t, len(Name()), 100)
}

func TestOnlyTheDeadAreSwept(t *testing.T) {
	dir := t.TempDir()
	f, name, err := named(dir, 0o600)
	require.NoError(t, err)
	defer f.Close()
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())

	child := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, child.Run())
	gone := child.Process.Pid
	left := []string{
		fmt.Sprintf(".microrisk-%s-%d-1-1.partial", machine(), gone),
		fmt.Sprintf(".microrisk-%s-%d-1-2.partial", machine(), gone), // a folder
	}
	if started() != 0 {
		left = append(left, fmt.Sprintf(".microrisk-%s-%d-%d-1.partial", machine(), os.Getpid(), started()+1)) // our number, of another process
	}
	stay := []string{filepath.Base(name), fmt.Sprintf(".microrisk-%08x-%d-1-1.partial", ^uint32(0), gone), ".microrisk-mine.partial", "data.partial", ".data"}
	for i, n := range append(append([]string{}, left...), stay[1:]...) {
		if i == 1 {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, n, "inner"), 0o700))
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), []byte("x"), 0o600))
	}
	removed, err := Sweep(dir)
	require.NoError(t, err)
	require.ElementsMatch(t, left, removed)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(stay))
}

func TestFilesWithoutAName(t *testing.T) {
	dir := t.TempDir()
	f, name, err := Open(dir)
	require.NoError(t, err)
	defer f.Close()
	if name != "" {
		t.Skip("the system has no files without a name here")
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	_, err = f.WriteString("text")
	require.NoError(t, err)
	require.NoError(t, Link(f, filepath.Join(dir, "whole")))
	require.ErrorIs(t, Link(f, filepath.Join(dir, "whole")), os.ErrExist)
	text, err := os.ReadFile(filepath.Join(dir, "whole"))
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.True(t, strings.Contains(f.Name(), dir))
}

func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"the disk is full": &os.PathError{Op: "write", Path: "/a", Err: syscall.ENOSPC},
		"file exists":      &os.LinkError{Op: "link", Old: "/a", New: "/b", Err: syscall.EEXIST},
		"broken":           errors.New("broken"),
	} {
		got := Reason(err)
		require.EqualError(t, got, want)
		require.Equal(t, errors.Is(err, syscall.ENOSPC), errors.Is(got, syscall.ENOSPC))
	}
	require.NoError(t, Reason(nil))
}
