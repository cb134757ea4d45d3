package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

const weighedPeople = "age,sex,w\n1,m,0\n1,m,4\n2,f,4\n2,f,\n3,m,4\n"

// A weight of 0 or null is an error that names the way out; with zero: drop such records are in no table and get nulls.
func TestWeightsOfZero(t *testing.T) {
	spec := func(zero string) *schemas.Spec {
		return &schemas.Spec{
			Source:    schemas.Source{Path: []string{"p.csv"}},
			Key:       keyOf("age", "sex"),
			Sampling:  &schemas.Sampling{Weight: "w", ZeroWeight: zero},
			Sink:      schemas.Sink{Path: "out.csv"},
			Operators: []schemas.Operator{{Config: &suda.Config{}}, {Config: &mc3.Config{}}},
		}
	}
	inFolder(t, map[string]string{"p.csv": weighedPeople})
	_, err := Run(t.Context(), spec(""), session.Options{})
	require.ErrorContains(
		t,
		err,
		`the weight "w" is 0: a weight must be a finite number above 0; leave such records out by a range (select), or say weight: {column: w, zero: drop}`,
	)
	o, err := Run(t.Context(), spec(schemas.ZeroDrop), session.Options{})
	require.NoError(t, err)
	rows := table(t, "out.csv")
	require.Len(t, rows, 6, "no row leaves the file")
	for i, want := range []string{"", "1", "1", "", "1"} {
		assert.Equal(t, want, rows[i+1][3], "row %d", i)
		assert.Equal(t, want == "", rows[i+1][4] == "", "row %d", i)
	}
	assert.Equal(t, int64(3), o.Summary.Operators["suda"].(*suda.Summary).Records)
	m := o.Summary.Operators["mc3"].(*mc3.Summary)
	assert.Equal(t, []float64{3, .25, 12}, []float64{float64(m.Records), m.Fraction, m.PopulationSize})

	bad := spec("keep")
	_, err = Run(t.Context(), bad, session.Options{})
	require.ErrorContains(t, err, "it is drop, or left out")
	inFolder(t, map[string]string{"p.csv": "age,sex,w\n1,m,-1\n"})
	_, err = Run(t.Context(), spec(schemas.ZeroDrop), session.Options{})
	require.ErrorContains(t, err, "is -1")
}

// Models of the population take one fraction: weights that differ are refused, and by the operator that has one a combination they are not.
func TestWeightsThatDiffer(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": "age,sex,w\n1,m,2\n1,m,2\n2,f,9\n3,m,4\n", "even.csv": "age,sex,w\n1,m,4\n1,m,4.01\n2,f,4\n3,m,4\n"})
	spec := &schemas.Spec{
		Source:    schemas.Source{Path: []string{"p.csv"}},
		Key:       keyOf("age", "sex"),
		Sampling:  &schemas.Sampling{Weight: "w"},
		Sink:      schemas.Sink{Path: "out.csv"},
		Operators: []schemas.Operator{{Config: &mc3.Config{}}},
	}
	_, err := Run(t.Context(), spec, session.Options{})
	require.ErrorContains(t, err, `the weights "w" differ, from 2 to 9 people a record by key combination`)
	assert.NoFileExists(t, "out.csv")
	spec.Source.Path = []string{"even.csv"}
	_, err = Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	spec.Source.Path, spec.Operators, spec.Sink.Path = []string{"p.csv"}, []schemas.Operator{{Config: &individual.Config{}}}, "i.csv"
	_, err = Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
}
