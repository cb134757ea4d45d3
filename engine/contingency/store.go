package contingency

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"microrisk/engine/scratch"
)

// A Store keeps on disk what does not fit in memory, in files without a name where the system has them, so that nothing is left even
// after a kill. A store may be used by several goroutines at once.
type Store struct {
	ctx   context.Context // of the run that it belongs to
	dir   string
	bytes atomic.Int64
	open  func() (randomFile, error) // instead of a file of the system's, in tests

	mu     sync.Mutex
	files  []*tempFile
	closed bool
}

type randomFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// NewStore returns a store with its files in dir ("" for the system's folder of temporary files). Nothing is written yet. Once the
// context has ended nothing is written or read any more, so that whatever goes through a table on disk stops: see [Table.Err].
func NewStore(ctx context.Context, dir string) *Store {
	if dir == "" {
		dir = os.TempDir()
	}
	return &Store{ctx: ctx, dir: dir}
}

// Bytes is the number of bytes written so far. Safe for concurrent use.
func (s *Store) Bytes() int64 { return s.bytes.Load() }

// Close removes the files. Counters and tables with data in the store must not be used after it. The second
// call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var first error
	for _, f := range s.files {
		if err := f.close(); err != nil && first == nil {
			first = err
		}
	}
	s.files = nil
	return s.wrap("removing", "from", first)
}

// wrap says what went wrong in which folder; names of single files mean nothing to a reader.
func (s *Store) wrap(doing, where string, err error) error {
	if err == nil {
		return nil
	}
	return &storeError{doing + " temporary data " + where + " " + s.dir, scratch.Reason(err)}
}

type storeError struct {
	doing string
	cause error
}

func (e *storeError) Error() string { return e.doing + ": " + e.cause.Error() }
func (e *storeError) Unwrap() error { return e.cause }

// A tempFile is a file of 64-bit words in the byte order of the machine. It can be written and read by several goroutines at once.
type tempFile struct {
	store *Store
	file  randomFile
	name  string       // "" when it has none any more
	end   atomic.Int64 // in bytes
}

func (s *Store) create() (*tempFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.wrap("writing", "to", os.ErrClosed)
	}
	f := &tempFile{store: s}
	var err error
	if s.open != nil {
		f.file, err = s.open()
	} else {
		f.file, f.name, err = s.openFile()
	}
	if err != nil {
		return nil, s.wrap("writing", "to", err)
	}
	s.files = append(s.files, f)
	return f, nil
}

func (s *Store) openFile() (f *os.File, name string, err error) {
	if f, name, err = scratch.Open(s.dir); err != nil {
		return nil, "", err
	}
	if name != "" && os.Remove(name) == nil { // where the system lets go of the name of an open file
		name = ""
	}
	return f, name, nil
}

// close closes a file, which is gone then.
func (f *tempFile) close() error {
	err := f.file.Close()
	if f.name != "" {
		err = errors.Join(err, os.Remove(f.name))
	}
	return err
}

// drop closes and removes a file before the store is closed.
func (f *tempFile) drop() error {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	i := slices.Index(f.store.files, f)
	if i < 0 {
		return nil
	}
	f.store.files = slices.Delete(f.store.files, i, i+1)
	return f.store.wrap("removing", "from", f.close())
}

// bytesOf is the memory of words, without a copy.
func bytesOf[T uint32 | uint64 | int64](words []T) []byte {
	if len(words) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*int(unsafe.Sizeof(one)))
}

// reserve makes room for n bytes at the end of the file and returns where they start.
func (f *tempFile) reserve(n int) int64 { return f.end.Add(int64(n)) - int64(n) }

func (f *tempFile) write(p []byte, at int64) error {
	if err := f.store.ctx.Err(); err != nil {
		return err
	}
	n, err := f.file.WriteAt(p, at)
	f.store.bytes.Add(int64(n))
	return f.store.wrap("writing", "to", err)
}

func (f *tempFile) read(p []byte, at int64) error {
	if err := f.store.ctx.Err(); err != nil {
		return err
	}
	n, err := f.file.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f.store.wrap("reading", "from", err)
}
