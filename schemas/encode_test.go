package schemas

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A text stands on its line however long it is: in a mapping, in a list, and in mappings in lists.
func TestLongTextsAreWritten(t *testing.T) {
	for _, n := range []int{1, 80, 99, 100, 101, 5000} {
		key := strings.Repeat("k", min(n, 1000)) // YAML has no longer ones
		long := strings.Repeat("y", n) + " " + strings.Repeat("z", n)
		o := Ordered{
			{Key: "name", Value: long},
			{Key: "list", Value: []any{long, "a", Ordered{{Key: "id", Value: long}}, Ordered{{Key: "id", Value: long}, {Key: "label", Value: long}}}},
			{Key: "inner", Value: Ordered{{Key: "x", Value: Ordered{{Key: key, Value: long}}}}},
			{Key: "empty", Value: Ordered{{Key: "list", Value: []any{}}, {Key: key, Value: Ordered{}}, {Key: "n", Value: n}}},
		}
		var got map[string]any
		var b strings.Builder
		writeBlock(&b, o, 0)
		text := b.String()
		require.NoError(t, yaml.Unmarshal([]byte(text), &got))
		require.Equal(t, map[string]any{
			"name":  long,
			"list":  []any{long, "a", map[string]any{"id": long}, map[string]any{"id": long, "label": long}},
			"inner": map[string]any{"x": map[string]any{key: long}},
			"empty": map[string]any{"list": []any{}, key: map[string]any{}, "n": n},
		}, got)
	}
}
