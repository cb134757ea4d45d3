package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

var perturbations = []schemas.Perturbation{
	{Scheme: "none"}, {Scheme: "conventional", Base: 4, Tie: "even"}, {Scheme: "random", Base: 3, Probability: new(0.75)},
	{Scheme: "barnard", Probability: new(0.6)}, {Scheme: "small", Last: 3, Value: 0, Base: 1}, {Scheme: "noise"}, {Scheme: "census2000"},
	{Scheme: "normal", SD: new(2.), Proportional: new(0.1), Reach: new(3.5)}, {Scheme: "normal", SD: new(1e-3), Negative: "reflect"},
	{Scheme: "isd", Change: new(1. / 3), Reading: "B"}, {Scheme: "isd"},
	{Scheme: "matrix", Matrix: [][]schemas.Outcome{{{Count: 0, Probability: 1}}, {{Count: 0, Probability: 0.5}, {Count: 2, Probability: 0.5}}}},
}

// A scheme is read as it was written.
func TestSchemeText(t *testing.T) {
	for _, p := range perturbations {
		require.NoError(t, p.Check(), p.Text())
		again, err := schemas.ParseScheme(p.Text())
		require.NoError(t, err)
		require.Equal(t, &p, again, p.Text())
		if p.Scheme == "matrix" {
			continue
		}
		path, behind, err := schemas.SchemeBehind("FILE", "a=noise.csv="+p.Text())
		require.NoError(t, err)
		require.Equal(t, "a=noise.csv", path)
		require.Equal(t, &p, behind)
	}
	for text, says := range map[string]string{
		"noisy": "where the scheme is none, conventional", "normal:sd=much": `sd is "much"; it must be a number`, "normal:base": `base is ""`,
		"random:bass=3": `there is no "bass" of a scheme`, "matrix:1": "is no COUNT:PROBABILITY", "": "where the scheme is",
	} {
		_, err := schemas.ParseScheme(text)
		require.ErrorContains(t, err, says)
	}
}

// What is wrong with a scheme is told with what would be right.
func TestPerturbationRefuses(t *testing.T) {
	for says, p := range map[string]schemas.Perturbation{
		"noise would make a count negative: its standard deviation of 2 reaches 4 of them": {Scheme: "normal", SD: new(2.)},
		"normal has no standard deviation":                                                 {Scheme: "normal"},
		"sd belongs to scheme normal":                                                      {Scheme: "noise", SD: new(2.)},
		"reading belongs to scheme isd":                                                    {Scheme: "barnard", Probability: new(0.5), Reading: "A"},
		`reading "C" is unknown`:                                                           {Scheme: "isd", Reading: "C"},
		"change is 2":                                                                      {Scheme: "isd", Change: new(2.)},
		"reach is 9":                                                                       {Scheme: "normal", SD: new(0.1), Reach: new(9.)},
		"the probabilities of the true count 1 sum to 0.5; they must sum":                  {Scheme: "matrix", Matrix: [][]schemas.Outcome{{{Probability: 1}}, {{Count: 1, Probability: 0.5}}}},
		"the scheme leaves nothing to chance":                                              {Scheme: "census2000", People: schemas.People{By: "people", RecordID: "id"}},
		"say by: people":                                                                   {Scheme: "noise", People: schemas.People{RecordID: "id"}},
		"the column with the keys of records (record_key), or":                             {Scheme: "noise", People: schemas.People{By: "people"}},
		"secret belongs to scheme random, barnard":                                         {Scheme: "census2000", Secret: "file"},
	} {
		require.ErrorContains(t, p.Check(), says)
	}
}
