package files

import (
	"fmt"
	"os"
	"path/filepath"
)

// Distinct refuses outputs that are inputs, by whatever name, or the same twice.
func Distinct(inputs, outputs []string) error {
	for i, out := range outputs {
		for _, in := range inputs {
			if sameFile(in, out) {
				return fmt.Errorf("the output %s is the input %s: give another path", out, in)
			}
		}
		for _, other := range outputs[:i] {
			if sameFile(other, out) {
				return fmt.Errorf("two outputs go to %s", out)
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	if Elsewhere(a) || Elsewhere(b) {
		return Spelled(a) == Spelled(b)
	}
	a, b = Plain(a), Plain(b)
	if x, err := os.Stat(a); err == nil {
		if y, err := os.Stat(b); err == nil {
			return os.SameFile(x, y)
		}
	}
	return realPath(a) == realPath(b)
}

// realPath is the path with the links of its folder resolved.
func realPath(path string) string {
	path, _ = filepath.Abs(path)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
