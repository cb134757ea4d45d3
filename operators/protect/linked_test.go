package protect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCircular(t *testing.T) {
	for _, c := range []struct {
		tables []uint32
		want   bool
	}{
		{[]uint32{0b011, 0b101}, false},
		{[]uint32{0b011, 0b110, 0b101}, true},
		{[]uint32{0b0011, 0b0110, 0b1100}, false},
		{[]uint32{0b0011, 0b0110, 0b1100, 0b1001}, true},
		{[]uint32{0b0111, 0b1110, 0b1001}, true},
		{[]uint32{0b00111, 0b01110, 0b11100}, false},
		{[]uint32{0b01, 0b10}, false},
	} {
		require.Equal(t, c.want, circular(c.tables), "%b", c.tables)
	}
}
