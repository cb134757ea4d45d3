package command

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const homes = `area,sex,health
north,m,good
north,m,good
north,f,bad
south,f,good
south,f,good
south,m,bad
`

// What is tabulated with a secret is what sap sees with it, and what bounds reads.
func TestTablesFromFileToBounds(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("homes.csv", []byte(homes), 0o600))
	require.NoError(t, os.WriteFile("secret", []byte("sixteen bytes and some more"), 0o600))
	r := microrisk(
		t,
		"tabulate",
		"homes.csv",
		"--cells",
		"area,sex,health",
		"--margins",
		"--scheme",
		"random",
		"--base",
		"3",
		"--secret",
		"secret",
		"--out",
		"released.csv",
	)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "unbiased random rounding to base 3")
	sap := []string{
		"assess",
		"homes.csv",
		"--measures",
		"sap",
		"--by",
		"area",
		"--cells",
		"sex,health",
		"--scheme",
		"random",
		"--base",
		"3",
		"--known",
		"0,2",
		"--out",
	}
	require.Equal(t, ExitDone, microrisk(t, append(sap, "a.csv", "--secret", "secret", "--tables", "a_tables.csv")...).status)
	require.Equal(t, ExitDone, microrisk(t, append(sap, "b.csv", "--published", "released.csv", "--tables", "b_tables.csv")...).status)
	for _, pair := range [][2]string{{"a.csv", "b.csv"}, {"a_tables.csv", "b_tables.csv"}} {
		a, err := os.ReadFile(pair[0])
		require.NoError(t, err)
		b, err := os.ReadFile(pair[1])
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}
	r = microrisk(t, "bounds", "released.csv", "--scheme", "random", "--base", "3", "--out", "bounds.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "area x sex x health")
}

func TestTablesWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("homes.csv", []byte(homes), 0o600))
	require.NoError(t, os.WriteFile("short", []byte("short"), 0o600))
	for want, args := range map[string][]string{
		"name the variables of the table":    {"tabulate", "homes.csv"},
		"did you mean \"sex\"?":              {"tabulate", "homes.csv", "--cells", "sexx", "--out", "t.csv"},
		"--base is 0":                        {"tabulate", "homes.csv", "--cells", "sex", "--scheme", "random", "--base", "0", "--out", "t.csv"},
		"has 5 bytes":                        {"tabulate", "homes.csv", "--cells", "sex", "--scheme", "random", "--base", "3", "--secret", "short", "--out", "t.csv"},
		"cannot tell the format of the file": {"tabulate", "homes.csv", "--cells", "sex", "--out", "t.xlsx"},
		"name the released tables":           {"bounds"},
		"--deadline is -1s":                  {"bounds", "homes.csv", "--deadline", "-1s"},
		"no column of counts":                {"bounds", "homes.csv", "--out", "t.csv"},
		"name the variables of the released": {"assess", "homes.csv", "--measures", "sap", "--out", "t.csv"},
		"--by belongs to sap":                {"assess", "homes.csv", "--key", "sex", "--by", "area", "--out", "t.csv"},
		"sex is in by and among cells":       {"assess", "homes.csv", "--measures", "sap", "--by", "sex", "--cells", "sex", "--out", "t.csv"},
	} {
		r := microrisk(t, args...)
		require.Equal(t, ExitWrong, r.status, want)
		require.Contains(t, r.err, want)
		_, err := os.Stat("t.csv")
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}
