package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/operators/files"
)

// served has one file at every path, of a version that can be changed.
func served(
	t *testing.T,
	data []byte,
	answer func(w http.ResponseWriter, r *http.Request) bool,
) (address string, version *atomic.Int64, requests *atomic.Int64) {
	version, requests = new(atomic.Int64), new(atomic.Int64)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if answer != nil && answer(w, r) {
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, version.Load()))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(s.Close)
	old := Client
	Client = s.Client()
	t.Cleanup(func() { Client = old })
	return s.URL, version, requests
}

func TestReading(t *testing.T) {
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * 31 >> 3)
	}
	address, version, requests := served(t, data, nil)
	for name, first := range map[string]int{"a.parquet": len(data) - 100, "a.csv": 0} {
		requests.Store(0)
		in, err := files.Open(t.Context(), address+"/"+name+"?v=1")
		require.NoError(t, err)
		require.EqualValues(t, len(data), in.Size())
		b := make([]byte, 100)
		_, err = in.ReadAt(b, int64(len(data))-100)
		require.NoError(t, err)
		require.Equal(t, data[len(data)-100:], b)
		if first > 0 {
			require.EqualValues(t, 1, requests.Load())
		}
		all, err := io.ReadAll(io.NewSectionReader(in, 0, in.Size()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, all))
		require.NoError(t, in.Close())
		_, err = in.ReadAt(b, 500)
		require.Error(t, err)
	}
	in, err := files.Open(t.Context(), address+"/a.parquet")
	require.NoError(t, err)
	defer in.Close()
	version.Add(1)
	_, err = in.ReadAt(make([]byte, 10), 0)
	require.ErrorContains(t, err, "it was replaced while it was read")
}

func TestWhatCannotBeRead(t *testing.T) {
	address, _, _ := served(t, []byte("some text"), func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/closed":
			w.WriteHeader(http.StatusForbidden)
		case "/whole":
			_, _ = io.WriteString(w, "whole text")
		case "/large":
			w.Header().Set("Content-Length", fmt.Sprint(largestWhole+1))
			w.WriteHeader(http.StatusOK)
		case "/nameless":
			w.Header().Set("Content-Range", "bytes 0-3/100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "text")
		default:
			return false
		}
		return true
	})
	host := strings.TrimPrefix(address, "https://")
	for name, want := range map[string]string{
		address + "/gone":                     "there is no such object",
		address + "/closed":                   "access is denied",
		address + "/large":                    "the server does not serve parts of files",
		address + "/nameless":                 "does not tell when the file changed",
		address + "/a%zz":                     "it is no address",
		address + "/folder/":                  "it is a folder",
		"https://me:secret@" + host + "/a":    "it has a password in it",
		address + "/a?X-Amz-Signature=secret": "it has a signature in it",
	} {
		_, err := files.Open(t.Context(), name)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	in, err := files.Open(t.Context(), address+"/whole")
	require.NoError(t, err)
	require.EqualValues(t, 10, in.Size())
	_, err = files.Create(t.Context(), address+"/new")
	require.ErrorContains(t, err, "such paths are read, not written")
}
