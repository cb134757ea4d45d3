package operators

// Percent is a part of a hundred, 0 of nothing.
func Percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}
