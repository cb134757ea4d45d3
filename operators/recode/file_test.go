package recode_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/recode"
	"microrisk/schemas/specfile"
)

// What belongs below a column's name is told from a column that is named like it.
func TestFileOfRecodesWithoutColumns(t *testing.T) {
	for text, want := range map[string]string{
		"map: {m: M}":                          "map is what a recode says, and not of which column",
		"width: 5":                             "width is what a recode says",
		"width: {width: 5, replace: true}":     "",
		"map: {replace: true, map: {m: male}}": "",
		"SEX: {m: M}":                          `a recode has no field "m"`,
	} {
		root, err := specfile.Parse("recodes.yaml", []byte(text))
		require.NoError(t, err)
		list, err := recode.DecodeColumns("recodes.yaml", root)
		if want == "" {
			require.NoError(t, err, text)
			require.Len(t, list, 1)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
