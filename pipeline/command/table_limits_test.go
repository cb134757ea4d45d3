package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hardCounts are those of a table of 8 by 7 by 4 cells, for which no best pattern is found at once: sums of its attackers' linear programs
// have rounding errors beyond a billionth.
const hardCounts = `
90 3 5 200 40 0 13 2 200 0 1 0 5 13 2 8 40 0 90 2 0 2 8 3 1 8 1 0 1 90 90 13 1 1 0 0 2 2 1 1 3 5 2 40 200 200 2 1 2 8 3 0 5 8 1 1
3 0 5 3 90 90 0 90 200 5 0 3 5 3 13 5 1 13 13 1 0 3 0 5 8 0 40 8 5 8 90 0 13 0 1 90 2 0 2 13 5 40 5 40 3 13 0 90 5 3 0 8 0 2 5 40
90 5 1 5 3 40 0 3 200 5 3 1 0 200 1 3 13 1 0 0 90 40 8 0 2 90 5 3 13 200 8 1 0 200 0 13 5 2 1 90 1 200 8 0 1 8 5 1 0 8 3 1 13 90 1 40
13 13 5 13 3 3 13 8 1 0 8 40 1 200 13 5 1 0 13 3 40 40 40 5 0 5 90 200 0 3 5 40 200 3 13 3 3 5 200 1 90 0 13 40 3 5 200 3 13 3 40 200 200 5 5 3`

// hardTable writes some layers of it.
func hardTable(t *testing.T, layers int) {
	t.Chdir(t.TempDir())
	text := "a,b,c,n\n"
	for i, n := range strings.Fields(hardCounts)[:28*layers] {
		if n != "0" {
			text += fmt.Sprintf("%d,%d,%d,%s\n", i/28, i/4%7, i%4, n)
		}
	}
	require.NoError(t, os.WriteFile("hard.csv", []byte(text), 0o666))
}

const protectHard = "table protect hard.csv --table a,b,c --count n --rule min:n=4 --margins none -o public.csv "

// nothing is written of a table that was not protected.
func nothing(t *testing.T) {
	t.Helper()
	for _, path := range []string{"public.csv", "internal/cells.parquet", "internal/log.json"} {
		require.NoFileExists(t, path)
	}
}

// A search that ends before its time has the best pattern so far, with its gap, and that is safe; or there is none, and nothing is written.
func TestTableLimits(t *testing.T) {
	hardTable(t, 8)
	for _, method := range []string{"optimal", "modular", "hypercube", "rounding"} {
		protect := protectHard
		if method == "rounding" {
			protect = strings.Replace(protect, "--margins none ", "", 1)
		}
		r := microrisk(t, strings.Fields(protect+"--limit 0.000001 --method "+method)...)
		require.Equal(t, 1, r.status, method)
		require.Contains(t, r.err, "within 1e-06 s: allow more (--limit), or ")
		require.Equal(t, method == "optimal" || method == "modular", strings.Contains(r.err, "take the method hypercube"), r.err)
		nothing(t)
	}
	r := microrisk(t, strings.Fields(protectHard+"--nodes 1 --solver embedded --internal again")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "cheaper")
	require.Contains(t, r.err, "the limit of 1 node was reached: at most ")
	require.Contains(t, r.err, "cheaper is possible; allow more (--nodes 10), or merge categories (table advise)")
	r = microrisk(t, strings.Fields("table audit public.csv --truth again")...)
	require.Zero(t, r.status, r.err)
}

// What a limit ends is no dearer than what the quick method finds, and says so: in the log, and among the runs of a comparison.
func TestTableLimitsAndQuickMethods(t *testing.T) {
	hardTable(t, 5)
	costs := make(map[string]float64)
	for method, flags := range map[string]string{"hypercube": "", "optimal": "--nodes 1 --solver embedded", "modular": "--nodes 1 --solver embedded"} {
		r := microrisk(t, strings.Fields(protectHard+flags+" --method "+method+" --internal "+method)...)
		require.Zero(t, r.status, r.err)
		text, err := os.ReadFile(filepath.Join(method, "log.json"))
		require.NoError(t, err)
		var log struct {
			Cost    float64 `json:"total_cost"`
			Stopped bool
		}
		require.NoError(t, json.Unmarshal(text, &log))
		costs[method] = log.Cost
		require.Equal(t, method != "hypercube", log.Stopped, method)
	}
	require.LessOrEqual(t, costs["optimal"], costs["hypercube"])
	require.NoError(t, os.WriteFile("grid.yaml", []byte("- {method: optimal, nodes: 1, solver: embedded}\n- {method: modular, nodes: 1, solver: embedded}\n"), 0o666))
	r := microrisk(t, strings.Fields("table compare hard.csv --table a,b,c --count n --rule min:n=4 --margins none --method none --grid grid.yaml")...)
	require.Zero(t, r.status, r.err)
	out := strings.Join(strings.Fields(r.out), " ")
	require.Contains(t, out, "(limit reached): the limit of 1 node was reached: at most") // by the solver that the grid names
	require.Contains(t, out, "(limit reached): the limit of 1 node was reached: more may be hidden than need be")
	require.NotContains(t, r.out, "deadline")
}

// Solvers that are not there, die, say nothing or stop early: an error that says so, or a safe pattern with its gap.
func TestTableSolvers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("solvers are made of shell scripts")
	}
	hardTable(t, 5)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	for _, solver := range []string{"cbc", "glpsol"} {
		r := microrisk(t, strings.Fields(protectHard+"--solver "+solver)...)
		require.Equal(t, 2, r.status)
		require.Contains(t, r.err, "the solver "+solver+" is not on the PATH; install it, or take --solver embedded")
		nothing(t)
	}
	for name, c := range map[string]struct{ solver, script, says string }{
		"silent":           {"cbc", "exit 0", "wrote no result"},
		"dies":             {"cbc", "exit 3", "wrote no result (exit status 3)"},
		"junk":             {"cbc", "echo junk > \"$4\"", "result"},
		"silent too":       {"glpsol", "exit 0", "wrote no result"},
		"stops early":      {"cbc", `echo "Stopped on time (no integer solution - continuous used) - objective value 1.5" > "$4"`, ""},
		"says what is not": {"cbc", `printf 'Optimal - objective value 0\n' > "$4"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(bin, c.solver), []byte("#!/bin/sh\n"+c.script+"\n"), 0o777))
			t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
			r := microrisk(t, strings.Fields(protectHard+"--solver "+c.solver)...)
			if r.status == 0 {
				require.Empty(t, c.says)
				r = microrisk(t, strings.Fields("table audit public.csv --truth internal")...)
				require.Zero(t, r.status, r.err)
				require.NoError(t, os.Remove("public.csv"))
				require.NoError(t, os.RemoveAll("internal"))
				return
			}
			require.Equal(t, 1, r.status)
			require.Contains(t, r.err, c.says)
			nothing(t)
		})
	}
}

// A place that cannot be written is told, and neither of the outputs is there.
func TestTablePlaces(t *testing.T) {
	surveyFolder(t)
	const ready = "table protect ready.csv --table region,sex --count n --rule min:n=2 --margins none "
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	require.NoError(t, os.MkdirAll("closed/internal", 0o777))
	for _, path := range []string{"closed/internal", "closed"} {
		require.NoError(t, os.Chmod(path, 0o555))
		defer os.Chmod(path, 0o777)
	}
	for flags, says := range map[string]string{
		"-o public.csv --internal file":            "the folder file is a file",
		"-o public.csv --internal closed/internal": "cannot write in the folder closed/internal: permission denied",
		"-o closed/public.csv --internal internal": "permission denied",
		"-o file/public.csv --internal internal":   "the folder file is a file",
	} {
		if strings.Contains(says, "permission") && os.Getuid() <= 0 {
			continue // whom nothing is closed to
		}
		r := microrisk(t, strings.Fields(ready+flags)...)
		require.NotZero(t, r.status)
		require.Contains(t, r.err, says)
		nothing(t)
		require.NoFileExists(t, "closed/public.csv")
	}
}

// Cells that nothing protects, and hierarchies that do not have a code, or have it twice, are named; nothing is written.
func TestTableInfeasible(t *testing.T) {
	surveyFolder(t)
	for name, text := range map[string]string{
		"level.csv": "region,sex,set,lower,upper\nn1,m,unsafe,1,100000\n", "few.csv": "code,parent\nn1,north\nnorth,\n", "two.hrc": "a\n@n1\n@n2\nb\n@n1\n",
		"off.csv": "region,sex,n\nn1,f,5\nn1,m,1\nTotal,f,6\n", "minus.csv": "region,sex,n\nn1,f,-5\nn2,f,3\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	const flags = " --table region,sex --count n --rule min:n=2 -o public.csv "
	for arguments, says := range map[string]string{
		"ready.csv" + flags + "--overrides level.csv": "the cell [n1, m] cannot be protected: all cells that may be hidden leave it 13 units, and it needs 100000; let margins " +
			"be hidden (--margins none), lower its level or set it safe (--overrides), or merge categories (--recode)",
		"ready.csv" + flags + "--hierarchy region=few.csv":         `the hierarchy of region does not have the code "n2" of the cell [n2, f]`,
		"ready.csv" + flags + "--hierarchy region=two.hrc":         `two.hrc:5: the code "n1" stands in line 2 too`,
		"ready.csv" + flags + "--hierarchy region=two.hrc --paths": `has the code "n1" of the cell [n1, f] several times: give codes that differ`,
		"off.csv" + flags:   "off.csv does not add up: [Total, f] is 6, and its parts add up to 5",
		"minus.csv" + flags: "minus.csv: the cell [n1, f]: n is -5; it must be a number of at least 0",
	} {
		r := microrisk(t, append([]string{"table", "protect"}, strings.Fields(arguments)...)...)
		require.NotZero(t, r.status)
		require.Contains(t, r.err, says)
		nothing(t)
	}
}
