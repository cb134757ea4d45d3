package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const toProtect = "id,a,b-c,\"q,x\",n\n1,x,1,u,5\n2,x,1,u,6\n3,y,2,v,7\n4,y,2,v,8\n5,z,3,u,9\n6,z,4,u,9\n"

// The exit status says whether the target is met; what is wrong is told in one line, and nothing is left behind.
func TestProtectStatuses(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--target", "k=2", "--out", "o.csv"}, ExitDone, "counted again"},
		{[]string{"--target", "k=2", "--suppress", "cells", "--out", "o.csv"}, ExitDone, "are suppressed"},
		{[]string{"--target", "k=2", "--suppress", "cells", "--fit", "own"}, ExitDone, "To make it"},
		{[]string{"--target", "k=2", "--suppress", "records", "--out", "o.csv"}, ExitDone, "counted again"},
		{[]string{"--target", "k=7"}, ExitLimit, "nothing meets the target: k = 7"},
		{[]string{"--target", "k=7", "--suppress", "cells"}, ExitLimit, "nothing meets"},
		{[]string{"--target", "k=1"}, ExitWrong, "at least 2"},
		{[]string{"--target", "l=2"}, ExitWrong, "it must be one of"},
		{nil, ExitWrong, "when the release is safe"},
		{[]string{"--target", "k=2", "--share", "0.5"}, ExitWrong, "--share is of suppression"},
		{[]string{"--target", "k=2", "--time", "5", "--checks", "5"}, ExitWrong, "leave one of them out"},
		{[]string{"--target", "k=2", "--hierarchy", "a=none.csv"}, ExitWrong, "the hierarchy of a"},
		{[]string{"--target", "k=2", "--hierarchy", "a"}, ExitWrong, "VARIABLE=FILE"},
		{[]string{"--target", "k=2", "--out", "d.csv"}, ExitWrong, "is the input"},
		{[]string{"--target", "k=2", "--missing", "drop"}, ExitWrong, "--missing"},
	} {
		t.Chdir(t.TempDir())
		require.NoError(t, os.WriteFile("d.csv", []byte(toProtect), 0o600))
		r := microrisk(t, append([]string{"protect", "d.csv", "--key", `a,b-c,"q,x"`}, c.args...)...)
		assert.Equal(t, c.status, r.status, "%v: %s %s", c.args, r.out, r.err)
		assert.Contains(t, r.out+r.err, c.says, c.args)
		if c.status != ExitDone {
			assert.NoFileExists(t, "o.csv")
		}
	}
}

// A comparison is a gate on the second file.
func TestCompareStatuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("d.csv", []byte(toProtect), 0o600))
	r := microrisk(t, "protect", "d.csv", "--key", `a,b-c,"q,x"`, "--target", "k=2", "--out", "o.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	r = microrisk(t, "compare", "d.csv", "o.csv", "--key", `a,b-c,"q,x"`, "--limit", "sample_uniques=0", "--json", "c.json")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "to none")
	require.FileExists(t, "c.json")
	r = microrisk(t, "compare", "d.csv", "d.csv", "--key", `a,b-c,"q,x"`, "--limit", "sample_uniques=0")
	require.Equal(t, ExitLimit, r.status)
	for want, args := range map[string][]string{"two files": {"d.csv"}, "a spec and a file": {"d.csv", "x.yaml"}, "none of the key variables": {"d.csv", "o.csv", "--key", "zz"},
		"--top": {"d.csv", "o.csv", "--key", "a", "--top", "0"}, "sample_uniques": {"d.csv", "o.csv", "--key", "a", "--limit", "sample_uniqes=0"}} {
		r := microrisk(t, append([]string{"compare"}, args...)...)
		assert.Equal(t, ExitWrong, r.status, "%v: %s", args, r.err)
		assert.Contains(t, r.err, want)
	}
}

// The page of a file that misses limits proposes a protection whose targets are these limits; the command runs.
func TestPageProposesTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("d.csv", []byte(toProtect), 0o600))
	args := []string{"assess", "d.csv", "--key", "a,n", "--fraction", "0.5", "--measures", "suda,mc3", "--out", "r.csv", "--report", "page.md"}
	r := microrisk(t, append(args, "--limit", "sample_uniques=1", "--limit", "max_correct_match=0.1")...)
	require.Equal(t, ExitLimit, r.status, r.err)
	text, err := os.ReadFile("page.md")
	require.NoError(t, err)
	var command []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "microrisk protect ") {
			command = strings.Fields(strings.Trim(strings.TrimSpace(line), "`"))
		}
	}
	require.Contains(t, strings.Join(command, " "), "--fraction 0.5")
	require.Contains(t, strings.Join(command, " "), "--target uniques=1")
	require.Contains(t, strings.Join(command, " "), "--target correct_match=0.1")
	r = microrisk(t, command[1:]...)
	require.Contains(t, []int{ExitDone, ExitLimit}, r.status, r.err)
	r = microrisk(t, append(args, "--replace")...)
	require.Equal(t, ExitDone, r.status, r.err)
	text, err = os.ReadFile("page.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "--target k=3")
}
