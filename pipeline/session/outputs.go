package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// outputs are the files to be written: none, one for each input, or one for all.
type outputs struct {
	Paths   []string
	kind    string
	Stdout  bool
	folder  bool     // one for each input, in the NAME=value folders that it is in
	packed  bool     // CSV in gzip, whatever the names
	Written []string // all files that are written: those, and what goes beside them
}

// destine finds out where the rows of the inputs go, and that they can go there, before any work is done.
func destine(s *schemas.Spec, in *Inputs, read []Reading, more ...string) (*outputs, error) {
	out := &outputs{kind: s.Sink.Format}
	switch s.Sink.Path {
	case "":
	case "-":
		if out.kind != "" && out.kind != arrowKind {
			return nil, Wrong(fmt.Errorf("standard output is written as an Arrow IPC stream, not as %s; name a file instead", out.kind))
		}
		out.kind, out.Stdout = arrowKind, true
	default:
		if err := out.files(s.Sink.Path, in); err != nil {
			return nil, err
		}
	}
	written := out.Paths
	if s.Summary != "" && s.Summary != "-" {
		written = append(written[:len(written):len(written)], s.Summary)
	}
	written = append(written[:len(written):len(written)], SidesOut(s, operators.MadeDocument)...)
	for _, path := range SidesOut(s, operators.MadeTable) {
		if KindOf(path) == "" {
			return nil, Wrong(fmt.Errorf("cannot tell the format of the file of tables %s by its name; endings are .parquet, .arrow and .csv", path))
		}
		written = append(written, path)
	}
	written = append(written, more...)
	out.Written = written
	return out, CheckPaths(slices.Concat(in.Readings("the input"), ReadBesides(s), read), written)
}

// files names the output files, by a folder for one output an input, or by a file.
func (out *outputs) files(path string, in *Inputs) error {
	if err := files.Writable(path); err != nil {
		return Wrong(err)
	}
	path = files.Plain(path)
	info, err := os.Stat(path)
	folder := err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator)) || strings.HasSuffix(path, "/")
	if !folder && len(in.Paths) > 1 && KindOf(path) == "" {
		if err == nil {
			return Wrong(fmt.Errorf("%s is a file; %d inputs are written to a folder, or to one file whose name tells its format", path, len(in.Paths)))
		}
		folder = true
	}
	if !folder {
		if out.kind == "" {
			out.kind = KindOf(path)
		}
		if out.kind == "" {
			return Wrong(advice.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv%s", path,
				advice.Advice{Spec: ", or say sink: {format: ...}"}))
		}
		out.Paths = []string{path}
		return nil
	}
	if in.Stdin {
		return Wrong(fmt.Errorf("%s is a folder, and standard input has no name of its own; name an output file", path))
	}
	if out.kind == "" {
		out.kind = in.Kind
	}
	return out.inFolder(path, in)
}

// inFolder names an output in a folder for each input. The NAME=value folders that inputs are in stay.
func (out *outputs) inFolder(folder string, in *Inputs) error {
	out.folder = true
	from := map[string]string{}
	for _, p := range in.Paths {
		name := filepath.Base(withoutQuery(p))
		if KindOf(name) != out.kind {
			name = bare(name) + "." + out.kind
		}
		name = filepath.Join(partitionOf(p), name)
		if other, clash := from[name]; clash {
			return Wrong(
				fmt.Errorf("%s and %s would both be written to %s; rename one of them, or write all to one file", other, p, files.Join(folder, name)),
			)
		}
		from[name] = p
		out.Paths = append(out.Paths, files.Join(folder, name))
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
