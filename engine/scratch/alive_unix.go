//go:build unix

package scratch

import (
	"errors"
	"syscall"
)

// alive tells whether there is a process of that number.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
