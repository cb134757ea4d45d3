package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/individual"
	"microrisk/operators/known"
	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Known tables are read of files of any kind by each operator as it says, and what is read is not written over.
func TestKnownTables(t *testing.T) {
	inFolder(t, map[string]string{"d.csv": "K,L\na,1\na,2\nb,1\nb,1\n", "k.csv": "K,count\na,4\nb,9\n", "l.csv": "L,n\n1,12\n2,1\n"})
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{"d.csv"}}, Key: keyOf("K", "L"), Sampling: &schemas.Sampling{PopulationSize: 13},
		Operators: []schemas.Operator{
			{Config: &mc3.Config{Known: []known.Table{{Path: []string{"k.csv"}}, {Path: []string{"l.csv"}, Count: "n"}}}},
			{Config: &individual.Config{Known: []known.Table{{Path: []string{"k.csv"}, Scheme: schemas.Perturbation{Scheme: "noise"}}}}},
		}, Sink: schemas.Sink{Path: "out.csv"}}
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	rows := table(t, "out.csv")
	require.Equal(t, []string{"a", "2", "1", "1", "1", "1"}, rows[2][:6], "2 has one person")
	require.Equal(t, []string{"a", "1", "1", "0.3333333333333333", "0", "3"}, rows[1][:6], "so that the three others of a have 1")
	require.EqualValues(t, 1, o.Summary.Operators["mc3"].(*mc3.Summary).Known.Alone)
	require.EqualValues(t, 0, o.Summary.Operators["individual"].(*individual.Summary).Known.Alone)

	spec.Sink.Path = "k.csv"
	_, err = Run(t.Context(), spec, session.Options{})
	require.ErrorContains(t, err, "k.csv")
	require.True(t, session.IsSpec(err))
	spec.Sink.Path, spec.Sampling.PopulationSize = "out2.csv", 14
	_, err = Run(t.Context(), spec, session.Options{})
	require.ErrorContains(t, err, "mc3: known tables contradict each other: of the total the declared population size has 14 people")
	for says, c := range map[string]schemas.Config{
		"with known tables take estimator: exact":            &individual.Config{Estimator: "approximate", Known: []known.Table{{Path: []string{"k.csv"}}}},
		"with known tables take estimator: gamma or poisson": &mc3.Config{Estimator: "montecarlo", Known: []known.Table{{Path: []string{"k.csv"}}}},
		"a known table has no file":                          &mc3.Config{Known: []known.Table{{}}},
		"k.csv: ":                                            &mc3.Config{Known: []known.Table{{Path: []string{"k.csv"}, Scheme: schemas.Perturbation{Scheme: "random"}}}},
		"none.csv does not exist":                            &mc3.Config{Known: []known.Table{{Path: []string{"none.csv"}}}},
	} {
		spec.Operators = []schemas.Operator{{Config: c}}
		_, err = Run(t.Context(), spec, session.Options{})
		require.ErrorContains(t, err, says)
	}
}
