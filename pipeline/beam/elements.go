package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A task is what the functions of a job have in common.
type task struct {
	Folder   string
	Token    string // of the job: whose failures are whose
	Stage    int    // that is counted, or after the last one
	Attempts int
}

// A failure is what became of an element, for the driver to tell.
type failure struct {
	Text  string
	Spec  bool // the spec is wrong
	Final bool // it would fail anywhere
}

func (f *failure) Error() string { return f.Text }

// do takes an element, again if it fails; an error that would come anywhere is left to the driver, who tells the first one of all.
func (t *task) do(ctx context.Context, element int, take func(ctx context.Context, s *state) error) error {
	s := stateOf(folder(t.Folder))
	defer s.users.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for tried := 1; ; tried++ {
		err := guarded(func() error { return take(ctx, s) })
		if err == nil || ctx.Err() != nil {
			return err
		}
		final := isFinal(err)
		if !final && tried < t.Attempts {
			time.Sleep(time.Duration(tried) * 100 * time.Millisecond)
			continue
		}
		said := &failure{Text: err.Error(), Spec: session.IsSpec(err), Final: final}
		if put := s.folder.putGob(ctx, failedName(t.Token, element), said); put != nil {
			return errors.Join(err, put)
		}
		if final {
			return nil
		}
		return err
	}
}

// guarded makes a panic an error.
func guarded(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = operators.Recovered(x, nil)
		}
	}()
	return f()
}

// isFinal tells whether an error is about what is read and asked, and not about a machine.
func isFinal(err error) bool {
	var (
		said   *schemas.ContradictionError
		memory *budget.MemoryError
		work   *budget.WorkError
		fault  *operators.Fault
		input  *schemas.InputError
	)
	if session.IsSpec(err) || errors.As(err, &said) || errors.As(err, &memory) || errors.As(err, &work) || errors.As(err, &fault) {
		return true
	}
	for ; errors.As(err, &input); err = input.Err {
		if input.Unit == "row" {
			return true
		}
	}
	return false
}

// count counts an element; emit gets the shards of its tables.
func (t *task) count(ctx context.Context, element int, emit func(key string, table []byte)) error {
	var keys []string
	var blobs [][]byte
	err := t.do(ctx, element, func(ctx context.Context, s *state) error {
		keys, blobs = nil, nil
		run, job, err := s.ready(ctx, t.Stage)
		if err != nil {
			return err
		}
		if err := inject(fmt.Sprintf("count %d", element)); err != nil {
			return err
		}
		counted, err := run.Count(ctx, t.Stage, s.manifest.Elements[element])
		if err != nil {
			return err
		}
		for k, table := range counted.Tables {
			whole := make([]bool, len(table.Variables))
			for v, key := range run.Requests(t.Stage)[k].Keys {
				whole[v] = key.Levels != nil
			}
			if table.OnDisk() {
				limit := job.Options.Memory
				return &budget.MemoryError{What: fmt.Sprintf("a table of %d key combinations of one element", table.Classes()),
					Needs: max(16*int64(table.Classes()), limit), Limit: limit, Advice: []any{"take smaller elements (--element_rows)"}}
			}
			shards, err := table.Shards(ctx, s.manifest.Shards, whole)
			if err != nil {
				return err
			}
			for i, shard := range shards {
				b, err := encode(ctx, shard)
				if err != nil {
					return err
				}
				keys, blobs = append(keys, shardName(t.Stage, k, i)), append(blobs, b)
			}
		}
		return s.folder.putGob(ctx, seenName(t.Stage, element), counted.Seen)
	})
	if err != nil {
		return err
	}
	for i, key := range keys {
		emit(key, blobs[i])
	}
	return nil
}

// keep puts a shard of a table that is complete into the store.
func (t *task) keep(ctx context.Context, key string, table []byte) error {
	return t.do(ctx, -1, func(ctx context.Context, s *state) error { return s.folder.put(ctx, key, table) })
}

// write writes the pieces of an element.
func (t *task) write(ctx context.Context, element int) error {
	return t.do(ctx, element, func(ctx context.Context, s *state) error {
		if there, err := s.folder.has(ctx, wroteName(element)); err != nil || there {
			return err
		}
		run, job, err := s.ready(ctx, t.Stage)
		if err != nil {
			return err
		}
		if err := inject(fmt.Sprintf("annotate %d", element)); err != nil {
			return err
		}
		sink, err := job.Pieces(s.manifest.Several, func(part int, piece []byte) error { return s.folder.put(ctx, pieceName(part), piece) })
		if err != nil {
			return err
		}
		defer sink.Abort()
		reads, err := sink.Begin(ctx, run.Parts(), job.Chain.Output())
		if err != nil {
			return err
		}
		wrote, err := run.Write(ctx, sink, reads, s.manifest.Elements[element])
		if err != nil {
			return err
		}
		return s.folder.putGob(ctx, wroteName(element), wrote)
	})
}

func encode(ctx context.Context, t *contingency.Table) ([]byte, error) {
	var b bytes.Buffer
	err := contingency.Encode(ctx, &b, t)
	return b.Bytes(), err
}

func decode(ctx context.Context, b []byte, memory int64, store *contingency.Store) (*contingency.Table, error) {
	return contingency.Decode(ctx, bytes.NewReader(b), 1, memory, store)
}
