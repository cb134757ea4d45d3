package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoForms is a fresh current folder with a repository of two forms, and a file of each.
func twoForms(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	a, b := "age,sex\n", "AGE,SEX\n"
	for i := range 60 {
		a += fmt.Sprintf("%d,%d\n", i+20, 1+i%2)
		b += fmt.Sprintf("%d,%s\n", i+10, []string{"f", "m"}[i%2])
	}
	for path, text := range map[string]string{
		"forms/microrisk-keymap.yaml": "schema: microrisk/keymap/config@1\n",
		"forms/variables/age.yaml": "schema: microrisk/keymap/variable@1\nname: Age\nscale: interval\nassumed_levels: 90\n" +
			"nodes: [{id: 0-18, lo: 0, hi: 18}, {id: 18-65, lo: 18, hi: 65}, {id: 65-inf, lo: 65, hi: inf}]\n",
		"forms/variables/sex.yaml": "schema: microrisk/keymap/variable@1\nname: Sex\nnodes: [{id: f}, {id: m}]\n",
		"forms/forms/a.yaml": "schema: microrisk/keymap/form@1\nname: A\nvariables:\n  Age: {column: age}\n" +
			"  Sex: {categories: [f, m], column: sex, values: {f: [1], m: [2]}}\n",
		"forms/forms/b.yaml": "schema: microrisk/keymap/form@1\nname: B\nvariables:\n  Age: {categories: [0-18, 18-65, 65-inf], column: AGE}\n" +
			"  Sex: {categories: [f, m], column: SEX}\n",
		"forms/forms/c.yaml": "schema: microrisk/keymap/form@1\nname: C\nvariables:\n  Sex: {categories: [f, m]}\n",
		"a.csv":              a,
		"b.csv":              b,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

const analyse = "keymap analyse -r forms --target A "

func TestKeymapSpec(t *testing.T) {
	twoForms(t)
	r := microrisk(t, strings.Fields(analyse+"--spec s.yaml --data a.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "the spec of a run: microrisk run s.yaml\n")
	r = microrisk(t, "run", "s.yaml")
	require.Zero(t, r.status, r.err)
	require.FileExists(t, "a.risk.csv")
	require.FileExists(t, "a.risk.json")

	text, err := os.ReadFile("s.yaml")
	require.NoError(t, err)
	r = microrisk(t, strings.Fields(analyse+"--spec - --data a.csv")...)
	require.Zero(t, r.status, r.err)
	require.Equal(t, string(text), r.out, "standard output has the spec alone")
	r = microrisk(t, strings.Fields(analyse+"--spec s2.yaml --data a.csv --format csv")...)
	require.Zero(t, r.status, r.err)
	require.NotContains(t, r.out, "microrisk run", "a table for programs has no more in it")
}

func TestKeymapRecodes(t *testing.T) {
	twoForms(t)
	r := microrisk(t, strings.Fields(analyse+"--match B --recode-a ra.yaml --recode-b rb.yaml --data a.csv --data-b b.csv")...)
	require.Zero(t, r.status, r.err)
	_, command, _ := strings.Cut(r.out, "the attack: microrisk ")
	require.Equal(t, "link a.csv b.csv --key Age_key,Sex_key --recode-a ra.yaml --recode-b rb.yaml --allow-empty --population-size N\n", command)
	r = microrisk(t, strings.Fields(strings.Replace(command, " N\n", " 1000", 1))...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "linked by Age_key, Sex_key")
	require.NotContains(t, r.out, "only sample A", "its ages are of two bands of B")
}

func TestKeymapBridgeRefuses(t *testing.T) {
	twoForms(t)
	refused(t, map[string]string{
		analyse + "--data a.csv":                                                    "--data goes with --spec or --recode-a",
		analyse + "--spec s.yaml":                                                   "--spec needs --data",
		analyse + "--spec s.yaml --data -":                                          "name a file",
		analyse + "--spec s.yaml --data a.csv -p 0 -p 0.5":                          "say which of 0, 0.5 is wanted",
		analyse + "--recode-a r.yaml --data a.csv":                                  "the match set is one form, not 2: --match FORM",
		analyse + "--recode-a - --match B":                                          "--recode-a and --recode-b name files",
		analyse + "--recode-a r.yaml --match B":                                     "name its data with --data or --data-b",
		analyse + "--data-b b.csv --match B":                                        "--data-b goes with --recode-b",
		analyse + "--spec a.csv --data a.csv":                                       "a.csv",
		analyse + "--match C --recode-b r.yaml":                                     `form "C" does not say which column of its data has it: write column: NAME below it in forms/c.yaml`,
		analyse + "--match B --recode-a r --recode-b r --data a.csv --data-b b.csv": "r",
	}, 2)
	require.NoError(t, os.WriteFile("a.csv", []byte("age,sex\n1,1\n1,3\n2,3\n"), 0o666))
	refused(t, map[string]string{
		analyse + "--spec s.yaml --data a.csv": `in 2 rows the column "sex" has a value in no category: "3" (2 rows); say in forms/a.yaml`,
		analyse + "--spec s.yaml --data z.csv": "z.csv does not exist",
	}, 1)
	for _, path := range []string{"s.yaml", "r.yaml", "r"} {
		require.NoFileExists(t, path)
	}
}
