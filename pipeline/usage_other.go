//go:build !unix

package pipeline

import "runtime"

// PeakMemory is what the Go runtime has taken from the system; it gives little of it back.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
