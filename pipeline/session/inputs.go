package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// The kinds of files, as the spec's format names them.
const (
	ParquetKind = "parquet"
	arrowKind   = "arrow"
	csvKind     = "csv"
)

var endings = map[string]string{
	".parquet": ParquetKind, ".pq": ParquetKind,
	".arrow": arrowKind, ".feather": arrowKind, ".ipc": arrowKind,
	".csv": csvKind,
}

// KindOf is the kind that a file's name tells, "" if it does not.
func KindOf(path string) string {
	path = withoutQuery(path)
	if packed(path) {
		path = path[:len(path)-len(".gz")]
		if kind := KindOf(path); kind != csvKind {
			return ""
		}
	}
	return endings[strings.ToLower(filepath.Ext(path))]
}

// KnownKind refuses a file for a record whose name tells no format.
func KnownKind(path string) error {
	if KindOf(path) == "" {
		return Wrong(fmt.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv", path))
	}
	return nil
}

// packed tells whether a path is that of a file in gzip: CSV alone is read and written so.
func packed(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// bare is a path without the ending that tells its kind.
func bare(path string) string {
	if packed(path) {
		path = path[:len(path)-len(".gz")]
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// Inputs are the files to be read, in order.
type Inputs struct {
	Paths []string
	Kind  string
	Stdin bool
}

// Resolve finds the files that a source names. Folders are read in the order of their files' names; of the folders in them only
// those named NAME=value are entered, whose names are columns.
func Resolve(s schemas.Source) (*Inputs, error) {
	named := s.Path
	if s.Table != "" {
		named = []string{s.Table}
	}
	if slices.Equal(named, []string{"-"}) {
		if s.Format != "" && s.Format != arrowKind {
			return nil, Wrong(fmt.Errorf("standard input is read as an Arrow IPC stream, not as %s; name a file instead", s.Format))
		}
		return &Inputs{Paths: []string{"-"}, Kind: arrowKind, Stdin: true}, nil
	}
	in := &Inputs{Kind: s.Format}
	for _, path := range named {
		if err := in.add(path, s.Format); err != nil {
			return nil, err
		}
	}
	return in, in.Check(s.Format)
}

// add appends what one path of a source names.
func (in *Inputs) add(path, format string) error {
	if store, err := files.StoreOf(path); err != nil {
		return Wrong(err)
	} else if store != nil {
		return in.addElsewhere(store, path, format)
	}
	path = files.Plain(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return in.addFolder(path, format)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("cannot read %s: it is not a regular file; an Arrow IPC stream is read from standard input: -", path)
	case err == nil:
		in.Paths = append(in.Paths, path)
		return refuseLogged(path, false)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?["):
		matches, err := filepath.Glob(path)
		if err != nil {
			return Wrong(fmt.Errorf("%s is no pattern: %w", path, err))
		}
		if len(matches) == 0 {
			return fmt.Errorf("no file fits the pattern %s", path)
		}
		for _, m := range matches {
			if err := in.add(m, format); err != nil {
				return err
			}
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%s", path, beside(path))
	}
	return files.CannotRead(path, scratch.Reason(err))
}

// beside suggests the file that a mistyped path most likely means.
func beside(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if n := schemas.Nearest(filepath.Base(path), names); n != "" {
		return fmt.Sprintf("; did you mean %s?", filepath.Join(filepath.Dir(path), n))
	}
	return ""
}

func (in *Inputs) addFolder(folder, format string) error {
	if err := refuseLogged(folder, true); err != nil {
		return err
	}
	before := len(in.Paths)
	// With the separator a link to a folder is the folder.
	root := strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return files.CannotRead(path, scratch.Reason(err))
		}
		name := e.Name()
		if e.IsDir() {
			if path == root {
				return nil
			}
			if !isPartition(path) {
				return fs.SkipDir
			}
			return refuseLogged(path, true)
		}
		// Names that begin like these are what other programs leave beside their data.
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			return nil
		}
		if kind := KindOf(name); kind != "" && (format == "" || kind == format) {
			if err := regularFile(path); err != nil {
				return err
			}
			if strings.ContainsAny(path[len(root):], "\n\r") {
				return fmt.Errorf("cannot read %q: rename it, or name it by itself: lists of files have one on a line", path)
			}
			in.Paths = append(in.Paths, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(in.Paths) == before {
		return fmt.Errorf("the folder %s has no data files; they are known by the endings .parquet, .arrow and .csv", folder)
	}
	return nil
}

// realOf is the path by which all spellings of a file are the same.
func realOf(path string) (string, error) {
	if files.Elsewhere(path) {
		return files.Spelled(path), nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// Check finds the one kind of all inputs, and refuses a file that is named twice.
func (in *Inputs) Check(format string) error {
	first := map[string]string{}
	type stamp struct {
		size int64
		time int64
	}
	opened := map[stamp][]int{} // inputs by what two names of one file have in common
	infos := make([]os.FileInfo, len(in.Paths))
	for n, path := range in.Paths {
		real, err := realOf(path)
		if err != nil {
			return files.CannotRead(path, scratch.Reason(err))
		}
		if other, twice := first[real]; twice {
			return Wrong(fmt.Errorf("%s and %s are the same file; each input is read once", other, path))
		}
		first[real] = path
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() {
			at := stamp{info.Size(), info.ModTime().UnixNano()}
			for _, i := range opened[at] {
				if os.SameFile(info, infos[i]) {
					return Wrong(fmt.Errorf("%s and %s are the same file; each input is read once", in.Paths[i], path))
				}
			}
			infos[n] = info
			opened[at] = append(opened[at], n)
		}
		if format != "" {
			continue
		}
		kind := KindOf(path)
		if kind == "" && files.Elsewhere(path) {
			return Wrong(advice.Errorf("cannot tell the format of %s by its name; a folder ends with /, objects with .parquet, .arrow or .csv, or say %s", path,
				advice.Advice{Spec: "source: {format: ...}", Flags: "--format parquet, arrow or csv"}))
		}
		if kind == "" {
			return Wrong(advice.Errorf("cannot tell the format of %s by its name; endings are .parquet, .arrow and .csv, or say %s", path,
				advice.Advice{Spec: "source: {format: ...}", Flags: "--format parquet, arrow or csv"}))
		}
		if in.Kind != "" && kind != in.Kind {
			return Wrong(fmt.Errorf("%s and %s are of different kinds (%s, %s); read them in separate runs", in.Paths[0], path, in.Kind, kind))
		}
		in.Kind = kind
	}
	return nil
}
