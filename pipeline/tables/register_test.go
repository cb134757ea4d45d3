package tables_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// survey is of people by area and status: one in the south is widowed.
const survey = "AREA,STATUS\n"

func people() string {
	text := survey
	for _, x := range []struct {
		cell string
		n    int
	}{{"N,single", 9}, {"N,married", 7}, {"N,widowed", 6}, {"S,single", 8}, {"S,married", 5}, {"S,widowed", 1}, {"E,single", 5}, {"E,married", 6}, {"E,widowed", 4}} {
		text += strings.Repeat(x.cell+"\n", x.n)
	}
	return text
}

func (r releases) judge(register string, s tables.JudgeSpec) (*tables.Judgement, error) {
	s.Register = r.write("register.yaml", "version: 1\n"+register)
	return tables.Judge(background, s, session.Options{})
}

func TestSameTableInTwoWays(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	hidden := r.protect(source, "hidden", protect.Config{Table: variables("AREA", "STATUS")})
	rounded := r.protect(source, "rounded", protect.Config{Table: variables("STATUS", "AREA"), Method: "rounding"})
	again := r.protect(source, "again", protect.Config{Table: variables("AREA", "STATUS")})
	dearer := r.protect(source, "dearer", protect.Config{Table: variables("AREA", "STATUS"), Margins: "none", Overrides: r.write("by hand.csv",
		"AREA,STATUS,set\nN,single,hidden\nN,married,hidden\nE,single,hidden\nE,married,hidden\n")})
	const register = "releases:\n  - {name: first, public: hidden.csv, internal: hidden internal}\n"
	j, err := r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: rounded.Public, Truth: rounded.Truth}})
	require.NoError(t, err)
	require.ErrorContains(t, j.Passed(), "the same table went out as first by the method optimal, and is to go out by rounding")
	j, err = r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: dearer.Public, Truth: dearer.Truth}})
	require.NoError(t, err)
	require.ErrorContains(t, j.Passed(), "differ from it: whoever has both can compare them")
	j, err = r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: again.Public, Truth: again.Truth}, Note: r.path("note.txt")})
	require.NoError(t, err)
	require.NoError(t, j.Passed())
	require.Equal(t, []tables.Standing{{What: "it went out before, as first", Met: true, Why: "all cells are published as they were"}}, j.Standings)
	note, err := os.ReadFile(r.path("note.txt"))
	require.NoError(t, err)
	require.Contains(t, string(note), "Some values are not shown")
	require.NotContains(t, string(note), "3")
	require.Equal(t, hidden.Public, r.path("hidden.csv"))
}

// What is asked of a table is told, and a sensitive topic needs a stricter rule.
func TestWhatIsAskedOfATable(t *testing.T) {
	r := releases{t, t.TempDir()}
	x := r.protect(r.write("in.csv", people()), "x", protect.Config{Table: variables("AREA", "STATUS")})
	j, err := r.judge("releases:\n  - {name: x, public: x.csv, internal: x internal, topic: Mental health of adults, complete: true, true_values: true, "+
		"additive: true, keep: ['AREA=S,STATUS=widowed', 'AREA=N', 'HOUSE=1', 'AREA=W']}\n", tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: x.Public}})
	require.NoError(t, err)
	met := make(map[string]bool)
	for _, s := range j.Standings {
		met[s.What] = s.Met
	}
	require.Equal(t, map[string]bool{"sensitive topic": false, "all cells are needed": false, "true values are needed": true, "totals must add up": true,
		"to be shown: AREA=S,STATUS=widowed": false, "to be shown: AREA=N": true, "to be shown: HOUSE=1": false, "to be shown: AREA=W": false}, met)
	require.ErrorContains(t, j.Passed(), "mental health is sensitive: cells of fewer than 10 contributors are unsafe")
	_, err = r.judge("sensitive: 2\nreleases:\n  - {name: x, public: x.csv, internal: x internal, topic: Mental health}\n",
		tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: x.Public}})
	require.NoError(t, err)
}

// Records of all people tell what tables hide, those of a sample a part of it.
func TestRecordsByARegister(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	r.protect(source, "x", protect.Config{Table: variables("AREA", "STATUS")})
	const register = "releases:\n  - {name: x, public: x.csv, internal: x internal}\n"
	judge := func(file string, fraction float64) error {
		j, err := r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: file}, Records: true, Fraction: fraction})
		if err != nil {
			return err
		}
		return j.Passed()
	}
	require.ErrorContains(t, judge(source, 1), "x: anybody knows [S, widowed] exactly")
	require.NoError(t, judge(r.write("area.csv", "AREA\n"+strings.Repeat("N\n", 22)+strings.Repeat("S\n", 14)+strings.Repeat("E\n", 15)), 1))
	require.NoError(t, judge(r.write("few.csv", survey+"N,single\nE,married\n"), .04))
	require.NoError(t, judge(r.write("some.csv", survey+"S,widowed\n"), .02), "everybody knows that somebody is in it")
	require.ErrorContains(t, judge(r.write("most.csv", strings.Replace(people(), "S,widowed\n", "", 1)), .98), "not safe")
	require.ErrorContains(t, judge(r.write("other.csv", people()+"S,widowed\n"), 1), "contradict each other: [AREA=Total, STATUS=Total] has 51, and there are 52 records")
}

func TestRegisterRefuses(t *testing.T) {
	r := releases{t, t.TempDir()}
	x := r.protect(r.write("in.csv", people()), "x", protect.Config{Table: variables("AREA", "STATUS")})
	for text, says := range map[string]string{
		"{}": "releases",
		"releases:\n  - {name: a, public: x.csv}\n  - {name: a, records: in.csv}\n": "a is the name of release 1 too",
		"releases:\n  - {name: a}\n":                                                   "a must have one of public, a table, and records",
		"releases:\n  - {name: a, public: x.csv, records: in.csv}\n":                   "a must have one of public, a table, and records",
		"releases:\n  - {name: a, public: x.csv, date: 1.5.2026}\n":                    "it must be as 2026-05-01",
		"releases:\n  - {name: a, records: in.csv, fraction: 0}\n":                     "the fraction is 0",
		"releases:\n  - {name: a, records: in.csv, internal: x}\n":                     "an internal folder is of a table",
		"releases:\n  - {name: a, public: x.csv, fraction: .5}\n":                      "a fraction is of records",
		"releases:\n  - {name: a, public: x.csv, keep: [North]}\n":                     "\"North\" is no cell",
		"releases:\n  - {name: a, public: gone.csv}\n":                                 "the release a: ",
		"releases:\n  - {name: a, records: gone.csv}\n":                                "the release a: ",
		"releases:\n  - {name: a, public: x.csv, internall: y}\n":                      "did you mean internal?",
		"parts: gone.csv\nreleases:\n  - {name: a, public: x.csv, internal: internal}": "gone.csv",
	} {
		if text == "{}" {
			text = "few: 3\n"
		}
		_, err := r.judge(text, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: x.Public, Truth: x.Truth}})
		require.ErrorContains(t, err, says, text)
	}
	_, err := r.judge("releases:\n  - {name: a, public: y.csv}\n", tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: x.Public}})
	require.ErrorContains(t, err, "it is not said what is true")
}

// Records of categories that became one in a table tell of its cells too.
func TestRecordsOfMergedCategories(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	recodes := map[string]string{"STATUS": r.write("status.grc", "ever:married,widowed\n")}
	fewer := r.write("fewer.csv", strings.Replace(people(), strings.Repeat("S,married\n", 5), "", 1)) // one in the south was ever married
	r.protect(fewer, "x", protect.Config{Table: variables("AREA", "STATUS"), Recodes: recodes})
	const register = "releases:\n  - {name: x, public: x.csv, internal: x internal}\n"
	j, err := r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: fewer}, Records: true, Fraction: 1})
	require.NoError(t, err)
	require.ErrorContains(t, j.Passed(), "x: anybody knows [S, ever] exactly")
	require.Empty(t, j.Skipped)
	_, err = r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: source}, Records: true, Fraction: 1})
	require.ErrorContains(t, err, "[AREA=Total, STATUS=Total] has 46, and there are 51 records")
}
