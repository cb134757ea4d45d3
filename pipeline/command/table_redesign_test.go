package command

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var commandLine = regexp.MustCompile(`(?m)^ +microrisk (table protect .*)$`)

// commandsIn are the commands that a text tells to run, word by word.
func commandsIn(t *testing.T, text string) [][]string {
	t.Helper()
	var list [][]string
	for _, m := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
		var words []string
		word, quoted, any := "", false, false
		for _, c := range m[1] {
			switch {
			case c == '\'':
				quoted, any = !quoted, true
			case c == ' ' && !quoted:
				if any {
					words = append(words, word)
				}
				word, any = "", false
			default:
				word, any = word+string(c), true
			}
		}
		if any {
			words = append(words, word)
		}
		list = append(list, words)
	}
	return list
}

// manyText are records of several regions, bands of age and holdings.
func manyText() string {
	var b strings.Builder
	b.WriteString("region,age,sex,w,turnover,firm\n")
	for i := range 400 {
		region := []string{"n1", "n2", "n3", "s1", "s2"}[i*i%23%5]
		age := []string{"0-15", "16-24", "25-44", "45-64", "65-74", "75-84", "85+"}[(i*7+i/50)%7]
		if age == "85+" && i%3 > 0 {
			age = "25-44"
		}
		fmt.Fprintf(&b, "%s,%s,%s,%d.5,%d,f%d\n", region, age, []string{"f", "m"}[i%2], 20+i%7, 10+i*i%90, i/3)
	}
	return b.String()
}

// Every redesign that is proposed leaves nothing unsafe: all that is printed is run.
func TestTableRedesign(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{"many.csv": manyText(), "regions.hrc": "north\n@n1\n@n2\n@n3\nsouth\n@s1\n@s2\n",
		"age.grc": "0-24:0-15,16-24\n65+:65-74,75-84,85+\n", "dis.csv": "age,disease,n\n0-16,No,72\n0-16,Yes,12\n17-24,No,75\n17-24,Yes,3\n25-35,No,89\n25-35,Yes,1\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for i, args := range []string{
		"dis.csv --table age,disease --count n --rule min:n=4",
		"many.csv --table region,age --rule min:n=5",
		"many.csv --table region,age,sex --hierarchy region=regions.hrc --rule min:n=5 --loss contributors --best 2",
		"many.csv --table region,age --rule min:n=8 --recode age=age.grc --pin region=n2",
		"many.csv --table region,age --rule min:n=8 --groups age=age.grc --ordered region=n1|n2|n3|s1|s2",
		"many.csv --table region,age --hierarchy region=regions.hrc --response turnover --contributor firm --rule p%:p=40 --rule min:n=3 --loss value",
		"many.csv --table region,age --weight w --decimals 1 --rule min:n=15 --best 1",
		"many.csv --table region,age --rule across:p=40 --rule min:n=4 --nodes 200",
	} {
		out := fmt.Sprint("out", i)
		r := microrisk(t, strings.Fields("table redesign "+args+" --out "+out+" --json "+out+".json")...)
		require.Zero(t, r.status, "%s: %s", args, r.err)
		commands := commandsIn(t, r.out)
		require.NotEmpty(t, commands, "%s\n%s", args, r.out)
		for line := range strings.Lines(r.out) {
			if !strings.Contains(line, "microrisk ") {
				require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
			}
		}
		for k, words := range commands {
			p := microrisk(t, append(words, "--method", "none", "--public", fmt.Sprint("p", i, k, ".csv"), "--internal", fmt.Sprint("in", i, k))...)
			require.Zero(t, p.status, "%v: %s", words, p.err)
			require.Regexp(t, `unsafe +0 `, p.out)
			require.NotContains(t, string(read(t, fmt.Sprint("p", i, k, ".csv"))), ",x\n")
		}
	}
	r := microrisk(t, strings.Fields("table redesign dis.csv --table age,disease --count n --rule min:n=5")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "No redesign leaves nothing unsafe.")
	require.Contains(t, r.out, "The fewest that are left are 1 unsafe cell")
	r = microrisk(t, strings.Fields("table redesign dis.csv --table age,disease --count n --rule min:n=1")...)
	require.Contains(t, r.out, "Nothing is unsafe: no redesign is needed.")
	refused(t, map[string]string{
		"table redesign --table age":                                                  "name a file to read",
		"table redesign dis.csv --table age,disease --count n":                        "say which cells disclose",
		"table redesign dis.csv --rule min --count n":                                 "name the variables of the table",
		"table redesign dis.csv --table age,disease --count n --rule min --pin ag":    `the variable "ag" is unknown; did you mean age?`,
		"table redesign dis.csv --table age,disease --count n --rule min --groups ag": "it must be VARIABLE=FILE",
		"table redesign dis.csv --table age,disease --count n --rule min --loss cost": `loss "cost" is unknown`,
		"table redesign dis.csv --table age,disease --count n --rule min --best 0":    "--best",
	}, 2)
}
