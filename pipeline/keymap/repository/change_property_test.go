package repository

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/schemas"
)

// texts that YAML could take for something else.
var awkward = []string{
	"plain",
	"true",
	"null",
	"~",
	"12",
	"1.50",
	"0x1F",
	"a: b",
	"# no comment",
	"it's",
	`a "b"`,
	"two\nlines",
	"two\nlines\n",
	" spaced ",
	"- x",
	"Ünï",
	"tab\tin",
	"[",
	"{a}",
	"&a",
	"*a",
	"!t",
	"%",
	"@",
	"|",
	">",
	"a #b",
	"2020-01-02",
	"\nfirst",
	"  lead\nand",
	"trail \nx",
	"x\n\n",
	"=",
	"<<",
	"?",
	"0o7",
	".inf",
	"yes",
	strings.Repeat("long ", 40),
}

func drawTexts(t *rapid.T, what string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(awkward), 0, 3, rapid.ID[string]).Draw(t, what)
}

func drawVariable(t *rapid.T, name string) *Variable {
	v := &Variable{Name: name, Note: rapid.SampledFrom(append(awkward, "")).Draw(t, "note"), Unit: rapid.SampledFrom([]string{"", "years"}).Draw(t, "unit")}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d-1", "1", "null", "true", "no"}), 1, 6, rapid.ID[string]).Draw(t, "ids") {
		n := Node{ID: id, Label: rapid.SampledFrom(append(awkward, "")).Draw(t, "label"), Note: rapid.SampledFrom([]string{"", "#", "n"}).Draw(t, "note")}
		if former := drawTexts(t, "former"); len(former) > 0 {
			n.FormerLabels = former
		}
		v.Nodes = append(v.Nodes, n)
	}
	for _, n := range v.Nodes[1:] {
		if rapid.Bool().Draw(t, "edge") {
			v.Edges = append(v.Edges, [2]string{v.Nodes[0].ID, n.ID})
		}
	}
	if rapid.Bool().Draw(t, "review") {
		v.Review = &Review{Note: rapid.SampledFrom(awkward).Draw(t, "why"), Exclude: rapid.Bool().Draw(t, "exclude")}
	}
	if rapid.Bool().Draw(t, "levels") {
		v.AssumedLevels = pointer(rapid.IntRange(1, 99).Draw(t, "levels"))
	}
	return v
}

func drawForm(t *rapid.T, name string) *Form {
	f := &Form{Name: name, Note: rapid.SampledFrom(append(awkward, "")).Draw(t, "note")}
	if keys := drawTexts(t, "keys"); len(keys) > 0 {
		f.Metadata = make(map[string]string)
		for _, k := range keys {
			f.Metadata[k] = rapid.SampledFrom(awkward).Draw(t, "value")
		}
	}
	for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom(awkward), 1, 4, rapid.ID[string]).Draw(t, "variables") {
		x := Instance{Variable: v, Column: rapid.SampledFrom([]string{"", "col", "7"}).Draw(t, "column")}
		x.Categories = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "1"}), 0, 4, rapid.ID[string]).Draw(t, "categories")
		if len(x.Categories) == 0 {
			x.Categories = nil
		}
		if q := drawTexts(t, "questions"); len(q) > 0 {
			x.Questions = q
		}
		f.Variables = append(f.Variables, x)
	}
	return f
}

// A remark is a comment, with what it is beside: a way of keys, and of items by what they are known by.
type remark struct {
	text string
	at   string
}

// An annotator writes a document as people do: in blocks, with comments above and beside what there is.
type annotator struct {
	t       *rapid.T
	lines   []string
	remarks []remark
}

// comments are one above, and one beside, of those that are drawn.
func (a *annotator) comments(indent, at string) (beside string) {
	what := fmt.Sprintf("# remark %d!", len(a.remarks))
	switch rapid.IntRange(0, 5).Draw(a.t, "comment") {
	case 0:
		a.lines = append(a.lines, indent+what)
	case 1:
		beside = " " + what
	default:
		return ""
	}
	a.remarks = append(a.remarks, remark{what, at})
	return beside
}

func flow(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, flow(x))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case schemas.Ordered:
		var items []string
		for _, m := range v {
			items = append(items, flow(m.Key)+": "+flow(m.Value))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(value)
}

func simple(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case schemas.Ordered:
		return len(v) == 0
	}
	return true
}

func (a *annotator) mapping(o schemas.Ordered, indent, at, first string) {
	for i, m := range o {
		way, lead := at+"/"+m.Key, indent
		beside := ""
		if i == 0 && first != "" {
			lead = first
		} else {
			beside = a.comments(indent, way)
		}
		a.value(m.Value, lead+flow(m.Key)+":", indent, way, beside)
	}
}

func (a *annotator) value(value any, head, indent, way, beside string) {
	if simple(value) || rapid.IntRange(0, 2).Draw(a.t, "flow") == 0 {
		a.lines = append(a.lines, head+" "+flow(value)+beside)
		return
	}
	a.lines = append(a.lines, head+beside)
	switch v := value.(type) {
	case schemas.Ordered:
		a.mapping(v, indent+"  ", way, "")
	case []any:
		for _, x := range v {
			at := way + "/" + known(x)
			beside := a.comments(indent+"  ", at)
			if o, is := x.(schemas.Ordered); is && rapid.Bool().Draw(a.t, "block") {
				if beside != "" {
					a.remarks = a.remarks[:len(a.remarks)-1]
				}
				a.mapping(o, indent+"    ", at, indent+"  - ")
				continue
			}
			a.lines = append(a.lines, indent+"  - "+flow(x)+beside)
		}
	}
}

// known is what an item of a list is told by.
func known(x any) string {
	if o, is := x.(schemas.Ordered); is && len(o) > 0 && o[0].Key == "id" {
		return flow(o[0].Value)
	}
	return flow(x)
}

// ways are all that there is in a document.
func ways(value any, at string, give func(string)) {
	switch v := value.(type) {
	case schemas.Ordered:
		for _, m := range v {
			give(at + "/" + m.Key)
			ways(m.Value, at+"/"+m.Key, give)
		}
	case []any:
		for _, x := range v {
			give(at + "/" + known(x))
			ways(x, at+"/"+known(x), give)
		}
	}
}

func TestAmendedKeepsComments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old, want, got schemas.Document
		if rapid.Bool().Draw(t, "form") {
			x, y := drawForm(t, "A"), drawForm(t, "B")
			for _, v := range x.Variables { // some are as they were
				at := slices.IndexFunc(y.Variables, func(w Instance) bool { return v.Variable == w.Variable })
				if at >= 0 && rapid.Bool().Draw(t, "same") {
					y.Variables[at] = v
				}
			}
			old, want, got = x, y, new(Form)
		} else {
			old, want, got = drawVariable(t, "A"), drawVariable(t, "B"), new(Variable)
		}
		a := annotator{t: t}
		a.mapping(schemas.DocumentOrdered(old), "", "", "")
		text := strings.Join(a.lines, "\n") + "\n"
		out, err := amended("x.yaml", []byte(text), want)
		require.NoError(t, err)
		root, err := parse("x.yaml", out)
		require.NoError(t, err, "%s\nbecame\n%s", text, out)
		// Judged later: what was drawn is no valid variable.
		_, _ = schemas.DecodeDocument("x.yaml", root, got, nil)
		require.Equal(t, sortedForm(want), sortedForm(got), "%s\nbecame\n%s", text, out)
		stays := make(map[string]bool)
		ways(schemas.DocumentOrdered(want), "", func(at string) { stays[at] = true })
		for _, r := range a.remarks {
			if stays[r.at] {
				require.Equal(t, 1, strings.Count(string(out), r.text), "%s of %s: %s\nbecame\n%s", r.text, r.at, text, out)
			}
		}
		again, err := amended("x.yaml", out, want)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
	})
}

// sortedForm has the variables of a form by name: new ones come last in a text.
func sortedForm(doc schemas.Document) schemas.Ordered {
	if f, is := doc.(*Form); is {
		slices.SortFunc(f.Variables, func(a, b Instance) int { return strings.Compare(a.Variable, b.Variable) })
	}
	return schemas.DocumentOrdered(doc)
}
