package files

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"microrisk/schemas"
)

// A Store has what the paths of a scheme name, such as s3://bucket/name. A path means the bytes that it has: nothing in it is unescaped.
type Store interface {
	// Open opens an object. All that is read of it is of the version that it has now: when it is replaced, reading it fails. Reading
	// ends with the context.
	Open(ctx context.Context, path string) (Input, error)
	// List tells the paths of all objects that begin with a prefix, in the order of their bytes.
	List(ctx context.Context, prefix string) ([]string, error)
}

// A Creator is a Store that can be written to.
type Creator interface {
	// Create starts an object; it is in place, in place of the one that was there, from Commit on. It fails if it can be known to fail.
	Create(ctx context.Context, path string) (Output, error)
}

// A Sweeper is a Store in which processes that were killed may leave something.
type Sweeper interface {
	// Sweep removes what they left, and tells what it was.
	Sweep(ctx context.Context) (gone []string)
}

// A Stretch is a part of an input, from a byte to before another.
type Stretch struct{ From, To int64 }

// A Distant input takes its time to answer, and is quicker if it knows what will be read.
type Distant interface {
	Input
	// Expect says what will be read soon: the stretches side by side, each from front to back.
	Expect(list ...Stretch)
	// Keep says how many bytes may be kept that may be read again.
	Keep(bytes int64)
}

// A Versioned input tells which version of its object is read.
type Versioned interface {
	Input
	Version() string
}

// A Copier is an Output that can take a stretch of an input without its bytes passing through here.
type Copier interface {
	Output
	// Copies tells whether Copy can be asked for stretches of an input.
	Copies(in Input) bool
	// Copy appends a stretch.
	Copy(in Input, s Stretch) error
}

var stores sync.Map

// Register makes a store known under a scheme. The last one holds.
func Register(scheme string, s Store) {
	stores.Store(scheme, s)
	schemas.Reach(scheme)
}

// StoreOf is the store of a path, nil for a path of this machine. A path of a scheme that nobody registered is an error.
func StoreOf(path string) (Store, error) {
	scheme := schemas.Scheme(path)
	if scheme == "" || scheme == "file" {
		return nil, nil
	}
	if s, ok := stores.Load(scheme); ok {
		return s.(Store), nil
	}
	return nil, schemas.Reachable(path)
}

// Elsewhere tells whether a path names nothing of this machine.
func Elsewhere(path string) bool {
	scheme := schemas.Scheme(path)
	return scheme != "" && scheme != "file"
}

// Spelled is a path in a store as all its spellings are: a scheme may be written in capitals.
func Spelled(path string) string {
	if scheme := schemas.Scheme(path); scheme != "" {
		return scheme + path[len(scheme):]
	}
	return path
}

// Plain is a path of this machine as the system has it: file:///a/b is /a/b, with its %XX replaced. All others stay as they are.
func Plain(path string) string {
	if schemas.Scheme(path) != "file" {
		return path
	}
	rest := path[len("file://"):]
	if host, way, _ := strings.Cut(rest, "/"); host == "localhost" {
		rest = "/" + way
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return filepath.FromSlash(rest)
}

// Join is the path of a name in a folder, wherever that is.
func Join(folder, name string) string {
	if Elsewhere(folder) {
		return strings.TrimSuffix(folder, "/") + "/" + filepath.ToSlash(name)
	}
	return filepath.Join(Plain(folder), name)
}

// Open opens what a path names. What is no regular file is an error.
func Open(ctx context.Context, path string) (Input, error) {
	s, err := StoreOf(path)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return OpenLocal(Plain(path))
	}
	in, err := s.Open(ctx, path)
	if err != nil {
		return nil, CannotRead(path, err)
	}
	return in, nil
}

// Create starts what will be at a path (see CreateLocal). The inputs are what its contents come from.
func Create(ctx context.Context, path string, inputs ...string) (Output, error) {
	s, err := StoreOf(path)
	if err != nil {
		return nil, err
	}
	if s == nil {
		f, err := CreateLocal(Plain(path), inputs...)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	c, ok := s.(Creator)
	if !ok {
		return nil, CannotWrite(path, errReadOnly)
	}
	o, err := c.Create(ctx, path)
	if err != nil {
		return nil, CannotWrite(path, err)
	}
	return o, nil
}

var errReadOnly = errors.New("such paths are read, not written")

// Writable says why nothing can be written at a path, as far as the path alone tells.
func Writable(path string) error {
	s, err := StoreOf(path)
	if _, ok := s.(Creator); err != nil || s == nil || ok {
		return err
	}
	return CannotWrite(path, errReadOnly)
}

// CannotWrite says why an output cannot be written.
func CannotWrite(path string, err error) error { return fmt.Errorf("cannot write %s: %w", path, err) }
