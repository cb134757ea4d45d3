package command

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/advise"
)

// What is advised for tables of different kinds is run as it is printed, and passes.
func TestTableAdvise(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{"many.csv": manyText(), "regions.hrc": "north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n",
		"ready.csv":     "region,sex,n\nn1,f,5\nn1,m,1\nn2,f,4\nn2,m,7\nTotal,f,9\nTotal,m,8\n",
		"sums.csv":      "region,act,n,v,m1,m2\na,x,9,100,95,1\na,y,9,100,30,20\nb,x,9,90,20,15\nb,y,9,80,20,15\nc,x,9,90,20,15\nc,y,9,80,20,15\n",
		"safe.csv":      "region,sex,n\nn1,f,50\nn1,m,40\n",
		"said.csv":      "region,sex,set\nn2,m,protected\n",
		"age.grc":       "0-24:0-15,16-24\n65+:65-74,75-84,85+\n",
		"office.yaml":   "version: 1\nname: office\nrules: [{rule: min, n: 4}]\nmethod: partial\n",
		"only-sums.csv": "region,v\na,1\nb,2\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	followed := 0
	for i, x := range []struct{ args, kind, method, also string }{
		{"many.csv --table region,age", "frequency", "optimal", "Nobody said what is wanted"},
		{"many.csv --table region,age,sex --hierarchy region=regions.hrc --users policy", "frequency", "optimal", "3 levels|2 levels"},
		{"many.csv --table region,age --response turnover --contributor firm", "magnitude", "optimal", "told apart by firm"},
		{"many.csv --table region,age --weight w --decimals 1 --users press", "frequency", "rounding", "whom they stand for"},
		{"ready.csv --table region,sex --count n", "frequency", "optimal", ""},
		{"ready.csv --table region,sex --count n --margins none", "frequency", "optimal", ""},
		{"ready.csv --table region,sex --count n --users modelling", "frequency", "rounding", "--base 3"},
		{"ready.csv --table region,sex --count n --overrides said.csv --pin region", "frequency", "", "--overrides said.csv"},
		{"ready.csv --table region,sex --count n --topic suicides", "frequency", "", "--topic suicides"},
		{"ready.csv --table region,sex --count n --profile office.yaml", "frequency", "partial", "The policy office 1 says so"},
		{"many.csv --table region,age --profile isd --want true", "frequency", "optimal", "--profile isd --table region,age --method optimal"},
		{"sums.csv --table region,act --count n --value v --max m1 --second m2", "magnitude", "", ""},
		{"sums.csv --table region,act --count n --value v --max m1 --second m2 --want complete", "magnitude", "adjustment", ""},
		{"many.csv --table region,age --ordered region=n1|n2|n3|s1|s2 --rule min:n=8", "frequency", "optimal", ""},
		{"many.csv --table region,age --recode age=age.grc --margins all --insider off", "frequency", "", "--recode region="},
		{"safe.csv --table region,sex --count n", "frequency", "none", "No cell is unsafe|no cell is unsafe"},
	} {
		r := microrisk(t, strings.Fields("table advise "+x.args+" --limit 2 --json advice.json")...)
		require.Zero(t, r.status, "%s: %s", x.args, r.err)
		var out advise.Outcome
		require.NoError(t, json.Unmarshal(read(t, "advice.json"), &out))
		require.Equal(t, x.kind, out.Type, x.args)
		require.Regexp(t, x.also, strings.Join(strings.Fields(r.out), " "), x.args)
		commands := commandsIn(t, r.out)
		require.Len(t, commands, 1+max(len(out.Merging)-1, 0), r.out)
		require.Equal(t, out.Command[1:], commands[0])
		if x.method != "" && !strings.Contains(x.args, "office") {
			require.Contains(t, strings.Join(commands[0], " "), "--method "+x.method, x.args)
		}
		for line := range strings.Lines(r.out) {
			if !strings.Contains(line, "microrisk ") {
				require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
			}
		}
		p := microrisk(t, append(commands[0], "--public", fmt.Sprint("p", i, ".csv"), "--internal", fmt.Sprint("in", i))...)
		require.Zero(t, p.status, "%v: %s", commands[0], p.err)
		require.FileExists(t, fmt.Sprint("p", i, ".csv"))
		require.Regexp(t, fmt.Sprintf(`unsafe +%d `, out.Unsafe), strings.ReplaceAll(p.out, ",", ""))
		if out.Unsafe > 0 && out.Redesign != nil { // the other command is right too
			m := regexp.MustCompile(`(?m)^ +microrisk (table redesign .*)$`).FindStringSubmatch(r.out)
			require.NotNil(t, m, r.out)
			m[1] = strings.ReplaceAll(m[1], "'", "")
			d := microrisk(t, strings.Fields(m[1])...)
			require.Zero(t, d.status, "%s: %s", m[1], d.err)
			if len(commands) > 1 { // and so is that which takes what it wrote
				require.Equal(t, out.Merging[1][1:], commands[1])
				p := microrisk(t, append(commands[1], "--public", fmt.Sprint("m", i, ".csv"), "--internal", fmt.Sprint("min", i))...)
				require.Zero(t, p.status, "%v: %s", commands[1], p.err)
				require.Regexp(t, `unsafe +0 `, p.out)
				text := string(read(t, fmt.Sprint("m", i, ".csv")))
				require.NotContains(t, text, ",x\n")
				for _, merge := range out.Redesign.Recodes {
					require.Contains(t, text, merge.Code)
				}
			} else {
				require.Contains(t, x.args, "--overrides")
			}
			followed++
		}
	}
	require.GreaterOrEqual(t, followed, 5)
	refused(t, map[string]string{
		"table advise":                     "name a file to read",
		"table advise ready.csv --count n": "name the variables of the table",
		"table advise ready.csv --table region,sex --count n --users pres":              `users "pres" is unknown; did you mean press?`,
		"table advise ready.csv --table region,sex --count n --want all":                `want "all" is unknown`,
		"table advise ready.csv --table region,sex --count n --want true --users press": "the press wants a complete table, and true values are asked for",
		"table advise ready.csv --table region,sex --count n --pin age=3":               `the variable "age" is unknown`,
		"table advise only-sums.csv --table region --value v":                           "a table of sums says nothing of who is in its cells",
		"table advise ready.csv --table region,sex --count n --json ready.csv":          "ready.csv",
	}, 2)
}
