package beam

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
)

// A folder is the one of a run in the shared store. Files in it appear whole or not at all; one that is written twice has the same bytes.
type folder string

func (f folder) path(name string) string { return files.Join(string(f), name) }

func (f folder) make() error {
	if files.Elsewhere(string(f)) {
		return nil
	}
	if err := os.MkdirAll(files.Plain(string(f)), 0o777); err != nil {
		return files.CannotWrite(string(f), scratch.Reason(err))
	}
	return nil
}

// remove removes it, where that can be done; it is not an error of the run if it cannot.
func (f folder) remove() {
	if !files.Elsewhere(string(f)) {
		_ = os.RemoveAll(files.Plain(string(f)))
	}
}

// write writes a file; what it is beside is for its name.
func (f folder) write(ctx context.Context, name string, write func(w *files.Output) error) error {
	if err := inject("write " + name); err != nil {
		return err
	}
	w, err := files.Create(ctx, f.path(name))
	if err != nil {
		return err
	}
	if err := write(&w); err != nil {
		w.Abort()
		return files.CannotWrite(f.path(name), err)
	}
	if err = w.Commit(); err == nil {
		return nil
	}
	w.Abort()
	if there, failed := f.has(ctx, name); failed == nil && there && files.Elsewhere(string(f)) {
		return nil // somebody else wrote it meanwhile, and the same
	}
	return err
}

func (f folder) put(ctx context.Context, name string, b []byte) error {
	return f.write(ctx, name, func(w *files.Output) error {
		_, err := (*w).Write(b)
		return err
	})
}

func (f folder) putGob(ctx context.Context, name string, value any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return err
	}
	return f.put(ctx, name, b.Bytes())
}

func (f folder) get(ctx context.Context, name string) ([]byte, error) {
	in, err := files.Open(ctx, f.path(name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := make([]byte, in.Size())
	if n, err := in.ReadAt(b, 0); n < len(b) {
		return nil, files.CannotRead(f.path(name), err)
	}
	return b, nil
}

func (f folder) getGob(ctx context.Context, name string, to any) error {
	b, err := f.get(ctx, name)
	if err != nil {
		return err
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(to); err != nil {
		return files.CannotRead(f.path(name), fmt.Errorf("it is damaged: %w", err))
	}
	return nil
}

// has tells whether a file is there.
func (f folder) has(ctx context.Context, name string) (bool, error) {
	if !files.Elsewhere(string(f)) {
		_, err := os.Stat(filepath.Join(files.Plain(string(f)), name))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, files.CannotRead(f.path(name), scratch.Reason(err))
		}
		return true, nil
	}
	store, err := files.StoreOf(string(f))
	if err != nil {
		return false, err
	}
	list, err := store.List(ctx, f.path(name))
	if err != nil {
		return false, files.CannotRead(f.path(name), err)
	}
	return len(list) > 0 && list[0] == f.path(name), nil
}

// inject is where tests make things fail.
var inject = func(what string) error { return nil }

// Names of the files of a run.
func seenName(stage, element int) string { return fmt.Sprintf("seen-%d-%d", stage, element) }
func shardName(stage, table, shard int) string {
	return fmt.Sprintf("shard-%d-%d-%d", stage, table, shard)
}
func tableName(stage, table int) string           { return fmt.Sprintf("table-%d-%d", stage, table) }
func fittedName(stage int) string                 { return fmt.Sprintf("fitted-%d", stage) }
func pieceName(part int) string                   { return fmt.Sprintf("piece-%d", part) }
func wroteName(element int) string                { return fmt.Sprintf("wrote-%d", element) }
func failedName(token string, element int) string { return fmt.Sprintf("failed-%s-%d", token, element) }

const manifestName = "manifest.json"
