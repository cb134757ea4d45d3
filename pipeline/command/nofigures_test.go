//go:build nofigures

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What needs plots is refused before anything is read or written, and told what goes without; pages with drawings of their own are made.
func TestNoFigures(t *testing.T) {
	intruder(t)
	evaluate := strings.Fields("evaluate p.csv --key S,A,H --fraction 0.5 --repetitions 5 --measures suda --report page.html --out ev")
	r := microrisk(t, evaluate...)
	require.Equal(t, ExitWrong, r.status, r.err)
	require.Contains(t, r.err, "has no figures")
	require.Contains(t, r.err, "--pictures none")
	require.NoDirExists(t, "ev")
	require.NoFileExists(t, "page.html")
	r = microrisk(t, append(evaluate, "--pictures", "none")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Equal(t, []string{"evaluation.json", "plots.parquet"}, listed(t, "ev"))
	require.Contains(t, string(read(t, "page.html")), "<svg")
}

func TestNoFiguresOfKeymap(t *testing.T) {
	residence(t)
	r := microrisk(t, "keymap", "report", "-r", "r", "--target", "Survey X", "--out", "a.html")
	require.Equal(t, ExitWrong, r.status, r.err)
	require.Contains(t, r.err, "has no figures")
	require.NoFileExists(t, "a.html")
	r = microrisk(t, "keymap", "graph", "Country of Residence", "-r", "r", "--out", "a.svg")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, string(read(t, "a.svg")), "<svg")
}
