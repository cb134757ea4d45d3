package operators

import (
	"fmt"

	"microrisk/engine/contingency"
)

// CountsOf are the counts of the classes, 0 for those that are dropped, and what a summary says of them.
func CountsOf(t *contingency.Table, drop []bool) (count []int64, records, uniques1, classes int64, doubles float64) {
	count = make([]int64, t.Classes())
	for i := range count {
		dropped := false
		for v, d := range drop {
			dropped = dropped || d && t.Code(i, v) == t.Variables[v].Missing()
		}
		if dropped {
			continue
		}
		count[i] = t.Count(i)
		records += count[i]
		classes++
		switch count[i] {
		case 1:
			uniques1++
		case 2:
			doubles++
		}
	}
	return count, records, uniques1, classes, doubles
}

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
