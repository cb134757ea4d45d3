package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/program"
	"microrisk/engine/scratch"
	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/pipeline/solver"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// Companions are what is read beside the inputs, and what else operators are made with.
type Companions struct {
	files  operators.Files
	solver func(asked string) (program.Solver, string, error)
}

// sideFilesOf calls f for each side file of a spec, with the prefix of its operator.
func sideFilesOf(s *schemas.Spec, f func(prefix string, file operators.SideFile) error) error {
	for _, o := range s.Operators {
		prefix := o.Name()
		if n, named := o.Config.(schemas.Named); named {
			prefix = n.ColumnPrefix()
		}
		for _, file := range operators.FilesOf(o.Config) {
			if err := f(prefix, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadBesides are the files that operators name to be read: what each is, and its path.
func ReadBesides(s *schemas.Spec) []Reading {
	var list []Reading
	_ = sideFilesOf(s, func(_ string, f operators.SideFile) error {
		switch {
		case f.Written():
		case f.Kind == operators.Counts:
			in, err := Resolve(schemas.Source{Path: []string{f.Path}})
			if err != nil {
				return nil // the error comes when it is read
			}
			for _, path := range in.Paths {
				list = append(list, Reading{f.What, path})
			}
		default:
			list = append(list, Reading{f.What, f.Path})
		}
		return nil
	})
	return list
}

// ReadBeside reads the files that operators name.
func ReadBeside(ctx context.Context, s *schemas.Spec, o Options) (*Companions, error) {
	b := &Companions{
		files:  operators.Files{Secrets: map[string][]byte{}, Documents: map[string]any{}, Counts: map[string]*operators.Published{}},
		solver: func(asked string) (program.Solver, string, error) { return solver.Of(asked, o.TempDir) },
	}
	err := sideFilesOf(s, func(_ string, f operators.SideFile) (err error) {
		switch f.Kind {
		case operators.Secret:
			return b.secret(f.Path, o)
		case operators.Document, operators.Outline, operators.Opened:
			return b.document(ctx, f, o)
		case operators.Counts:
			b.files.Counts[f.Key()], err = ReadPublished(ctx, f.Path, f.Variables, o)
		}
		return err
	})
	return b, err
}

// document reads a text, or a file of columns, once.
func (b *Companions) document(ctx context.Context, f operators.SideFile, o Options) (err error) {
	if b.files.Documents[f.Path] != nil {
		return nil
	}
	if f.Kind == operators.Opened {
		b.files.Documents[f.Path], err = openDocument(ctx, f, o)
		return err
	}
	text, err := ReadRegular(f.Path, f.Most)
	switch {
	case err != nil:
		return Wrong(fmt.Errorf("%s %s cannot be read: %w", f.What, f.Path, err))
	case f.Kind == operators.Outline:
		root, err := specfile.ParseOther(f.Path, f.What, text, f.Most)
		if err != nil {
			return Wrong(err)
		}
		b.files.Documents[f.Path], err = f.Outline(root)
		return Wrong(err)
	}
	b.files.Documents[f.Path], err = f.Read(text)
	return Wrong(err)
}

// openDocument reads a file of columns.
func openDocument(ctx context.Context, f operators.SideFile, o Options) (any, error) {
	source, err := OpenPaths(ctx, []string{f.Path}, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	made, err := f.Open(ctx, source, o.Memory)
	return made, WrongTable(ctx, err)
}

// WrongTable makes an error one about the description of a run, unless a file is damaged or the run is over.
func WrongTable(ctx context.Context, err error) error {
	if damaged := new(schemas.InputError); errors.As(err, &damaged) || ctx.Err() != nil {
		return err
	}
	return Wrong(err)
}

// largestSecret is the most bytes that a secret has.
const largestSecret = 1 << 20

// secret reads a secret. Whoever can read it can undo what it hides, so it must be its owner's alone.
func (b *Companions) secret(path string, o Options) error {
	if path == "" || b.files.Secrets[path] != nil {
		return nil
	}
	if files.Elsewhere(path) {
		return Wrong(fmt.Errorf("the secret %s is not a file of this machine; what others keep, others can read", path))
	}
	text, err := ReadRegular(path, largestSecret)
	if err != nil {
		return Wrong(fmt.Errorf("the secret %s cannot be read: %w", path, err))
	}
	if info, err := os.Stat(files.Plain(path)); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" && !o.InsecureSecret {
		return Wrong(
			fmt.Errorf(
				"the secret %s can be read or written by others than its owner (mode %04o): chmod 600 it, or say --insecure-secret",
				path,
				info.Mode().Perm(),
			),
		)
	}
	if len(text) < 16 {
		return Wrong(fmt.Errorf("the secret %s has %d bytes; it must have at least 16, so that nobody can guess it", path, len(text)))
	}
	b.files.Secrets[path] = text
	return nil
}

// ReadPublished reads a file of published counts.
func ReadPublished(ctx context.Context, path string, variables []string, o Options) (*operators.Published, error) {
	source, err := OpenPaths(ctx, []string{path}, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	p, err := operators.ReadPublished(ctx, path, source, variables)
	return p, Wrong(err)
}

// A sideFile is a file that an operator makes, of what it has fitted.
type sideFile struct {
	files.Output
	kind operators.SideKind
	part string
}

// SideFiles are the files of a run besides the outputs, by the prefix of the operator, in the order of their prefixes.
type SideFiles map[string][]sideFile

// SidesOut are the paths of the files that operators make, by their kind.
func SidesOut(s *schemas.Spec, kind operators.SideKind) []string {
	var paths []string
	_ = sideFilesOf(s, func(_ string, f operators.SideFile) error {
		if f.Kind == kind {
			paths = append(paths, f.Path)
		}
		return nil
	})
	return paths
}

func OpenSideFiles(ctx context.Context, s *schemas.Spec, inputs []string) (SideFiles, error) {
	sides := SideFiles{}
	err := sideFilesOf(s, func(prefix string, f operators.SideFile) error {
		if !f.Written() {
			return nil
		}
		if err := replaceable(f); err != nil {
			return err
		}
		made, err := files.Create(ctx, f.Path, inputs...)
		if err == nil {
			sides[prefix] = append(sides[prefix], sideFile{made, f.Kind, f.Part})
		}
		return err
	})
	if err != nil {
		sides.Abort()
		return nil, err
	}
	return sides, nil
}

// Replaceable refuses to put a document in place of a file that is none of its kind, by how those begin.
func Replaceable(path, what, begins string) error {
	return replaceable(operators.SideFile{Path: path, What: what, Begins: begins})
}

// replaceable refuses to put a document in place of a file that is none of its kind.
func replaceable(made operators.SideFile) error {
	if files.Elsewhere(made.Path) {
		return replaceableElsewhere(made)
	}
	if info, err := os.Stat(files.Plain(made.Path)); made.Begins == "" || err == nil && !info.Mode().IsRegular() {
		return nil // it is told when it is written
	}
	f, err := os.Open(files.Plain(made.Path))
	if err != nil {
		return nil // there is none, or what else is wrong is told when it is written
	}
	defer f.Close()
	head := make([]byte, len(made.Begins))
	n, _ := io.ReadFull(f, head)
	return beginsSo(made, head[:n])
}

// beginsSo refuses to replace what begins otherwise than what is made.
func beginsSo(made operators.SideFile, head []byte) error {
	if n := len(head); n > 0 && string(head) != made.Begins[:n] {
		return Wrong(fmt.Errorf("%s exists and is no %s; give the %s another name", made.Path, made.What, lastWord(made.What)))
	}
	return nil
}

// replaceableElsewhere is replaceable in a store.
func replaceableElsewhere(made operators.SideFile) error {
	store, err := files.StoreOf(made.Path)
	if made.Begins == "" || err != nil || store == nil {
		return Wrong(err)
	}
	f, err := store.Open(context.Background(), made.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, len(made.Begins))
	n, _ := f.ReadAt(head, 0)
	return beginsSo(made, head[:n])
}

// lastWord is the noun of what a file is.
func lastWord(what string) string { return what[strings.LastIndexByte(what, ' ')+1:] }

// Abort leaves nothing behind of files that were not committed.
func (s SideFiles) Abort() {
	for _, list := range s {
		for _, f := range list {
			f.Output.Abort()
		}
	}
}

// Write writes the files, tables first, complete but for their names.
func (s SideFiles) Write(ctx context.Context, r *operators.Report, o Options) ([]files.Output, error) {
	var written []files.Output
	for _, kind := range []operators.SideKind{operators.MadeTable, operators.MadeDocument} {
		for _, op := range r.Operators {
			for _, f := range s[op.Name] {
				if f.kind != kind {
					continue
				}
				if err := f.write(ctx, op.Fitted, o); err != nil {
					return nil, err
				}
				written = append(written, f.Output)
			}
		}
	}
	return written, nil
}

// WriteParts writes the files of what is made of inputs outside of a run, those that are to be made of a list: all of them or none.
func WriteParts(ctx context.Context, list []operators.SideFile, made operators.Parted, o Options, inputs []string) error {
	var paths []string
	for _, f := range list {
		if f.Written() {
			paths = append(paths, f.Path)
		}
	}
	tidy, err := MakeFolders(paths)
	if err != nil {
		return err
	}
	defer tidy()
	var written []files.Output
	defer func() {
		for _, f := range written {
			f.Abort()
		}
	}()
	for _, f := range list {
		if !f.Written() {
			continue
		}
		if err := replaceable(f); err != nil {
			return err
		}
		out, err := files.Create(ctx, f.Path, inputs...)
		if err != nil {
			return err
		}
		written = append(written, out)
		if err := (sideFile{out, f.Kind, f.Part}).write(ctx, made, o); err != nil {
			return err
		}
	}
	return files.Commit(written...)
}

// write writes what a fitted operator has made.
func (f sideFile) write(ctx context.Context, made any, o Options) error {
	if p, ok := made.(operators.Parted); ok {
		made = p.Part(f.part)
	}
	table, tabled := made.(operators.Tabled)
	document, documented := made.(operators.Documented)
	switch {
	case tabled && (f.kind == operators.MadeTable || !documented):
		if err := WriteRecordTo(ctx, files.Held(f.Output), table, o); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name(), err)
		}
		return nil
	case documented:
		text, err := document.Document()
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", f.Name(), scratch.Reason(err))
		}
		return nil
	}
	return fmt.Errorf("the operator that should have made %s makes no such file", f.Name())
}

// WriteRecord writes what an operator made of inputs to a file of its own, whose name tells its kind.
func WriteRecord(ctx context.Context, path string, made operators.Tabled, o Options, inputs []string) error {
	tidy, err := MakeFolders([]string{path})
	if err != nil {
		return err
	}
	defer tidy()
	f, err := files.Create(ctx, path, inputs...)
	if err != nil {
		return err
	}
	defer f.Abort()
	return WriteRecordTo(ctx, f, made, o)
}

// WriteRecordTo writes what an operator made to an output, whose name tells its kind.
func WriteRecordTo(ctx context.Context, to files.Output, made operators.Tabled, o Options) error {
	record := made.Tables(memory.DefaultAllocator)
	defer record.Release()
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		return err
	}
	defer reader.Release()
	source, err := operators.NewRecords(reader)
	if err != nil {
		return err
	}
	defer source.Release()
	sink, err := filesTo(source, &outputs{kind: KindOf(to.Name()), packed: packed(to.Name())}, []files.Output{to}, &schemas.Spec{}, nil)
	if err != nil {
		return err
	}
	defer sink.Abort()
	chain, err := operators.NewChain(source.Schema())
	if err != nil {
		return err
	}
	run := operators.Options{Workers: o.Workers}
	if f, has := made.(operators.Footed); has {
		run.Finish = func(*operators.Report) (map[string]string, error) { return f.Footer(), nil }
	}
	_, err = chain.Run(ctx, source, sink, run)
	return err
}
