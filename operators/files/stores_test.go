package files

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// a readOnly store has nothing.
type readOnly struct{}

func (readOnly) Open(_ context.Context, path string) (Input, error) {
	return nil, &noneError{path}
}
func (readOnly) List(context.Context, string) ([]string, error) { return nil, nil }

type noneError struct{ path string }

func (*noneError) Error() string { return "there is no such object" }

func TestPathsOfStores(t *testing.T) {
	ctx := t.Context()
	_, err := Open(ctx, "s3://bucket/a.parquet")
	require.ErrorContains(
		t,
		err,
		`s3://bucket/a.parquet: this program was built without object stores; the same command with them is built by "go build ./cmd/microrisk"`,
	)
	_, err = Create(ctx, "hdfs://host/a.parquet")
	require.ErrorContains(t, err, "paths of kind hdfs:// are not read or written")
	Register("none", readOnly{})
	_, err = Open(ctx, "none://a")
	require.EqualError(t, err, "cannot read none://a: there is no such object")
	_, err = Create(ctx, "none://a")
	require.EqualError(t, err, "cannot write none://a: such paths are read, not written")
	require.EqualError(t, Writable("none://a"), "cannot write none://a: such paths are read, not written")
	require.ErrorContains(t, Distinct([]string{"none://a"}, []string{"none://a"}), "is the input")
	require.NoError(t, Distinct([]string{"none://a"}, []string{"none://b", "none://a/"}))
}

func TestFileAddresses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a b#%.csv")
	out, err := Create(t.Context(), "file://"+dir+"/a b#%25.csv")
	require.NoError(t, err)
	require.NoError(t, Commit(out))
	for _, name := range []string{path, "file://" + path[:len(path)-5] + "%25.csv", "file://localhost" + dir + "/a%20b%23%25.csv"} {
		in, err := Open(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, path, in.Name())
		require.NoError(t, in.Close())
		require.ErrorContains(t, Distinct([]string{path}, []string{name}), "is the input")
	}
	require.Equal(t, filepath.Join(dir, "x"), Join("file://"+dir, "x"))
	require.Equal(t, "s3://b/f/x", Join("s3://b/f/", "x"))
	require.Equal(t, "s3://b/x", Join("s3://b", "x"))
}
