package limits_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/limits"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func TestProfiles(t *testing.T) {
	all, err := limits.All()
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, p := range all {
		require.Equal(t, limits.Names()[i], p.Name, "a profile has the name of its file")
		for _, l := range p.Limits {
			require.Contains(t, schemas.LimitNames(), l.Limit)
			require.NotEmpty(t, l.Source)
		}
	}
	public, err := limits.Load("public-use")
	require.NoError(t, err)
	scientific, err := limits.Load("scientific-use")
	require.NoError(t, err)
	require.Less(t, public.Of("max_correct_match").Max, scientific.Of("max_correct_match").Max)
	require.Nil(t, public.Of("dis"))
	require.Equal(t, []string{"mc3"}, public.Measures([]string{"suda"}))
	require.Empty(t, public.Measures([]string{"mc3"}))
}

func TestSpecGoesBeforeProfile(t *testing.T) {
	p, err := limits.Load("public-use")
	require.NoError(t, err)
	spec := &schemas.Spec{Limits: map[string]schemas.Limit{"max_correct_match": {Max: 0.5}, "dis": {Max: 0.1}}}
	with := p.Beside(spec)
	require.Equal(t, spec.Limits, with.Limits)
	require.Equal(t, 0.05, p.Beside(&schemas.Spec{}).Limits["max_correct_match"].Max)
}

func TestWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\nlimits: [{limit: dis, max: 1, source: s}]":                                              "has no version",
		"version: 1\nname: x\nlimits: []":                                                                 "allows everything",
		"version: 1\nname: x\nlimits: [{limit: diss, max: 1, source: s}]":                                 "dis",
		"version: 1\nname: x\nlimits: [{limit: dis, max: 1}]":                                             "has no source",
		"version: 1\nname: x\nlimits: [{limit: dis, max: 1, source: ' '}]":                                "has no source",
		"version: 1\nname: x\nlimits: [{limit: dis, source: s}]":                                          "has no max",
		"version: 1\nname: x\nlimits: [{limit: dis, max: -1, source: s}]":                                 "max",
		"version: 1\nname: x\nlimits: [{limit: dis, max: 1, of: all, source: s}]":                         "all",
		"version: 1\nname: x y\nlimits: [{limit: dis, max: 1, source: s}]":                                "one word",
		"version: 1\nname: x\nlimits: [{limit: dis, max: 1, source: s}, {limit: dis, max: 2, source: s}]": "twice",
	} {
		path := filepath.Join(t.TempDir(), "office.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := limits.Load(path)
		require.ErrorContains(t, err, want, text)
		require.True(t, session.IsSpec(err))
	}
	_, err := limits.Load("public-us")
	require.ErrorContains(t, err, "did you mean public-use?")
	require.True(t, session.IsSpec(err))
	_, err = limits.Load("nowhere.yaml")
	require.ErrorContains(t, err, "cannot be read")
}
