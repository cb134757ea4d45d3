//go:build unix

package pipeline

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// PeakMemory is the largest resident size that the process has had, in bytes. Where the system tells it of the program alone it is that:
// the other figure survives exec, so that a large parent would be counted.
func PeakMemory() int64 {
	if n := highWater(os.ReadFile); n > 0 {
		return n
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}

// highWater is VmHWM of the process, 0 where there is none.
func highWater(read func(string) ([]byte, error)) int64 {
	text, err := read("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" && f[2] == "kB" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}
