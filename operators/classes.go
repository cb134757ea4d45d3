package operators

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
