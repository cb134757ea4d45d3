package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/operators/files"
)

// memory is a bucket of one object, whatever its name, that may break off and fail.
type memory struct {
	data     []byte
	version  atomic.Pointer[string]
	requests atomic.Int64
	bytes    atomic.Int64
	spoil    func(n int64) error // of the n-th request; nil: of none
	breaks   int64               // bytes after which each body breaks off, 0 for never
	stalls   atomic.Bool         // bodies give nothing until their context ends
}

func newMemory(n int) *memory {
	m := &memory{data: make([]byte, n)}
	for i := range m.data {
		m.data[i] = byte(i ^ i>>8*7 ^ i>>16*13)
	}
	m.version.Store(new(string))
	return m
}

func (m *memory) Begin(_ context.Context, _ string, n int64, last bool) (*Begun, error) {
	m.requests.Add(1)
	from := int64(0)
	if last {
		from = max(int64(len(m.data))-n, 0)
	}
	return &Begun{Size: int64(len(m.data)), Version: *m.version.Load(), From: from, Data: m.data[from:min(from+n, int64(len(m.data)))]}, nil
}

type broken struct {
	io.Reader
	m   *memory
	ctx context.Context
}

func (b broken) Read(p []byte) (int, error) {
	if b.m.stalls.Load() {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	n, err := b.Reader.Read(p)
	b.m.bytes.Add(int64(n))
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b broken) Close() error { return nil }

func (m *memory) Range(ctx context.Context, _, version string, from, to int64) (io.ReadCloser, error) {
	n := m.requests.Add(1)
	if version != *m.version.Load() {
		return nil, ErrReplaced
	}
	if m.spoil != nil {
		if err := m.spoil(n); err != nil {
			return nil, err
		}
	}
	if m.breaks > 0 {
		to = min(to, from+m.breaks)
	}
	return broken{bytes.NewReader(m.data[from:to]), m, ctx}, nil
}

func (m *memory) List(context.Context, string) ([]string, error) { return nil, nil }
func (m *memory) Reason(err error) error                         { return err }

// quickly makes retries wait for little.
func quickly(t *testing.T) {
	p, q, h := pause, quiet, held
	pause = time.Millisecond
	t.Cleanup(func() { pause, quiet, held = p, q, h })
}

func opened(t *testing.T, m *memory, name string) *Input {
	in, err := open(t.Context(), m, "mem://b/"+name, name)
	require.NoError(t, err)
	t.Cleanup(func() { ended(in) })
	return in
}

// ended closes an input, and waits for its requests.
func ended(in *Input) {
	in.Close()
	held.mu.Lock()
	defer held.mu.Unlock()
	for in.running > 0 {
		held.changed.Wait()
	}
}

// Whatever is told beforehand, kept and let go, bytes are those of the object.
func TestReadsAreTrue(t *testing.T) {
	quickly(t)
	for _, c := range []struct {
		name   string
		size   int
		shelf  int64
		breaks int64
	}{{"a.parquet", 30 << 20, 128 << 20, 0}, {"a.parquet", 30 << 20, 20 << 20, 0}, {"a.csv", 30 << 20, 4 << 20, 700_000}, {"a.parquet", 1000, 1 << 20, 0}} {
		held = newShelf(c.shelf)
		m := newMemory(c.size)
		m.breaks = c.breaks
		in := opened(t, m, c.name)
		var group sync.WaitGroup
		for w := range uint64(6) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(w, 1))
				at := int64(0)
				for range 60 {
					switch random.IntN(4) {
					case 0:
						var list []files.Stretch
						for range random.IntN(5) {
							from := random.Int64N(int64(c.size))
							list = append(list, files.Stretch{From: from, To: from + random.Int64N(1<<22)})
						}
						in.Expect(list...)
						continue
					case 1:
						at = random.Int64N(int64(c.size))
					}
					b := make([]byte, 1+random.IntN(1<<19))
					n, err := in.ReadAt(b, at)
					want := min(int64(len(b)), int64(c.size)-at)
					if int64(n) != want || !bytes.Equal(b[:n], m.data[at:at+want]) || (err != nil) != (n < len(b)) || err != nil && err != io.EOF {
						t.Errorf("%d bytes at %d of %s: %d, %v", len(b), at, c.name, n, err)
						return
					}
					if at += int64(n); at >= int64(c.size) {
						at = 0
					}
				}
			})
		}
		group.Wait()
		ended(in)
		held.mu.Lock()
		require.Zero(t, held.bytes, "all memory is let go")
		require.Zero(t, held.unused)
		held.mu.Unlock()
	}
}

// What was told is read by few requests, once for two scans, and from front to back with more than was asked for.
func TestRequestsAreFew(t *testing.T) {
	quickly(t)
	held = newShelf(128 << 20)
	m := newMemory(64 << 20)
	in := opened(t, m, "a.parquet")
	require.EqualValues(t, 1, m.requests.Load())
	list := []files.Stretch{{From: 100, To: 1 << 20}, {From: 1<<20 + 1000, To: 2 << 20}, {From: 10 << 20, To: 30 << 20}}
	for range 2 {
		in.Expect(list...)
		for _, s := range list {
			for at := s.From; at < s.To; at += 1 << 18 {
				n, err := in.ReadAt(make([]byte, min(1<<18, s.To-at)), at)
				require.NoError(t, err)
				require.EqualValues(t, min(1<<18, s.To-at), n)
			}
		}
		require.EqualValues(t, 1+1+3, m.requests.Load(), "two that lie close are one; 20 MiB are three")
	}
	require.EqualValues(t, 2<<20-100+20<<20, m.bytes.Load())

	m = newMemory(40 << 20)
	in = opened(t, m, "a.csv")
	_, err := io.Copy(io.Discard, io.NewSectionReader(in, 0, in.Size()))
	require.NoError(t, err)
	require.Less(t, m.requests.Load(), int64(16))
	require.EqualValues(t, len(m.data)-beginBytes, m.bytes.Load())
}

func TestTriesEnd(t *testing.T) {
	quickly(t)
	m := newMemory(10 << 20)
	in := opened(t, m, "a.parquet")
	fault := errors.New("the store is tired")
	m.spoil = func(int64) error { return fault }
	_, err := in.ReadAt(make([]byte, 10), 0)
	require.EqualError(t, err, "the store is tired (tried 5 times)")
	require.EqualValues(t, 1+5, m.requests.Load())

	in = opened(t, m, "a.parquet")
	m.spoil = func(int64) error { return Finally("access is denied") }
	_, err = in.ReadAt(make([]byte, 10), 0)
	require.EqualError(t, err, "access is denied")

	m = newMemory(10 << 20)
	quiet = 5 * time.Millisecond
	in = opened(t, m, "a.parquet")
	m.stalls.Store(true)
	_, err = in.ReadAt(make([]byte, 10), 0)
	require.ErrorContains(t, err, "nothing came for 5ms (tried 5 times)")

	m = newMemory(10 << 20)
	quiet = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	in, err = open(ctx, m, "mem://b/a.parquet", "a.parquet")
	require.NoError(t, err)
	defer ended(in)
	m.stalls.Store(true)
	time.AfterFunc(time.Millisecond, cancel)
	_, err = in.ReadAt(make([]byte, 10), 0)
	require.ErrorIs(t, err, context.Canceled)

	m = newMemory(10 << 20)
	in = opened(t, m, "a.parquet")
	other := "2"
	m.version.Store(&other)
	_, err = in.ReadAt(make([]byte, 10), 0)
	require.ErrorIs(t, err, ErrReplaced)
}

func TestWordsOfErrors(t *testing.T) {
	for said, want := range map[string]string{
		"Get \"https://host/a?sig=secret\": EOF\nmore": "Get \"https://host/a EOF more",
		"plain": "plain",
	} {
		require.Equal(t, want, Short(errors.New(said)).Error())
	}
	require.Less(t, len(Short(errors.New(string(make([]byte, 5000)))).Error()), 400)
}
