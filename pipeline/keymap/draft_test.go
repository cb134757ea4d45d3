package keymap

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	engine "microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// drafted drafts a form, and puts it into the repository of the folder.
func drafted(t require.TestingT, t2 testing.TB, folder, path string, how Drafting) (*Draft, *repository.Repository, error) {
	r, err := repository.Open(folder)
	require.NoError(t, err)
	how.Source.Path = []string{path}
	d, err := DraftForm(t2.Context(), r, how, session.Options{})
	if err != nil {
		return nil, r, err
	}
	ch := r.Change()
	require.NoError(t, d.Put(ch))
	_, err = ch.Apply(false)
	require.NoError(t, err)
	r, err = repository.Open(folder)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	return d, r, nil
}

func emptyRepository(t require.TestingT, folder string) {
	_, err := repository.Init(folder, &repository.Config{})
	require.NoError(t, err)
}

// Columns of every type become something, or it is said why not.
func TestDraftTypes(t *testing.T) {
	folder := t.TempDir()
	emptyRepository(t, folder)
	path := filepath.Join(t.TempDir(), "types.arrow")
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "date", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "truth", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "float", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "decimal", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}, Nullable: true},
		{Name: "coded", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "nothing", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "twice", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "twice", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "two\nlines", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	}, nil))
	for _, row := range []string{
		`{"date": "2020-01-02", "truth": true, "list": [1], "float": 1.5, "text": "a\nb", "decimal": "1.25", "coded": "x", "large": 18446744073709551615}`,
		`{"date": "1960-01-02", "truth": false, "list": [2], "float": 2.5, "text": "# x: [y", "decimal": "-3.50", "coded": "y", "large": 1}`,
		`{"date": null, "truth": null, "list": null, "float": null, "text": "null", "decimal": null, "coded": null, "large": null}`,
		`{"text": "\u0001 'q' \"p\" \u2028", "coded": "x"}`, `{"text": "  "}`, `{"text": ""}`, `{"text": "~"}`, `{"text": "0x1F"}`, `{"text": "=Ω"}`,
	} {
		require.NoError(t, b.UnmarshalJSON([]byte(row)))
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	record := b.NewRecord()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(record.Schema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(record))
	require.NoError(t, w.Close())
	d, r, err := drafted(t, t, folder, path, Drafting{})
	require.NoError(t, err)
	form := r.Form("types")
	var got []string
	for _, x := range d.Columns {
		got = append(got, fmt.Sprintf("%s %d %d", x.Column, x.Values, x.Categories))
	}
	require.Equal(t, []string{"date 2 2", "truth 2 2", "text 9 9", "decimal 2 0", "coded 2 2", "large 2 0"}, got)
	var left []string
	for _, l := range d.LeftOut {
		left = append(left, l.Column+": "+l.Why[:min(len(l.Why), 14)])
	}
	require.Equal(
		t,
		[]string{
			"bytes: no values",
			"list: nested: no key",
			"float: floating point",
			"nothing: no values",
			"twice: the input has ",
			"two\nlines: its name is no",
		},
		left,
	)
	x, _ := form.Instance("text")
	var values []string
	for _, list := range x.Values {
		values = append(values, list...)
	}
	slices.Sort(values)
	require.Equal(t, []string{"", "\x01 'q' \"p\" \u2028", "  ", "# x: [y", "0x1F", "=Ω", "a\nb", "null", "~"}, values)
	x, _ = form.Instance("date")
	require.Equal(t, map[string][]string{"1960-01-02": {"1960-01-02"}, "2020-01-02": {"2020-01-02"}}, x.Values)
	require.True(t, math.IsInf(*r.Variable("decimal").Nodes[0].Lo, -1))
	require.Zero(t, *r.Variable("large").Nodes[0].Lo)
}

// Whatever texts a column has: each is of one category, ids keep their rule, and a second file with some of the texts has the same categories.
func TestDraftTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		emptyRepository(rt, folder)
		texts := rapid.SliceOfNDistinct(rapid.OneOf(rapid.StringMatching(`[aAbB<+\-_ 19]{1,3}`), rapid.StringN(1, 5, -1)), 2, 20, rapid.ID).Draw(rt, "texts")
		texts = slices.DeleteFunc(texts, func(s string) bool { return strings.ContainsAny(s, "\r\x00") || strings.ToValidUTF8(s, "") != s })
		texts = append(texts, "some", "Some")
		slices.Sort(texts)
		texts = slices.Compact(texts)
		write := func(name string, list []string) string {
			path := filepath.Join(folder, name)
			var b strings.Builder
			b.WriteString("x\n")
			for _, text := range list {
				b.WriteString(`"` + strings.ReplaceAll(text, `"`, `""`) + "\"\n")
			}
			require.NoError(rt, os.WriteFile(path, []byte(b.String()), 0o666))
			return path
		}
		types := schemas.Source{Types: map[string]string{"x": "string"}}
		_, r, err := drafted(rt, t, folder, write("a.csv", texts), Drafting{Source: types})
		require.NoError(rt, err)
		x, _ := r.Form("a").Instance("x")
		of := make(map[string]string)
		for id, list := range x.Values {
			require.Len(rt, list, 1)
			of[list[0]] = id
		}
		require.Len(rt, of, len(texts))
		for _, text := range texts {
			require.Contains(rt, of, text)
		}
		some := texts[:rapid.IntRange(1, len(texts)).Draw(rt, "some")]
		_, r, err = drafted(rt, t, folder, write("b.csv", some), Drafting{Source: types})
		require.NoError(rt, err)
		y, _ := r.Form("b").Instance("x")
		for id, list := range y.Values {
			require.Equal(rt, id, of[list[0]])
		}
		require.Len(rt, y.Values, len(some))
		require.ElementsMatch(rt, x.Categories, y.Categories)
	})
}

// A value is the category that is called so, and none that is only spelt like its id.
func TestNodeIndex(t *testing.T) {
	index := repository.NewNodeIndex(&repository.Variable{Nodes: []repository.Node{
		{ID: "5", Label: "<5"}, {ID: "5-2", Label: "5+"}, {ID: "at", Label: "Austria", FormerLabels: []string{"Österreich"}}, {ID: "lower-austria"},
		{
			ID:    "a",
			Label: "A",
		}, {ID: "a-2", Label: "A-"}, {ID: "x", Label: "Пол"}, {ID: "16-20", Label: "16–20"}, {ID: "one", Label: "Same"}, {ID: "two", Label: "Same"},
	}})
	for value, want := range map[string]string{
		"<5": "5", "5+": "5-2", "5": "", "at": "at", "Austria": "at", "AUSTRIA": "at", "österreich": "at", "Lower Austria": "lower-austria",
		"LOWER_AUSTRIA": "lower-austria", "A": "a", "a": "a", "A-": "a-2", "a-": "a-2", "Возраст": "", "x": "", "пол": "x", "16-20": "16-20",
		"Same": "", "same": "", "one": "one", "": "", "-5": "",
	} {
		require.Equal(t, want, index.Of(value), "%q", value)
	}
}

// A column of very many texts that all have the same slug is drafted without going through all earlier ids for each.
func TestDraftManyAlike(t *testing.T) {
	values := make([]string, 60_000)
	for i := range values {
		values[i] = strings.Repeat("ж", 1+i%250) + strings.Repeat("ю", i/250)
	}
	nodes, stored := nodesOf(values)
	require.Len(t, nodes, len(values))
	require.Len(t, stored, len(values))
	_, err := engine.NewGraph(engine.Drawing{Nodes: idsOf(nodes)})
	require.NoError(t, err)
}
