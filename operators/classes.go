package operators

import "fmt"

// KeptClasses is the number of classes that are not dropped.
func KeptClasses(frequency []int64) int64 {
	var n int64
	for _, f := range frequency {
		if f > 0 {
			n++
		}
	}
	return n
}

// Percent is a part of a hundred, 0 of nothing.
func Percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// Mebibytes is a size in words: in MiB, rounded up, or in KiB where that tells two sizes apart.
func Mebibytes(n int64) string {
	if n < 16<<20 {
		return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}

// SearchTooLarge refuses a search that does not fit in memory.
func SearchTooLarge(classes, needs, limit int64) error {
	return fmt.Errorf("the search of %d key combinations needs about %s of memory, the limit is %s: allow more, limit max_size, use fewer or coarser key variables, or write frequencies only (frequency)",
		classes, Mebibytes(needs), Mebibytes(limit))
}
