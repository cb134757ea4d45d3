package specfile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/recode"
	"microrisk/schemas/specfile"
)

func TestDecodeRecodes(t *testing.T) {
	list, err := decodeRecodes("b.yaml", []byte("SEX: {replace: true, map: {m: M, f: F}}\nAGE5: {from: AGE, width: 5}\n"))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "SEX", list[0].Name)
	assert.Equal(t, map[string]string{"m": "M", "f": "F"}, list[0].Map)
	assert.Equal(t, 5.0, list[1].Width)

	for text, want := range map[string]string{
		"":                           "b.yaml",
		"- x\n":                      "must be a mapping",
		"SEX: {map: {m: M}}\n":       "does not say what it is made from",
		"SEX: {form: AGE}\n":         `no field "form"`,
		"AGE5: {from: AGE, width: }": "b.yaml:1",
	} {
		_, err := decodeRecodes("b.yaml", []byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func decodeRecodes(name string, text []byte) ([]recode.Column, error) {
	root, err := specfile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return recode.DecodeColumns(name, root)
}
