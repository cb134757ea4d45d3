package s3

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
)

// What is wrong with the environment is told at once, and not tried again.
func TestWrongEnvironment(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_ENDPOINT_URL", "localhost:9000")
	_, err := files.Open(t.Context(), "s3://b/a.parquet")
	require.EqualError(t, err, "cannot read s3://b/a.parquet: AWS_ENDPOINT_URL is localhost:9000: an address begins with http:// or https://")
	t.Setenv("AWS_ENDPOINT_URL", "")
	t.Setenv("AWS_PROFILE", "census")
	_, err = files.Open(t.Context(), "s3://b/a.parquet")
	require.ErrorContains(t, err, "there is no profile census in the configuration")
}

// The files that tell of uploads stay where the next run looks, while TMPDIR is another for the sake of a library.
func TestRemembersWhereItIsLookedFor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	free := scratch.Pin()
	t.Setenv("TMPDIR", t.TempDir())
	record := remember(left{Bucket: "b", Key: "k", ID: "1"})
	free()
	require.Equal(t, dir, filepath.Dir(record))
	forget(record)
	require.NoFileExists(t, record)
}
