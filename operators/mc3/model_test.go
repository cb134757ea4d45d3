package mc3

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A list of numbers with a null in it would be read as one with a 0.
func TestNullIsNoNumberOfAModel(t *testing.T) {
	for text, want := range map[string]string{
		`{"microrisk_model":1,"margins":[{"variables":[0],"codes":[[0,null]],"counts":[1,2]}]}`: "null at byte 61",
		`{"microrisk_model":1,"graphs":[{"edges":[[0,1],null]}]}`:                               "null at byte 47",
		`{"microrisk_model":1,"records":1e308}`:                                                 "records cannot be a number 1e308",
		`{"microrisk_model":1,"variables":[{"name":"null","categories":["null"]}]}`:             "",
		`{"microrisk_model":1,"margins":[{"codes":null}]}`:                                      "",
	} {
		_, err := DecodeModel("model.json", []byte(text))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
