package command

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const baseTable = "row,column,n\nA,E,23\nA,F,3\nA,G,37\nA,H,18\nB,E,1\nB,F,15\nB,G,12\nB,H,119\nC,E,54\nC,F,43\nC,G,8\nC,H,4\nD,E,19\nD,F,16\nD,G,22\nD,H,10\n"

func TestTableCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("base.csv", []byte(baseTable), 0o666))
	r := microrisk(t, strings.Fields("table compare base.csv --table row,column --count n --n 4 --method none,hypercube,rounding --base 3,5 "+
		"--html c.html --json c.json -o c.parquet")...)
	require.Zero(t, r.status, r.err)
	require.Equal(t, `base.csv
row x column, loss by the model row + column

  method                 unsafe  touched  at most   audit  proven  seconds
  none, n 4                   2        2        0  2 fail       -     0.00
  hypercube, n 4              2        7        0    pass       -     0.00
  rounding, base 3, n 4       2       18        2    pass    best     0.00
  rounding, base 5, n 4       2       23        3    pass    best     0.00

  method                 M1  M2 omitted  zero  imputed  SAP(5)    after
  none, n 4               2        35.5  8.15        0  0.0124   0.0124
  hypercube, n 4          7        64.3  54.2     9.46  0.0124  4.6e-09
  rounding, base 3, n 4  20        4.21  4.21     4.21  0.0124        0
  rounding, base 5, n 4  40        3.57  3.57     3.57  0.0124        0

none, n 4 (unsafe): 2 cells fail the audit, such as: anybody knows [A, F]
  exactly

Nothing of this may be published: it has true figures, rules and parameters.
Touched cells are hidden, or changed by no more than "at most". M1 compares
variants of one method (hidden cells, or the sum of changes), M2 methods: by how
many per cent the model's deviance is another one. SAP(5) is the attribution
risk before and after: the chance that who knows 5 of the people sees that a
combination is empty.
written to c.parquet
written to c.json
written to c.html
`, regexp.MustCompile(`(?m)\d+\.\d\d$`).ReplaceAllStringFunc(r.out, func(text string) string {
		if strings.Contains(text, "4.21") || strings.Contains(text, "3.57") {
			return text
		}
		return "0.00"
	}))
	for _, path := range []string{"c.html", "c.json", "c.parquet"} {
		require.FileExists(t, path)
	}
	// Of records, and what they are chosen by.
	require.NoError(t, os.WriteFile("survey.csv", []byte(surveyText), 0o666))
	r = microrisk(t, strings.Fields("table compare survey.csv --table region,sex --rule min:n=2 --margins none --select region=n1,n2 --method optimal")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "region x sex")
	r = microrisk(
		t,
		strings.Fields("table compare survey.csv --table region,sex --rule p%:p=10 --response turnover --decimals 1 --margins none --method optimal")...)
	require.Zero(t, r.status, r.err)
	require.NotContains(t, r.out, "SAP")
}

// Several tables are told by views of all.
func TestTableCompareOfSeveralTables(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("base.csv", []byte(baseTable), 0o666))
	require.NoError(t, os.WriteFile("other.csv", []byte(strings.Replace(baseTable, "A,E,23", "A,E,2", 1)), 0o666))
	require.NoError(t, os.WriteFile("tables.yaml", []byte("- {table: [row, column], file: other.csv}\n"), 0o666))
	const line = "table compare base.csv --table row,column --count n --n 3 --method hypercube,rounding --base 3 --tables tables.yaml "
	r := microrisk(t, strings.Fields(line+"--views v.parquet")...)
	require.Zero(t, r.status, r.err)
	require.Equal(t, `base.csv

  1  row x column  2-D  25  cells
  2  row x column  2-D  25  cells

Loss by design and rule: hypercube
  design  tables                 n 3
  2-D          2  65.8 / 30.3 / 7.12
  All          2  65.8 / 30.3 / 7.12

Loss by design and base: rounding, n 3
  design  tables  base 3
  2-D          2    3.36
  All          2    3.36

Rounding to 3, and hiding below 3
  design  tables  rounding           hypercube
  2-D          2      3.36  65.8 / 30.3 / 7.12
  All          2      3.36  65.8 / 30.3 / 7.12

Views have M2, the mean over tables: hidden cells omitted / taken to be 0 /
imputed.

Nothing of this may be published: it has true figures, rules and parameters. M1
compares variants of one method (hidden cells, or the sum of changes), M2
methods: by how many per cent the model's deviance is another one.
written to v.parquet
`, r.out)
	refused(t, map[string]string{
		"table compare base.csv --table row,column --count n --n 3 --views v.csv": "views are of several tables",
		line + "--views tables.yaml":                                "cannot tell the format",
		"table compare base.csv --count n --n 3 --tables none.yaml": "the tables none.yaml cannot be read",
	}, 2)
}

func TestTableCompareRefuses(t *testing.T) {
	surveyFolder(t)
	const compare = "table compare survey.csv --table region,sex "
	refused(t, map[string]string{
		"table compare --table region --rule min":                                        "name a file to read",
		"table compare survey.csv --rule min":                                            "name the variables of the table",
		compare:                                                                          "say which cells disclose",
		compare + "--rule min --method best":                                             `method "best" is unknown`,
		compare + "--rule min --base 1":                                                  "must be at least 2",
		compare + "--rule contiguous --n 3":                                              "n is that of the rule min",
		compare + "--rule min --model region*seks":                                       "seks",
		compare + "--rule min --grid none.yaml":                                          "the grid none.yaml cannot be read",
		compare + "--rule min --grid survey.csv":                                         "survey.csv",
		compare + "--rule min -o out.html":                                               "cannot tell the format",
		compare + "--rule min --html survey.csv":                                         "survey.csv",
		compare + "--rule min --json a.json --html a.json":                               "a.json",
		compare + "--rule min --sap-area age":                                            "age is to tell the areas apart",
		compare + "--rule min --replicates 0":                                            "must be at least 1",
		compare + "--rule min --limit 0":                                                 "must be above 0",
		"table compare ready.csv ready.csv --table region --count n":                     "name one ready-made table",
		"table compare ready.csv --table region,sex --count n --rule min --select sex=f": "--select is for records",
	}, 2)
	refused(t, map[string]string{compare + "--rule p% --response turnover": "10.5 has more than 0 decimals"}, 1)
}
