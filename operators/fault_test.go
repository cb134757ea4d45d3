package operators

import (
	"errors"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A panic in a library is damage, one in the program a fault, also when the library called it.
func TestRecovered(t *testing.T) {
	damage := errors.New("the file is damaged")
	run := func(damage error, f func()) (err error) {
		defer func() {
			if x := recover(); x != nil {
				err = Recovered(x, damage)
			}
		}()
		f()
		return nil
	}
	var none []int
	var fault *Fault
	require.ErrorAs(t, run(damage, func() { _ = none[3] }), &fault)
	require.Contains(t, fault.Error(), "internal error: runtime error: index out of range [3] with length 0")
	require.Contains(t, fault.Stack, "TestRecovered")
	require.ErrorAs(t, run(damage, func() { sort.Slice([]int{2, 1}, func(a, b int) bool { panic("less") }) }), &fault)
	require.Equal(t, "less", fault.Cause)
	require.Equal(t, damage, run(damage, func() { _ = strings.Repeat("x", -1) }), "of no text")
	require.ErrorAs(t, run(nil, func() { _ = strings.Repeat("x", -1) }), &fault)
	require.NoError(t, run(damage, func() {}))
}
