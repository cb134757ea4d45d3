package csvfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/frequency"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

func file1(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.csv")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func key(names ...string) schemas.Key {
	var k schemas.Key
	for _, n := range names {
		k.Variables = append(k.Variables, schemas.KeyVariable{Name: n})
	}
	return k
}

func TestTypes(t *testing.T) {
	path := file1(t, "age,code,x,name,empty,big\n1,01,1.50,a,,1\n-20,1,2,b,,9223372036854775808\n,1,-.5e3,,,3\n")
	s, err := Open(t.Context(), []string{path}, Options{})
	require.NoError(t, err)
	var types []string
	for _, f := range s.Schema().Fields() {
		types = append(types, f.Type.String())
	}
	require.Equal(t, "int64 utf8 float64 utf8 utf8 utf8", strings.Join(types, " "))
	s, err = Open(t.Context(), []string{path}, Options{Types: map[string]string{"age": "string", "x": "double"}})
	require.NoError(t, err)
	require.Equal(t, "utf8", s.Schema().Field(0).Type.String())
	_, err = Open(t.Context(), []string{path}, Options{Types: map[string]string{"Age": "string"}})
	require.ErrorContains(t, err, `there is no column "Age" to be of type string; did you mean "age"?`)
	_, err = Open(t.Context(), []string{path}, Options{Types: map[string]string{"age": "integer"}})
	require.ErrorContains(t, err, `there is no type "integer": it is one of bool, date,`)
}

func TestFieldsPassAsTheyAre(t *testing.T) {
	path := file1(t, "\xef\xbb\xbfage;x;name\r\n1;1.50;\"a;b\"\r\n1;2.0;\r\n2;;\"say \"\"hi\"\"\"\r\n")
	for _, rows := range [][]selection.Condition{nil, {{Column: "age", Values: []string{"1"}}}} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out := filepath.Join(t.TempDir(), "out.csv")
		s, err := Open(t.Context(), []string{path}, Options{Delimiter: ';'})
		require.NoError(t, err)
		ops := []operators.Operator{suda.Operator{Key: key("age"), Config: suda.Config{MSUs: true}}}
		if rows != nil {
			ops = append([]operators.Operator{selection.Operator{Config: selection.Config{Rows: rows}}}, ops...)
		}
		chain, err := operators.NewChain(s.Schema(), ops...)
		require.NoError(t, err)
		sink, err := Create(s, []string{out}, SinkOptions{})
		require.NoError(t, err)
		_, err = chain.Run(t.Context(), s, sink, operators.Options{Allocator: mem, Batch: 2})
		require.NoError(t, err)
		mem.AssertSize(t, 0)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		want := "age;x;name;sample_frequency;suda_score;suda_is;suda_dis_is;suda_msu_count;suda_msu_min_size;suda_msus\n" +
			"1;1.50;\"a;b\";2;0;0;;0;;[]\n1;2.0;;2;0;0;;0;;[]\n"
		if rows == nil {
			want += "2;;\"say \"\"hi\"\"\";1;0;1;;1;1;\"[[\"\"age\"\"]]\"\n"
		}
		require.Equal(t, want, string(got))
	}
}

func TestBrokenInputs(t *testing.T) {
	for content, want := range map[string]string{
		"":                        "is empty",
		"a,b\n1\n":                "line 2: 1 fields, the header has 2",
		"a,a\n1,2\n":              `names "a" twice`,
		",a\n1,2\n":               "column 1 has no name",
		"a\n\"x\n":                "line 2: field 1: a quote is not closed",
		"a\n\xff\n":               "line 2, column \"a\": text that is not UTF-8",
		"PAR1aaaaaaaaPAR1":        "is a Parquet file",
		"a\n\xe9\n":               "iconv -f WINDOWS-1252",
		"\xff\xfea\x00,\x00b\x00": "is UTF-16",
		"a\x00,\x00b\x00\n\x00":   "is UTF-16",
		"a,b\n1,x\"y\n":           "line 2: field 2: a quote stands within a field",
		"a,b\n1,\"x\"y\n":         "line 2: field 2: something follows the closing quote",
		"a\r1\r2\r":               "end with CR alone",
		"a;b|c\n1;2|3\n":          "may be separated by",
	} {
		_, err := Open(t.Context(), []string{file1(t, content)}, Options{})
		require.ErrorContains(t, err, want, "%q", content)
	}
	_, err := Open(t.Context(), []string{"none.csv"}, Options{})
	require.ErrorContains(t, err, "none.csv: there is no such file")
	path := file1(t, "a\n1\nx\n")
	s, err := Open(t.Context(), []string{path}, Options{Types: map[string]string{"a": "int32"}})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema(), suda.Operator{Key: key("a")})
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, nil, operators.Options{})
	require.ErrorContains(t, err, `line 3, column "a": "x" is no int32`)
}

func TestInputsWithDifferentColumns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		return filepath.Join(dir, name)
	}
	a, b := write("a.csv", "z,k,x\n0,1,2\n"), write("b.csv", "k,y\n1,5\nu,6\n")
	s, err := Open(t.Context(), []string{a, b}, Options{})
	require.NoError(t, err)
	require.Equal(t, 1, s.Schema().NumFields())
	require.Equal(t, "utf8", s.Schema().Field(0).Type.String(), "1 and u are text")
	require.ErrorContains(t, s.WhyNot("y"), "b.csv has a column \"y\"")
	_, err = Create(s, []string{filepath.Join(dir, "one.csv")}, SinkOptions{})
	require.ErrorContains(t, err, "different headers")
	outputs := []string{filepath.Join(dir, "a.out.csv"), filepath.Join(dir, "b.out.csv")}
	sink, err := Create(s, outputs, SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema(), frequency.Operator{Key: key("k")})
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, sink, operators.Options{})
	require.NoError(t, err)
	for i, want := range []string{"z,k,x,sample_frequency\n0,1,2,2\n", "k,y,sample_frequency\n1,5,2\nu,6,1\n"} {
		got, err := os.ReadFile(outputs[i])
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// rewritten is what a file becomes when it is written as CSV with the frequencies of a column.
func rewritten(t *testing.T, content, column, out string) string {
	t.Helper()
	s, err := Open(t.Context(), []string{file1(t, content)}, Options{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), out)
	sink, err := Create(s, []string{path}, SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema(), frequency.Operator{Key: key(column)})
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, sink, operators.Options{})
	require.NoError(t, err)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(got)
}

func TestKindsOfCSV(t *testing.T) {
	for name, c := range map[string]struct{ content, column, want string }{
		"semicolons":                 {"a;b\n1;2\n", "a", "a;b;sample_frequency\n1;2;1\n"},
		"decimal commas":             {"a;b\n1,5;2,5\n", "a", "a;b;sample_frequency\n1,5;2,5;1\n"},
		"tabs":                       {"a\tb\n1\t2\n", "a", "a\tb\tsample_frequency\n1\t2\t1\n"},
		"pipes":                      {"a|b\n1|2\n", "b", "a|b|sample_frequency\n1|2|1\n"},
		"delimiters in quotes":       {"a,b\n\"1;2\",\"x;y\"\n", "b", "a,b,sample_frequency\n\"1;2\",\"x;y\",1\n"},
		"the comma comes first":      {"a;b,c\n1;2,3\n", "c", "a;b,c,sample_frequency\n1;2,3,1\n"},
		"said by a line":             {"sep=|\r\na,b|c\n1,2|3\n", "c", "a,b|c|sample_frequency\n1,2|3|1\n"},
		"one column":                 {"a\n1\n2\n", "a", "a,sample_frequency\n1,1\n2,1\n"},
		"blank lines of one column":  {"a\n1\n\n2\r\n\n", "a", "a,sample_frequency\n1,1\n,2\n2,1\n,2\n"},
		"blank lines of two columns": {"a,b\n1,2\n\n\r\n3,4", "a", "a,b,sample_frequency\n1,2,1\n3,4,1\n"},
		"line breaks in quotes":      {"a,b\r\n\"x\r\ny\",1\r\n\"x\ny\",2\r\n", "a", "a,b,sample_frequency\n\"x\r\ny\",1,1\n\"x\ny\",2,1\n"},
		"empty text and null":        {"a,b\n\"\",1\n,1\n\"\",1\nx,1\n", "a", "a,b,sample_frequency\n\"\",1,2\n,1,1\n\"\",1,2\nx,1,1\n"},
		"numbers in quotes":          {"a,b\n\"1\",1\n\"\",1\n,1\n", "a", "a,b,sample_frequency\n\"1\",1,1\n\"\",1,2\n,1,2\n"},
		"20 digits": {
			"a,b\n12345678901234567890,1\n12345678901234567891,1\n", "a", "a,b,sample_frequency\n12345678901234567890,1,1\n12345678901234567891,1,1\n",
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, rewritten(t, c.content, c.column, "out.csv")) })
	}
}

func TestCompressed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("a,b\n1,2\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	packed := rewritten(t, b.String(), "a", "out.csv.gz")
	r, err := gzip.NewReader(strings.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "a,b,sample_frequency\n1,2,1\n", string(text))
	require.Equal(t, "a,b,sample_frequency\n1,2,1\n", rewritten(t, b.String(), "a", "out.csv"))
	for n := 2; n < b.Len(); n++ {
		if s, err := Open(t.Context(), []string{file1(t, b.String()[:n])}, Options{}); err == nil {
			t.Fatalf("cut off after %d bytes it is read: %v", n, s.Schema())
		}
	}
}

func TestNumbersThatDoublesCannotTell(t *testing.T) {
	for content, want := range map[string]string{
		"a\n9007199254740993\n":                "int64",
		"a\n9007199254740993\n0.5\n":           "utf8",
		"a\n9007199254740992\n0.5\n":           "float64",
		"a\n-9223372036854775808\n":            "int64",
		"a\n-9223372036854775809\n":            "utf8",
		"a\n1e3\n1\n":                          "float64",
		"a\n-0\n":                              "float64",
		"a\n01\n":                              "utf8",
		"a\n99999999999999999999999999.5\n1\n": "float64",
	} {
		s, err := Open(t.Context(), []string{file1(t, content)}, Options{})
		require.NoError(t, err)
		require.Equal(t, want, s.Schema().Field(0).Type.String(), content)
	}
}

// Values come back as they were: texts, nulls and bytes that are no text.
func TestOtherValuesComeBack(t *testing.T) {
	schema := arrow.NewSchema(
		[]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}},
		nil,
	)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	texts := []string{"", "x", "a\r\nb", " y", "\"", ",", `\x41`}
	for i, v := range texts {
		b.Field(0).(*array.StringBuilder).Append(v)
		b.Field(1).(*array.BinaryBuilder).Append([]byte{[]byte("A")[0], byte(255 - i)})
	}
	b.Field(0).AppendNull()
	b.Field(1).(*array.BinaryBuilder).Append([]byte(`\x41`))
	reader, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
	require.NoError(t, err)
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out.csv")
	sink, err := Create(source, []string{out}, SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(schema)
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), source, sink, operators.Options{})
	require.NoError(t, err)
	back, err := Open(t.Context(), []string{out}, Options{})
	require.NoError(t, err)
	parts, err := back.Parts(t.Context())
	require.NoError(t, err)
	r, err := parts[0].Read(t.Context(), memory.DefaultAllocator, []operators.Want{{Name: "t"}, {Name: "b"}}, 0)
	require.NoError(t, err)
	require.True(t, r.Next())
	text, bin := r.Record().Column(0).(*array.String), r.Record().Column(1).(*array.String)
	for i, want := range texts {
		require.True(t, text.IsValid(i))
		require.Equal(t, want, text.Value(i))
	}
	require.True(t, text.IsNull(len(texts)))
	require.Equal(t, `\x41ff`, bin.Value(0))
	require.Equal(t, `\x5c783431`, bin.Value(len(texts)))
	r.Release()
}

// What any bytes are read as is read from what is written of it.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a;b\n\"x\r\ny\";\n", "sep=|\na|b\n1|\"\"\n", "a\n\n1\n", "a\tb\n\t\n", "\xef\xbb\xbfa,b\n\"q\"\"q\",1e5\n"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		in, out, again := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv"), filepath.Join(dir, "again.csv")
		require.NoError(t, os.WriteFile(in, content, 0o600))
		pass := func(from, to string, o Options) bool {
			s, err := Open(t.Context(), []string{from}, o)
			if err != nil {
				return false
			}
			chain, err := operators.NewChain(s.Schema())
			require.NoError(t, err)
			sink, err := Create(s, []string{to}, SinkOptions{Delimiter: ','})
			require.NoError(t, err)
			_, err = chain.Run(t.Context(), s, sink, operators.Options{})
			require.NoError(t, err)
			return true
		}
		if !pass(in, out, Options{}) {
			return
		}
		require.True(t, pass(out, again, Options{Delimiter: ','}))
		a, err := os.ReadFile(out)
		require.NoError(t, err)
		b, err := os.ReadFile(again)
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
}
