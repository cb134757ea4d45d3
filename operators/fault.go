package operators

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Fault says that the program, or an operator that somebody added to it, is wrong, and not what it was given.
type Fault struct {
	Cause any    // of the panic
	Stack string // where it was
}

// Error is one line; the stack belongs into a log.
func (f *Fault) Error() string {
	return fmt.Sprintf("internal error: %v: a fault of the program, not of what it was given; please report it", f.Cause)
}

// Recovered is the error of a panic x. In a library it is damage, as libraries are made for sound data; in code of the program, or where
// damage is nil, it is a [Fault]. To be called by the deferred function that recovers.
func Recovered(x any, damage error) error {
	if damage != nil && !ours(panicking()) {
		return damage
	}
	return &Fault{x, string(debug.Stack())}
}

// ours tells whether a function is of this module.
func ours(function string) bool {
	pc, _, _, _ := runtime.Caller(0)
	module, _, _ := strings.Cut(runtime.FuncForPC(pc).Name(), "/")
	return strings.HasPrefix(function, module+"/")
}

// panicking is the function that panicked: the first below the panic that is not the runtime's.
func panicking() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	below := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			below = true
		case below && !strings.HasPrefix(f.Function, "runtime."):
			return f.Function
		}
		if !more {
			return ""
		}
	}
}
