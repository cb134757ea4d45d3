package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// By hand: a row 1* fits the three people 1a, 1b, 1b; a row 2a fits two. Who is 1a is fitted by the two rows 1*, who is 2a by 2a alone: two people have one
// row, and of the sample it is right for one.
func TestJudge(t *testing.T) {
	names := []string{"x", "y"}
	people := &classes{names, [][]string{{"1", "a"}, {"1", "b"}, {"2", "a"}, {"2", "b"}}, []int64{1, 2, 2, 4}}
	sample := &classes{names, people.values[:3], []int64{1, 1, 1}}
	release := &classes{names, [][]string{{"1", hidden}, {"2", "a"}}, []int64{2, 1}}
	got := judge(release, people, sample)
	assert.InDelta(t, 2./3+1./2, got.matches, 1e-12)
	assert.EqualValues(t, 2, got.unique)
	assert.EqualValues(t, 1, got.correct)
	assert.Equal(t, truth{}, judge(&classes{}, people, sample))
}

func TestStudyOfProtection(t *testing.T) {
	s := study{data: filepath.Join("..", "..", "data", "eusilc_synth.parquet"), key: "db040,hsize,age,rb090", hierarchies: []string{"age=5,10,20"}, fraction: .05,
		k: 3, samples: 1}
	require.NoError(t, s.run(t.Context()))
}
