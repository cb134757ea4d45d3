package evaluate

import (
	"fmt"
	"strconv"
	"strings"
)

// mostFractions is how many fractions a range may have.
const mostFractions = 1000

// fractionsOf reads fractions, and ranges of them as in 0.05..0.95:0.05. The error is about a text, after the flag's name.
func fractionsOf(texts []string) ([]float64, error) {
	var all []float64
	for _, text := range texts {
		from, to, ranged := strings.Cut(text, "..")
		if !ranged {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v > 0 && v < 1) {
				return nil, fmt.Errorf("is %q; it must be a number above 0 and below 1", text)
			}
			all = append(all, v)
			continue
		}
		last, step, ok := strings.Cut(to, ":")
		var n [3]float64
		for i, t := range []string{from, last, step} {
			v, err := strconv.ParseFloat(t, 64)
			if err != nil || !ok || !(v > 0 && v < 1) {
				return nil, fmt.Errorf("%q is no range; write FROM..TO:STEP, such as 0.05..0.95:0.05", text)
			}
			n[i] = v
		}
		if n[1] < n[0] || (n[1]-n[0])/n[2] > mostFractions {
			return nil, fmt.Errorf("%q has no fractions, or more than a thousand", text)
		}
		for i := 0; n[0]+float64(i)*n[2] <= n[1]+1e-9; i++ {
			v, err := strconv.ParseFloat(strconv.FormatFloat(n[0]+float64(i)*n[2], 'g', 9, 64), 64) // 0.15, not 0.15000000000000002
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return all, nil
}
