package command

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/keymap"
)

// residence makes the repository of the literature's tutorial (TV-2): countries of residence, drawn step by step, and five forms.
func residence(t *testing.T) {
	t.Helper()
	folder(t)
	done := func(args ...string) {
		t.Helper()
		got := microrisk(t, args...)
		require.Zero(t, got.status, got.err)
	}
	in := func(args ...string) {
		t.Helper()
		done(append([]string{"keymap"}, append(args, "--repository", "r")...)...)
	}
	done("keymap", "init", "r", "--metadata", "Form Type")
	in("add", "variable", "Country of Residence", "--categories", "England,Scotland,Wales,Other")
	in("add", "form", "Survey X", "--variable", "Country of Residence=england,scotland,wales,other", "--metadata", "Form Type=Paper")
	in("rename", "node", "Country of Residence", "other", "Not Britain")
	in("add", "node", "Country of Residence", "Britain", "--whole", "england,scotland,wales")
	in("add", "node", "Country of Residence", "UK", "--whole", "england,scotland,wales", "--split", "other=Northern Ireland,Non UK")
	in("add", "form", "Survey Y", "--variable", "Country of Residence=england,scotland,wales,northern-ireland,non-uk", "--metadata", "Form Type=Paper")
	in("add", "form", "Survey Z", "--variable", "Country of Residence=britain,northern-ireland,non-uk", "--metadata", "Form Type=On-line")
	in("add", "form", "Survey V", "--from", "Survey Z", "--variable", "Country of Residence=uk,non-uk")
	in("add", "form", "Survey W", "--from", "Survey Z", "--variable", "Country of Residence=britain,other")
	in("add", "group", "On-line", "--where", "Form Type=On-line")
	in("add", "scenario", "Online shops", "--target", "Survey X", "--group", "On-line", "--prevalence", "0")
	in("check")
}

func TestKeymapTutorial(t *testing.T) {
	residence(t)
	for match, want := range map[string]string{"": "C4.001", "On-line": "C2.002"} {
		args := []string{"analyse", "--target", "Survey X", "--format", "json"}
		if match != "" {
			args = append(args, "--match", match)
		}
		got := microrisk(t, append([]string{"keymap"}, append(args, "-r", "r")...)...)
		require.Zero(t, got.status, got.err)
		var rows []struct {
			Variable, Code, Status string
			Supporters             []string
			Area                   float64
			AreaExact              string `json:"area_exact"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &rows))
		require.Len(t, rows, 1)
		require.Equal(t, want, rows[0].Code)
		require.Equal(t, "ok", rows[0].Status)
	}
	got := microrisk(t, "keymap", "analyse", "-r", "r", "--scenario", "Online shops")
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "Country of Residence  C2.002")
	got = microrisk(t, "keymap", "lookup", "Country of Residence", "H1.001", "-r", "r", "--format", "csv")
	require.Zero(t, got.status, got.err)
	require.Equal(t, 6, strings.Count(got.out, "\n"))
	got = microrisk(t, "keymap", "graph", "Country of Residence", "-r", "r")
	require.Equal(t, 7, strings.Count(got.out, " -> "))
	text, err := os.ReadFile("r/variables/country-of-residence.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), "former_labels: [Other]")
	got = microrisk(t, "keymap", "grid", "-r", "r", "--cells", "codes")
	require.Contains(t, got.out, "Survey W  On-line    C2.002")
}

// All forms of an answer hold the same rows.
func TestKeymapFormats(t *testing.T) {
	residence(t)
	var out []string
	for _, name := range []string{"a.csv", "a.json", "a.parquet", "a.arrow"} {
		got := microrisk(t, "keymap", "profile", "-r", "r", "--target", "Survey X", "--out", name)
		require.Zero(t, got.status, got.err)
		require.Empty(t, got.out)
		out = append(out, name)
	}
	text, err := os.ReadFile("a.csv")
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"variable", "code", "categories", "n_from", "n_to", "p_from", "p_to"}, rows[0])
	printed := microrisk(t, "keymap", "profile", "-r", "r", "--target", "Survey X", "--format", "csv")
	require.Equal(t, string(text), printed.out)
	for _, name := range out[2:] {
		got := microrisk(t, "inspect", name)
		require.Zero(t, got.status, got.err)
	}
	require.Zero(t, microrisk(t, "keymap", "report", "-r", "r", "--target", "Survey X", "--out", "a.html").status)
	require.Zero(t, microrisk(t, "keymap", "export", "-r", "r", "--out", "all.json").status)
}

func TestKeymapWrong(t *testing.T) {
	residence(t)
	v := "Country of Residence"
	for says, args := range map[string][]string{
		"is no repository of forms: it has no microrisk-keymap.yaml":            {"keymap", "check", "-r", "elsewhere"},
		"say whose data are to be released":                                     {"keymap", "analyse", "-r", "r"},
		`there is no form "Survey Q"; did you mean "Survey`:                     {"keymap", "analyse", "-r", "r", "--target", "Survey Q"},
		`there is no group or form "On-lin"; did you mean "On-line"?`:           {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--match", "On-lin"},
		`prevalence "1.5": it must be a number from 0 to 1`:                     {"keymap", "analyse", "-r", "r", "--target", "Survey X", "-p", "1.5"},
		`--base is "some"; it is all or present`:                                {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--base", "some"},
		`--area is "x"`:                                                         {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--area", "x"},
		`form "Survey X" has no variable "Age"`:                                 {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--variables", "Age"},
		`there is no scenario "Shops"`:                                          {"keymap", "analyse", "-r", "r", "--scenario", "Shops"},
		`there is no scenario "Online shop"; did you mean "Online shops"?`:      {"keymap", "analyse", "-r", "r", "--scenario", "Online shop"},
		`--format is "xml"; it is table, json or csv`:                           {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--format", "xml"},
		"cannot tell the format of a.txt by its name":                           {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--out", "a.txt"},
		"has no code C9.001; its codes are C2.001, C2.002":                      {"keymap", "lookup", v, "C9.001", "-r", "r"},
		"takes VARIABLE CODE":                                                   {"keymap", "lookup", v, "-r", "r"},
		`there is no command "foo"; the commands are init`:                      {"keymap", "foo"},
		`there is no command "analyes"; did you mean analyse?`:                  {"keymap", "analyes"},
		`there is no command "frm"; did you mean form?`:                         {"keymap", "add", "frm"},
		`r is a repository already`:                                             {"keymap", "init", "r"},
		`--min-forms is 0; it must be at least 1`:                               {"keymap", "keys", "-r", "r", "--target", "Survey X", "--min-forms", "0"},
		`the match set has no forms`:                                            {"keymap", "analyse", "-r", "r", "--target", "Survey X", "--match", "Survey X"},
		"--kind is \"tree\"; it is partition or harmonization":                  {"keymap", "graph", v, "-r", "r", "--kind", "tree"},
		`"node" cannot be removed`:                                              {"keymap", "remove", "node", "x", "-r", "r"},
		`there is a variable "Country of Residence"; if "Country of residence"`: {"keymap", "add", "variable", "Country of residence", "--categories", "a,b", "-r", "r"},
		"category Britain: nothing is said":                                     {"keymap", "add", "node", v, "Britain", "--id", "Britain", "-r", "r"},
		"is no smallest category":                                               {"keymap", "add", "node", v, "Great Britain", "--whole", "britain", "-r", "r"},
		"category northern-ireland is just that already":                        {"keymap", "add", "node", v, "Ulster", "--whole", "northern-ireland", "-r", "r"},
		"microrisk keymap add form takes FORM":                                  {"keymap", "add", "form", "-r", "r"},
		"--metadata Kind: it must be NAME=VALUE":                                {"keymap", "add", "form", "Survey X", "--metadata", "Kind", "-r", "r"},
		"--where =on: it must be NAME=VALUE":                                    {"keymap", "add", "group", "G", "--where", "=on", "-r", "r"},
		"--categories a,,b: a category has no label":                            {"keymap", "add", "variable", "Sex", "--categories", "a,,b", "-r", "r"},
		"--categories a,b,a: a is named twice":                                  {"keymap", "add", "variable", "Sex", "--categories", "a,b,a", "-r", "r"},
		"say --any Age":                                                         {"keymap", "add", "form", "Survey X", "--variable", "Age", "-r", "r"},
	} {
		got := microrisk(t, args...)
		assert.Equal(t, ExitWrong, got.status, "%v: %s", args, got.err)
		assert.Contains(t, got.err, says, "%v", args)
	}
}

// What a change would make wrong is refused with its place, and nothing is changed.
func TestKeymapRefusesChanges(t *testing.T) {
	residence(t)
	before := texts(t, "r")
	v := "Country of Residence"
	for says, args := range map[string][]string{
		"do not cover wales":                             {"add", "form", "Survey U", "--variable", v + "=england,scotland,other"},
		"the categories overlap in england":              {"add", "form", "Survey U", "--variable", v + "=britain,england,other"},
		"there is no category narnia":                    {"add", "form", "Survey U", "--variable", v + "=narnia"},
		`there is no variable "Age"`:                     {"add", "form", "Survey U", "--any", "Age"},
		`form "Survey U" has no variables`:               {"add", "form", "Survey U"},
		"the categories overlap in northern-ireland":     {"add", "edge", v, "britain", "northern-ireland"},
		"categories are parts of themselves":             {"add", "edge", v, "england", "britain"},
		`there is no form "Survey X"`:                    {"remove", "form", "Survey X"},
		`there is no variable "Country of Residence"`:    {"remove", "variable", v},
		"groups are made of each other: A > On-line > A": {"add", "group", "On-line", "--union", "A"},
	} {
		if strings.Contains(says, "made of each other") {
			got := microrisk(t, "keymap", "add", "group", "A", "--union", "On-line", "-r", "r")
			require.Zero(t, got.status, got.err)
			defer func(args []string) {
				got := microrisk(t, append([]string{"keymap"}, append(args, "-r", "r")...)...)
				assert.Contains(t, got.err, says)
			}(args)
			continue
		}
		got := microrisk(t, append([]string{"keymap"}, append(args, "-r", "r")...)...)
		assert.Equal(t, ExitFailed, got.status, "%v", args)
		assert.Contains(t, got.err, "nothing was changed", "%v", args)
		assert.Contains(t, got.err, says, "%v", args)
	}
	after := texts(t, "r")
	delete(after, "groups/a.yaml")
	require.Equal(t, before, after)
}

// texts are all files of a folder.
func texts(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

func TestKeymapRenames(t *testing.T) {
	residence(t)
	for _, args := range [][]string{
		{"rename", "form", "Survey X", "Census"},
		{"rename", "variable", "Country of Residence", "Country"},
		{"rename", "group", "On-line", "Shops"},
		{"rename", "scenario", "Online shops", "Shopping"},
		{"review", "Country", "--effective-levels", "2", "--note", "few can tell"},
	} {
		got := microrisk(t, append([]string{"keymap"}, append(args, "-r", "r")...)...)
		require.Zero(t, got.status, "%v: %s", args, got.err)
	}
	got := microrisk(t, "keymap", "analyse", "-r", "r", "--scenario", "Shopping")
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "Census beside 3 forms")
	require.Contains(t, got.out, "Country   C2.002")
	got = microrisk(t, "keymap", "review", "Country", "-r", "r")
	require.Equal(t, "note: few can tell\neffective_levels: 2\n", strings.ReplaceAll(got.out, `"few can tell"`, "few can tell"))
	require.Zero(t, microrisk(t, "keymap", "check", "-r", "r").status)
}

func TestKeymapCheck(t *testing.T) {
	residence(t)
	got := microrisk(t, "keymap", "check", "Country of Residence", "uk", "britain", "-r", "r")
	require.Equal(t, ExitFailed, got.status)
	require.Contains(t, got.err, "do not cover non-uk; the categories overlap in england (in uk and britain)")
	require.Zero(t, microrisk(t, "keymap", "check", "Country of Residence", "uk", "non-uk", "-r", "r").status)
	require.NoError(t, os.WriteFile("r/forms/new.yaml", []byte("schema: microrisk/keymap/form@1\nname: Survey X\nvariabels: {}\n"), 0o666))
	require.NoError(t, os.WriteFile("r/forms/.survey-z.yaml.unfinished", nil, 0o666))
	got = microrisk(t, "keymap", "check", "-r", "r")
	require.Equal(t, ExitFailed, got.status)
	require.Contains(t, got.out, `forms/new.yaml:3:1: the form has no field "variabels"; did you mean variables?`)
	require.Contains(t, got.out, "forms/.survey-z.yaml.unfinished: a change that was not finished left this, which would have become forms/survey-z.yaml")
	got = microrisk(t, "keymap", "analyse", "--target", "Survey X", "-r", "r")
	require.Equal(t, ExitWrong, got.status)
	require.Contains(t, got.err, "the repository cannot be used as it is")
}

// The published output of a real run (TV-7), of which nothing but the format can be had: a variable and its code a line.
func TestKeymapTable(t *testing.T) {
	text, err := os.ReadFile("../../engine/keymap/testdata/vectors.json")
	require.NoError(t, err)
	var vectors struct {
		Sample [][2]*string `json:"real_run_format_sample"`
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.Len(t, vectors.Sample, 15)
	got := tableText(&keymap.Table{Rows: len(vectors.Sample), Columns: []keymap.Column{
		{Name: "variable", Text: func(i int) *string { return vectors.Sample[i][0] }},
		{Name: "code", Text: func(i int) *string { return vectors.Sample[i][1] }},
	}})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	require.Len(t, lines, 16)
	require.Equal(t, []string{"variable", "code"}, strings.Fields(lines[0]))
	for i, row := range vectors.Sample {
		want := "-"
		if row[1] != nil {
			want = *row[1]
		}
		require.Equal(t, *row[0]+strings.Repeat(" ", 39-len(*row[0]))+"  "+want, lines[i+1])
	}
}
