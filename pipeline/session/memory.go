package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// fallbackMemory is taken where the system does not tell how much it has.
const fallbackMemory = 2 << 30

// DefaultMemory is half of what the machine, or the control group of the process, allows.
func DefaultMemory() int64 {
	limit := machineMemory(os.ReadFile)
	if limit <= 0 {
		return fallbackMemory
	}
	return limit / 2
}

// machineMemory is the least of the machine's memory and the limits of the process's control groups, 0 if none is known.
func machineMemory(read func(string) ([]byte, error)) int64 {
	var least int64
	take := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if text, err := read("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
				n, _ := strconv.ParseInt(f[1], 10, 64)
				take(n << 10)
			}
		}
	}
	number := func(path string) {
		if text, err := read(path); err == nil {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64) // "max" is no limit
			take(n)
		}
	}
	text, err := read("/proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		root, file := "", ""
		switch {
		case f[0] == "0" && f[1] == "":
			root, file = "/sys/fs/cgroup", "memory.max"
		case strings.Contains(","+f[1]+",", ",memory,"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// A group is bound by the limits of those above it too.
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			number(filepath.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return least
}
