package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/schemas"
)

// outputs are the files to be written: none, one for each input, or one for all.
type outputs struct {
	paths   []string
	kind    string
	stdout  bool
	folders []string // to be made for them, the outer ones first
}

// destine finds out where the rows of the inputs go, and that they can go there, before any work is done.
func destine(s *schemas.Spec, in *inputs) (*outputs, error) {
	out := &outputs{kind: s.Sink.Format}
	switch s.Sink.Path {
	case "":
	case "-":
		if out.kind != "" && out.kind != arrowKind {
			return nil, wrong(fmt.Errorf("standard output is written as an Arrow IPC stream, not as %s; name a file instead", out.kind))
		}
		out.kind, out.stdout = arrowKind, true
	default:
		if err := out.files(s.Sink.Path, in); err != nil {
			return nil, err
		}
	}
	written := out.paths
	if s.Summary != "" && s.Summary != "-" {
		written = append(written[:len(written):len(written)], s.Summary)
	}
	written = append(written[:len(written):len(written)], modelsOut(s)...)
	for _, name := range slices.Sorted(maps.Keys(tablesOut(s))) {
		path := tablesOut(s)[name]
		if kindOf(path) == "" {
			return nil, wrong(fmt.Errorf("cannot tell the format of the file of tables %s by its name; endings are .parquet, .arrow and .csv", path))
		}
		written = append(written, path)
	}
	if err := writable(written, in, out.folders); err != nil {
		return nil, err
	}
	return out, spared(written, readBesides(s))
}

// files names the output files, by a folder for one output an input, or by a file.
func (out *outputs) files(path string, in *inputs) error {
	info, err := os.Stat(path)
	folder := err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator)) || strings.HasSuffix(path, "/")
	if !folder && len(in.paths) > 1 && kindOf(path) == "" {
		if err == nil {
			return wrong(fmt.Errorf("%s is a file; %d inputs are written to a folder, or to one file whose name tells its format", path, len(in.paths)))
		}
		folder = true
	}
	if !folder {
		if out.kind == "" {
			out.kind = kindOf(path)
		}
		if out.kind == "" {
			return wrong(fmt.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv, or say sink: {format: ...}", path))
		}
		out.paths = []string{path}
		return nil
	}
	if in.stdin {
		return wrong(fmt.Errorf("%s is a folder, and standard input has no name of its own; name an output file", path))
	}
	if out.kind == "" {
		out.kind = in.kind
	}
	return out.inFolder(path, in)
}

// inFolder names an output in a folder for each input. Inputs of the same name keep the NAME=value folders that they are in.
func (out *outputs) inFolder(folder string, in *inputs) error {
	names := make([]string, len(in.paths))
	seen, clash := map[string]bool{}, false
	for i, p := range in.paths {
		names[i] = filepath.Base(p)
		if kindOf(names[i]) != out.kind {
			names[i] = strings.TrimSuffix(names[i], filepath.Ext(names[i])) + "." + out.kind
		}
		clash = clash || seen[names[i]]
		seen[names[i]] = true
	}
	from := map[string]string{}
	for i, p := range in.paths {
		name := names[i]
		if clash {
			name = filepath.Join(partitionOf(p), name)
			out.makeFolders(folder, filepath.Dir(name))
		}
		if other, clash := from[name]; clash {
			return wrong(fmt.Errorf("%s and %s would both be written to %s; rename one of them, or write all to one file", other, p, filepath.Join(folder, name)))
		}
		from[name] = p
		out.paths = append(out.paths, filepath.Join(folder, name))
	}
	return nil
}

// makeFolders notes the folders on a way within a folder.
func (out *outputs) makeFolders(folder, way string) {
	if way == "." {
		return
	}
	out.makeFolders(folder, filepath.Dir(way))
	if f := filepath.Join(folder, way); !slices.Contains(out.folders, f) {
		out.folders = append(out.folders, f)
	}
}

// partitionOf has the folders named NAME=value that a file is in, "" for none.
func partitionOf(path string) string {
	way := ""
	for dir := filepath.Dir(path); strings.Contains(filepath.Base(dir), "="); dir = filepath.Dir(dir) {
		way = filepath.Join(filepath.Base(dir), way)
	}
	return way
}

// prepare makes the folders of the outputs. What it gives removes those that it made and nothing was put into.
func (out *outputs) prepare() (tidy func(), err error) {
	var made []string
	tidy = func() {
		for _, f := range slices.Backward(made) {
			_ = os.Remove(f) // one with an output in it stays
		}
	}
	for _, f := range out.folders {
		if err := os.Mkdir(f, 0o777); err == nil {
			made = append(made, f)
		} else if !errors.Is(err, fs.ErrExist) {
			tidy()
			return nil, fmt.Errorf("cannot make the folder %s: %w", f, pathReason(err))
		}
	}
	return tidy, nil
}

// resolved is a path by which two spellings of one place are the same: links of its folder are followed.
func resolved(p string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(p))
	if err != nil {
		dir = filepath.Dir(p)
	}
	if whole, err := filepath.Abs(filepath.Join(dir, filepath.Base(p))); err == nil {
		return whole
	}
	return p
}

// spared refuses to write over a file that is read beside the inputs, by what it is.
func spared(paths []string, beside [][2]string) error {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		for _, b := range beside {
			if read, err := os.Stat(b[1]); err == nil && os.SameFile(info, read) {
				return wrong(fmt.Errorf("the output %s is %s %s; give the output another name", p, b[0], b[1]))
			}
		}
	}
	return nil
}

// writable refuses to write over an input, and in folders where nothing can be written. Some folders will be made later.
func writable(paths []string, in *inputs, later []string) error {
	read := make([]os.FileInfo, len(in.paths))
	for i, p := range in.paths {
		if info, err := os.Stat(p); err == nil && !in.stdin {
			read[i] = info
		}
	}
	tried := map[string]bool{}
	named := map[string]string{}
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			return wrong(fmt.Errorf("cannot write %s: it is a folder", p))
		case err == nil && !info.Mode().IsRegular():
			return wrong(fmt.Errorf("cannot write %s: it is not a regular file; a stream goes to standard output: -", p))
		}
		place := resolved(p)
		if other, twice := named[place]; twice {
			return wrong(fmt.Errorf("%s and %s are one file; give the summary and each output a name of its own", other, p))
		}
		named[place] = p
		for i, r := range read {
			if err == nil && r != nil && os.SameFile(info, r) {
				return wrong(fmt.Errorf("the output %s is the input %s; give the output another name", p, in.paths[i]))
			}
		}
		dir := filepath.Dir(p)
		for slices.Contains(later, dir) {
			if _, err := os.Stat(dir); err == nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		if tried[dir] {
			continue
		}
		tried[dir] = true
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("cannot write %s: the folder %s does not exist; create it first", p, dir)
		}
		probe, err := os.CreateTemp(dir, ".microrisk-*")
		if err != nil {
			return fmt.Errorf("cannot write in the folder %s: %w", dir, pathReason(err))
		}
		probe.Close()
		os.Remove(probe.Name())
	}
	return nil
}
