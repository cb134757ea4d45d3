package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/keymap/repository"
)

// fresh is a fresh current folder with an empty repository r and some files.
func fresh(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	_, err := repository.Init("r", &repository.Config{})
	require.NoError(t, err)
	writeTexts(t, texts)
}

func writeTexts(t *testing.T, texts map[string]string) {
	t.Helper()
	for path, text := range texts {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

func done(t *testing.T, command string) result {
	t.Helper()
	got := microrisk(t, strings.Fields(command)...)
	require.Zero(t, got.status, got.err)
	return got
}

const people = "AGE,Sex,code,Grade,price,note\n16,F,-9,A,1.5,\"\"\n99,M,2,A-,2.5,x y\n18,m,1,<5,,Zoë\n19,f,1,5,0.5,\n"

func TestKeymapImport(t *testing.T) {
	fresh(t, map[string]string{"people.csv": people})
	dry := done(t, "keymap import people.csv -r r --codes code --missing-codes -9 --dry-run")
	require.NoDirExists(t, "r/forms")
	got := done(t, "keymap import people.csv -r r --codes code --missing-codes -9")
	require.Contains(t, got.out, "AGE     AGE            4  written in\n")
	require.Contains(t, got.out, "Grade   Grade          4  4 categories\n")
	require.Contains(t, got.out, "left out: price\n  floating point")
	require.Contains(t, got.out, "microrisk keymap analyse -r r --target people\n")
	texts := texts(t, "r")
	for path, text := range texts {
		if path != repository.ConfigName {
			require.Contains(t, dry.out, "# "+path+" would be\n"+text)
		}
	}
	require.Equal(t, `schema: "microrisk/keymap/form@1"
name: people
note: "Drafted from the columns of people.csv."
variables:
  AGE: {categories: [], column: AGE}
  Sex: {categories: [f-2, m-2, f, m], column: Sex, values: {f: [f], f-2: [F], m: [m], m-2: [M]}}
  code:
    categories: ["1", "2"]
    column: code
    values: {"1": ["1"], "2": ["2"]}
    missing_codes: ["-9"]
  Grade:
    categories: ["5", "5-2", a, a-2]
    column: Grade
    values: {"5": ["5"], "5-2": ["<5"], a: [A], a-2: [A-]}
  note:
    categories: [empty, zo, x-y]
    column: note
    values: {empty: [""], x-y: ["x y"], zo: ["Zoë"]}
`, texts["forms/people.yaml"])
	require.Contains(t, texts["variables/grade.yaml"], `{id: "5-2", label: "<5"}`)
	require.Contains(t, texts["variables/age.yaml"], "scale: interval\n")
	require.Contains(t, texts["variables/age.yaml"], "assumed_levels: 4\n")
	done(t, "keymap check -r r")

	// Another file of the same people has its values in the same categories, and the keys can be run.
	writeTexts(t, map[string]string{"more.csv": "age,SEX,grade\n44,m,a\n45,F,<5\n46,F,A-\n"})
	got = done(t, "keymap import more.csv -r r")
	require.Contains(t, got.out, "age     AGE            3  written in, of the repository\n")
	require.Contains(t, got.out, "SEX     Sex            2  4 categories, of the repository\n")
	require.Contains(t, got.out, "SEX: no value is f, M")
	require.Contains(t, got.out, "grade: no value is 5")
	require.Contains(t, string(read(t, "r/forms/more.yaml")), `values: {"5-2": ["<5"], a: [a], a-2: [A-]}`)
	done(t, "keymap analyse -r r --target people --spec s.yaml --data people.csv")
	done(t, "run s.yaml")
	done(t, "keymap analyse -r r --target people --match more --recode-a a.yaml --recode-b b.yaml --data people.csv --data-b more.csv")
	require.Equal(t, texts["variables/sex.yaml"], string(read(t, "r/variables/sex.yaml")), "what is there stays")
	require.Equal(t, texts["forms/people.yaml"], string(read(t, "r/forms/people.yaml")))
}

// Floating-point numbers may have missing codes too.
func TestKeymapImportFloats(t *testing.T) {
	fresh(t, map[string]string{"f.csv": "p,q\n1.5,a\n-9,b\n7,b\n"})
	done(t, "keymap import f.csv -r r --columns p --bands p=0,2,inf --missing-codes -9")
	require.Contains(t, string(read(t, "r/forms/f.yaml")), `p: {categories: ["0-2", "2-inf"], column: p, missing_codes: ["-9"]}`)
	done(t, "keymap analyse -r r --target f --match f --include-target --spec s.yaml --data f.csv")
	done(t, "run s.yaml")
	require.Contains(t, string(read(t, "f.risk.csv")), "\n-9,b,,")
}

func TestKeymapImportBands(t *testing.T) {
	fresh(t, map[string]string{"people.csv": people, "text/part=1/a.csv": "age\n-1\n9\n", "text/part=2/a.csv": "age\n10\n97\n"})
	done(t, "keymap import people.csv -r r --name A --columns Age=AGE,price --bands AGE=10 --bands price=0,1,inf")
	all := texts(t, "r")
	require.Contains(t, all["variables/age.yaml"], `  - {id: "0-20", lo: 0, hi: 20}`)
	require.Contains(t, all["variables/age.yaml"], `  - {id: "90-inf", lo: 90, hi: inf}`)
	require.Contains(t, all["variables/price.yaml"], `  - {id: "1-inf", lo: 1, hi: inf}`)
	require.Contains(t, all["forms/a.yaml"], `price: {categories: ["0-1", "1-inf"], column: price}`)
	got := done(t, "keymap analyse -r r --target A --match A --include-target --spec s.yaml --data people.csv")
	require.Contains(t, got.out, "C9.001")
	done(t, "run s.yaml")

	done(t, "keymap import people.csv -r r --name B --columns Age=AGE") // numbers that lie in the bands of the repository
	done(t, "keymap import people.csv -r r --name C --columns Age=AGE --bands AGE=0,20,30,40,50,60,70,80,90,inf")
	got = done(t, "keymap import text -r r --bands age=50 --columns years=age,part")
	require.Contains(t, got.out, "age     years          4  3 bands\n")
	require.Contains(t, texts(t, "r")["variables/years.yaml"], `{id: minf-0, lo: "-inf", hi: 0}`)
	refused(t, map[string]string{
		"keymap import people.csv -r r --name D --columns Age=AGE --bands AGE=5": `the variable "Age" of the repository has no band 20-25, which can be added`,
		"keymap import text -r r --name D --columns age --bands age=50":          `no band minf-0: its bands cover x >= 0, and a variable in use gets no wider`,
	}, ExitWrong)
	refused(t, map[string]string{
		"keymap import text -r r --name D --columns age": `variable "Age", in variables/age.yaml, has no band for 1 value of the column "age": "-1"`,
	}, ExitFailed)
}

// Labels of bands in data are read with the step between numbers: what is missing between two is a band too, and other labels of the same
// bands are taken for them.
func TestKeymapImportSteps(t *testing.T) {
	fresh(t, map[string]string{
		"a.csv": "Age\n16-20\nunder 16\n25-64\n65+\n", "b.csv": "Age\n0-15\n16 to 20\n65 and over\n", "c.csv": "Age\n0-16\n",
	})
	require.Contains(t, done(t, "keymap import a.csv -r r --dry-run").out, `Age: "16-20" and "25-64" look like bands of numbers; --step Age=1 reads them as`)
	got := done(t, "keymap import a.csv -r r --step Age=1")
	require.Contains(t, got.out, "5 bands")
	require.Contains(t, got.out, "Age: no value is 21-25\n")
	refused(t, map[string]string{
		"keymap import b.csv -r r":              `"0-15", "16 to 20", "65 and over"; if they are bands of whole numbers, say --step Age=1`,
		"keymap import b.csv -r r --step Age=2": `has no band for 2 values of the column "Age": "0-15", "16 to 20"`,
	}, ExitFailed)
	got = done(t, "keymap import b.csv -r r --step Age=1")
	require.Contains(t, got.out, `"16 to 20" is 16 <= x < 21`)
	all := texts(t, "r")
	require.Contains(t, all["variables/age.yaml"], `{id: "16-21", label: "16-20", lo: 16, hi: 21}`)
	require.Contains(t, all["forms/a.yaml"], `values: {"0-16": ["under 16"], "16-21": ["16-20"], "25-65": ["25-64"], "65-inf": ["65+"]}`)
	require.Contains(t, all["forms/b.yaml"], `categories: ["0-16", "16-21", "21-25", "25-65", "65-inf"]`)
	done(t, "keymap analyse -r r --target a --spec s.yaml --data a.csv")
	done(t, "run s.yaml")

	// A label that is called as the id of a band is that band, and it is said which one that is.
	require.Contains(t, done(t, "keymap import c.csv -r r").out, `"0-16" is 0 <= x < 16`)
}

func TestKeymapImportRefuses(t *testing.T) {
	fresh(t, map[string]string{
		"people.csv": people, "floats.csv": "a,b\n1.5,2.5\n", "none.csv": "", "header.csv": "a,b\n", "bytes.csv": "a\n\xff\n", "empty.csv": "a,b\nx,\n",
		"words.csv": "a\n1\nmany\n", "long.csv": "form,variable,category\nA,x,y\n", "r/forms/old.yaml": "schema: microrisk/keymap/form@1\nname: Old\n" +
			"variables: {Sex: {}}\n",
		"r/variables/sex.yaml": "schema: microrisk/keymap/variable@1\nname: Sex\nnodes: [{id: f}, {id: both}, {id: m}]\nedges: [[both, f]]\n",
		"ab.csv":               "Sex\nf\nboth\nm\n", "two.csv": "Sex,sex\nf,m\n", "three.csv": "Sex\nf\nm\nx\ny\n",
	})
	before := texts(t, "r")
	refused(t, map[string]string{
		"keymap import -r r":                                         "name a file",
		"keymap import people.csv -r elsewhere":                      "microrisk keymap init makes one",
		"keymap import people.csv -r r --columns sge":                `there is no column "sge"`,
		"keymap import people.csv -r r --columns Sexx":               `there is no column "Sexx"; did you mean "Sex"?`,
		"keymap import people.csv -r r --columns AGE,AGE":            `columns: "AGE" stands twice`,
		"keymap import people.csv -r r --columns price":              `column "price": floating point: measured, and hardly the same anywhere else; give it bands, as in --bands price=`,
		"keymap import people.csv -r r --columns AGE --codes code":   `codes: the column "code" is not among the columns that are named`,
		"keymap import people.csv -r r --codes price":                "numbers that are codes are whole",
		"keymap import people.csv -r r --codes AGE --bands AGE=5":    "codes, bands or steps, one of them",
		"keymap import people.csv -r r --bands price=5":              "say the bounds of its bands",
		"keymap import people.csv -r r --bands price=1,2":            "it has numbers beyond the bands (",
		"keymap import people.csv -r r --bands AGE=20,inf":           "it has numbers from 16 to 99, and the bands are from 20 to below inf",
		"keymap import people.csv -r r --bands AGE=0.5":              "a width is a whole number",
		"keymap import people.csv -r r --bands AGE=5,5":              "bounds ascend",
		"keymap import people.csv -r r --bands AGE":                  "says no bands",
		"keymap import people.csv -r r --bands AGE=-inf,inf":         "tells nothing apart",
		"keymap import people.csv -r r --bands AGE=1000":             "makes one band of all its values",
		"keymap import words.csv -r r --bands a=5":                   `bands are of numbers, and "many" is none`,
		"keymap import people.csv -r r --name Old":                   `there is a form "Old" already, in forms/old.yaml`,
		"keymap import people.csv long.csv -r r":                     "a form is drafted from one file",
		"keymap import *.csv -r r":                                   "name the form: --name FORM",
		"keymap import people.csv -r r --columns x=":                 `names no column`,
		"keymap import people.csv -r r --step AGE=1":                 "steps are of labels of bands, such as 16-20, which are text; values of type int64 are none",
		"keymap import people.csv -r r --step Sex=1":                 `the variable "Sex" of the repository has no bands (scale: interval); leave out --step`,
		"keymap import people.csv -r r --step Grade=1":               `no bands of numbers: "A", "A-"`,
		"keymap import people.csv -r r --step Sex=x":                 "it needs a number, such as Sex=1",
		"keymap import people.csv -r r --step Grade=1 --codes Grade": "codes, bands or steps, one of them",
		"keymap import long.csv -r r --name A":                       "--name goes with a file of data",
		"keymap import ab.csv -r r":                                  "its values are not of one categorization",
		"keymap import empty.csv -r r --columns b":                   `column "b": no values`,
		"keymap import two.csv -r r":                                 `it would be the variable "Sex", and so would "Sex"`,
	}, ExitWrong)
	refused(t, map[string]string{
		"keymap import floats.csv -r r": "no column of floats.csv can be a variable of a form as it is:",
		"keymap import none.csv -r r":   "it is empty",
		"keymap import header.csv -r r": "header.csv has no rows",
		"keymap import bytes.csv -r r":  "not UTF-8",
		"keymap import lost.csv -r r":   "lost.csv does not exist",
		"keymap import three.csv -r r":  `variable "Sex", in variables/sex.yaml, has no category for 2 values of the column "Sex": "x", "y"`,
	}, ExitFailed)
	require.Equal(t, before, texts(t, "r"))
	writeTexts(t, map[string]string{"r/forms/wrong.yaml": "name: x\nvariables: 3\n"})
	refused(t, map[string]string{"keymap import people.csv -r r": "the repository is wrong as it is"}, ExitWrong)
}

func TestKeymapImportTables(t *testing.T) {
	fresh(t, map[string]string{
		"f.csv":  "Form;Variable;Category\nX;Age;under 16\nX;Age;16–20\nX;Age;21 to 64\nX;Age;65+\nY;Age;\nX;Sex;Male\nX;Sex;Female\nY;Sex;Male\n",
		"m.csv":  "form,key,value\nX,Holder,bank\n",
		"e.csv":  "variable,parent,child\nSex,Person,Male\nSex,Person,Female\n",
		"f2.csv": "form,variable,category\nZ,Age,0-15\nZ,Age,16-20\nZ,Age,21-64\nZ,Age,65+\nZ,Sex,MALE\nZ,Sex,female\n",
		"f3.csv": "form,variable,category\nX,Age,15-20\nW,Sex,child\n", "e3.csv": "variable,parent,child\nSex,Male,Female\n",
		"none.csv": "form,variable,category\n", "circle.csv": "variable,parent,child\nA,B,C\nA,C,B\n",
	})
	got := done(t, "keymap import f.csv m.csv e.csv -r r --step Age=1")
	require.Contains(t, got.err, `Sex of form \"Y\": the categories do not cover female`, "what is told as a warning is written")
	require.NotContains(t, got.err, "look like bands")
	all := texts(t, "r")
	require.Contains(t, all["variables/age.yaml"], `{id: "16-21", label: "16–20", lo: 16, hi: 21}`)
	require.Contains(t, all["variables/age.yaml"], `{id: "0-16", label: "under 16", lo: 0, hi: 16}`)
	require.Contains(t, all["forms/x.yaml"], `categories: ["0-16", "16-21", "21-65", "65-inf"]`)
	require.Contains(t, all["forms/x.yaml"], `metadata: {Holder: bank}`)
	require.Contains(t, all["variables/sex.yaml"], "edges: [[person, male], [person, female]]")

	got = done(t, "keymap import f2.csv -r r --step Age=1")
	require.Contains(t, got.err, `\"16-20\" was taken for 16 <= x < 21`)
	require.Contains(
		t,
		texts(t, "r")["forms/z.yaml"],
		"Age: {categories: [\"0-16\", \"16-21\", \"21-65\", \"65-inf\"]}\n  Sex: {categories: [male, female]}\n",
	)
	before := texts(t, "r")
	for _, says := range []string{
		`there is a form "X" already, in forms/x.yaml`, `variable "Age", in variables/age.yaml, has no category "15-20"`,
		`variable "Sex", in variables/sex.yaml, has no category "child"`, `variable "Sex", in variables/sex.yaml, does not have "Female" as a part of "Male"`,
	} {
		refused(t, map[string]string{"keymap import f3.csv e3.csv -r r": says}, ExitFailed)
	}
	refused(t, map[string]string{
		"keymap import none.csv -r r":   "none.csv: no rows, and nothing to import",
		"keymap import circle.csv -r r": "categories are parts of themselves: b > c > b",
		"keymap import f2.csv -r r":     `has no category "0-15"`,
	}, ExitFailed)
	require.Equal(t, before, texts(t, "r"))

	fresh(t, map[string]string{"f.csv": "form,variable,category\nX,Age,0-15\nX,Age,16-64\nX,Age,65+\n"})
	got = done(t, "keymap import f.csv -r r")
	require.Contains(t, got.err, `\"0-15\" and \"16-64\" look like bands of numbers, and were read as names`)
	require.Contains(t, got.err, "--step Age=1 reads them as bands")
}

// The literature's general health (TV-6): relations that were drawn by hand leave both lists of answers with gaps, which is told.
func TestKeymapImportFlawed(t *testing.T) {
	fresh(t, map[string]string{
		"f.csv": "form,variable,category\nC3,Health,Good\nC3,Health,Fairly Good\nC3,Health,Not Good\n" +
			"C4,Health,excellent\nC4,Health,very good\nC4,Health,good\nC4,Health,poor\nC0,Health,\n",
		"e.csv": "variable,parent,child\nHealth,GOOD,Good\nHealth,GOOD,Fairly Good\nHealth,POOR,Not Good\n" +
			"Health,GOOD,excellent\nHealth,GOOD,very good\nHealth,GOOD,good\nHealth,POOR,poor\n",
	})
	got := done(t, "keymap import f.csv e.csv -r r")
	require.Contains(t, got.err, `Health of form \"C3\": the categories do not cover excellent, good-2, poor, very-good`)
	require.Contains(t, got.err, `Health of form \"C4\": the categories do not cover fairly-good, good, not-good`)
	got = done(t, "keymap analyse -r r --target C3 --format csv")
	require.Contains(t, got.out, "inconsistent")
}
