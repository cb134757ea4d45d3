package attribution

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The widow of 16 in the sample: the match is right with .99, and 2 % of such widows have the medical history. (Smith 2011, chapter 1.)
func TestWidowOfTheThesis(t *testing.T) {
	require.InDelta(t, .9902, Learnt(.99, .02), 1e-15)
}

func TestLearntIsAChance(t *testing.T) {
	chance := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		match, given := chance.Draw(t, "match"), chance.Draw(t, "given")
		p := Learnt(match, given)
		require.GreaterOrEqual(t, p, match, "no less than the match")
		require.GreaterOrEqual(t, p, given*(1-1e-15), "no less than without one")
		require.LessOrEqual(t, p, 1.0)
		require.Equal(t, 1.0, Learnt(match, 1))
		require.Equal(t, 1.0, Learnt(1, given))
		require.Equal(t, given, Learnt(0, given))
		better := match + (1-match)*chance.Draw(t, "better")
		require.GreaterOrEqual(t, Learnt(better, given), p*(1-1e-15), "monotone in the match")
	})
}

func TestBeliefs(t *testing.T) {
	for name, c := range map[string]struct {
		of   Beliefs
		want float64
	}{
		"nobody else":          {Beliefs{Prior: .3, Smoothing: 2}, .3},
		"nobody else, plain":   {Beliefs{Prior: .3}, .3},
		"the class alone":      {Beliefs{Key: 4, Share: .25, Prior: .9}, .25},
		"as many of the prior": {Beliefs{Key: 4, Share: .25, Prior: .75, Smoothing: 4}, .5},
		"all the same":         {Beliefs{Key: 4, Share: 1, Prior: .1}, 1},
	} {
		require.InDelta(t, c.want, c.of.Given(), 1e-15, name)
	}
	chance := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		b := Beliefs{Key: rapid.Int64Range(1, 1000).Draw(t, "key"), Share: chance.Draw(t, "share"), Prior: chance.Draw(t, "prior"),
			Smoothing: rapid.Float64Range(0, 100).Draw(t, "smoothing")}
		p := b.Given()
		require.GreaterOrEqual(t, p, min(b.Share, b.Prior)-1e-15)
		require.LessOrEqual(t, p, max(b.Share, b.Prior)+1e-15)
	})
}
