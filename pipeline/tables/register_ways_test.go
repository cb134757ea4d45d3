package tables_test

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// ways are all ways of protection that there are, with a word of the note that tells them from others.
func ways(t *testing.T) map[string]struct {
	protect.Config
	says string
} {
	list := make(map[string]struct {
		protect.Config
		says string
	})
	add := func(name, says string, c protect.Config) {
		c.Table = variables("AREA", "STATUS")
		list[name] = struct {
			protect.Config
			says string
		}{c, says}
	}
	for _, method := range []string{"optimal", "hypercube", "network", "modular"} {
		add(method, "Some values are not shown (x)", protect.Config{Method: method})
	}
	add("rounding", "rounded together", protect.Config{Method: "rounding"})
	for name, c := range changing() {
		says := map[string]string{"random": "rounded", "adjustment": "by no more than is needed", "partial": "stands a range", "abs": "rounded",
			"view": "Beside each stands the range"}[name]
		if says == "" {
			says = "changed a little, by chance"
		}
		add(name, says, c)
	}
	for text, says := range map[string]string{"conventional:base=3": "rounded", "census2000": "rounded"} {
		p, err := schemas.ParseScheme(text)
		require.NoError(t, err)
		add(text, says, protect.Config{Method: "perturbation", Changing: protect.Changing{Perturb: p}})
	}
	p, err := schemas.ParseScheme("noise")
	require.NoError(t, err)
	p.People = schemas.People{By: "people", RecordID: "ID"}
	add("noise by people", "changed a little, by chance", protect.Config{Method: "perturbation", Changing: protect.Changing{Perturb: p}})
	return list
}

// A table that went out by whatever way is not to go out by another one, and may again as it is.
func TestEveryWayByARegister(t *testing.T) {
	for name, w := range ways(t) {
		t.Run(name, func(t *testing.T) {
			r := releases{t, t.TempDir()}
			source := r.write("in.csv", numbered(people()))
			x := r.protectBySecret(source, "x", w.Config)
			other := protect.Config{Table: variables("STATUS", "AREA"), Method: "hand", Overrides: r.write("by hand.csv",
				"AREA,STATUS,set\nN,single,hidden\nN,married,hidden\nS,single,hidden\nS,married,hidden\nN,widowed,hidden\nS,widowed,hidden\n")}
			y := r.protect(source, "y", other)
			margin := r.protect(source, "margin", protect.Config{Table: variables("STATUS"), Method: "none"})
			text, err := os.ReadFile(x.Public)
			require.NoError(t, err)
			again := r.write("again.csv", string(text))
			const register = "releases:\n  - {name: first, date: 2025-01-31, public: x.csv, internal: x internal}\n"
			judge := func(of tables.With) *tables.Judgement {
				j, err := r.judge(register, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: of.Public, Truth: of.Truth}, Note: r.path("note.txt")})
				require.NoError(t, err)
				return j
			}
			j := judge(y)
			require.Len(t, j.Refused, 1)
			require.Contains(t, j.Refused[0], "the same table went out as first by the method "+w.Method)
			require.NoFileExists(t, r.path("note.txt"), "there is nothing to be told of a table that does not go out")
			j = judge(tables.With{Public: again, Truth: x.Truth})
			require.Empty(t, j.Refused)
			require.NoError(t, j.Passed())
			require.Equal(t, []tables.Standing{{What: "it went out before, as first", Met: true, Why: "all cells are published as they were"}}, j.Standings)
			note, err := os.ReadFile(r.path("note.txt"))
			require.NoError(t, err)
			require.Contains(t, string(note), w.says)
			require.NotRegexp(t, regexp.MustCompile(`[1-9%]|n=|base|scheme|secret`), string(note))
			require.Equal(
				t,
				w.says == "Some values are not shown (x)" || name == "view",
				strings.Contains(string(note), "All values that are shown are true, and") &&
					name != "partial",
			)
			j = judge(margin)
			require.Empty(t, j.Refused)
			hides := strings.Contains(string(note), "All values that are shown are true")
			require.Equal(t, !hides && j.Together[0].Releases[1].Changed > 0 && changesMargins(t, x.Public, margin.Public), len(j.Standings) > 0, j.Standings)
		})
	}
}

// protectBySecret protects a table with the first secret by which it is safe.
func (r releases) protectBySecret(source, name string, c protect.Config) tables.With {
	if c.Perturb == nil || !c.Perturb.Random() {
		return r.protect(source, name, c)
	}
	c.Rules, c.Out, c.Inside, c.Secret = []protect.Rule{{Rule: "min"}}, r.path(name+".csv"), r.path(name+" internal"), r.path("secret")
	for i := range 50 {
		require.NoError(r.t, os.WriteFile(c.Secret, []byte(strings.Repeat("secret", 4+i)), 0o600))
		config := c
		if _, err := run(r.t, source, &config); err == nil {
			return tables.With{Public: c.Out, Truth: c.Inside}
		}
	}
	require.FailNow(r.t, "no secret makes it safe")
	return tables.With{}
}

// numbered gives every record a number.
func numbered(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	out := "ID," + lines[0] + "\n"
	for i, line := range lines[1:] {
		out += strings.Repeat("i", i+1) + "," + line + "\n"
	}
	return out
}

// changesMargins tells whether a table has other totals than those of one variable.
func changesMargins(t *testing.T, public, margin string) bool {
	x := read(t, public, 2)
	for status, cell := range read(t, margin, 1) {
		if x["Total|"+status]["value"] != cell["value"] {
			return true
		}
	}
	return false
}

// What a table gives away by itself, others do not cover.
func TestTogetherIsNoBetterThanAlone(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	x := r.protect(source, "x", protect.Config{Table: variables("AREA", "STATUS"), Method: "adjustment", Margins: "none"})
	margin := r.protect(source, "margin", protect.Config{Table: variables("AREA"), Method: "none"})
	truth := internal(t, x.Truth, 2)
	public := "AREA,STATUS,value\n"
	for cell, figures := range truth {
		public += strings.ReplaceAll(cell, "|", ",") + "," + figures["count"] + "\n"
	}
	x.Public = r.write("true.csv", public) // nothing was moved
	alone, err := tables.RunAudit(background, tables.AuditSpec{Public: x.Public, Truth: x.Truth}, session.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, alone.Passed(), "[S, widowed]")
	together, err := r.audit(x, "", margin)
	require.NoError(t, err)
	require.ErrorContains(t, together.Passed(), "[S, widowed]")

	// Intervals that are narrower than a cell needs are too narrow beside others as well.
	x = r.protect(source, "partial", protect.Config{Table: variables("AREA", "STATUS"), Method: "partial", Margins: "none"})
	public = "AREA,STATUS,value,lower,upper\n"
	for cell, figures := range read(t, x.Public, 2) {
		if cell == "S|widowed" {
			require.Empty(t, figures["value"])
			figures["lower"], figures["upper"] = "1", "1"
		}
		public += strings.ReplaceAll(cell, "|", ",") + "," + figures["value"] + "," + figures["lower"] + "," + figures["upper"] + "\n"
	}
	x.Public = r.write("narrow.csv", public)
	alone, err = tables.RunAudit(background, tables.AuditSpec{Public: x.Public, Truth: x.Truth}, session.Options{})
	require.NoError(t, err)
	require.Error(t, alone.Passed())
	together, err = r.audit(x, "", margin)
	require.NoError(t, err)
	require.ErrorContains(t, together.Passed(), "[S, widowed]")
	together, err = r.audit(margin, "", x) // the other way round: it is not the one that is judged
	require.NoError(t, err)
	require.ErrorContains(t, together.Passed(), "[S, widowed]")
}

// Files that are not as they should be are told, and nothing is written; an interrupted audit ends.
func TestBrokenReleases(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	x := r.protect(source, "x", protect.Config{Table: variables("AREA", "STATUS")})
	margin := r.protect(source, "m", protect.Config{Table: variables("STATUS"), Method: "none"})
	text, err := os.ReadFile(margin.Public)
	require.NoError(t, err)
	_, err = r.audit(x, "", tables.With{Public: r.write("off.csv", strings.Replace(string(text), "single,22", "single,21", 1))})
	require.ErrorContains(t, err, "off.csv does not add up")
	_, err = r.audit(x, "", tables.With{Public: r.write("less.csv", strings.Replace(string(text), "Total,51", "", 1))})
	require.Error(t, err)
	for parts, says := range map[string]string{
		"AREA,N,1\nx,AREA,S,1\n": "categories of Total in AREA have finest categories in common, such as those of S",
		"PLACE,N,1\n":            "has no variable \"PLACE\"; of one that it does not have, only Total can be said",
		"STATUS,Total,single\n":  "has finest categories that its total does not have",
	} {
		_, err := r.audit(x, r.write("parts.csv", strings.ReplaceAll("table,variable,code,finest\nx,"+parts, "\nx,", "\n"+x.Public+",")), margin)
		require.ErrorContains(t, err, says)
		require.True(t, session.IsSpec(err), err)
	}
	together, err := r.audit(x, r.write("parts.csv", "table,variable,code,finest\n"+x.Public+",AREA,Nord,1\n"), margin)
	require.NoError(t, err)
	require.Equal(t, []string{"line 2 of the parts: " + x.Public + " has no category \"Nord\" of AREA, or nobody is in it"}, together.Warnings)

	ended, cancel := context.WithCancel(background)
	cancel()
	r.write("register.yaml", "version: 1\nreleases:\n  - {name: m, public: m.csv}\n  - {name: in, records: in.csv, fraction: 0.5}\n")
	judge := tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: x.Public, Truth: x.Truth}, Register: r.path("register.yaml"), Note: r.path("note.txt")}
	_, err = tables.Judge(ended, judge, session.Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, judge.Note)
	_, _, err = tables.RunAuditWith(ended, tables.AuditSpec{Public: x.Public, Truth: x.Truth, With: []tables.With{margin}}, session.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// A register that does not say of whom a table is, or that says otherwise than its log, is refused.
func TestRegistersThatContradict(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write("in.csv", people())
	x := r.protect(source, "x", protect.Config{Table: variables("AREA", "STATUS"), Method: "rounding"})
	r.protect(source, "m", protect.Config{Table: variables("STATUS"), Method: "none"})
	public, err := os.ReadFile(x.Public)
	require.NoError(t, err)
	y := r.write("y.csv", string(public))
	for _, c := range []struct {
		says     string
		releases []string
	}{
		{"several people (A; B)", []string{"{name: a, public: m.csv, people: A}",
			"{name: b, public: x.csv, internal: x internal, people: B}", "{name: y, public: y.csv}"}},
		{"its method is optimal, and its log that it is rounding", []string{"{name: a, public: x.csv, internal: x internal, method: optimal}"}},
		{"its scheme is isd, and its log that it is none, but rounding", []string{"{name: a, public: x.csv, internal: x internal, scheme: isd}"}},
		{"does not tell what is true", []string{"{name: a, public: x.csv, method: rounding}"}},
		{"did you mean rounding?", []string{"{name: a, public: x.csv, internal: x internal, method: roundin}"}},
		{"the scheme is \"isdd\"", []string{"{name: a, public: x.csv, internal: x internal, scheme: isdd}"}},
		{"x.csv is the file of release 1, a, too", []string{"{name: a, public: x.csv, internal: x internal}", "{name: b, public: ./x.csv, internal: x internal}"}},
		{"or one was rounded: name its internal folder", []string{"{name: a, public: x.csv}"}},
		{"the release a: the truth", []string{"{name: a, public: x.csv, internal: gone}"}},
	} {
		text := "releases:\n  - " + strings.Join(c.releases, "\n  - ") + "\n"
		_, err := r.judge(text, tables.JudgeSpec{AuditSpec: tables.AuditSpec{Public: y, Truth: x.Truth}})
		require.ErrorContains(t, err, c.says, text)
	}
}

// What one table tells of a cell another one does not take back, also where values can be negative.
func TestIntervalsOfNegativeValues(t *testing.T) {
	r := releases{t, t.TempDir()}
	text := "AREA,STATUS,T\n"
	for i, line := range strings.Split(strings.TrimSpace(people()), "\n")[1:] {
		text += line + "," + strconv.Itoa(5-i%9) + "\n"
	}
	source := r.write("in.csv", text)
	c := protect.Config{Table: variables("AREA", "STATUS"), Response: "T", Absolute: true, Margins: "none"}
	hidden := r.protect(source, "hidden", c)
	c.View = "intervals"
	shown := r.protect(source, "shown", c)
	truth := internal(t, shown.Truth, 2)["S|widowed"]["value"]
	public := "AREA,STATUS,value,lower,upper\n"
	for cell, figures := range read(t, shown.Public, 2) {
		if cell == "S|widowed" {
			require.Empty(t, figures["value"])
			figures["lower"], figures["upper"] = truth, truth
		}
		public += strings.ReplaceAll(cell, "|", ",") + "," + figures["value"] + "," + figures["lower"] + "," + figures["upper"] + "\n"
	}
	shown.Public = r.write("narrow.csv", public)
	for _, order := range [][2]tables.With{{hidden, shown}, {shown, hidden}} {
		together, err := r.audit(order[0], "", order[1])
		require.NoError(t, err)
		require.ErrorContains(t, together.Passed(), "anybody knows [S, widowed] exactly")
		for _, release := range together.Releases {
			require.Len(t, release.Report.Failed(), 1, release.Name)
		}
	}
}
