package arrowfile

import (
	"fmt"
	"io"
	"os"

	"microrisk/engine/scratch"
)

// A spool keeps what can be read only once: in memory up to a limit, then in a temporary file.
type spool struct {
	limit int64
	dir   string
	held  pieces
	file  *os.File
	name  string // of the file; "" when it has none, and nothing is left of it even when the process is killed
	size  int64
}

// pieces are bytes in memory, in pieces of one size but for the last: they grow without being copied.
type pieces [][]byte

const pieceSize = 1 << 18

func (p *pieces) write(b []byte) {
	for len(b) > 0 {
		last := len(*p) - 1
		if last < 0 || len((*p)[last]) == pieceSize {
			*p = append(*p, make([]byte, 0, pieceSize))
			last++
		}
		n := min(len(b), pieceSize-len((*p)[last]))
		(*p)[last] = append((*p)[last], b[:n]...)
		b = b[n:]
	}
}

// ReadAt is an io.ReaderAt's.
func (p pieces) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		i, from := int(at/pieceSize), int(at%pieceSize)
		if i >= len(p) || from >= len(p[i]) {
			return n, io.EOF
		}
		k := copy(b[n:], p[i][from:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.size+int64(len(p)) <= s.limit {
		s.held.write(p)
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		if err := s.toFile(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err != nil {
		err = s.failed(err)
	}
	return n, err
}

// toFile moves what is held in memory to a file.
func (s *spool) toFile() error {
	f, name, err := scratch.Open(s.dir)
	if err != nil {
		return s.failed(err)
	}
	if name != "" && os.Remove(name) == nil { // where the system allows it while the file is open
		name = ""
	}
	s.file, s.name = f, name
	for _, piece := range s.held {
		if _, err := f.Write(piece); err != nil {
			return s.failed(err)
		}
	}
	s.held = nil
	return nil
}

func (s *spool) failed(err error) error {
	return fmt.Errorf("keeping standard input in a temporary file in %s: %w", s.dir, scratch.Reason(err))
}

// reader reads all that was written, from the start; several may read at once.
func (s *spool) reader() *io.SectionReader {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size)
	}
	return io.NewSectionReader(s.held, 0, s.size)
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	s.file.Close()
	if s.name == "" {
		return nil
	}
	return os.Remove(s.name)
}
