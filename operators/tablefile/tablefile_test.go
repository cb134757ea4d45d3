package tablefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
	"microrisk/schemas/specfile"
)

// shape writes a tree as lines of codes, a blank for each level.
func shape(t *tabular.Tree) string {
	var lines []string
	var walk func(n int)
	walk = func(n int) {
		if n > 0 {
			lines = append(lines, strings.Repeat(" ", t.Nodes[n].Level-1)+t.Nodes[n].Code.String())
		}
		for _, c := range t.Nodes[n].Children {
			walk(c)
		}
	}
	walk(0)
	return strings.Join(lines, "\n")
}

const regions = "Nr\n 1\n 2\n 3\nOs\n 4\n99"

func TestParseHRC(t *testing.T) {
	for _, text := range []string{"Nr\n@1\n@2\n@3\nOs\n@4\n99\n", "\ufeffNr\r\n@1\r\n@2\r\n@ 3\r\n\r\nOs\r\n@4\r\n99"} {
		tree, err := ParseHRC("r.hrc", []byte(text), "Region", DefaultLead, false)
		require.NoError(t, err)
		require.Equal(t, regions, shape(tree))
		require.Equal(t, "Region", tree.Name)
	}
	tree, err := ParseHRC("r.hrc", []byte("a\n..b\n....c\n..d"), "x", "..", false)
	require.NoError(t, err)
	require.Equal(t, "a\n b\n  c\n d", shape(tree))
	tree, err = ParseHRC("r.hrc", []byte("a\n@x\nb\n@x"), "x", "@", true)
	require.NoError(t, err)
	require.Equal(t, "a\n x\nb\n x", shape(tree))
	for text, says := range map[string]string{
		"Nr\n@@1": "r.hrc:2: the code \"1\" is at level 3", "@1": "r.hrc:1: the code \"1\" is at level 2", "Nr\n@": "r.hrc:2: there is no code", "\n": "r.hrc " +
			"has no code",
		"a\n@x\nb\n@x": "r.hrc:4: the code \"x\" stands in line 2 too", "a\n@\xff": "r.hrc:2: it is not UTF-8",
	} {
		_, err := ParseHRC("r.hrc", []byte(text), "x", "@", false)
		require.ErrorContains(t, err, says)
	}
}

// csvTree is the tree of a hierarchy in CSV.
func csvTree(text string, paths bool) (*tabular.Tree, error) {
	h, err := ReadHierarchy("r.csv", []byte(text), DefaultLead, paths)
	if err != nil {
		return nil, err
	}
	return h.Tree("Region", "Total")
}

func TestTreeOfParents(t *testing.T) {
	tree, err := csvTree("code,parent\n1,Nr\nNr,Total\n2,Nr\n3,Nr\nOs,\n4,Os\n99,Total\n", false)
	require.NoError(t, err)
	require.Equal(t, regions, shape(tree))
	for says, text := range map[string]string{
		`r.csv:4: the code "1" is below "b", and below "a" (r.csv:3)`: "code,parent\n\n1,a\n1,b\n",
		`r.csv:3: the code "a" stands there twice (r.csv:2)`:          "code,parent\na,\na,\n",
		`r.csv:2: there is no code`:                                   "code,parent\n,a\n",
		`r.csv:2: the parent "c" of "a" has no row`:                   "code,parent\na,c\n",
		`r.csv:2: "a" is below itself: a, below b, below a`:           "code,parent\na,b\nb,a\n",
		`r.csv:2: "a" is below itself: a, below a`:                    "code,parent\na,a\n",
		`r.csv:2: the code "Total" is that of the total`:              "code,parent\nTotal,\n",
		`r.csv has no code`:                                           "code,parent\n",
	} {
		_, err := csvTree(text, false)
		require.ErrorContains(t, err, says)
	}
}

func TestTreeOfLevels(t *testing.T) {
	tree, err := csvTree("A10,A21,A88\nAZ,A,01\nAZ,A,02\nBE,B,06\nBE,C,C\nFZ,FZ,41\n", false)
	require.NoError(t, err)
	require.Equal(t, "AZ\n A\n  01\n  02\nBE\n B\n  06\n C\nFZ\n 41", shape(tree))
	const twice = "l1,l2\nAZ,X\nBE,X\n"
	_, err = csvTree(twice, false)
	require.ErrorContains(t, err, `r.csv:3: the code "X" is below BE, and below AZ too`)
	tree, err = csvTree(twice, true)
	require.NoError(t, err)
	require.Equal(t, "AZ\n X\nBE\n X", shape(tree))
	_, err = csvTree("l1,l2\na,\n", false)
	require.ErrorContains(t, err, "r.csv:2: there is no code of level 2")
}

// outlineTree is the tree of a hierarchy in YAML.
func outlineTree(text string, paths bool) (*tabular.Tree, error) {
	root, err := specfile.ParseOther("r.yaml", "the hierarchy", []byte(text), 1<<20)
	if err != nil {
		return nil, err
	}
	return OutlineHierarchy("r.yaml", root, paths).Tree("Region", "Total")
}

func TestTreeOfOutline(t *testing.T) {
	for _, text := range []string{
		"Total: {Nr: [1, 2, 3], Os: [4], 99: }", "Nr: {1: , 2: , 3: }\nOs: 4\n99:\n", "- Nr: [1, 2, 3]\n- Os: [4]\n- 99\n", `{"Nr": ["1", "2", "3"], "Os": "4", "99": null}`,
	} {
		tree, err := outlineTree(text, false)
		require.NoError(t, err, text)
		require.Equal(t, regions, shape(tree), text)
	}
	tree, err := outlineTree("01: [NO, 1e3, 1_000, 0x10, 1.50, on, ~a]\n1: [010, 'null', 2020-01-01]\n", false) // as it is written
	require.NoError(t, err)
	require.Equal(t, "01\n NO\n 1e3\n 1_000\n 0x10\n 1.50\n on\n ~a\n1\n 010\n null\n 2020-01-01", shape(tree))
	tree, err = outlineTree("a: [x]\nb: [x]\n", true)
	require.NoError(t, err)
	require.Equal(t, "a\n x\nb\n x", shape(tree))
	for text, says := range map[string]string{
		"a: [x]\nb: [x]":         `r.yaml:2: the code "x" is below b, and below a too (line 1)`,
		"a:\n- x\n- x":           `r.yaml:3: the code "x" stands in line 2 too`,
		"a:\n  b:\n    c: [a]":   `r.yaml:3: "a" is below itself`,
		"a: [a]":                 `r.yaml:1: "a" is below itself`,
		"a: [b]\nTotal: [c]":     `r.yaml has the code "Total", which names the total over all`,
		"a: [[b]]":               "r.yaml:1: there is no code where one should be",
		"a: ['']":                "r.yaml:1: there is no code",
		"a: [b, ~]":              "r.yaml:1: there is no code where one should be",
		"a: &x [b]\nc: *x":       "r.yaml:1: there is an anchor or alias",
		"":                       "r.yaml:1:1: the hierarchy is empty",
		"Total:":                 "r.yaml has no code",
		"a: {":                   "the hierarchy is not YAML",
		"a: [\xff]":              "the hierarchy is not UTF-8",
		"a: [b]\n---\nc: [d]":    "r.yaml:3:1: the hierarchy is one YAML document",
		strings.Repeat("[", 100): "too deeply",
	} {
		_, err := outlineTree(text, false)
		require.ErrorContains(t, err, says, text)
	}
	tree, err = outlineTree("a: [x, {b: [x]}]", true)
	require.NoError(t, err)
	require.Len(t, tree.Nodes, 5)
	_, err = outlineTree("a: [x, {b: [x]}, x]", true)
	require.ErrorContains(t, err, `the code "x" stands in line 1 too`)
}

func TestParseRecode(t *testing.T) {
	ages := []string{"10", "11", "12", "13", "14", "15", "16", "17", "18"}
	list, kept, err := ParseRecode("a.grc", []byte("1:10-12\n2:13-15\n3:16-18\n"), ages)
	require.NoError(t, err)
	require.Empty(t, kept)
	require.Equal(t, []Recode{{"1", ages[:3]}, {"2", ages[3:6]}, {"3", ages[6:]}}, list)
	list, kept, err = ParseRecode("a.grc", []byte("young: -11\nold : 17 - , 14\n"), ages)
	require.NoError(t, err)
	require.Equal(t, []string{"12", "13", "15", "16"}, kept)
	require.Equal(t, []Recode{{"young", ages[:2]}, {"old", []string{"14", "17", "18"}}}, list)
	list, _, err = ParseRecode("a.grc", []byte("x:a-b-c-d\ny:-e"), []string{"-e", "a-b", "c-d"})
	require.NoError(t, err)
	require.Equal(t, []Recode{{"x", []string{"a-b", "c-d"}}, {"y", []string{"-e"}}}, list)
	for text, says := range map[string]string{
		"1:10-12\n2:12":  `a.grc:2: "12" becomes "2", and has a new code in line 1`,
		"1:10-19":        `a.grc:1: "10-19" is no code`,
		"1:12-10":        `the range "12-10" is empty`,
		"1:10,,11":       "there is no code where one",
		"10-12":          "is no recode",
		"1:10\n1:11":     `the new code "1" stands in line 1 too`,
		"11:10":          `the new code "11" is a code that stays`,
		"1:-":            `"-" is no code`,
		":10":            "is no recode",
		"1:10 11":        `"10 11" is no code`,
		"2:13-15\nl:10-": `a.grc:2: "13" becomes "l"`,
	} {
		_, _, err := ParseRecode("a.grc", []byte(text), ages)
		require.ErrorContains(t, err, says, text)
	}
}

// TV-N1: two age bands of T-DIS of Miller 2005 become one.
func TestRecodedCounts(t *testing.T) {
	ages := []string{"0-16", "17-24", "25-35"}
	counts := map[string][]int{"0-16": {72, 12, 84}, "17-24": {75, 3, 78}, "25-35": {89, 1, 90}}
	for _, text := range []string{"17-35:17-24-25-35", "17-35: 17-24, 25-35", "17-35:17-24-"} {
		list, kept, err := ParseRecode("a.grc", []byte(text), ages)
		require.NoError(t, err)
		require.Equal(t, []string{"0-16"}, kept)
		require.Equal(t, []Recode{{"17-35", ages[1:]}}, list)
		sum := make([]int, 3)
		for _, m := range list[0].Members {
			for k, n := range counts[m] {
				sum[k] += n
			}
		}
		require.Equal(t, []int{164, 4, 168}, sum)
	}
}

func TestParseAPriori(t *testing.T) {
	for _, separator := range []string{",", ";", "\t", " , "} {
		text := strings.ReplaceAll("Nr;4;u\n\"Zd\";6;P\nTotal;5;s\n4;5;c;10.5\n8;18;pl;2;7\n", ";", separator)
		list, err := ParseAPriori("a.hst", []byte(text), 2)
		require.NoError(t, err)
		cost, low, high := 10.5, 2.0, 7.0
		require.Equal(t, []Setting{{Line: 1, Codes: []string{"Nr", "4"}, Set: "unsafe"}, {Line: 2, Codes: []string{"Zd", "6"}, Set: "protected"},
			{Line: 3, Codes: []string{"Total", "5"}, Set: "safe"}, {Line: 4, Codes: []string{"4", "5"}, Cost: &cost},
			{Line: 5, Codes: []string{"8", "18"}, Lower: &low, Upper: &high}}, list)
	}
	for text, says := range map[string]string{
		"a,b": "a.hst:1: \"a,b\" has fewer than the 2 codes", "a,b,x": `the status "x" is none of`, "a,b,c": "c has 0 numbers, and needs 1", "a,b,c,-1": `"-1" is no number`,
		"a,b,u,1": `there is more after "u"`, "a,b,u\na,b": "a.hst:2: there are 2 fields", "a,b,pl,1": "pl has 1 numbers, and needs 2", "a,b,c,NaN": "is no number",
	} {
		_, err := ParseAPriori("a.hst", []byte(text), 2)
		require.ErrorContains(t, err, says, text)
	}
}

// FuzzText gives any text to all readers: they never panic, and what they give has no code twice below one parent.
func FuzzText(f *testing.F) {
	for _, s := range []string{"Nr\n@1\n@2\nOs", "1:10-12\n2:13-", "a;b;u\nc;d;pl;1;2", "@", ":", "a-b:-", "\ufeff", "a: [b, {c: d}]",
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"a":"T","b":"a"}}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if tree, err := ParseHRC("x", []byte(s), "v", "@", false); err == nil {
			require.Greater(t, len(tree.Nodes), 1)
		}
		codes := []string{"10", "11", "12", "a-b", "c"}
		if list, kept, err := ParseRecode("x", []byte(s), codes); err == nil {
			n := len(kept)
			for _, r := range list {
				n += len(r.Members)
			}
			require.Equal(t, len(codes), n)
		}
		_, _ = ParseAPriori("x", []byte(s), 2)
		if structure, err := ReadStructure("x", s); err == nil && structure != nil {
			for _, v := range structure.Variables {
				if tree, err := structure.Tree("x", v.Name); err == nil && tree != nil {
					require.Equal(t, len(v.Parents)+1, len(tree.Nodes))
				}
			}
		}
		if tree, err := outlineTree(s, false); err == nil {
			for _, at := range tree.Places() {
				require.Len(t, at, 1)
			}
		}
	})
}

// The hierarchies of other programs' examples, which are outside the repository (MICRORISK_DATA).
func TestForeignHierarchies(t *testing.T) {
	data := os.Getenv("MICRORISK_DATA")
	if data == "" {
		t.Skip("MICRORISK_DATA names a folder with the examples of other programs")
	}
	for _, name := range []string{"argus_hier_ent_act", "argus_hier_ent_region", "argus_hier_testw_region"} {
		text, err := os.ReadFile(filepath.Join(data, "tables", name+".csv"))
		require.NoError(t, err)
		h, err := ReadHierarchy(name+".csv", text, DefaultLead, false)
		require.NoError(t, err)
		tree, err := h.Tree("v", "Total")
		require.NoError(t, err)
		require.Len(t, tree.Nodes, len(h.rows.list)+1)
		require.Equal(t, 2, tree.Depth(), fmt.Sprint(name))
	}
}

func TestReadHierarchy(t *testing.T) {
	for name, text := range map[string]string{
		"r.hrc": "Nr\n@1\n@2\n@3\nOs\n@4\n99", "r.csv": "code,parent,level\nNr,Total,1\n1,Nr,2\n2,Nr,2\n3,Nr,2\nOs,Total,1\n4,Os,2\n99,Total,1\n",
		"levels.csv": "area;region\nNr;1\nNr;2\nNr;3\nOs;4\n99;99\n",
	} {
		h, err := ReadHierarchy(name, []byte(text), "@", false)
		require.NoError(t, err)
		tree, err := h.Tree("Region", "Total")
		require.NoError(t, err)
		require.Equal(t, regions, shape(tree), name)
	}
	for text, says := range map[string]string{"": "r.csv is empty", "code,parent\na": "wrong number of fields", "\xff": "not UTF-8"} {
		_, err := ReadHierarchy("r.csv", []byte(text), "@", false)
		require.ErrorContains(t, err, says)
	}
}

func TestReadSettings(t *testing.T) {
	s, err := ReadSettings(
		"o.csv",
		[]byte("sex,area,set,cost,lower,reason,name\nf,Nr,unsafe,,2,asked for,A. B.\nm,Total,protected,,,,\nm,1,,7,,,\n"),
		[]string{"area", "sex"},
		"Total",
	)
	require.NoError(t, err)
	two, seven := 2.0, 7.0
	require.Equal(t, []Setting{{Line: 2, Codes: []string{"Nr", "f"}, Set: "unsafe", Lower: &two, Reason: "asked for", Name: "A. B."},
		{Line: 3, Codes: []string{"Total", "m"}, Set: "protected"}, {Line: 4, Codes: []string{"1", "m"}, Cost: &seven}}, s.List)
	s, err = ReadSettings("o.hst", []byte("Nr,f,u"), []string{"area", "sex"}, "Total")
	require.NoError(t, err)
	require.Equal(t, []Setting{{Line: 1, Codes: []string{"Nr", "f"}, Set: "unsafe"}}, s.List)
	for text, says := range map[string]string{
		"area,set\nNr,safe": `o.csv has no column "sex"`, "area,sex,sett\na,b,c": `a column "sett"`, "area,sex,set\na,b,sure": `o.csv:2: a cell is set "sure"`,
		"area,sex,cost\na,b,-1": `o.csv:2: cost is "-1"`, "area,area,sex\na,b,c": `a column "area"`,
	} {
		_, err := ReadSettings("o.csv", []byte(text), []string{"area", "sex"}, "Total")
		require.ErrorContains(t, err, says)
	}
}

// Recodes that are written are read as they were, whatever their codes are.
func TestFormatRecodes(t *testing.T) {
	codes := []string{"a", "b, c", `"d"`, `e "f", g`, "1-2", " x", "h:i", `,"`, `"`}
	rapid.Check(t, func(t *rapid.T) {
		names := map[int]string{}
		members := map[int][]string{}
		for _, c := range codes {
			k := rapid.IntRange(0, 4).Draw(t, "new code")
			members[k] = append(members[k], c)
			names[k] = fmt.Sprint("new", k)
		}
		var list []Recode
		for k := range 4 { // those of 4 stay
			if len(members[k]) > 0 {
				list = append(list, Recode{names[k], members[k]})
			}
		}
		text, err := FormatRecodes(list)
		require.NoError(t, err)
		got, kept, err := ParseRecode("r.grc", text, codes)
		require.NoError(t, err, string(text))
		require.Equal(t, list, got)
		require.Equal(t, members[4], kept)
	})
	_, err := FormatRecodes([]Recode{{"a:b", nil}})
	require.ErrorContains(t, err, "cannot be a new one")
	_, err = FormatRecodes([]Recode{{"a", []string{"b\nc"}}})
	require.ErrorContains(t, err, "has a line end")
	_, _, err = ParseRecode("r.grc", []byte(`x:"a,b`), []string{`"a`, "b"}) // no quotes that end
	require.NoError(t, err)
}
