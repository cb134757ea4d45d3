package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableMargins(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("base.csv", []byte(baseTable), 0o666))
	r := microrisk(t, strings.Fields("table margins base.csv --table row,column --count n --width 4 --to 3 -o sets.parquet")...)
	require.Zero(t, r.status, r.err)
	require.Equal(t, `   lost  df  association kept  margins
  303.6   9             0.0 %  row + column

Verified of each set by the exact bounds of decomposable models: whoever has its
margins, as they are, and nothing else, knows none of the 2 cells with a count
from 1 to 3 to within less than 4. Nothing can be added to a set that leaves it
so and decomposable. Sets of other shapes, several of these sets together,
tables that were released before, and what people know of themselves were not
looked at.

Lost is the deviance of the log-linear model of the margins: 0 if they tell all;
that of the one-way margins, safe or not, is 303.6, of which the association
kept is a share.
written to sets.parquet
`, r.out)
	r = microrisk(t, strings.Fields("table margins base.csv --table row,column --count n --width 1000")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "Nothing may be published")
	r = microrisk(t, strings.Fields("table margins base.csv --table row,column --count n --width 4 --from 900 --to 901")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "nothing was to be protected")
	surveyFolder(t)
	refused(t, map[string]string{
		"table margins --table region --width 3":                              "name a file to read",
		"table margins survey.csv --width 3":                                  "name the variables of the table",
		"table margins survey.csv --table region,sex":                         "how far apart the bounds of a small cell must be",
		"table margins survey.csv --table region,sex --width x":               "must be a whole number",
		"table margins survey.csv --table region,sx --width 3":                "sx",
		"table margins survey.csv --table region,sex --width 3 --to -1":       "must be at least 0",
		"table margins survey.csv --table region,sex --width 3 -o survey.csv": "survey.csv",
	}, 2)
}
