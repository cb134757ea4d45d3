package csvfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
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
	s, err := NewSource(t.Context(), []string{path}, Options{})
	require.NoError(t, err)
	var types []string
	for _, f := range s.Schema().Fields() {
		types = append(types, f.Type.String())
	}
	require.Equal(t, "int64 utf8 float64 utf8 utf8 float64", strings.Join(types, " "))
	s, err = NewSource(t.Context(), []string{path}, Options{Types: map[string]string{"age": "string", "x": "double"}})
	require.NoError(t, err)
	require.Equal(t, "utf8", s.Schema().Field(0).Type.String())
	_, err = NewSource(t.Context(), []string{path}, Options{Types: map[string]string{"Age": "string"}})
	require.ErrorContains(t, err, `there is no column "Age" to be of type string; did you mean "age"?`)
	_, err = NewSource(t.Context(), []string{path}, Options{Types: map[string]string{"age": "integer"}})
	require.ErrorContains(t, err, `there is no type "integer": it is one of bool, date,`)
}

func TestFieldsPassAsTheyAre(t *testing.T) {
	path := file1(t, "\xef\xbb\xbfage;x;name\r\n1;1.50;\"a;b\"\r\n1;2.0;\r\n2;;\"say \"\"hi\"\"\"\r\n")
	for _, rows := range [][]schemas.Condition{nil, {{Column: "age", Values: []string{"1"}}}} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out := filepath.Join(t.TempDir(), "out.csv")
		s, err := NewSource(t.Context(), []string{path}, Options{Delimiter: ';'})
		require.NoError(t, err)
		ops := []operators.Operator{operators.Suda{Key: key("age"), Shared: true, Config: schemas.Suda{MSUs: true}}}
		if rows != nil {
			ops = append([]operators.Operator{operators.Select{Config: schemas.Select{Rows: rows}}}, ops...)
		}
		chain, err := operators.NewChain(s.Schema(), ops...)
		require.NoError(t, err)
		sink, err := NewSink(s, []string{out}, SinkOptions{})
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
		"":                 "is empty",
		"a,b\n1\n":         "wrong number of fields",
		"a,a\n1,2\n":       `names "a" twice`,
		",a\n1,2\n":        "column 1 has no name",
		"a\n\"x\n":         "extraneous or missing",
		"a\n\xff\n":        "line 2, column \"a\" is not UTF-8",
		"PAR1aaaaaaaaPAR1": "is a Parquet file",
	} {
		_, err := NewSource(t.Context(), []string{file1(t, content)}, Options{})
		require.ErrorContains(t, err, want, "%q", content)
	}
	_, err := NewSource(t.Context(), []string{"none.csv"}, Options{})
	require.ErrorContains(t, err, "none.csv does not exist")
	path := file1(t, "a\n1\nx\n")
	s, err := NewSource(t.Context(), []string{path}, Options{Types: map[string]string{"a": "int32"}})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema(), operators.Suda{Key: key("a"), Shared: true})
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
	s, err := NewSource(t.Context(), []string{a, b}, Options{})
	require.NoError(t, err)
	require.Equal(t, 1, s.Schema().NumFields())
	require.Equal(t, "utf8", s.Schema().Field(0).Type.String(), "1 and u are text")
	require.ErrorContains(t, s.WhyNot("y"), "b.csv has a column \"y\"")
	_, err = NewSink(s, []string{filepath.Join(dir, "one.csv")}, SinkOptions{})
	require.ErrorContains(t, err, "different headers")
	outputs := []string{filepath.Join(dir, "a.out.csv"), filepath.Join(dir, "b.out.csv")}
	sink, err := NewSink(s, outputs, SinkOptions{})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema(), operators.Frequency{Key: key("k"), Shared: true})
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, sink, operators.Options{})
	require.NoError(t, err)
	for i, want := range []string{"z,k,x,sample_frequency\n0,1,2,2\n", "k,y,sample_frequency\n1,5,2\nu,6,1\n"} {
		got, err := os.ReadFile(outputs[i])
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
