package tables_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// warned judges by a register, and gives the warnings too.
func (r releases) warned(register string, s tables.JudgeSpec) (*tables.Judgement, string, error) {
	var text bytes.Buffer
	s.Register = r.write("register.yaml", "version: 1\n"+register)
	j, err := tables.Judge(background, s, session.Options{Logger: slog.New(slog.NewTextHandler(&text, nil))})
	return j, text.String(), err
}

// Releases of the same people in other words are told, as far as their number tells.
func TestTheSamePeopleInOtherWords(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	r.protect(source, "first", protect.Config{Table: variables("AREA", "STATUS")})
	second := r.protect(source, "second", protect.Config{Table: variables("STATUS"), Method: "none"})
	r.protect(r.write("more people.csv", people()+"N,single\n"), "others", protect.Config{Table: variables("AREA", "STATUS")})
	s := tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: second.Public, Truth: second.Truth}}
	register := func(words string) string {
		return "releases:\n  - {name: first, people: " + words + ", public: first.csv, internal: first internal}\n" +
			"  - {name: others, people: others, public: others.csv, internal: others internal}\n" +
			"  - {name: gone, people: gone, public: gone.csv}\n" +
			"  - {name: second, people: all adults, public: second.csv, internal: second internal}\n"
	}
	j, warnings, err := r.warned(register("adults in 2026"), s)
	require.NoError(t, err)
	require.Contains(t, warnings, `first is of \"adults in 2026\" and second of \"all adults\": they are not compared, though both have 51 in all`)
	require.Equal(t, 1, strings.Count(warnings, "WARN"), warnings)
	require.Equal(t, []string{"first is of other people (adults in 2026), though both have 51 in all", "others is of other people (others)",
		"gone is of other people (gone)"}, j.Skipped)
	j, warnings, err = r.warned(register("'All  Adults'"), s)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, j.Together, 1)

	// One that is not listed is of other people than the releases.
	other := r.protect(r.write("more.csv", people()+"N,single\n"), "larger", protect.Config{Table: variables("STATUS"), Method: "none"})
	_, _, err = r.warned("releases:\n  - {name: first, public: first.csv, internal: first internal}\n",
		tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: other.Public, Truth: other.Truth}})
	require.ErrorContains(t, err, "has 52 in the cell [STATUS=Total], and first has 51 in [AREA=Total, STATUS=Total]: they are of different people")
	require.ErrorContains(t, err, "list it in "+r.path("register.yaml")+" with people of its own")
	require.NotContains(t, err.Error(), "--parts")
}

// Who has no value is found by what a table without them leaves out.
func TestTablesThatLeaveOutMissingValues(t *testing.T) {
	r := releases{t, t.TempDir()}
	for _, missing := range []int{1, 5} {
		source := r.write("in.csv", people()+strings.Repeat("E,\n", missing))
		left := r.protect(source, "left", protect.Config{Table: variables("STATUS"), Method: "none", Missing: "drop"})
		for _, variable := range []string{"AREA", "STATUS"} {
			all := r.protect(source, "all", protect.Config{Table: variables(variable), Method: map[bool]string{true: "optimal", false: "none"}[missing == 1 && variable == "STATUS"]})
			together, err := r.audit(all, "", left)
			require.NoError(t, err)
			switch {
			case missing == 5:
				require.NoError(t, together.Passed())
			case variable == "AREA":
				require.ErrorContains(t, together.Passed(), "(52) less [STATUS=Total] of "+left.Public+" (51) is 1, which are those of STATUS missing")
			default:
				require.Error(t, together.Passed())
			}
		}
	}
}
