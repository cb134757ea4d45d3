package beam

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/files"
)

// kept is a store in memory, whose objects have versions.
type kept struct {
	mu      sync.Mutex
	objects map[string][]byte
	version string
	open    int // outputs that were neither committed nor aborted
	refuse  error
}

type keptInput struct {
	*bytes.Reader
	name, version string
}

func (i keptInput) Name() string    { return i.name }
func (i keptInput) Close() error    { return nil }
func (i keptInput) Version() string { return i.version }

func (k *kept) Open(_ context.Context, path string) (files.Input, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.objects[path]
	if !ok {
		return nil, errors.New("there is no such object")
	}
	return keptInput{bytes.NewReader(b), path, k.version}, nil
}

func (k *kept) List(_ context.Context, prefix string) (names []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

type keptOutput struct {
	bytes.Buffer
	store *kept
	name  string
	ended bool
}

func (o *keptOutput) Name() string { return o.name }

func (o *keptOutput) Abort() {
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	if !o.ended {
		o.ended = true
		o.store.open--
	}
}

func (o *keptOutput) Commit() error {
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	if o.store.refuse != nil {
		return files.CannotWrite(o.name, o.store.refuse)
	}
	o.ended = true
	o.store.open--
	o.store.objects[o.name] = o.Bytes()
	return nil
}

func (k *kept) Create(_ context.Context, path string) (files.Output, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open++
	return &keptOutput{store: k, name: path}, nil
}

func keeping() *kept {
	k := &kept{objects: map[string][]byte{}, version: "1"}
	files.Register("kept", k)
	return k
}

// A run does not go on with what was done with an object that is another one by now, be it of the same size.
func TestReplacedInput(t *testing.T) {
	k := keeping()
	local := filepath.Join(t.TempDir(), "one.parquet")
	residents(t, 2500, 400, local)
	b, err := os.ReadFile(local)
	require.NoError(t, err)
	k.objects["kept://b/one.parquet"] = b
	text := specOf(faultSpec, "'kept://b/one.parquet'", t.TempDir()+"/")
	r := &Runner{Rows: 900, Shards: 3, Store: "kept://b/runs"}
	done := failing(t, "write piece-3", 3)
	_, err = run(t, text, r)
	require.EqualError(t, err, "the disk is away")
	k.version = "2"
	more := *r
	more.Attempts = 7 // which makes no other run of it
	_, err = run(t, text, &more)
	require.NoError(t, err)
	assert.Equal(t, 2, done("count 0"))
	assert.Zero(t, k.open)
	_, err = run(t, text, r)
	require.NoError(t, err)
	assert.Equal(t, 2, done("count 0"), "what was done with more attempts")
}

// What cannot be committed is aborted; it is no error if somebody else wrote it.
func TestUncommitted(t *testing.T) {
	k := keeping()
	f := folder("kept://b/run")
	require.NoError(t, f.put(t.Context(), "there", []byte("text")))
	k.refuse = errors.New("something else wrote it")
	require.NoError(t, f.put(t.Context(), "there", []byte("text")))
	require.EqualError(t, f.put(t.Context(), "new", nil), "cannot write kept://b/run/new: something else wrote it")
	assert.Zero(t, k.open)
}

// A folder that nothing can be written to, and a job server that does not answer, are told before anything is done.
func TestNobodyThere(t *testing.T) {
	files.Register("reading", struct{ files.Store }{keeping()})
	dir := t.TempDir()
	residents(t, 100, 50, filepath.Join(dir, "one.parquet"))
	text := specOf(faultSpec, filepath.Join(dir, "one.parquet"), dir+"/out/")
	for store, want := range map[string]string{
		"reading://b": "such paths are read, not written", "s9://b": "paths of kind s9://", "kept://": "names no bucket",
		filepath.Join(dir, "one.parquet"): "not a directory",
	} {
		_, err := run(t, text, &Runner{Store: store})
		require.ErrorContains(t, err, want)
	}
	_, err := run(t, specOf(faultSpec, "'-'", dir+"/out.parquet"), &Runner{})
	require.EqualError(t, err, "on a cluster: standard input is read by one process alone: name files")
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	l.Close()
	set(t, map[*string]string{runners.Runner: "universal", jobopts.Endpoint: l.Addr().String(), jobopts.EnvironmentType: "LOOPBACK"})
	_, err = run(t, text, &Runner{})
	require.ErrorContains(t, err, "(--endpoint) does not answer")
}
