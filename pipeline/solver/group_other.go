//go:build !unix

package solver

import (
	"os/exec"
	"time"
)

// inGroup has a process end when its context ends.
func inGroup(c *exec.Cmd) { c.WaitDelay = time.Second }
