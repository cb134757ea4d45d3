package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"microrisk/operators/files"
)

// Sizes of requests, in bytes.
const (
	beginBytes = 256 << 10 // of the first one: the footers of most Parquet files
	blockBytes = 8 << 20   // most of one request
	nextBytes  = 4 << 20   // of what is read from front to back and was not told
	gapBytes   = 32 << 10  // that are read rather than asked for twice
	atATime    = 8         // requests of one object
)

// An Input is an object that is read by ranges, of the version that it had when it was opened.
type Input struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	bucket Bucket
	name   string
	key    string
	begun  *Begun

	// guarded by held.mu
	blocks  []*block // by from; they do not overlap
	planned []*block // to be fetched, in order
	running int
	ends    []int64 // where the latest reads ended that nobody had told of
	closed  bool
}

var (
	_ files.Distant   = (*Input)(nil)
	_ files.Versioned = (*Input)(nil)
)

var errClosed = errors.New("it is closed")

// open makes the first request.
func open(ctx context.Context, b Bucket, name, key string) (*Input, error) {
	in := &Input{bucket: b, name: name, key: key}
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	err := in.retry(func(ctx context.Context, alive func()) (bool, error) {
		var err error
		in.begun, err = b.Begin(ctx, key, beginBytes, fromTheEnd(key))
		return false, err
	})
	if err != nil {
		in.cancel(errClosed)
		return nil, err
	}
	return in, nil
}

// Name is a files.Input's.
func (in *Input) Name() string { return in.name }

// Size is a files.Input's.
func (in *Input) Size() int64 { return in.begun.Size }

// Version is what all that is read has.
func (in *Input) Version() string { return in.begun.Version }

// Key is the object's name in its bucket.
func (in *Input) Key() string { return in.key }

// Bucket is where it is.
func (in *Input) Bucket() Bucket { return in.bucket }

// Keep is a files.Distant's: the bound is one for all inputs.
func (in *Input) Keep(bytes int64) { held.resize(bytes) }

// Close ends all requests.
func (in *Input) Close() error {
	in.cancel(errClosed)
	held.mu.Lock()
	defer held.mu.Unlock()
	in.closed = true
	for _, b := range in.blocks {
		held.drop(b)
	}
	in.blocks, in.planned = nil, nil
	held.changed.Broadcast()
	return nil
}

func (in *Input) add(fresh []*block) {
	in.blocks = append(in.blocks, fresh...)
	slices.SortFunc(in.blocks, func(a, b *block) int { return int(max(-1, min(1, a.from-b.from))) })
}

// ReadAt is an io.ReaderAt's.
func (in *Input) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("a negative place")
	}
	for n < len(p) {
		if at >= in.Size() {
			return n, io.EOF
		}
		k, err := in.read(p[n:], at)
		n, at = n+k, at+int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// read gives some bytes; none if it is to be called again.
func (in *Input) read(p []byte, at int64) (int, error) {
	if from := at - in.begun.From; from >= 0 && from < int64(len(in.begun.Data)) {
		return copy(p, in.begun.Data[from:]), nil
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	if in.closed {
		return 0, errClosed
	}
	b := in.blockAt(at)
	if b == nil {
		b = in.unexpected(at, int64(len(p)))
	}
	if b.state == blockPlanned {
		in.planned = slices.DeleteFunc(in.planned, func(x *block) bool { return x == b })
		in.start(b)
	}
	want := min(at+int64(len(p)), b.to)
	if b.from+b.filled < want {
		stop := context.AfterFunc(in.ctx, func() {
			held.mu.Lock()
			defer held.mu.Unlock()
			held.changed.Broadcast()
		})
		defer stop()
	}
	for b.from+b.filled < want && b.err == nil && in.ctx.Err() == nil && !in.closed {
		held.changed.Wait()
	}
	switch {
	case b.from+b.filled >= want && b.data == nil:
		return 0, nil // others used all of it, and it made room, while this waited
	case b.from+b.filled >= want:
	case b.err != nil:
		return 0, b.err
	default:
		return 0, context.Cause(in.ctx)
	}
	n := copy(p, b.data[at-b.from:want-b.from])
	held.used(b, int64(n))
	in.pump()
	return n, nil
}

func (in *Input) blockAt(at int64) *block {
	i, found := slices.BinarySearchFunc(in.blocks, at, func(b *block, at int64) int {
		switch {
		case b.to <= at:
			return -1
		case b.from > at:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return in.blocks[i]
}

// unexpected makes a block of what is read that nobody told of: if it goes on where a reading ended, of more than is asked for, and of
// what comes after it too.
func (in *Input) unexpected(at, n int64) *block {
	end := in.Size()
	if in.begun.From > at {
		end = in.begun.From
	}
	i, _ := slices.BinarySearchFunc(in.blocks, at, func(b *block, at int64) int { return int(max(-1, min(1, b.from-at))) })
	if i < len(in.blocks) {
		end = min(end, in.blocks[i].from)
	}
	goesOn := slices.Index(in.ends, at)
	if goesOn >= 0 {
		in.ends = slices.Delete(in.ends, goesOn, goesOn+1)
		n = max(n, nextBytes)
	}
	b := &block{input: in, from: at, to: min(at+n, end)}
	fresh := []*block{b}
	if goesOn >= 0 && b.to < end {
		next := &block{input: in, from: b.to, to: min(b.to+nextBytes, end)}
		fresh = append(fresh, next)
		in.planned = append([]*block{next}, in.planned...)
	}
	if in.ends = append(in.ends, fresh[len(fresh)-1].to); len(in.ends) > 4*atATime {
		in.ends = in.ends[1:]
	}
	in.add(fresh)
	return b
}

// pump starts what is planned as far as there is room.
func (in *Input) pump() {
	for len(in.planned) > 0 && in.running < atATime && !in.closed {
		b := in.planned[0]
		if !held.room(b.to - b.from) {
			return
		}
		in.planned = in.planned[1:]
		in.start(b)
	}
}

func (in *Input) start(b *block) {
	held.take(b)
	in.running++
	go in.fetch(b)
}

// fetch reads a block, from where the last try ended.
func (in *Input) fetch(b *block) {
	err := in.retry(func(ctx context.Context, alive func()) (bool, error) {
		r, err := in.bucket.Range(ctx, in.key, in.Version(), b.from+b.filled, b.to)
		if err != nil {
			return false, err
		}
		defer r.Close()
		some := false
		for b.from+b.filled < b.to {
			n, err := r.Read(b.data[b.filled:min(b.filled+1<<18, b.to-b.from)])
			if n > 0 {
				alive()
				some = true
				held.mu.Lock()
				b.filled += int64(n)
				held.changed.Broadcast()
				held.mu.Unlock()
			}
			if b.from+b.filled < b.to && err != nil {
				return some, fmt.Errorf("%d of %d bytes came: %w", b.filled, b.to-b.from, err)
			}
		}
		return some, nil
	})
	if errors.Is(err, ErrNone) { // it was there
		err = ErrReplaced
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	in.running--
	b.err = err
	b.state = blockDone
	held.used(b, 0)
	if in.closed {
		held.drop(b)
	}
	in.pump()
	held.changed.Broadcast()
}
