package tables_test

import (
	"context"
	"encoding/binary"

	_ "microrisk/operators/builtin"
)

var background = context.Background()

func binary64(v int64) []byte    { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
func binary64big(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }
