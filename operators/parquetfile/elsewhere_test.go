package parquetfile

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/files"
)

// A kept input is one in memory.
type kept struct {
	*bytes.Reader
	closed int
}

func (*kept) Name() string   { return "memory://in" }
func (k *kept) Size() int64  { return k.Reader.Size() }
func (k *kept) Close() error { k.closed++; return nil }

// A made output is one in memory, of which nothing can be read back.
type made1 struct {
	bytes.Buffer
	state string
}

func (*made1) Name() string { return "memory://out" }

func (m *made1) Commit() error { m.state += "committed"; return nil }

func (m *made1) Abort() {
	if m.state == "" {
		m.state = "aborted"
	}
}

func described(t *testing.T) array.RecordReader {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{
			Name:     "age",
			Type:     arrow.PrimitiveTypes.Int64,
			Nullable: true,
			Metadata: arrow.NewMetadata([]string{"PARQUET:field_id", "unit"}, []string{"7", "years"}),
		},
		{Name: "sex", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{30, 40}, nil)
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"f", "m"}, nil)
	r, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
	require.NoError(t, err)
	return r
}

// Neither the input nor the output is a file of this machine, and what is said of a field stays with it.
func TestElsewhere(t *testing.T) {
	records, err := operators.NewRecords(described(t))
	require.NoError(t, err)
	defer records.Release()
	run := func(source operators.Source, out *made1) {
		sink, err := NewSink(source, []files.Output{out}, SinkOptions{})
		require.NoError(t, err)
		chain, err := operators.NewChain(source.Schema())
		require.NoError(t, err)
		_, err = chain.Run(t.Context(), source, sink, operators.Options{})
		require.NoError(t, err)
		require.Equal(t, "committed", out.state)
	}
	first, second := &made1{}, &made1{}
	run(records, first)
	in := &kept{Reader: bytes.NewReader(first.Bytes())}
	s, err := NewSource(t.Context(), []files.Input{in}, Options{})
	require.NoError(t, err)
	age, _ := s.Schema().FieldsByName("age")
	require.Equal(t, map[string]string{"PARQUET:field_id": "7", "unit": "years"}, age[0].Metadata.ToMap())
	sex, _ := s.Schema().FieldsByName("sex")
	require.Zero(t, sex[0].Metadata.Len())
	chain, err := operators.NewChain(s.Schema())
	require.NoError(t, err)
	sink, err := NewSink(s, []files.Output{second}, SinkOptions{})
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, sink, operators.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, 1, in.closed)

	again, err := NewSource(t.Context(), []files.Input{&kept{Reader: bytes.NewReader(second.Bytes())}}, Options{})
	require.NoError(t, err)
	defer again.Close()
	age, _ = again.Schema().FieldsByName("age")
	require.Equal(t, map[string]string{"PARQUET:field_id": "7", "unit": "years"}, age[0].Metadata.ToMap())
	require.Equal(t, []string{"memory://in"}, s.Inputs())
}

// Inputs are closed and outputs aborted by who was given them, also when nothing comes of it.
func TestElsewhereFails(t *testing.T) {
	in := &kept{Reader: bytes.NewReader([]byte("no Parquet"))}
	_, err := NewSource(t.Context(), []files.Input{in}, Options{})
	require.ErrorContains(t, err, "cannot read memory://in: ")
	require.Equal(t, 1, in.closed)
	records, err := operators.NewRecords(described(t))
	require.NoError(t, err)
	defer records.Release()
	out := &made1{}
	_, err = NewSink(records, []files.Output{out}, SinkOptions{Compression: "rar"})
	require.Error(t, err)
	require.Equal(t, "aborted", out.state)
	full := &failing{}
	sink, err := NewSink(records, []files.Output{full}, SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(records.Schema())
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), records, sink, operators.Options{})
	require.ErrorContains(t, err, "writing memory://out: there is no room")
	require.Equal(t, "aborted", full.state)
}

// A failing output takes nothing.
type failing struct{ made1 }

func (*failing) Write([]byte) (int, error) { return 0, errors.New("there is no room") }
