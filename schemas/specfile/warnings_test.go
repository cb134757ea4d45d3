package specfile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func TestWarningOfSharedFrequency(t *testing.T) {
	s := &schemas.Spec{
		Key: &schemas.Key{},
		Operators: []schemas.Operator{{Config: &mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingDrop}}}, {Config: &suda.Config{
			MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingWildcard},
		}}},
	}
	require.Len(t, s.Warnings(), 1)
	assert.Contains(t, s.Warnings()[0], "sample_frequency is counted as mc3 counts it; suda has another missing-value policy")
	s.Operators[0].Config.(*mc3.Config).Missing, s.Operators[1].Config.(*suda.Config).Missing = "", ""
	assert.Empty(t, s.Warnings())
}

func TestWarnings(t *testing.T) {
	s, err := specfile.Decode("s.yaml", []byte(`version: 1
source: {path: a.csv}
key: {variables: [AGE, SEX]}
operators:
  - recode: {REGION: {map: {a: b}, replace: true}}
  - suda: {}
  - sap: {cells: [SEX], known: 1}
  - recode:
      AGE: {width: 5, replace: true}
      SEX2: {from: SEX, map: {m: x}, other: y}
      JOB: {truncate: 2, replace: true}
      HIDDEN: {from: AGE, width: 5, keep: false}
sink: {path: b.csv}
`))
	require.NoError(t, err)
	list := s.Warnings()
	require.Len(t, list, 3)
	assert.Contains(t, list[0], "recode REGION has a map without other")
	assert.Contains(t, list[1], "recode AGE comes after suda, which saw AGE as it was")
	assert.Contains(t, list[2], "recode SEX2 comes after suda and sap, which saw SEX as it was")
}
