package parquetfile

import (
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// codeMemory is memory of the codes of batches, which batches use one after the other. It is not cleared: every code is written.
type codeMemory struct{ free sync.Pool }

var codeBuffers = &codeMemory{}

// spoilFreed overwrites codes that are given back, so that tests find whoever still looks at them.
var spoilFreed = false

var _ memory.Allocator = (*codeMemory)(nil)

// Allocate is an Allocator's.
func (m *codeMemory) Allocate(size int) []byte {
	if b, ok := m.free.Get().(*[]byte); ok {
		if cap(*b) >= size {
			return (*b)[:size]
		}
	}
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate is an Allocator's.
func (m *codeMemory) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := m.Allocate(size)
	copy(out, b)
	m.Free(b)
	return out
}

// Free is an Allocator's.
func (m *codeMemory) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	if spoilFreed {
		for i := range b {
			b[i] = 0x55
		}
	}
	m.free.Put(&b)
}
