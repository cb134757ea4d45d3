package command

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a newcomer reads on the way from data to a key.
func TestKeymapWords(t *testing.T) {
	fresh(t, map[string]string{
		"people.csv": "age_now,smoker,place\n17,no,A\n34,yes,B\n61,no,C\n",
		"born.csv":   "age_now\n3\n40\n",
	})
	done(t, "keymap import people.csv -r r --columns age_now,smoker,place --bands age_now=10,20,inf")
	refused(t, map[string]string{
		"keymap import born.csv -r r": `"3"; its bands cover x >= 10, and a variable in use gets no wider`,
		"keymap profile -r r --target people --match people --include-target -p 1": "-p",
		"keymap keys -r r --target people --match people --prevalence 1":           "prevalence",
		"keymap add node place X --except a,q -r r":                                `"q" is no smallest category`,
		"keymap add node place X --except a --whole b -r r":                        "--except says all",
	}, 1, 2)
	got := microrisk(t, "keymap", "import", "born.csv", "-r", "r")
	require.Contains(t, got.err, "begin anew with --bands of all numbers that somebody could ask for")
	require.NotContains(t, got.err, "add node")

	require.Contains(t, done(t, "keymap add node place Elsewhere --except a -r r").out, "ids: elsewhere\n")
	done(t, "keymap add form Neighbour --variable place=a,elsewhere --variable smoker=no,yes --any age_now -r r")
	require.Contains(t, string(read(t, "r/variables/smoker.yaml")), `C2.001: ["no", "yes"]`, "YAML 1.1 reads no as false")
	require.Contains(t, done(t, "keymap grid -r r").out, "  age_now  ", "the name as it is to be written")

	out := done(t, "keymap analyse -r r --target people").out
	require.Contains(t, out, "people beside 1 form, of which 1 must share a variable\n3 variables make a key")
	require.Contains(t, done(t, "keymap analyse -r r --target people --variables place").out, "1 variable makes a key of up to 2 values")
	done(t, "keymap report -r r --target people --variables place --out one.html")
	page := string(read(t, "one.html"))
	require.Contains(t, page, "1 variable makes a key")
	require.NotContains(t, page, "without review")
	done(t, "keymap review place --effective-levels 1 -r r")
	done(t, "keymap report -r r --target people --out all.html")
	require.Contains(t, string(read(t, "all.html")), "without review")
}

// Bands by width leave no number that somebody could ask for out.
func TestKeymapBandsBegin(t *testing.T) {
	fresh(t, map[string]string{"a.csv": "x,y\n17,-3\n34,12\n"})
	done(t, "keymap import a.csv -r r --bands x=10 --bands y=10")
	require.Contains(t, string(read(t, filepath.Join("r", "forms", "a.yaml"))), `categories: ["0-20", "20-30", "30-inf"]`)
	require.Contains(t, string(read(t, filepath.Join("r", "forms", "a.yaml"))), `categories: [minf-0, "0-10", "10-inf"]`)
}
