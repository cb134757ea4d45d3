package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sexes is a repository of two forms with a variable, and their data.
func sexes(t *testing.T) {
	t.Helper()
	fresh(t, map[string]string{"a.csv": "Sex\nf\nm\nf\n"})
	done(t, "keymap import a.csv -r r --name A")
	done(t, "keymap add form B --from A -r r")
}

// Nothing that is read is written, and nothing is put where it would be read.
func TestKeymapOutputsAreApart(t *testing.T) {
	sexes(t)
	require.NoError(t, os.Symlink("r", "link"))
	before := texts(t, "r")
	says := map[string]string{
		"keymap export -r r --out r/microrisk-keymap.yaml": "the output r/microrisk-keymap.yaml is the repository's",
		"keymap analyse -r r --target A --out r":           "it is a folder",
	}
	for _, path := range []string{"r/forms/a.yaml", "r/forms/new.json", "r/groups/g.yml", "link/variables/sex.yaml"} {
		for _, ask := range []string{"export -r r --out", "report -r r --target A --out", "graph Sex -r r --out", "grid -r r --out",
			"analyse -r link --target A --data a.csv --spec", "analyse -r r --target A --match B --data a.csv --recode-a"} {
			says["keymap "+ask+" "+path] = "would be taken for one of the repository's " + strings.Split(path, "/")[1]
		}
	}
	refused(t, says, ExitWrong)
	require.Equal(t, before, texts(t, "r"))
	require.NoError(t, os.Symlink(filepath.Join("r", "forms", "a.yaml"), "aside.json"))
	refused(t, map[string]string{"keymap export -r r --out aside.json": "is the repository's"}, ExitWrong)
	done(t, "keymap export -r r --out r/all.json")
}

// A change that is interrupted leaves nothing, and one does not take the place of a link.
func TestKeymapChangesAreWhole(t *testing.T) {
	sexes(t)
	before := texts(t, "r")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out strings.Builder
	status := Run(
		ctx,
		[]string{"microrisk", "keymap", "rename", "variable", "Sex", "Gender", "-r", "r"},
		Streams{In: strings.NewReader(""), Out: &out, Err: &out},
	)
	require.Equal(t, ExitFailed, status)
	require.Equal(t, before, texts(t, "r"))

	require.NoError(t, os.Rename("r/forms/b.yaml", "shared.yaml"))
	require.NoError(t, os.Symlink("../../shared.yaml", "r/forms/b.yaml"))
	done(t, "keymap check -r r")
	shared := string(read(t, "shared.yaml"))
	refused(t, map[string]string{"keymap add form B --note x -r r": "forms/b.yaml is a link"}, ExitFailed)
	require.Equal(t, shared, string(read(t, "shared.yaml")))
	done(t, "keymap remove form B -r r")
	require.Equal(t, shared, string(read(t, "shared.yaml")))
}

// Forms that nobody would miss in an answer are told of.
func TestKeymapFolderOfForms(t *testing.T) {
	sexes(t)
	require.NoError(t, os.MkdirAll("r/forms/2020/old", 0o777))
	require.NoError(t, os.MkdirAll("r/forms/.hidden", 0o777))
	done(t, "keymap check -r r")
	writeTexts(t, map[string]string{"r/forms/2020/old/c.yaml": "x", "r/forms/.hidden/d.yaml": "x"})
	got := microrisk(t, "keymap", "check", "-r", "r")
	require.Equal(t, ExitFailed, got.status)
	require.Equal(t, "forms/2020: it is a folder, whose files are not read: forms are files of forms/ itself\n", got.out)
	refused(t, map[string]string{"keymap analyse -r r --target A": "it is a folder"}, ExitWrong)
}

// Names and notes may be long, and names are what people see.
func TestKeymapLongTexts(t *testing.T) {
	sexes(t)
	long, note := strings.Repeat("y", 400), strings.Repeat("note ", 100)
	for _, args := range [][]string{
		{"add", "form", long, "--from", "A", "--note", note},
		{"add", "variable", long, "--categories", strings.Repeat("a", 300) + ",b", "--note", note},
		{"add", "form", "B", "--any", long},
		{"check"},
	} {
		got := microrisk(t, append(append([]string{"keymap"}, args...), "-r", "r")...)
		require.Zero(t, got.status, got.err)
	}
	for name, says := range map[string]string{" A": "begins or ends with a blank", "A ": "begins or ends with a blank", "  ": "begins or ends with a blank",
		strings.Repeat("z", 501): "the name has 501 characters"} {
		got := microrisk(t, "keymap", "add", "form", name, "--any", "Sex", "-r", "r")
		require.Equal(t, ExitFailed, got.status)
		require.Contains(t, got.err, says)
	}
	writeTexts(
		t,
		map[string]string{"r/forms/c.yaml": "schema: microrisk/keymap/form@1\nname: C\n" + strings.Repeat("q", 900) + "\u00e9" + strings.Repeat("q", 100000)},
	)
	got := microrisk(t, "keymap", "check", "-r", "r")
	require.Equal(t, ExitFailed, got.status)
	require.Less(t, len(got.out), 3000)
}

// What needs no harmonizations is answered where there are too many; the rest fails, and is not a wrong command.
func TestKeymapTooManyHarmonizations(t *testing.T) {
	fresh(t, map[string]string{})
	var nodes, edges, all []string
	const pairs = 20
	files := map[string]string{"r/microrisk-keymap.yaml": "schema: microrisk/keymap/config@1\n"}
	for i := range 2 * pairs {
		nodes, all = append(nodes, fmt.Sprintf("{id: s%d}", i)), append(all, fmt.Sprintf("s%d", i))
	}
	form := func(name string, categories []string) {
		files["r/forms/"+name+".yaml"] = "schema: microrisk/keymap/form@1\nname: " + name + "\nvariables: {X: {categories: [" + strings.Join(
			categories,
			", ",
		) + "]}}\n"
	}
	for i := range pairs {
		nodes = append(nodes, fmt.Sprintf("{id: m%d}", i))
		edges = append(edges, fmt.Sprintf("[m%d, s%d], [m%d, s%d]", i, 2*i, i, 2*i+1))
		one := append([]string{fmt.Sprintf("m%d", i)}, all[:2*i]...)
		form(fmt.Sprintf("f%d", i), append(one, all[2*i+2:]...))
	}
	form("t", all)
	files["r/variables/x.yaml"] = "schema: microrisk/keymap/variable@1\nname: X\nnodes: [" + strings.Join(
		nodes,
		", ",
	) + "]\nedges: [" + strings.Join(
		edges,
		", ",
	) + "]\n"
	writeTexts(t, files)
	says := "its 21 categorizations of 40 smallest categories have more than 1000 harmonizations"
	refused(t, map[string]string{
		"keymap analyse -r r --target t --max-nodes 1000":             says,
		"keymap graph X -r r --kind harmonization --max-nodes 1000":   says,
		"keymap report -r r --target t --max-nodes 1000 --out x.html": says,
	}, ExitFailed)
	refused(t, map[string]string{"keymap analyse -r r --target t --max-nodes 0": "--max-nodes is 0"}, ExitWrong)
	for _, line := range []string{"form t", "overlap X t f0", "grid --cells codes", "grid --cells target --target t", "lookup X C40.001", "graph X --kind " +
		"partition"} {
		done(t, "keymap "+line+" -r r")
	}
}
