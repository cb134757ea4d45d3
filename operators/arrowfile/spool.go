package arrowfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// A spool keeps what can be read only once: in memory up to a limit, then in a temporary file.
type spool struct {
	limit int64
	dir   string
	buf   bytes.Buffer
	file  *os.File
	gone  bool // the file has no name any more: nothing is left of it even when the process is killed
	size  int64
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && int64(s.buf.Len()+len(p)) > s.limit {
		f, err := os.CreateTemp(s.dir, "microrisk-stream-*")
		if err != nil {
			return 0, fmt.Errorf("keeping standard input in a temporary file: %w", err)
		}
		s.file = f
		s.gone = os.Remove(f.Name()) == nil // where the system allows it while the file is open
		if _, err := f.Write(s.buf.Bytes()); err != nil {
			return 0, fmt.Errorf("keeping standard input in %s: %w", f.Name(), err)
		}
		s.buf = bytes.Buffer{}
	}
	s.size += int64(len(p))
	if s.file == nil {
		return s.buf.Write(p)
	}
	n, err := s.file.Write(p)
	if err != nil {
		err = fmt.Errorf("keeping standard input in %s: %w", s.file.Name(), err)
	}
	return n, err
}

// reader reads all that was written, from the start; several may read at once.
func (s *spool) reader() *io.SectionReader {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size)
	}
	return io.NewSectionReader(bytes.NewReader(s.buf.Bytes()), 0, s.size)
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	s.file.Close()
	if s.gone {
		return nil
	}
	return os.Remove(s.file.Name())
}
