//go:build unix

package solver

import (
	"os/exec"
	"syscall"
	"time"
)

// inGroup has a process and whatever it starts end together when its context ends.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
}
