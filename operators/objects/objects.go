// Package objects makes stores of objects what paths can name: s3://bucket/name, gs://bucket/name, azblob://container/name and
// https://host/name. It is a module of its own, so that a host links only the providers that it names:
//
//	import _ "microrisk/operators/objects/s3"
//
// Then sources, sinks, side files and globs of package files take such paths. Credentials come from the provider's own chain.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"microrisk/operators/files"
)

// A Bucket has objects under keys.
type Bucket interface {
	// Begin reads the first bytes of an object, or the last ones, in one request if the provider can, and tells its size and version.
	Begin(ctx context.Context, key string, n int64, last bool) (*Begun, error)
	// Range reads bytes of a version, of which Begin told; of any other it is an ErrReplaced.
	Range(ctx context.Context, key, version string, from, to int64) (io.ReadCloser, error)
	// List tells the keys that begin with a prefix.
	List(ctx context.Context, prefix string) ([]string, error)
	// Reason makes of an error what went wrong, in words that have no credentials; what a retry may mend stays as it is.
	Reason(err error) error
}

// A Writer is a Bucket that can be written to.
type Writer interface {
	// Create starts an object. Its errors have passed through Reason.
	Create(ctx context.Context, path, key string) (files.Output, error)
}

// Begun is what is known of an object after its first request.
type Begun struct {
	Size    int64
	Version string
	From    int64 // where Data begins
	Data    []byte
}

// What reading ends with, whatever is tried.
var (
	ErrNone     = errors.New("there is no such object")
	ErrReplaced = errors.New("it was replaced while it was read: run it again when nobody writes to it")
)

// A Final error is one that no retry mends.
type Final struct{ Err error }

func (e *Final) Error() string { return e.Err.Error() }
func (e *Final) Unwrap() error { return e.Err }

// Finally is a Final error.
func Finally(format string, args ...any) error { return &Final{fmt.Errorf(format, args...)} }

// A Store is the files.Store of a scheme.
type Store struct {
	Scheme string
	// Bucket opens a bucket; it is called once for each.
	Bucket func(ctx context.Context, name string) (Bucket, error)

	mu      sync.Mutex
	buckets map[string]Bucket
}

// A writable Store has buckets that are Writers.
type writable struct {
	*Store
	sweep func(ctx context.Context) []string
}

// Register makes paths of a scheme those of its buckets.
func Register(scheme string, bucket func(ctx context.Context, name string) (Bucket, error)) {
	files.Register(scheme, NewStore(scheme, bucket))
}

// RegisterWritable is Register of buckets that are Writers. Sweep removes what killed processes left in them; nil for nothing.
func RegisterWritable(scheme string, bucket func(ctx context.Context, name string) (Bucket, error), sweep func(ctx context.Context) (gone []string)) {
	files.Register(scheme, &writable{NewStore(scheme, bucket), sweep})
}

// NewStore is the store of a scheme.
func NewStore(scheme string, bucket func(ctx context.Context, name string) (Bucket, error)) *Store {
	return &Store{Scheme: scheme, Bucket: bucket, buckets: map[string]Bucket{}}
}

// Sweep is a files.Sweeper's.
func (s *writable) Sweep(ctx context.Context) []string {
	if s.sweep == nil {
		return nil
	}
	return s.sweep(ctx)
}

// of finds the bucket and the key of a path, in which nothing is unescaped.
func (s *Store) of(ctx context.Context, name string) (Bucket, string, error) {
	_, rest, _ := strings.Cut(name, "://")
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return nil, "", fmt.Errorf("it names no bucket: write %s://bucket/name", s.Scheme)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[bucket]; b != nil {
		return b, key, nil
	}
	b, err := s.Bucket(context.WithoutCancel(ctx), bucket)
	if err != nil {
		return nil, "", err
	}
	s.buckets[bucket] = b
	return b, key, nil
}

// Open is a files.Store's.
func (s *Store) Open(ctx context.Context, name string) (files.Input, error) {
	b, key, err := s.of(ctx, name)
	if err != nil {
		return nil, err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return nil, errors.New("it is a folder: name the objects in it")
	}
	in, err := open(ctx, b, name, key)
	if errors.Is(err, ErrNone) {
		if within, err := b.List(ctx, key+"/"); err == nil && len(within) > 0 {
			return nil, fmt.Errorf("there is no such object, but %d in a folder of that name: end it with /", len(within))
		}
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// List is a files.Store's.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	b, key, err := s.of(ctx, prefix)
	if err != nil {
		return nil, err
	}
	keys, err := b.List(ctx, key)
	if err != nil {
		return nil, b.Reason(err)
	}
	slices.Sort(keys)
	base := prefix[:len(prefix)-len(key)]
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	for i, k := range keys {
		keys[i] = base + k
	}
	return keys, nil
}

// Create is a files.Creator's.
func (s *writable) Create(ctx context.Context, name string) (files.Output, error) {
	b, key, err := s.of(ctx, name)
	if err != nil {
		return nil, err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return nil, errors.New("it is a folder: name an object in it")
	}
	return b.(Writer).Create(ctx, name, key)
}

// fromTheEnd tells whether objects of a name are read from their end first, where their metadata are.
func fromTheEnd(key string) bool {
	switch strings.ToLower(path.Ext(key)) {
	case ".csv", ".gz", ".json", ".yaml", ".yml", ".txt", ".hrc":
		return false
	}
	return true
}
