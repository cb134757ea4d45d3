package library_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	_ "microrisk/operators/builtin"
	"microrisk/pipeline/library"
)

// people are two batches of ages and sexes, of an allocator that knows what is held.
func people(t *testing.T) (*operators.Records, *memory.CheckedAllocator) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	schema := arrow.NewSchema(
		[]arrow.Field{{Name: "age", Type: arrow.PrimitiveTypes.Int32}, {Name: "sex", Type: arrow.BinaryTypes.String, Nullable: true}},
		nil,
	)
	var list []arrow.Record
	for range 2 {
		b := array.NewRecordBuilder(mem, schema)
		b.Field(0).(*array.Int32Builder).AppendValues([]int32{30, 31, 30, 40}, nil)
		b.Field(1).(*array.StringBuilder).AppendValues([]string{"m", "f", "m", ""}, []bool{true, true, true, false})
		list = append(list, b.NewRecord())
		b.Release()
	}
	reader, err := array.NewRecordReader(schema, list)
	require.NoError(t, err)
	for _, r := range list {
		r.Release()
	}
	defer reader.Release()
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	return source, mem
}

// Records come back in their order with the columns that the spec makes, and nothing is held afterwards.
func TestAssess(t *testing.T) {
	source, mem := people(t)
	made, answer := library.Do(
		t.Context(),
		"assess",
		[]byte(`{"spec": {"key": {"variables": ["age", "sex"]}, "operators": [{"suda": {}}]}}`),
		source,
		library.Options{},
	)
	require.Nil(t, answer.Error)
	require.Equal(t, library.Done, answer.Status)
	require.Len(t, made.Records, 2)
	for _, r := range made.Records {
		require.Equal(t, []int32{30, 31, 30, 40}, r.Column(0).(*array.Int32).Int32Values())
		require.Equal(t, []int64{4, 2, 4, 2}, r.Column(2).(*array.Int64).Int64Values())
	}
	made.Release()
	source.Release()
	mem.AssertSize(t, 0)
}

// What is wrong is an answer, with its kind and its status.
func TestErrorsAreValues(t *testing.T) {
	for _, c := range []struct {
		verb, request string
		status        int
		kind, want    string
	}{
		{"asses", `{}`, library.Misasked, "spec", `there is no verb "asses": it is one of assess, explain, inspect`},
		{"assess", `{"spek": {}}`, library.Misasked, "spec", `the request has no field "spek"`},
		{"assess", `{"spec": {"sink": {"path": "x"}}}`, library.Misasked, "spec", "sink is that of the call"},
		{"assess", `{"spec": [1]}`, library.Misasked, "spec", "spec is no mapping"},
		{"assess", `{"spec": null, "options": {"wrokers": 2}}`, library.Misasked, "spec", `no field "wrokers": it has spec`},
		{"assess", `{"options": {"memory": "1GiB"}}`, library.Misasked, "spec", "options.memory is a string; it must be a whole number"},
		{"assess", `{"options": {"seed": -1}}`, library.Misasked, "spec", "options.seed is a number -1; it must be a whole number from 0 up"},
		{"explain", `{"row": 1.5}`, library.Misasked, "spec", "row is a number 1.5; it must be a whole number"},
		{"assess", `{"options": {"workers": -1}}`, library.Misasked, "spec", "from 1 up"},
		{"assess", `{"spec": {"key": {"variables": ["agee"]}, "operators": [{"suda": {}}]}}`, library.Misasked, "spec", `did you mean "age"?`},
		{"explain", `{"spec": {"key": {"variables": ["age"]}}}`, library.Misasked, "spec", "row says which record"},
		{"explain", `{"spec": {"key": {"variables": ["age"]}}, "row": 8}`, library.Misasked, "spec", "there is no row 8; the input has 8 rows"},
	} {
		source, mem := people(t)
		made, answer := library.Do(t.Context(), c.verb, []byte(c.request), source, library.Options{})
		require.Nil(t, made)
		require.NotNil(t, answer.Error, c.request)
		require.Equal(t, c.status, answer.Status)
		require.Equal(t, c.kind, answer.Error.Kind)
		require.Contains(t, answer.Error.Message, c.want)
		source.Release()
		mem.AssertSize(t, 0)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	source, _ := people(t)
	defer source.Release()
	_, answer := library.Do(ended, "inspect", []byte(`{}`), source, library.Options{})
	require.Equal(t, library.Interrupted, answer.Status)
}

// A spec is read as it was written: the order of its mappings, and all digits of its numbers.
func TestSpecsStayAsWritten(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "code", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1<<53 + 1, 1 << 53}, nil)
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"1.0", "1"}, nil)
	record := b.NewRecord()
	reader, err := array.NewRecordReader(schema, []arrow.Record{record})
	require.NoError(t, err)
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	made, answer := library.Do(t.Context(), "assess", []byte(`{"spec": {"operators": [{"recode": {"z": {"from": "id", "width": 5}, "b": {"from": "id", "width": 2}}},
		{"select": {"rows": {"id": [9007199254740993], "code": [1.0]}}}]}}`), source, library.Options{})
	require.Nil(t, answer.Error)
	require.Equal(t, "z", made.Schema.Field(2).Name)
	require.Len(t, made.Records, 1)
	require.Equal(t, []int64{1<<53 + 1}, made.Records[0].Column(0).(*array.Int64).Int64Values())
}

// Bytes that are no text stay bytes in a release, and are not taken for each other.
func TestBytesStayBytes(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.Binary}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	given := []string{"\xff", "\xfe", "\xff", "\xfe", "x"}
	b.Field(0).(*array.BinaryBuilder).AppendStringValues(given, nil)
	record := b.NewRecord()
	b.Release()
	reader, err := array.NewRecordReader(schema, []arrow.Record{record})
	require.NoError(t, err)
	record.Release()
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	reader.Release()
	made, answer := library.Do(t.Context(), "assess", []byte(`{"spec": {"key": {"variables": ["a"]}, "operators": [
		{"protect_records": {"safe": {"k": 2}, "suppress": "records", "checks": 20}}]}}`), source, library.Options{})
	require.Nil(t, answer.Error)
	require.Equal(t, arrow.BINARY, made.Schema.Field(0).Type.ID())
	for i, want := range given {
		got := made.Records[0].Column(0).(*array.Binary)
		require.Equal(t, want == "x", got.IsNull(i))
		require.True(t, got.IsNull(i) || string(got.Value(i)) == want)
	}
	made.Release()
	source.Release()
	mem.AssertSize(t, 0)
}

// Answers are JSON with the words that the reference has.
func TestAnswers(t *testing.T) {
	source, _ := people(t)
	defer source.Release()
	_, answer := library.Do(t.Context(), "explain", []byte(`{"spec": {"key": {"variables": ["age", "sex"]}}, "row": 5}`), source, library.Options{})
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	require.Contains(t, string(text), `"sample_frequency":2`)
	_, answer = library.Do(t.Context(), "inspect", []byte(`{"values": ["sex"]}`), source, library.Options{})
	text, err = json.Marshal(answer)
	require.NoError(t, err)
	require.JSONEq(t, `{"status": 0, "table": {"rows": 8, "counted": 8, "values": {"sex": {"more": 0, "more_records": 0,
		"values": [{"value": "m", "records": 4}, {"value": "f", "records": 2}, {"value": null, "records": 2}]}}}}`, string(text))
}
