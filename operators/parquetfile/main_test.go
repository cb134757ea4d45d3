package parquetfile

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	spoilFreed = true
	goleak.VerifyTestMain(m)
}
