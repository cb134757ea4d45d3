package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
)

// ReadRegular reads a file that is read whole: a spec, a secret, a model. More than most bytes are an error. What is no regular file
// is refused, since it may never begin or never end; but for pipes that a shell has opened already (/dev/fd/N, /dev/stdin).
func ReadRegular(path string, most int64) ([]byte, error) {
	if files.Elsewhere(path) {
		return readElsewhere(context.Background(), path, most)
	}
	path = files.Plain(path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, scratch.Reason(err)
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular() && !(info.Mode()&fs.ModeNamedPipe != 0 && opened(path)):
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, scratch.Reason(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, scratch.Reason(err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return text, nil
}

// opened tells whether a path names a file that this process was given open.
func opened(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
