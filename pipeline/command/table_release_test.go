package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// censusText is of people by area and marital; of one the status is not known.
func censusText() string {
	text := "area,marital\n"
	for cell, n := range map[string]int{"N,single": 9, "N,married": 7, "N,widowed": 6, "S,single": 8, "S,married": 5, "S,widowed": 1, "E,single": 5,
		"E,married": 6, "E,widowed": 4, "E,": 1} {
		text += strings.Repeat(cell+"\n", n)
	}
	return text
}

// A first release begins a register; others are judged by it before they are made, and added to it, and none is written over.
func TestTableRelease(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("census.csv", []byte(censusText()), 0o666))
	protect := func(status int, args string) result {
		r := microrisk(t, strings.Fields("table protect census.csv --rule min:n=3 "+args)...)
		require.Equal(t, status, r.status, "%s: %s", args, r.err)
		return r
	}
	r := protect(2, "--table area,marital --public x.csv --internal x --register register.yaml")
	require.Contains(t, r.err, "there is no register register.yaml; microrisk table release begins one")
	protect(0, "--table area --public area.csv --internal area")
	release := func(status int, args string, more ...string) result {
		r := microrisk(t, append(strings.Fields("table release "+args), more...)...)
		require.Equal(t, status, r.status, "%s: %s", args, r.err)
		return r
	}
	r = release(0, "area.csv --register register.yaml --name areas --internal area --date 2026-05-01", "--people", "all adults: 2026")
	require.Contains(t, r.out, "added to register.yaml as areas")
	text := string(read(t, "register.yaml"))
	require.Contains(
		t,
		text,
		"releases:\n  - name: areas\n    date: \"2026-05-01\"\n    people: \"all adults: 2026\"\n    public: area.csv\n    internal: area\n",
	)

	// What went out is not written over, whether the register is named or not.
	for _, args := range []string{
		"--public area.csv --internal y", "--public y.csv --internal area", "--public ./area.csv --internal y --register register.yaml",
	} {
		require.Contains(t, protect(2, "--table area "+args).err, "is of areas, which went out (")
	}
	require.Contains(t, microrisk(t, strings.Fields("assess census.csv --key area -o area.csv")...).err, "is of areas, which went out (register.yaml)")

	// Without the one whose status is not known, all adults are one fewer: who has both tables has found that one.
	r = protect(1, "--table marital --missing drop --public left.csv --internal left --register register.yaml")
	require.Contains(t, r.err, "not safe with what went out before (register.yaml), and nothing is published")
	require.Contains(t, r.err, "[area=Total] of areas (52) less [marital=Total] of left.csv (51) is 1, which are those of marital missing")
	require.NoFileExists(t, "left.csv")
	require.NoDirExists(t, "left")
	protect(0, "--table marital --missing drop --public left.csv --internal left")
	r = release(1, "left.csv --register register.yaml --name left --internal left")
	require.Contains(t, r.err, "which are those of marital missing")
	require.NotContains(t, r.out, "added")
	require.Equal(t, text, string(read(t, "register.yaml")))

	// One that is safe with it is told how to go out, and does.
	r = protect(0, "--table area,marital --public both.csv --internal both --register register.yaml")
	require.Contains(t, r.out, "by register.yaml  it is safe with what went out before")
	require.Contains(t, r.out, "microrisk table release both.csv --register register.yaml --internal both --name NAME")
	r = release(
		3,
		"both.csv --register register.yaml --name both --internal both --date 2026-06-01 --keep area=S,marital=widowed",
		"--people",
		"all  ADULTS: 2026",
	)
	require.Contains(t, r.err, "to be shown: area=S,marital=widowed: not met, it is hidden")
	require.Contains(t, string(read(t, "register.yaml")), text+"  - name: both\n")
	r = microrisk(t, strings.Fields("table audit both.csv --register register.yaml")...)
	require.Equal(t, 3, r.status, r.err)
	require.NoError(t, os.WriteFile("ready.csv", []byte("area,marital,n\nN,single,9\nN,married,7\nN,widowed,6\nS,single,8\nS,married,5\nS,widowed,1\n"+
		"E,single,5\nE,married,6\nE,widowed,4\nE,,1\n"), 0o666))
	const ready = "table protect ready.csv --table area,marital --count n --rule min:n=3 --register register.yaml "
	r = microrisk(t, strings.Fields(ready+"--public again.csv --internal again")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "by register.yaml  it is safe with what went out before")
	r = microrisk(t, strings.Fields(ready+"--method rounding --public no.csv --internal no")...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.err, "the same table went out as both by the method optimal")
	r = microrisk(t, strings.Fields("table protect both/cells.parquet --rule min:n=3 --public value.csv --internal value --register register.yaml")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.err, "both is of counts, and value.csv of value: they are not compared, though both have 52 in all")
	require.NoFileExists(t, "no.csv")
	r = release(1, "census.csv --register register.yaml --name census --records")
	require.Contains(t, r.err, "both: anybody knows [S, widowed] exactly")
	refused(t, map[string]string{
		"table release both.csv --name x": "name the register",
		"table release left.csv --name x --register register.yaml": "it is not said what is true of " +
			"left.csv: name its internal folder (--internal)",
		"table release --name x --register register.yaml":                                        "name what is to go out",
		"table release both.csv --register register.yaml":                                        "say what the release is called",
		"table release both.csv --register register.yaml --name x --internal both":               "both.csv is in register.yaml already, as both",
		"table release left.csv --register register.yaml --name areas":                           "areas is the name of release 1 too",
		"table release left.csv --register register.yaml --name x --internal none":               "none",
		"table release left.csv --register register.yaml --name x --date 1.5.2026":               "it must be as 2026-05-01",
		"table release left.csv --register register.yaml --name x --fraction .5":                 "a fraction is of records",
		"table release census.csv --register new.yaml --name x --records --note n":               "--internal and --note are of a table",
		"table audit both.csv --register register.yaml --people x":                               "both.csv is in register.yaml, as both",
		"table audit both.csv --truth both --people x":                                           "are for judging by a register",
		"table protect census.csv --table area --rule min --people x":                            "--people is of judging by a register",
		"table protect census.csv --table area --rule min --register register.yaml --print-spec": "a spec does not know --register",
	}, 2)
	require.NoFileExists(t, "new.yaml")
}

// What people wrote in a register stays as they wrote it, or they are told what to add.
func TestRegistersOfPeople(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("census.csv", []byte(censusText()), 0o666))
	for _, table := range []string{"area", "marital"} {
		r := microrisk(t, strings.Fields("table protect census.csv --rule min:n=1 --method none --table "+table+" --public "+table+".csv --internal "+table)...)
		require.Zero(t, r.status, r.err)
	}
	const item = "- name: new\n  date: \"2026-05-01\"\n  public: area.csv\n  internal: area\n"
	in := func(room string) string {
		return room + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n"+room) + "\n"
	}
	for text, want := range map[string]string{
		"": "# What went out: microrisk table release adds to it, and table audit --register judges by it.\n" +
			"version: 1\nreleases:\n" + in("  "),
		"version: 1\nreleases: []  # none yet\n": "version: 1\nreleases: # none yet\n" + in("  "),
		"version: 1\nreleases:\n- {name: s, public: marital.csv, internal: marital}": "version: 1\n" +
			"releases:\n- {name: s, public: marital.csv, internal: marital}\n" + in(""),
		"version: 1\nreleases:\n    # the first\n    - name: s\n      # of all\n      public: marital.csv\n\n# ours\nfew: 2\n": "version: 1\n" +
			"releases:\n    # the first\n" +
			"    - name: s\n      # of all\n      public: marital.csv\n" + in("    ") + "\n# ours\nfew: 2\n",
		"version: 1\r\nreleases:\r\n- name: s\r\n  public: marital.csv\r\n": "version: 1\r\n" +
			"releases:\r\n- name: s\r\n  public: marital.csv\r\n" + strings.ReplaceAll(item, "\n", "\r\n"),
		"version: 1\nreleases: [{name: s, public: marital.csv}]\n": "",
		"{version: 1, releases: [{name: s, public: marital.csv}]}": "",
	} {
		require.NoError(t, os.RemoveAll("r.yaml"))
		if text != "" {
			require.NoError(t, os.WriteFile("r.yaml", []byte(text), 0o666))
		}
		r := microrisk(t, strings.Fields("table release area.csv --register r.yaml --name new --internal area --date 2026-05-01")...)
		if want == "" {
			require.Equal(t, 2, r.status)
			require.Contains(t, r.err, `add it yourself: {name: new, date: "2026-05-01", public: area.csv, internal: area}`)
			want = text
		} else {
			require.Zero(t, r.status, r.err)
		}
		require.Equal(t, want, string(read(t, "r.yaml")))
	}
}

// What is advised is safe with what went out, and its command says so.
func TestAdviceByARegister(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("census.csv", []byte(censusText()), 0o666))
	for _, args := range []string{"table protect census.csv --rule min:n=3 --table area,marital --public both.csv --internal both",
		"table release both.csv --register register.yaml --name both --internal both"} {
		r := microrisk(t, strings.Fields(args)...)
		require.Zero(t, r.status, r.err)
	}
	r := microrisk(t, strings.Fields("table advise census.csv --table marital --register register.yaml --limit 5")...)
	require.Zero(t, r.status, r.err)
	commands := commandsIn(t, r.out)
	require.Len(t, commands, 1, r.out)
	require.Contains(t, strings.Join(commands[0], " "), "--register register.yaml")
	r = microrisk(t, append(commands[0], "--public", "marital.csv", "--internal", "marital")...)
	require.Zero(t, r.status, r.err)
	r = microrisk(t, strings.Fields("table audit marital.csv --truth marital --register register.yaml")...)
	require.NotEqual(t, 1, r.status, r.err)
	// The same table by another method is never advised.
	r = microrisk(t, strings.Fields("table advise census.csv --table area,marital --register register.yaml --want complete --limit 5")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, strings.Join(strings.Fields(r.out), " "), "the same table went out as both by the method optimal, and is to go out by rounding")
	require.Contains(t, strings.Join(commandsIn(t, r.out)[0], " "), "--method optimal")
}
