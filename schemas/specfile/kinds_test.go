package specfile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// Every operator describes its fields and limits, its defaults fit, and no two that one command has (assess: those that write columns)
// mean different things by one flag.
func TestKindsAreWhole(t *testing.T) {
	flags := map[string]string{}
	for _, k := range schemas.Kinds() {
		assert.NotEmpty(t, k.Doc, k.Name)
		fields := k.New().Fields()
		require.NoError(t, schemas.Settle(k.Name, fields), k.Name)
		for _, f := range fields.Fields {
			_, nested := f.To.(schemas.Form)
			_, key := f.To.(**schemas.Key)
			assert.True(t, f.Doc != "" || nested || key, "%s.%s is not described", k.Name, f.Name)
		}
		for _, f := range fields.Flags() {
			assert.NotEmpty(t, f.Flag.Usage, f.Flag.Name)
			if _, together := k.New().(schemas.Writer); !together {
				continue
			}
			if usage, twice := flags[f.Flag.Name]; twice {
				assert.Equal(t, usage, f.Flag.Usage, "--%s", f.Flag.Name)
			}
			flags[f.Flag.Name] = f.Flag.Usage
		}
		for _, f := range k.Limits {
			assert.NotEmpty(t, f.Doc, f.Name)
		}
	}
}
