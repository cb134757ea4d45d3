package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
	"microrisk/operators/report"
	"microrisk/schemas"
)

// A Reading is a file that a run reads: what it is ("the input", "the spec"), and its path.
type Reading struct{ What, Path string }

// Readings are the files that paths of a source name.
func Readings(what string, lists ...[]string) ([]Reading, error) {
	var all []Reading
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		in, err := Resolve(schemas.Source{Path: list})
		if err != nil {
			return nil, err
		}
		all = append(all, in.Readings(what)...)
	}
	return all, nil
}

// Readings are the files of the inputs.
func (in *Inputs) Readings(what string) []Reading {
	if in.Stdin {
		return nil
	}
	list := make([]Reading, len(in.Paths))
	for i, path := range in.Paths {
		list[i] = Reading{what, path}
	}
	return list
}

// CheckPaths compares all that a run reads with all that it writes, links resolved: nothing that is read is written, nothing is
// written twice, and everything can be written where it goes. Folders that are not there can be made. Nothing is changed.
func CheckPaths(reads []Reading, writes []string) error {
	read := make([]fs.FileInfo, len(reads))
	for i, r := range reads {
		read[i], _ = os.Stat(files.Plain(r.Path)) // what is not there cannot be lost
	}
	named := map[string]string{}
	tried := map[string]bool{}
	for _, p := range writes {
		if files.Elsewhere(p) {
			if err := checkElsewhere(reads, p, named); err != nil {
				return err
			}
			continue
		}
		p = files.Plain(p)
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			return Wrong(fmt.Errorf("cannot write %s: it is a folder", p))
		case err == nil && !info.Mode().IsRegular():
			return Wrong(fmt.Errorf("cannot write %s: it is not a regular file; a stream goes to standard output: -", p))
		}
		place, placeErr := placeOf(p)
		if placeErr != nil {
			return Wrong(fmt.Errorf("cannot write %s: %w", p, scratch.Reason(placeErr)))
		}
		if other, twice := named[place]; twice {
			return Wrong(fmt.Errorf("%s and %s are one file; give the summary and each output a name of its own", other, p))
		}
		named[place] = p
		for i, r := range read {
			if err == nil && r != nil && os.SameFile(info, r) {
				return Wrong(fmt.Errorf("the output %s is %s %s; give the output another name", p, reads[i].What, reads[i].Path))
			}
		}
		if dir := thereOf(filepath.Dir(place)); !tried[dir] {
			tried[dir] = true
			if err := writableFolder(dir, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkElsewhere is CheckPaths of one path in a store, where a name has one spelling but for its scheme.
func checkElsewhere(reads []Reading, p string, named map[string]string) error {
	if err := files.Writable(p); err != nil {
		return Wrong(err)
	}
	if strings.HasSuffix(p, "/") {
		return Wrong(fmt.Errorf("cannot write %s: it is a folder", p))
	}
	place := files.Spelled(p)
	if named[place] != "" {
		return Wrong(fmt.Errorf("%s is written twice; give the summary and each output a name of its own", p))
	}
	named[place] = p
	for _, r := range reads {
		if files.Spelled(r.Path) == place {
			return Wrong(fmt.Errorf("the output %s is %s; give the output another name", p, r.What))
		}
	}
	return nil
}

// placeOf is the absolute path by which all spellings of one place are the same, links resolved as far as there is something.
func placeOf(p string) (string, error) {
	target, err := files.Target(p)
	if err != nil {
		return "", err
	}
	if target, err = filepath.Abs(target); err != nil {
		return "", err
	}
	there := thereOf(filepath.Dir(target))
	rest, err := filepath.Rel(there, target)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(there)
	return filepath.Join(real, rest), err
}

// thereOf is the innermost folder on a way that is there.
func thereOf(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// writableFolder finds that no file can be made in a folder.
func writableFolder(dir, output string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Wrong(fmt.Errorf("cannot write %s: the folder %s is a file", output, filepath.Base(dir)))
	}
	f, name, err := scratch.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot write in the folder %s: %w", dir, scratch.Reason(err))
	}
	f.Close()
	if name != "" {
		os.Remove(name)
	}
	return nil
}

// MakeFolders makes the folders that paths are in, those that are not there. What it gives removes those that it made and nothing was
// put into.
func MakeFolders(paths []string) (tidy func(), err error) {
	var made []string
	tidy = func() {
		for _, f := range slices.Backward(made) {
			_ = os.Remove(f) // one with an output in it stays
		}
	}
	for _, p := range paths {
		if files.Elsewhere(p) {
			continue
		}
		p = files.Plain(p)
		var missing []string
		dir := filepath.Dir(p)
		for there := thereOf(dir); dir != there; dir = filepath.Dir(dir) {
			missing = append(missing, dir)
		}
		for _, f := range slices.Backward(missing) {
			if err := os.Mkdir(f, 0o777); err == nil {
				made = append(made, f)
			} else if !errors.Is(err, fs.ErrExist) {
				tidy()
				return nil, fmt.Errorf("cannot make the folder %s: %w", f, scratch.Reason(err))
			}
		}
	}
	return tidy, nil
}

// Sweep removes what runs that were killed left in the folders of files that are written, and says so.
func (o Options) Sweep(writes ...string) {
	folders := []string{o.TempDir}
	if o.TempDir == "" {
		folders[0] = scratch.TempDir()
	}
	for _, p := range writes {
		if files.Elsewhere(p) {
			o.sweepElsewhere(p)
			continue
		}
		if target, err := files.Target(files.Plain(p)); err == nil {
			folders = append(folders, filepath.Dir(target))
		}
	}
	seen := map[string]bool{}
	for _, f := range folders {
		if seen[f] {
			continue
		}
		seen[f] = true
		if gone, err := scratch.Sweep(f); err == nil && len(gone) > 0 {
			o.Logger.Warn(fmt.Sprintf("removed %s that a run which was killed left in %s", report.Plural(int64(len(gone)), "temporary file", "temporary files"), f))
		}
	}
}

// sweepElsewhere removes what runs that were killed left in the store of a path.
func (o Options) sweepElsewhere(p string) {
	store, err := files.StoreOf(p)
	if sweeper, ok := store.(files.Sweeper); ok && err == nil {
		for _, what := range sweeper.Sweep(context.Background()) {
			o.Logger.Warn("removed what a run which was killed left: " + what)
		}
	}
}
