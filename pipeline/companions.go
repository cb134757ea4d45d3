package pipeline

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// Companions are what is read beside the inputs: saved models and secrets by their path, published counts by the operator's prefix.
type companions struct {
	models    map[string]*schemas.Model
	secrets   map[string][]byte
	published map[string]*operators.Published
}

// readBesides are the files that operators name to be read: what each is, and its path.
func readBesides(s *schemas.Spec) []Reading {
	var list []Reading
	add := func(what, path string) {
		if path != "" {
			list = append(list, Reading{what, path})
		}
	}
	for _, o := range s.Operators {
		if o.Tabulate != nil && o.Tabulate.Perturb != nil {
			add("the secret", o.Tabulate.Perturb.Secret)
		}
		if o.SAP != nil {
			add("the secret", o.SAP.Release.Secret)
			if o.SAP.Release.Published != "" {
				in, err := resolve(schemas.Source{Path: []string{o.SAP.Release.Published}})
				if err != nil {
					continue // the error comes when it is read
				}
				for _, path := range in.paths {
					add("the file of published counts", path)
				}
			}
		}
		if o.MC3 != nil {
			add("the saved model", o.MC3.ModelIn)
		}
	}
	return list
}

// readBeside reads the files that operators name.
func readBeside(ctx context.Context, s *schemas.Spec, o Options) (*companions, error) {
	b := &companions{secrets: map[string][]byte{}, published: map[string]*operators.Published{}}
	var err error
	if b.models, err = readModels(s); err != nil {
		return nil, err
	}
	for _, op := range s.Operators {
		if op.Tabulate != nil && op.Tabulate.Perturb != nil {
			if err := b.secret(op.Tabulate.Perturb.Secret, o); err != nil {
				return nil, err
			}
		}
		if op.SAP == nil {
			continue
		}
		if err := b.secret(op.SAP.Release.Secret, o); err != nil {
			return nil, err
		}
		if path := op.SAP.Release.Published; path != "" {
			var names []string
			for _, v := range append(append([]schemas.KeyVariable{}, op.SAP.By...), op.SAP.Cells...) {
				names = append(names, v.Name)
			}
			if b.published[op.SAP.ColumnPrefix()], err = readPublished(ctx, path, names, o); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// largestSecret is the most bytes that a secret has.
const largestSecret = 1 << 20

// secret reads a secret. Whoever can read it can undo what it hides, so it must be its owner's alone.
func (b *companions) secret(path string, o Options) error {
	if path == "" || b.secrets[path] != nil {
		return nil
	}
	text, err := ReadRegular(path, largestSecret)
	if err != nil {
		return wrong(fmt.Errorf("the secret %s cannot be read: %w", path, err))
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" && !o.InsecureSecret {
		return wrong(fmt.Errorf("the secret %s can be read or written by others than its owner (mode %04o): chmod 600 it, or say --insecure-secret", path, info.Mode().Perm()))
	}
	if len(text) < 16 {
		return wrong(fmt.Errorf("the secret %s has %d bytes; it must have at least 16, so that nobody can guess it", path, len(text)))
	}
	b.secrets[path] = text
	return nil
}

// readPublished reads a file of published counts.
func readPublished(ctx context.Context, path string, variables []string, o Options) (*operators.Published, error) {
	from := schemas.Source{Path: []string{path}}
	in, err := resolve(from)
	if err != nil {
		return nil, err
	}
	source, err := open(ctx, from, in, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	p, err := operators.ReadPublished(ctx, path, source, variables)
	return p, wrong(err)
}

// tablesOut are the files that go beside the output.
func tablesOut(s *schemas.Spec) map[string]string {
	paths := map[string]string{}
	for _, o := range s.Operators {
		if o.SAP != nil && o.SAP.Tables != "" {
			paths[o.SAP.ColumnPrefix()] = o.SAP.Tables
		}
		if o.Tabulate != nil {
			paths[o.Tabulate.ColumnPrefix()] = o.Tabulate.Path
		}
	}
	return paths
}

// A tableFiles are the files of tables of a run, by the prefix of the operator.
type tableFiles map[string]files.Output

func openTables(s *schemas.Spec, inputs []string) (tableFiles, error) {
	tables := tableFiles{}
	for prefix, path := range tablesOut(s) {
		f, err := files.Create(path, inputs...)
		if err != nil {
			tables.Abort()
			return nil, err
		}
		tables[prefix] = f
	}
	return tables, nil
}

// Abort leaves nothing behind of files that were not committed.
func (t tableFiles) Abort() {
	for _, f := range t {
		f.Abort()
	}
}

// write writes the files of tables, complete but for their names.
func (t tableFiles) write(ctx context.Context, r *operators.Report, o Options) ([]files.Output, error) {
	var written []files.Output
	for _, op := range r.Operators {
		f := t[op.Name]
		if f == nil || op.Tables == nil {
			continue
		}
		if err := writeRecordTo(ctx, files.Held(f), op.Tables, o); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Name(), err)
		}
		written = append(written, f)
	}
	return written, nil
}

// writeRecord writes what an operator made of inputs to a file of its own, whose name tells its kind.
func writeRecord(ctx context.Context, path string, made operators.Tabled, o Options, inputs []string) error {
	tidy, err := makeFolders([]string{path})
	if err != nil {
		return err
	}
	defer tidy()
	f, err := files.Create(path, inputs...)
	if err != nil {
		return err
	}
	defer f.Abort()
	return writeRecordTo(ctx, f, made, o)
}

// writeRecordTo writes what an operator made to an output, whose name tells its kind.
func writeRecordTo(ctx context.Context, to files.Output, made operators.Tabled, o Options) error {
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
	sink, err := filesTo(source, &outputs{kind: kindOf(to.Name()), packed: packed(to.Name())}, []files.Output{to}, &schemas.Spec{}, nil)
	if err != nil {
		return err
	}
	defer sink.Abort()
	chain, err := operators.NewChain(source.Schema())
	if err != nil {
		return err
	}
	_, err = chain.Run(ctx, source, sink, operators.Options{Workers: o.Workers})
	return err
}
