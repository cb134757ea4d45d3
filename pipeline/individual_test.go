package pipeline

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/individual"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func individualOf(t *testing.T, path, weight string, i individual.Config, keys ...string) *individual.Summary {
	t.Helper()
	key := &schemas.Key{}
	for _, k := range keys {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: k})
	}
	o, err := Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{path}}, Key: key, Sampling: &schemas.Sampling{Weight: weight},
		Operators: []schemas.Operator{{Config: &i}}, Sink: schemas.Sink{Path: "out.csv"}}, session.Options{})
	require.NoError(t, err)
	return o.Summary.Operators["individual"].(*individual.Summary)
}

// The frequencies and weights of the small table that Franconi & Polettini 2004 and sdcMicro's manual work through, and its risks.
func TestIndividualWorkedExample(t *testing.T) {
	for _, estimator := range individual.Estimators {
		inFolder(t, map[string]string{"d.csv": "K,W\na,60\nb,40\nb,44.5\nc,17\nd,541\ne,8\nf,5\na,50\n"})
		individualOf(t, "d.csv", "W", individual.Config{Estimator: estimator}, "K")
		rows := table(t, "out.csv")
		for i, want := range []string{".01714426", ".02204233", ".02204233", ".17707583", ".01165448", ".29706308", ".40235948", ".01714426"} {
			assert.Contains(t, rows[1+i][3][1:], want[:7], "%s, record %d", estimator, i)
		}
	}
}

// Expected re-identifications of the 4,580 records that sdcMicro calls testdata, with its closed formula: hierarchical ones too.
func TestIndividualTestdata(t *testing.T) {
	const path = "../../shared/data/micro/sdc_testdata.csv"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the file sdc_testdata is not beside the repository: its licence keeps it out")
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	inFolder(t, map[string]string{"d.csv": string(text)})
	s := individualOf(
		t,
		"d.csv",
		"sampling_weight",
		individual.Config{Estimator: "approximate", Household: "ori_hid"},
		"urbrur",
		"roof",
		"walls",
		"water",
		"sex",
	)
	assert.InDelta(t, 1.5272044885, s.Reidentified, 1e-9)
	assert.InDelta(t, 7.1770285713, s.Household.Reidentified, 1e-9)
	exact := individualOf(t, "d.csv", "sampling_weight", individual.Config{Household: "ori_hid"}, "urbrur", "roof", "walls", "water", "sex")
	assert.Less(t, exact.Reidentified, s.Reidentified, "the closed formula says a little too much for f > 2")
	assert.InDelta(t, s.Reidentified, exact.Reidentified, .001)
}
