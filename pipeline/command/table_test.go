package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const surveyText = "region,sex,turnover,firm\nn1,f,10.5,a\nn1,f,3,b\nn1,m,8,c\nn2,f,1,d\nn2,m,90,e\nn2,m,4,a\ns1,f,7,b\ns1,f,6,c\ns1,m,5,d\ns1,m,9,e\n"

func surveyFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"survey.csv": surveyText, "regions.hrc": "north\n@n1\n@n2\nsouth\n@s1\n", "twice.csv": "code,parent\nn1,a\nn1,b\n", "ready.csv": "region,sex,n\nn1,f,5\n" +
			"n1,m,1\nn2,f,4\nn2,m,7\n",
		"said.csv": "region,sex,set\nn1,f,protected\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

func TestTableProtect(t *testing.T) {
	surveyFolder(t)
	r := microrisk(
		t,
		strings.Fields("table protect survey.csv --table region,sex --hierarchy region=regions.hrc --rule min:n=2 --margins none -o public.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "unsafe")
	require.Contains(t, r.out, "can be published  public.csv")
	r = microrisk(t, strings.Fields("table audit public.csv --truth internal -o found.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "protected enough")
	require.FileExists(t, "found.csv")
	// The internal table tells its structure itself.
	r = microrisk(t, strings.Fields("table protect internal/cells.parquet --rule min:n=2 --margins none -o once-more.csv --internal once")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "can be published  once-more.csv")
	r = microrisk(t, strings.Fields("table audit public.csv --truth internal/cells.parquet")...)
	require.Zero(t, r.status, r.err)
	r = microrisk(t, strings.Fields("table protect internal/cells.parquet --rule min:n=2 --weight w -o no.csv")...)
	require.Equal(t, 2, r.status)
	require.Contains(t, r.err, "--weight is for records, and internal/cells.parquet is a ready-made table")
	// The same by a spec.
	r = microrisk(
		t,
		strings.Fields(
			"table protect survey.csv --table region,sex --hierarchy region=regions.hrc --rule min:n=2 --margins none -o again.csv --internal more --print-spec",
		)...)
	require.Zero(t, r.status, r.err)
	require.NoError(t, os.WriteFile("spec.yaml", []byte(r.out), 0o666))
	r = microrisk(t, "run", "spec.yaml")
	require.Zero(t, r.status, r.err)
	first, err := os.ReadFile("public.csv")
	require.NoError(t, err)
	again, err := os.ReadFile("again.csv")
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	// What is hidden is what bounds do not find.
	r = microrisk(t, strings.Fields("table protect ready.csv --table region,sex --count n --rule min:n=2 --margins none -o flat.csv")...)
	require.Zero(t, r.status, r.err)
	r = microrisk(t, strings.Fields("bounds --exact flat.csv -o bounds.csv")...)
	require.Zero(t, r.status, r.err)
}

func TestTableReady(t *testing.T) {
	surveyFolder(t)
	r := microrisk(t, strings.Fields("table protect ready.csv --table region,sex --count n --rule min:n=2 --margins none -o public.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "nothing cheaper is safe")
	require.NoError(t, os.WriteFile("off.csv", []byte("region,v,n\na,4.0,5\nb,6.0,5\nTotal,10.4,10\n"), 0o666))
	r = microrisk(t, strings.Fields("table protect off.csv --table region --count n --value v --decimals 1 --rule min:n=2 -o off-public.csv")...)
	require.NotZero(t, r.status)
	require.Contains(t, r.err, "does not add up")
	r = microrisk(t, strings.Fields("table protect off.csv --table region --count n --value v --decimals 1 --tolerance 2 --rule min:n=2 -o off-public.csv")...)
	require.Zero(t, r.status, r.err)
	r = microrisk(t, strings.Fields("table protect ready.csv --table region,sex --count n --rule min:n=2 --method rounding -o public.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "changed by rounding")
}

func TestTableRefuses(t *testing.T) {
	surveyFolder(t)
	const protect = "table protect survey.csv --table region,sex "
	refused(t, map[string]string{
		"table protect --table region":            "name a file to read",
		"table protect survey.csv --rule min:n=3": "name the variables of the table",
		protect:                                                                          "say which cells disclose: --rule min:n=3",
		protect + "--rule mn:n=3":                                                        `--rule has no rule "mn"; it is one of`,
		protect + "--rule min:k=3":                                                       "the rule min has no parameter k; it has n, range, inclusive",
		protect + "--rule min:n=0":                                                       "no whole number of at least 1",
		protect + "--rule pq":                                                            "does not say q",
		protect + "--rule p%:p=10":                                                       "the rule p% is for tables of a response",
		protect + "--rule concentration":                                                 "does not say which variable is unknown",
		protect + "--rule min --hierarchy region":                                        "it must be VARIABLE=FILE",
		protect + "--rule min --hierarchy age=regions.hrc":                               "age has a hierarchy, and is no variable of the table",
		protect + "--rule min --recode region":                                           "--recode is \"region\"; it must be VARIABLE=FILE",
		protect + "--rule min --recode age=r.grc":                                        "age has recodes, and is no variable of the table",
		protect + "--rule min --recode region=none.grc":                                  "none.grc",
		protect + "--rule min --hierarchy region=none.hrc":                               "none.hrc",
		protect + "--rule min --hierarchy region=twice.csv":                              `twice.csv:3: the code "n1" is below "b", and below "a" (twice.csv:2)`,
		protect + "--rule min --decimals 2":                                              "decimals are those of a response",
		protect + "--rule min --statistic mean --response turnover":                      "a table of means does not add up",
		protect + "--rule min --statistic median --response turnover":                    "a table of medians does not add up",
		protect + "--rule min --statistic sum":                                           "a sum is of a response, and none is named",
		protect + "--rule min --method best":                                             `method "best" is unknown`,
		protect + "--rule min --solver cplex":                                            `solver "cplex" is unknown`,
		protect + "--rule min -o survey.csv":                                             "survey.csv",
		protect + "--rule min -o internal/public.csv":                                    "lies in the folder internal, which must not be published",
		protect + "--rule min --contributor sex":                                         "sex is a variable of the table, and cannot be who contributes",
		protect + "--rule min --total north --hierarchy region=regions.hrc":              `regions.hrc has the code "north", which names the total over all`,
		"table audit ready.csv --truth ready.csv --table region,sex --value n":           "--status",
		protect + "--rule min --sap-area age":                                            "age is to tell the areas apart, and is no variable",
		protect + "--rule min --sap-known -1":                                            "it must be 0 or more people",
		protect + "--rule min --sap-area sex --response turnover":                        "SAP is of counts of people",
		protect + "--rule min --limit 5 --nodes 5":                                       "two limits, seconds and nodes",
		protect + "--rule min --overrides said.txt":                                      "said.txt",
		"table protect survey.csv --table region,status --rule min":                      "status is a name of a column of internal tables",
		"table protect survey.csv --table region,value --rule min":                       "value is a name of a column of published tables",
		"table protect ready.csv --table region,sex --count n --rule min --select sex=f": "--select is for records",
		"table audit public.csv":                                                         "--truth INTERNAL",
		"table audit ready.csv --truth nothing":                                          "the truth nothing cannot be read",
		"table publish survey.csv":                                                       "publish",
	}, 2)
	refused(t, map[string]string{
		protect + "--rule min --response firm":    `the response firm: "a" is no number`,
		protect + "--rule p% --response turnover": "10.5 has more than 0 decimals",
		"table audit public.csv --truth nothing":  "public.csv does not exist",
		protect + "--rule min:n=2 --method none":  "the table is not safe with the method none",
		protect + "--rule min --margins all":      "cannot be protected",
	}, 1)
	for _, path := range []string{"public.parquet", "internal"} {
		_, err := os.Stat(path)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}
