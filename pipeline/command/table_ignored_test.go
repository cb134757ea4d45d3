package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is said and not looked at is wrong usage that says what would be right, whatever a table is made of; and nothing is written.
func TestTableFlagsThatDoNothing(t *testing.T) {
	surveyFolder(t)
	require.NoError(t, os.WriteFile("both.csv", []byte("region,sex,set\nn1,f,hidden\nn1,f,protected\n"), 0o666))
	require.NoError(
		t,
		os.WriteFile("sums.csv", []byte("region,sex,n,v,m,s,l\nn1,f,5,50,20,10,3\nn1,m,1,7,7,0,3\nn2,f,4,60,30,10,3\nn2,m,7,90,20,10,3\n"), 0o666),
	)
	require.NoError(t, os.WriteFile("grid.yaml", []byte("- {method: optimal, base: 5}\n"), 0o666))
	survey, ready := "survey.csv --table region,sex --rule min:n=2 ", "ready.csv --table region,sex --count n --rule min:n=2 "
	for flags, says := range map[string]string{
		"--base 5":                                             "--base belongs to --method rounding, and the method is optimal",
		"--method hypercube --nodes 5":                         "--nodes belongs to --method optimal, modular, adjustment, partial, and",
		"--method none --margins all":                          "--margins belongs to --method optimal",
		"--method rounding --insider off":                      "--insider belongs to --method none",
		"--method adjustment --beforehand nothing":             "--beforehand belongs to --method none",
		"--method adjustment --sliding 3":                      "--sliding belongs to --method none",
		"--method abs --limit 5":                               "--limit belongs to --method optimal",
		"--method abs --cost unity":                            "--cost belongs to --method optimal",
		"--method none --solver embedded":                      "--solver belongs to --method optimal",
		"--nodes 5 --solver cbc":                               "--nodes are those of the embedded solver: cbc has a limit of time (--limit)",
		"--lead #":                                             "--lead is what stands before codes of .hrc files, and no hierarchy is one",
		"--paths":                                              "--paths tells codes of hierarchies apart, and there is none",
		"--absolute":                                           "--absolute is of negative contributions to a response, and records are counted",
		"--overrides both.csv":                                 "n1, f] is set hidden by hand, and protected",
		"--profile threshold3 --method rounding --insider off": "--insider belongs to --method none",
	} {
		for _, of := range []string{survey, ready} {
			r := microrisk(t, strings.Fields("table protect "+of+flags+" -o public.csv")...)
			require.NotZero(t, r.status, flags)
			require.Contains(t, r.err, says, of+flags)
			if !strings.Contains(flags, "overrides") {
				require.Equal(t, 2, r.status, flags)
			}
			nothing(t)
		}
	}
	for flags, says := range map[string]string{
		"table redesign survey.csv --zzz":           "there is no flag --zzz; microrisk table redesign --help lists them",
		"assess survey.csv --zzz":                   "there is no flag --zzz; microrisk assess --help lists them",
		"table profiles zzzzzz":                     `the profile "zzzzzz" is unknown; it is one of abs, `,
		"table protect " + ready + "--missing drop": "--missing is for records",
		"table protect sums.csv --table region,sex --count n --value v --second s --rule min":                  "name their column (--max)",
		"table protect sums.csv --table region,sex --count n --value v --lower l --rule min":                   "name the columns of both (--lower and --upper)",
		"table compare survey.csv --table region,sex --rule min --grid grid.yaml":                              "grid.yaml:1:21: --base belongs to --method rounding, and the method is optimal",
		"table protect sums.csv --table region,sex --value v --max m --rule p%:p=10,c=1 --method abs -o o.csv": "name its column (--count)",
	} {
		r := microrisk(t, strings.Fields(flags)...)
		require.Equal(t, 2, r.status, flags+r.err)
		require.Contains(t, r.err, says)
	}
}

// The log names a solver where the method calls one, and no other.
func TestTableLogsTellTheirSolver(t *testing.T) {
	surveyFolder(t)
	for method, solver := range map[string]bool{"optimal": true, "rounding": true, "hypercube": false, "hand --overrides said.csv": false, "none": false} {
		r := microrisk(t, strings.Fields("table protect ready.csv --table region,sex --count n --rule min:n=1 -o public.csv --method "+method)...)
		require.Zero(t, r.status, r.err)
		require.Equal(t, solver, strings.Contains(string(read(t, "internal/log.json")), `"solver"`), method)
	}
}
