package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/files"
)

// farStore is a store in memory that notes what is read of it and copied in it.
type farStore struct {
	mu       sync.Mutex
	objects  map[string][]byte
	read     int64 // bytes
	copied   int64
	expected []files.Stretch
	noCopies bool
}

type farInput struct {
	*bytes.Reader
	store *farStore
	name  string
}

func (i *farInput) Name() string { return i.name }
func (i *farInput) Close() error { return nil }
func (i *farInput) Keep(int64)   {}

func (i *farInput) Expect(list ...files.Stretch) {
	i.store.mu.Lock()
	defer i.store.mu.Unlock()
	i.store.expected = append(i.store.expected, list...)
}

func (i *farInput) ReadAt(b []byte, at int64) (int, error) {
	i.store.mu.Lock()
	i.store.read += int64(len(b))
	i.store.mu.Unlock()
	return i.Reader.ReadAt(b, at)
}

func (s *farStore) Open(_ context.Context, path string) (files.Input, error) {
	if b, ok := s.objects[path]; ok {
		return &farInput{bytes.NewReader(b), s, path}, nil
	}
	return nil, errors.New("there is no such object")
}

func (s *farStore) List(context.Context, string) ([]string, error) { return nil, nil }

func (s *farStore) Create(_ context.Context, path string) (files.Output, error) {
	return &farOutput{store: s, name: path}, nil
}

type farOutput struct {
	bytes.Buffer
	store *farStore
	name  string
}

func (o *farOutput) Name() string { return o.name }
func (o *farOutput) Abort()       {}

func (o *farOutput) Commit() error {
	o.store.objects[o.name] = o.Bytes()
	return nil
}

func (o *farOutput) Copies(in files.Input) bool {
	far, ok := in.(*farInput)
	return ok && far.store == o.store && !o.store.noCopies
}

func (o *farOutput) Copy(in files.Input, s files.Stretch) error {
	o.store.copied += s.To - s.From
	_, err := o.Write(o.store.objects[in.Name()][s.From:s.To])
	return err
}

func TestDistantFiles(t *testing.T) {
	made := madeFile{rows: 4000, group: 900, codec: &parquet.Snappy, version: 2, page: 4000, options: []parquet.WriterOption{
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "wide"))}}
	in := made.bytes(t)
	local := openSource(t, writeFile(t, "in.parquet", in))
	whole := filepath.Join(t.TempDir(), "whole.parquet")
	all := writeCase{workers: 2, batch: 300, add: riskColumns(), metadata: map[string]string{"microrisk": "{}"}}
	annotate(t, local, []string{whole}, all)
	for name, c := range map[string]struct {
		writeCase
		noCopies bool
	}{
		"all":       {writeCase: all},
		"no copies": {writeCase: all, noCopies: true},
		"rows":      {writeCase: writeCase{workers: 2, batch: 300, add: riskColumns(), keep: func(r int64) bool { return r < 1000 || r%3 == 0 }}},
		"columns":   {writeCase: writeCase{workers: 1, batch: 300, add: riskColumns(), drops: []string{"tiny", "name", "raw"}}},
		"no new":    {writeCase: writeCase{workers: 1, batch: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			store := &farStore{objects: map[string][]byte{"far://in.parquet": in}, noCopies: c.noCopies}
			files.Register("far", store)
			s := openSource(t, "far://in.parquet")
			for _, w := range []string{"wide", "tiny"} {
				require.Equal(t, columnTexts(t, local, operators.Want{Name: w}, 0), columnTexts(t, s, operators.Want{Name: w}, 0))
			}
			store.read = 0
			annotate(t, s, []string{"far://out.parquet"}, c.writeCase)
			got := openSource(t, writeFile(t, "out.parquet", store.objects["far://out.parquet"]))
			near := filepath.Join(t.TempDir(), "near.parquet")
			annotate(t, local, []string{near}, c.writeCase)
			want := openSource(t, near)
			require.Equal(t, want.Rows(), got.Rows())
			require.Equal(t, want.Schema().String(), got.Schema().String())
			for _, f := range want.Schema().Fields() {
				if _, err := want.files[0].has(f.Name); err == nil && !want.files[0].column(f.Name).nested {
					require.Equal(t, columnTexts(t, want, operators.Want{Name: f.Name}, 0), columnTexts(t, got, operators.Want{Name: f.Name}, 0), f.Name)
				}
			}
			sameByIndexes(t, near, store.objects["far://out.parquet"])
			if name == "all" || name == "no new" {
				require.Greater(t, store.copied, store.read*3, "chunks pass without being read")
			}
			if c.noCopies {
				require.True(t, bytes.Equal(readFileBytes(t, whole), store.objects["far://out.parquet"]), "the same file as one of this machine")
			}
		})
	}
}

// sameByIndexes reads rows in the middle of row groups by the page indexes, and looks into bloom filters.
func sameByIndexes(t *testing.T, near string, far []byte) {
	t.Helper()
	open := func(b []byte) *parquet.File {
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		return f
	}
	b, err := os.ReadFile(near)
	require.NoError(t, err)
	x, y := open(b), open(far)
	require.Len(t, y.RowGroups(), len(x.RowGroups()))
	require.Equal(t, len(x.OffsetIndexes()), len(y.OffsetIndexes()))
	for g := range x.RowGroups() {
		u, v := x.RowGroups()[g].Rows(), y.RowGroups()[g].Rows()
		middle := x.RowGroups()[g].NumRows() / 2
		require.NoError(t, u.SeekToRow(middle))
		require.NoError(t, v.SeekToRow(middle))
		p, q := make([]parquet.Row, 10), make([]parquet.Row, 10)
		n, _ := u.ReadRows(p)
		m, _ := v.ReadRows(q)
		require.Equal(t, n, m)
		for i := range n {
			require.True(t, slices.EqualFunc(p[i], q[i], parquet.DeepEqual))
		}
		require.NoError(t, u.Close())
		require.NoError(t, v.Close())
		for c := range x.RowGroups()[g].ColumnChunks() {
			a, b := x.RowGroups()[g].ColumnChunks()[c].BloomFilter(), y.RowGroups()[g].ColumnChunks()[c].BloomFilter()
			require.Equal(t, a == nil, b == nil)
			if a != nil {
				for k := range 200 {
					one, err := a.Check(parquet.ValueOf(int64(k) * 1e12))
					require.NoError(t, err)
					other, err := b.Check(parquet.ValueOf(int64(k) * 1e12))
					require.NoError(t, err)
					require.Equal(t, one, other)
				}
			}
		}
	}
}

// A footer that lies about a chunk's place is not taken at its word: then pages are looked for, as in files of this machine.
func TestChunksThatAbut(t *testing.T) {
	in := madeFile{rows: 500, group: 200, codec: &parquet.Snappy}.bytes(t)
	require.True(t, openSource(t, writeFile(t, "in.parquet", in)).files[0].chunksAbut())
	for name, lie := range map[string]func(meta *thriftValue){
		"shorter": func(meta *thriftValue) {
			meta.set(metaCompressed, thriftInt(thriftI64, meta.integer(metaCompressed, 0)-1))
		},
		"longer": func(meta *thriftValue) {
			meta.set(metaCompressed, thriftInt(thriftI64, meta.integer(metaCompressed, 0)+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSource(t, writeFile(t, "in.parquet", in))
			f := s.files[0]
			group, err := f.footer.group(1)
			require.NoError(t, err)
			lie(group.field(groupColumns).kids[3].field(chunkMeta))
			f.footer.groups[1] = group.append(nil)
			require.False(t, f.chunksAbut())
		})
	}
}
