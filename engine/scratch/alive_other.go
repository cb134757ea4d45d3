//go:build !unix

package scratch

// alive tells whether there is a process of that number; where that is not known none is taken for dead.
func alive(int) bool { return true }
