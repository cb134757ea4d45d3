package repository

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// good is a small repository that has nothing wrong.
var good = map[string]string{
	ConfigName: "schema: microrisk/keymap/config@1\n",
	"variables/sex.yaml": `schema: microrisk/keymap/variable@1
name: Sex
nodes:
  - id: f
  - id: m
  - id: x
  - id: not-f
edges:
  - [not-f, m]
  - [not-f, x]
`,
	"variables/age.yaml": `schema: microrisk/keymap/variable@1
name: Age
scale: interval
unit: years
nodes:
  - {id: young, lo: 0, hi: 18}
  - {id: old, lo: 18, hi: inf}
`,
	"forms/a.yaml": `schema: microrisk/keymap/form@1
name: A
metadata: {Kind: paper}
variables:
  Sex: {categories: [f, not-f]}
  Age: {categories: [young, old]}
`,
	"forms/b.yaml": `schema: microrisk/keymap/form@1
name: B
variables:
  Sex: {categories: [f, m, x]}
  Age: {}
`,
	"groups/all.yaml":  "schema: microrisk/keymap/group@1\nname: All\nforms: [A, B]\n",
	"scenarios/s.yaml": "schema: microrisk/keymap/scenario@1\nname: S\ntarget: A\nmatch: {groups: [All]}\n",
}

func writeAll(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

func replaced(path, old, with string) map[string]string {
	return map[string]string{path: strings.Replace(good[path], old, with, 1)}
}

func TestBadInput(t *testing.T) {
	const v, a, b, g, s = "variables/sex.yaml", "variables/age.yaml", "forms/b.yaml", "groups/all.yaml", "scenarios/s.yaml"
	for _, c := range []struct {
		what  string
		files map[string]string
		want  []string // findings
	}{
		{"nothing", nil, nil},
		{"not exhaustive", replaced(b, "f, m, x", "f, m"), []string{
			`forms/b.yaml:4:9: Sex of form "B": the categories do not cover x`,
		}},
		{"overlapping", replaced(b, "f, m, x", "f, x, not-f"), []string{
			`forms/b.yaml:4:9: Sex of form "B": the categories overlap in x (in x and not-f)`,
		}},
		{"one category twice", replaced(b, "f, m, x", "f, m, x, x"), []string{
			`forms/b.yaml:4:31: "x" is listed twice`,
		}},
		{"unknown category", replaced(b, "f, m, x", "f, m, y"), []string{
			`forms/b.yaml:4:9: Sex of form "B": there is no category y; the categories do not cover x; did you mean f?`,
		}},
		{"unknown variable", replaced(b, "Sex:", "Sexx:"), []string{
			`forms/b.yaml:4:3: there is no variable "Sexx"; did you mean "Sex"?`,
		}},
		{"cycle", replaced(v, "  - [not-f, x]", "  - [not-f, x]\n  - [x, not-f]"), []string{
			"variables/sex.yaml:11:5: categories are parts of themselves: x > not-f > x",
		}},
		{"edge to itself", replaced(v, "[not-f, x]", "[x, x]"), []string{
			"variables/sex.yaml:10:5: categories are parts of themselves: x > x",
		}},
		{"edge twice", replaced(v, "[not-f, x]", "[not-f, m]"), []string{
			"variables/sex.yaml:10:5: edge not-f > m stands twice",
		}},
		{"edge of three", replaced(v, "[not-f, x]", "[not-f, x, m]"), []string{
			"variables/sex.yaml:10:5: an edge has 3 ids; it is of two: a category and a part of it",
		}},
		{"edge to nothing", replaced(v, "[not-f, x]", "[not-f, z]"), []string{
			"variables/sex.yaml:10:5: edge not-f > z: there is no category z",
		}},
		{"parts that overlap", replaced(v, "[not-f, x]", "[not-f, x]\n  - [f, m]\n  - [f, not-f]"), []string{
			"variables/sex.yaml:12:5: the parts m and not-f of f overlap: both reach m",
		}},
		{"no id", replaced(v, "- id: x", "- label: x"), []string{
			"variables/sex.yaml:6:5: a category has no id",
			"variables/sex.yaml:10:5: edge not-f > x: there is no category x",
		}},
		{"empty id", replaced(v, "- id: x", "- id: ''"), []string{
			"variables/sex.yaml:6:5: a category has an empty id; it is lower-case letters, digits and dashes",
			"variables/sex.yaml:10:5: edge not-f > x: there is no category x",
		}},
		{"odd id", replaced(v, "- id: x", "- id: X y"), []string{
			`variables/sex.yaml:6:5: id "X y": it must be lower-case letters, digits and dashes, such as "x-y"`,
			"variables/sex.yaml:10:5: edge not-f > x: there is no category x",
		}},
		{"id twice", replaced(v, "- id: x", "- id: m"), []string{
			`variables/sex.yaml:6:5: id "m" stands twice; each category has its own`,
			"variables/sex.yaml:10:5: edge not-f > x: there is no category x",
		}},
		{"no nodes", replaced(v, good[v][strings.Index(good[v], "nodes"):], ""), []string{
			"variables/sex.yaml:1:1: the variable has no categories; they are listed under nodes, each with its id",
		}},
		{"nodes null", replaced(v, good[v][strings.Index(good[v], "nodes"):], "nodes:\n"), []string{
			"variables/sex.yaml:3:1: nodes must be a list, not nothing",
		}},
		{"unknown code", replaced(v, "edges:", "codes: {C2.001: [f, q]}\nedges:"), []string{
			"variables/sex.yaml:8:9: code C2.001: there is no category q; the categories do not cover m, x",
		}},
		{"code of another size", replaced(v, "edges:", "codes: {C2.001: [f, m, x]}\nedges:"), []string{
			"variables/sex.yaml:8:9: code C2.001 has 3 categories; its number before the dot must say so",
		}},
		{"code that is none", replaced(v, "edges:", "codes: {D2.1: [f, not-f]}\nedges:"), []string{
			`variables/sex.yaml:8:9: code "D2.1": codes of categorizations look like C4.001`,
		}},
		{"code of anything", replaced(v, "edges:", "codes: {C0.001: []}\nedges:"), nil},
		{"code of any with a size", replaced(v, "edges:", "codes: {C3.001: []}\nedges:"), []string{
			"variables/sex.yaml:8:9: code C3.001 has no categories; the code of a value that is written in is C0.001",
		}},
		{"two codes of one", replaced(v, "edges:", "codes: {C3.001: [f, m, x], C3.002: [f, m, x]}\nedges:"), []string{
			"variables/sex.yaml:8:28: codes C3.001 and C3.002 have the same categories; leave one out",
		}},
		{"ordinal without order", replaced(v, "nodes:", "scale: ordinal\nnodes:"), []string{
			"variables/sex.yaml:3:1: an ordinal variable needs sink_order: its smallest categories in order",
		}},
		{"order with a gap", replaced(v, "nodes:", "scale: ordinal\nsink_order: [m, f, x]\nnodes:"), []string{
			"variables/sex.yaml:4:1: category not-f is no run of the ordered categories: it has m and x, and not all between",
		}},
		{"order lacks one", replaced(v, "nodes:", "scale: ordinal\nsink_order: [m, x]\nnodes:"), []string{
			"variables/sex.yaml:4:1: the order of categories lacks f",
		}},
		{"order of a nominal one", replaced(v, "nodes:", "sink_order: [f, m, x]\nnodes:"), []string{
			"variables/sex.yaml:3:1: sink_order belongs to ordinal variables",
		}},
		{"scale", replaced(v, "nodes:", "scale: ratio\nnodes:"), []string{
			`variables/sex.yaml:3:1: scale "ratio" is unknown; it is one of nominal, ordinal, interval`,
		}},
		{"band to NaN", replaced(a, "hi: inf", "hi: .nan"), []string{
			`variables/age.yaml:7:23: hi must be a number, or inf or -inf, not ".nan"`,
		}},
		{"band to NaN, in words", replaced(a, "hi: inf", "hi: NaN"), []string{
			`variables/age.yaml:7:23: hi must be a number, or inf or -inf, not "NaN"`,
		}},
		{"band to text", replaced(a, "hi: inf", "hi: old"), []string{
			`variables/age.yaml:7:23: hi must be a number, or inf or -inf, not "old"`,
		}},
		{"edges of bands", replaced(a, "nodes:", "edges: [[young, old]]\nnodes:"), []string{
			"variables/age.yaml:5:1: edges of an interval variable are made from its bands: leave them out",
		}},
		{"a band that others make", map[string]string{a: good[a] + "  - {id: mid, lo: 10, hi: 30}\n",
			b: strings.Replace(good[b], "Age: {}", "Age: {categories: [0-10, mid, 30-inf]}", 1)}, []string{
			`forms/b.yaml:5:9: category 0-10 is made by the bands of others and may go as they change: name it among the nodes of "Age"`,
		}},
		{"band to nothing", replaced(a, "hi: inf", "hi: ~"), []string{
			"variables/age.yaml:7:23: hi must be a number, or inf or -inf",
		}},
		{"band to a list", replaced(a, "hi: inf", "hi: [1]"), []string{
			"variables/age.yaml:7:23: hi must be a number, or inf or -inf",
		}},
		{"band to quotes", replaced(a, "hi: inf", "hi: '20'"), nil},
		{"band backwards", replaced(a, "hi: 18", "hi: -1"), []string{
			"variables/age.yaml:6:5: category young: the band from 0 to -1 must begin below its end",
		}},
		{"band without an end", replaced(a, ", hi: inf", ""), []string{
			"variables/age.yaml:7:5: category old has one end only; a band has lo and hi, which may be -inf and inf",
		}},
		{"bands with a gap", replaced(a, "lo: 18", "lo: 19"), []string{
			"variables/age.yaml:5:1: no band covers 18-19",
		}},
		{"same band twice", replaced(a, "lo: 18, hi: inf", "lo: 0, hi: 18"), []string{
			"variables/age.yaml:7:5: categories young and old are the same band",
		}},
		{"bands of a nominal one", replaced(v, "- id: x", "- {id: x, lo: 1, hi: 2}"), []string{
			"variables/sex.yaml:6:5: category x: lo and hi belong to all categories of an interval variable, and to no others",
		}},
		{"band beyond numbers", replaced(a, "lo: 18", "lo: 1e999"), []string{
			`variables/age.yaml:7:15: lo must be a number, or inf or -inf, not "1e999"`,
		}},
		{"no variables", replaced(b, good[b][strings.Index(good[b], "variables"):], ""), []string{
			`forms/b.yaml:1:1: form "B" has no variables; those that it holds are listed under variables`,
		}},
		{"two forms of one name", replaced(b, "name: B", "name: A"), []string{
			`forms/b.yaml:2:1: forms/a.yaml is of the same name, "A"; each has its own`,
			`groups/all.yaml:3:1: there is no form "B"; did you mean "A"?`,
		}},
		{"no name", replaced(b, "name: B\n", ""), []string{
			"forms/b.yaml:1:1: it has no name; each file names what it is of: name: ...",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"empty name", replaced(b, "name: B", "name: ''"), []string{
			"forms/b.yaml:1:1: it has no name; each file names what it is of: name: ...",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"null name", replaced(b, "name: B", "name: ~"), []string{
			"forms/b.yaml:2:1: name must be text, not nothing",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"null instance, which is written in", replaced(b, "Age: {}", "Age:"), nil},
		{"name of two lines", replaced(b, "name: B", `name: "A\nB"`), []string{
			`forms/b.yaml:2:1: the name "A\nB" has a control character; it must be one line of text`,
			`groups/all.yaml:3:1: there is no form "B"; did you mean "A"?`,
		}},
		{"form in JSON of a name that is there", map[string]string{"forms/c.json": `{"schema": "microrisk/keymap/form@1", "name": "B", "variables": {"Age": {}}}`},
			[]string{
				`forms/c.json:1:39: forms/b.yaml is of the same name, "B"; each has its own`,
			}},
		{"JSON that ends early", map[string]string{"forms/c.json": `{"schema": "microrisk/keymap/form@1", "name": "C",`}, []string{
			"forms/c.json:1:1: it is not YAML: did not find expected node content",
		}},
		{"what a change left", map[string]string{"forms/.c.yaml.unfinished": "schema: mic"}, []string{
			"forms/.c.yaml.unfinished: a change that was not finished left this, which would have become forms/c.yaml: look at both, and rename or remove it, " +
				"unless another change is at work now",
		}},
		{"what the first change left", map[string]string{".microrisk-keymap.yaml.unfinished": ""}, []string{
			".microrisk-keymap.yaml.unfinished: a change that was not finished left this, which would have become microrisk-keymap.yaml: look at both, and rename " +
				"or remove it, unless another change is at work now",
		}},
		{"no schema", replaced(b, "schema: microrisk/keymap/form@1\n", ""), []string{
			"forms/b.yaml:1:1: the file does not say what it is; its first line should be: schema: microrisk/keymap/form@1",
		}},
		{"schema of another kind", replaced(b, "form@1", "group@1"), []string{
			`forms/b.yaml:1:1: schema is "microrisk/keymap/group@1"; this file must have microrisk/keymap/form@1`,
		}},
		{"unknown key", replaced(b, "name: B", "name: B\nnmae: C"), []string{
			`forms/b.yaml:3:1: the form has no field "nmae"; did you mean name?`,
		}},
		{"syntax", replaced(b, "[f, m, x]", "[f, m, x"), []string{
			"forms/b.yaml:4:1: it is not YAML: did not find expected ',' or ']'",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"syntax, of the first line", replaced(b, "schema:", "{schema:"), []string{
			"forms/b.yaml:2:1: it is not YAML: did not find expected ',' or '}'",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"syntax, of a value", replaced(b, "name: B", "name: B: C"), []string{
			"forms/b.yaml:2:1: it is not YAML: mapping values are not allowed in this context",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"syntax, of quotes", replaced(b, "name: B", "name: \"B"), []string{
			"forms/b.yaml:2:1: it is not YAML: found unexpected end of stream",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"syntax, of a list", map[string]string{g: good[g] + "union:\n  - All\n   - x\n  y: z\n"}, []string{
			"groups/all.yaml:5:1: it is not YAML: did not find expected '-' indicator",
			`scenarios/s.yaml:4:9: there is no group "All"; it may be what groups/all.yaml is of, which does not tell its name`,
		}},
		{"second document", map[string]string{b: good[b] + "---\nname: C\n"}, []string{
			"forms/b.yaml:6:1: a file is one YAML document; a second one starts here",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"key twice", replaced(b, "name: B", "name: B\nname: C"), []string{
			`forms/b.yaml:3:1: "name" stands twice, also in line 2`,
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"variable twice", replaced(b, "Age: {}", "Sex: {}"), []string{
			`forms/b.yaml:5:3: "Sex" stands twice, also in line 4`,
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"anchor", replaced(b, "[f, m, x]", "&c [f, m, x]"), nil},
		{"alias", map[string]string{b: good[b] + "note: &n x\nmetadata: {a: *n}\n"}, []string{
			"forms/b.yaml:7:12: the value of a must be text, not an anchor or alias (write the value out)",
		}},
		{"merge", map[string]string{b: good[b] + "metadata: {<<: {a: b}}\n"}, []string{
			"forms/b.yaml:6:12: a field's name must be plain text",
		}},
		{"tag", replaced(b, "name: B", "name: !!binary B"), []string{
			"forms/b.yaml:2:1: name must be text, not a tagged value (leave the tag out)",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"tab", replaced(b, "  Sex:", "\tSex:"), []string{
			"forms/b.yaml:4:1: it is not YAML: found character that cannot start any token",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"not UTF-8", replaced(b, "name: B", "name: \xfc"), []string{
			"forms/b.yaml:2:1: it is not UTF-8 here; convert it first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"UTF-16", map[string]string{b: "\xff\xfen\x00a\x00"}, []string{
			"forms/b.yaml:1:1: it is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"empty", map[string]string{b: ""}, []string{
			"forms/b.yaml:1:1: it is empty",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"blank", map[string]string{b: "\n\n# nothing\n"}, []string{
			"forms/b.yaml:1:1: it is empty",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"a list", map[string]string{b: "- a\n"}, []string{
			"forms/b.yaml:1:1: the form must be a mapping of fields, not a list",
			"forms/b.yaml:1:1: the file does not say what it is; its first line should be: schema: microrisk/keymap/form@1",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"control character", replaced(b, "name: B", "name: \"\\x00\""), []string{
			`forms/b.yaml:2:1: the name "\x00" has a control character; it must be one line of text`,
			`groups/all.yaml:3:1: there is no form "B"; did you mean "\x00"?`,
		}},
		{"deep", map[string]string{b: "name: " + strings.Repeat("[", 10_000)}, []string{
			"forms/b.yaml:1:1: it is not YAML: did not find expected node content",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"deep, closed", map[string]string{b: "name: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)}, []string{
			"forms/b.yaml:1:71: values are nested too deeply",
			`groups/all.yaml:3:1: there is no form "B"; it may be what forms/b.yaml is of, which does not tell its name`,
		}},
		{"group cycle", map[string]string{g: good[g] + "union: [Other]\n",
			"groups/o.yaml": "schema: microrisk/keymap/group@1\nname: Other\nminus: [All]\nforms: [A]\n"}, []string{
			"groups/all.yaml:4:1: groups are made of each other: All > Other > All",
		}},
		{"group of itself", map[string]string{g: good[g] + "union: [All]\n"}, []string{
			"groups/all.yaml:4:1: groups are made of each other: All > All",
		}},
		{"groups of two circles", map[string]string{g: good[g] + "union: [P]\nminus: [Q]\n",
			"groups/p.yaml": "schema: microrisk/keymap/group@1\nname: P\nunion: [All]\n",
			"groups/q.yaml": "schema: microrisk/keymap/group@1\nname: Q\nforms: [A]\nunion: [All]\n"}, []string{
			"groups/all.yaml:4:1: groups are made of each other: All > P > All",
			"groups/all.yaml:5:1: groups are made of each other: All > Q > All",
		}},
		{"group without forms", replaced(g, "forms: [A, B]", ""), []string{
			"groups/all.yaml:1:1: the group says no forms; it needs forms, where or union",
		}},
		{"group of an unknown form", replaced(g, "[A, B]", "[A, C]"), []string{
			`groups/all.yaml:3:1: there is no form "C"; did you mean "A"?`,
		}},
		{"group of an unknown group", map[string]string{g: good[g] + "union: [Al]\n"}, []string{
			`groups/all.yaml:4:1: there is no group "Al"; did you mean "All"?`,
		}},
		{"unknown target", replaced(s, "target: A", "target: C"), []string{
			`scenarios/s.yaml:3:1: there is no form "C"; did you mean "A"?`,
		}},
		{"no target", replaced(s, "target: A\n", ""), []string{
			"scenarios/s.yaml:1:1: the scenario has no target, the form whose data are to be released",
		}},
		{"unknown match", replaced(s, "[All]", "[Al]"), []string{
			`scenarios/s.yaml:4:9: there is no group "Al"; did you mean "All"?`,
		}},
		{"prevalence", map[string]string{s: good[s] + "prevalence: [0.5, 2]\n"}, []string{
			`scenarios/s.yaml:5:19: prevalence "2": it must be a number from 0 to 1 such as 0.25`,
		}},
		{"prevalence as a power", map[string]string{s: good[s] + "prevalence: 1e-1\n"}, []string{
			`scenarios/s.yaml:5:1: prevalence "1e-1": it must be a number from 0 to 1 such as 0.25`,
		}},
		{"unknown base", map[string]string{s: good[s] + "base: some\n"}, []string{
			`scenarios/s.yaml:5:1: base "some" is unknown; it is one of all, present`,
		}},
		{"variable that the target lacks", map[string]string{s: good[s] + "variables: [Income]\n"}, []string{
			`scenarios/s.yaml:5:1: form "A" has no variable "Income"`,
		}},
		{"values of no category", replaced(b, "{categories: [f, m, x]}", "{categories: [f, m, x], values: {q: [1]}}"), []string{
			`forms/b.yaml:4:41: values of "q": Sex has no such category`,
		}},
		{"value of two", replaced(b, "{categories: [f, m, x]}", "{categories: [f, m, x], values: {f: [1], m: [1]}}"), []string{
			`forms/b.yaml:4:49: value "1" is of f and of m`,
		}},
		{"column of two", map[string]string{b: strings.NewReplacer("x]}", "x], column: c}", "Age: {}", "Age: {column: c}").Replace(good[b])}, []string{
			`forms/b.yaml:5:9: column "c" is of "Sex" and of "Age"; a column has one variable`,
		}},
		{"missing code of a category", replaced(b, "{categories: [f, m, x]}", "{categories: [f, m, x], values: {f: [1]}, missing_codes: [1]}"), []string{
			`forms/b.yaml:4:41: value "1" is of f and a missing code`,
		}},
		{"values of a category of no form", replaced(b, "{categories: [f, m, x]}", "{categories: [f, m, x], values: {not-f: [1]}}"), []string{
			`forms/b.yaml:4:41: values of "not-f": it lies in no category of the form`,
		}},
		{"unknown scenario mode", map[string]string{s: good[s] + "mode: vague\n"}, []string{
			`scenarios/s.yaml:5:1: mode "vague" is unknown; it is one of specific, typical, multiple`,
		}},
		{"specific scenario of a group", map[string]string{s: good[s] + "mode: specific\n"}, []string{
			"scenarios/s.yaml:5:1: a specific scenario matches one form",
		}},
		{"typical scenario of a form", map[string]string{s: strings.Replace(good[s], "groups: [All]", "forms: [B]", 1) + "mode: typical\n"}, []string{
			"scenarios/s.yaml:5:1: a typical scenario matches one group",
		}},
		{"form left out that is not there", replaced(s, "[All]", "[All], exclude: [Q]"), []string{
			`scenarios/s.yaml:4:1: there is no form "Q"; did you mean "A"?`,
		}},
		{"max nodes", map[string]string{ConfigName: good[ConfigName] + "max_nodes: 0\n"}, []string{
			"microrisk-keymap.yaml:2:1: max_nodes is 0; it must be at least 1",
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, dir, good)
			writeAll(t, dir, c.files)
			r, err := Open(dir)
			require.NoError(t, err)
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.String())
			}
			require.Equal(t, c.want, got)
			for _, f := range r.Findings { // a lenient analysis goes on with what overlaps or lacks something, and with nothing else
				require.Equal(t, c.what == "not exhaustive" || c.what == "overlapping", f.Inconsistent)
			}
		})
	}
}
