package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The report tells what a release cost in a few lines, and names columns that tell what was made coarser, which --drop leaves out.
func TestProtectTellsCosts(t *testing.T) {
	t.Chdir(t.TempDir())
	people := strings.Repeat("20,n,10,1980\n20,n,20,1980\n21,n,30,1979\n21,n,,1979\n30,s,50,1970\n"+
		"30,s,60,1970\n31,s,70,1969\n31,s,81,1969\n32,n,5,1968\n32,n,7,1968\n", 6)
	require.NoError(t, os.WriteFile("in.csv", []byte("age,region,wage,born\n"+people), 0o600))
	flags := "protect in.csv --key age,region --target k=2 --hierarchy age=10 --hierarchy age=levels:1..1 --hierarchy region=fixed --out r.csv --means wage"
	r := microrisk(t, strings.Fields(flags)...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, `  what it cost  categories  cells coarser  hidden  shares moved
  age                5 > 2             60       0         0.0 %
Of all pairs age and region lose most of their relation (Cramer's V 1, now
0.6667); no mean of wage moves.
`)
	require.Contains(t, r.out, "born stays in the release and tells age")
	r = microrisk(t, strings.Fields(flags+" --drop born")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.out, "born stays")
	text, err := os.ReadFile("r.csv")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "age,region,wage\n"))
	r = microrisk(t, "protect", "in.csv", "--key", "age", "--target", "k=2", "--means", "wage")
	require.Equal(t, ExitWrong, r.status)
}
