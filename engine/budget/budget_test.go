package budget

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemory(t *testing.T) {
	b := Budget{Bytes: 1 << 30}
	require.NoError(t, b.Memory("the search", 1<<30))
	require.NoError(t, Budget{}.Memory("the search", 1<<60), "no limit")
	err := b.Memory("the search of 7 key combinations", 3<<30, "limit max_size", "take coarser variables")
	require.EqualError(
		t,
		err,
		"the search of 7 key combinations needs about 3 GiB of memory, the limit is 1 GiB: allow more, limit max_size, or take coarser variables",
	)
	var short *MemoryError
	require.True(t, errors.As(err, &short))
	require.EqualValues(t, 3<<30, short.Needs)
	require.EqualError(t, b.Beyond("a table", 5), "a table needs about 1 GiB of memory, the limit is 1 GiB: allow more")
	require.Equal(t, Budget{Bytes: 1}, b.Less(1<<40))
	require.Equal(t, Budget{}, Budget{}.Less(1))
}

func TestWork(t *testing.T) {
	require.NoError(t, Budget{}.Steps("4 tables are", 10*Hour))
	err := Budget{}.Steps("4 tables are", 11*Hour, "take smaller areas")
	require.EqualError(t, err, "4 tables are estimated to take 11 hours of one processor, more than 10: take smaller areas")
	require.Error(t, Budget{Work: time.Minute}.Steps("it is", 2*Minute, "less", "nothing"))
	require.Error(t, Budget{}.Steps("it is", 1e300))
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{1: "0.000977 KiB", 1 << 10: "1 KiB", 1000 << 10: "0.977 MiB", 16 << 20: "16 MiB", 12<<30 + 1<<29: "12.5 " +
		"GiB", 999 << 20: "999 MiB"} {
		require.Equal(t, want, Size(n))
	}
}

func TestSizesThatAreNear(t *testing.T) {
	err := Budget{Bytes: 1 << 30}.Memory("it", 1<<30+1<<10)
	require.EqualError(t, err, "it needs about 1.000001 GiB of memory, the limit is 1 GiB: allow more")
}

func ExampleBudget_Memory() {
	err := Budget{Bytes: 1 << 20}.Memory("the table of 50000 cells", 4<<20, "take coarser variables")
	fmt.Println(err)
	// Output: the table of 50000 cells needs about 4 MiB of memory, the limit is 1 MiB: allow more, or take coarser variables
}
