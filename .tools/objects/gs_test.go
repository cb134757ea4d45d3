package objects

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/stretchr/testify/require"

	_ "microrisk/operators/objects/gs"
)

// gsServer is a front of fake-gcs-server with a bucket of a file.
func gsServer(t *testing.T, bucket string, file []byte) (*front, *fakestorage.Server) {
	port, err := freePort()
	require.NoError(t, err)
	f := newFront(t, fmt.Sprintf("http://127.0.0.1:%d", port))
	host := strings.TrimPrefix(f.URL, "http://")
	s, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: uint16(port), ExternalURL: f.URL, PublicHost: host,
		InitialObjects: []fakestorage.Object{{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: "in.parquet"}, Content: file}}})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	return f, s
}

func TestGoogle(t *testing.T) {
	file := wide()
	f, s := gsServer(t, "google", file)
	chunks, _ := keyBytes(t, file)
	status, said := run(t, "inspect", "gs://google/in.parquet", "--key", keys, "--quiet")
	require.Zero(t, status, said)
	list := f.take()
	got, _ := bodies(list)
	t.Logf("count: got %d in %d requests", got, len(list))
	require.LessOrEqual(t, got, chunks+256<<10+8000, told(list))

	status, said = run(t, "assess", "gs://google/in.parquet", "--key", keys, "--fraction", "0.1", "--quiet", "--out", "gs://google/100% a#b?c/out.parquet")
	require.Zero(t, status, said)
	list = f.take()
	got, sent := bodies(list)
	t.Logf("annotate: got %d, sent %d in %d requests", got, sent, len(list))
	made, err := s.GetObject("google", "100% a#b?c/out.parquet")
	require.NoError(t, err)
	sameRows(t, annotated(t, file), made.Content)
	require.LessOrEqual(t, got, int64(len(file))+256<<10+20000, "nothing is read twice")

	for name, c := range map[string]struct {
		args []string
		said string
	}{
		"gone":      {[]string{"assess", "gs://google/gone.parquet", "--out", "gs://google/x.parquet"}, "there is no such object"},
		"no bucket": {[]string{"assess", "gs://google/in.parquet", "--out", "gs://no-such-bucket/x.parquet"}, "there is no bucket no-such-bucket"},
		"no fit":    {[]string{"assess", "gs://google/*.csv", "--out", "gs://google/x.parquet"}, "no object fits"},
	} {
		t.Run(name, func(t *testing.T) {
			status, said := run(t, append(c.args, "--key", keys, "--quiet")...)
			require.Equal(t, 1, status)
			require.Contains(t, said, c.said)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
			_, err := s.GetObject("google", "x.parquet")
			require.Error(t, err)
		})
	}
	isUpload := func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/upload/") && r.Method != http.MethodGet
	}
	for name, c := range map[string]struct {
		spoil func(http.ResponseWriter, *http.Request, int) bool
		said  string
		left  string // of the output
	}{
		"no right to write": {func(w http.ResponseWriter, r *http.Request, _ int) bool {
			return isUpload(r) && answer(w, http.StatusForbidden, "forbidden")
		}, "access is denied", ""},
		"the upload fails": {func(w http.ResponseWriter, r *http.Request, _ int) bool {
			return isUpload(r) && r.URL.Query().Has("upload_id") && answer(w, http.StatusBadRequest, "backend")
		}, "the store says 400", ""},
		"written meanwhile": {once(isUpload, func() {
			s.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "google", Name: "y.parquet"}, Content: []byte("another")})
		}), "something else wrote it during this run", "another"},
	} {
		t.Run(name, func(t *testing.T) {
			f.spoiling(c.spoil)
			status, said := run(t, "assess", "gs://google/in.parquet", "--key", keys, "--fraction", "0.1", "--quiet", "--out", "gs://google/y.parquet")
			f.spoiling(nil)
			require.Equal(t, 1, status, said)
			require.Contains(t, said, c.said)
			require.NotContains(t, said, secretKey)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
			made, err := s.GetObject("google", "y.parquet")
			if c.left == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.left, string(made.Content))
			_ = s.Backend().DeleteObject("google", "y.parquet")
		})
	}
	t.Run("replaced", func(t *testing.T) {
		f.spoiling(func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.Method == http.MethodGet && r.Header.Get("Range") != "" && !strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				f.spoiling(nil)
				s.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "google", Name: "in.parquet"}, Content: file})
			}
			return false
		})
		status, said := run(t, "assess", "gs://google/in.parquet", "--key", keys, "--quiet", "--out", "gs://google/x.parquet")
		require.Equal(t, 1, status, said)
		require.Contains(t, said, "it was replaced while it was read")
		_, err := s.GetObject("google", "x.parquet")
		require.Error(t, err)
	})
}
