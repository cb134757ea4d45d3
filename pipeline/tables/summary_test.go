package tables_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
)

// What hidden cells cost is the sum of their values, which a summary, and the footers of other outputs that have it, do not tell.
func TestSummaryTellsNoSumOfHiddenValues(t *testing.T) {
	text, err := json.Marshal(&protect.Summary{Cost: 12345, Bound: 6789})
	require.NoError(t, err)
	require.NotContains(t, string(text), "12345")
	require.NotContains(t, string(text), "6789")
}
