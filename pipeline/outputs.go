package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/schemas"
)

// outputs are the files to be written: none, one for each input, or one for all.
type outputs struct {
	paths   []string
	kind    string
	stdout  bool
	folder  bool     // one for each input, in the NAME=value folders that it is in
	packed  bool     // CSV in gzip, whatever the names
	written []string // all files that are written: those, and what goes beside them
}

// destine finds out where the rows of the inputs go, and that they can go there, before any work is done.
func destine(s *schemas.Spec, in *inputs, read []Reading) (*outputs, error) {
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
	written = append(written[:len(written):len(written)], sidesOut(s, operators.MadeDocument)...)
	for _, path := range sidesOut(s, operators.MadeTable) {
		if kindOf(path) == "" {
			return nil, wrong(fmt.Errorf("cannot tell the format of the file of tables %s by its name; endings are .parquet, .arrow and .csv", path))
		}
		written = append(written, path)
	}
	out.written = written
	return out, checkPaths(slices.Concat(in.readings("the input"), readBesides(s), read), written)
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

// inFolder names an output in a folder for each input. The NAME=value folders that inputs are in stay.
func (out *outputs) inFolder(folder string, in *inputs) error {
	out.folder = true
	from := map[string]string{}
	for _, p := range in.paths {
		name := filepath.Base(p)
		if kindOf(name) != out.kind {
			name = bare(name) + "." + out.kind
		}
		name = filepath.Join(partitionOf(p), name)
		if other, clash := from[name]; clash {
			return wrong(fmt.Errorf("%s and %s would both be written to %s; rename one of them, or write all to one file", other, p, filepath.Join(folder, name)))
		}
		from[name] = p
		out.paths = append(out.paths, filepath.Join(folder, name))
	}
	return nil
}

// partitionOf has the folders named NAME=value that a file is in, "" for none.
func partitionOf(path string) string {
	way := ""
	for dir := filepath.Dir(path); isPartition(dir); dir = filepath.Dir(dir) {
		way = filepath.Join(filepath.Base(dir), way)
	}
	return way
}
