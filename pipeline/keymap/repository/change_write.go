package repository

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unfinished ends the names of files that a change writes before any is renamed.
const unfinished = ".unfinished"

// finishedName is what such a file would have become.
func finishedName(path string) string {
	path = strings.TrimSuffix(path, unfinished)
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at] + strings.TrimPrefix(path[at:], ".")
}

func unfinishedName(path string) string {
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at] + "." + path[at:] + unfinished
}

// A Written is a file that a change writes or takes away.
type Written struct {
	Path    string
	Removed bool
	New     bool
	Text    []byte // that it gets
}

func (c *Change) written() []Written {
	var list []Written
	for path, text := range c.texts {
		if f := c.read[path]; f != nil && text != nil && bytes.Equal(f.text, text) {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.r.Folder, filepath.FromSlash(path)))
		list = append(list, Written{path, text == nil, errors.Is(err, fs.ErrNotExist), text})
	}
	slices.SortFunc(list, func(a, b Written) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// untouched tells whether all files are as they were when the repository was opened: what another change made is not written over.
func (c *Change) untouched(list []Written) error {
	for _, w := range list {
		text, err := os.ReadFile(filepath.Join(c.r.Folder, filepath.FromSlash(w.Path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if was := c.read[w.Path]; was == nil && err == nil || was != nil && (err != nil || !bytes.Equal(was.text, text)) {
			return fmt.Errorf("nothing was changed: %s was changed by something else meanwhile; try again", w.Path)
		}
	}
	return nil
}

// write changes the files. step is called before each that is written and each that takes the place of another.
func (c *Change) write(list []Written, step func() error) (err error) {
	at := func(path string) string { return filepath.Join(c.r.Folder, filepath.FromSlash(path)) }
	var temporaries []string
	begun := false
	defer func() {
		switch {
		case err != nil && begun:
			err = fmt.Errorf("the change was made in part, microrisk keymap check tells what is left of it: %w", err)
		case err != nil:
			for _, t := range temporaries {
				os.Remove(at(t))
			}
		}
	}()
	for _, w := range list {
		if info, err := os.Lstat(at(w.Path)); err == nil && info.Mode()&fs.ModeSymlink != 0 && !w.Removed {
			return fmt.Errorf("nothing was changed: %s is a link; change what it links to, or put a copy in its place", w.Path)
		}
	}
	readBack := make(map[string][]byte, len(list))
	for _, w := range list {
		if w.Removed {
			readBack[w.Path] = nil
			continue
		}
		if err := cmp.Or(step(), c.ctx.Err()); err != nil {
			return err
		}
		t := unfinishedName(w.Path)
		if err := os.MkdirAll(filepath.Dir(at(t)), 0o777); err != nil {
			return err
		}
		if err := writeNew(at(t), c.texts[w.Path]); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("a change that was not finished left %s: look at it, and rename it to %s or remove it, unless another change is at work now", t, w.Path)
			}
			return err
		}
		temporaries = append(temporaries, t)
		if readBack[w.Path], err = os.ReadFile(at(t)); err != nil {
			return err
		}
	}
	if _, err := c.judged(readBack); err != nil {
		return err
	}
	if err := cmp.Or(c.untouched(list), c.ctx.Err()); err != nil {
		return err
	}
	for _, w := range list {
		if err = step(); err != nil {
			return err
		}
		if w.Removed {
			err = os.Remove(at(w.Path))
		} else {
			err = os.Rename(at(unfinishedName(w.Path)), at(w.Path))
		}
		if err != nil {
			return err
		}
		begun = true
	}
	return nil
}

func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
