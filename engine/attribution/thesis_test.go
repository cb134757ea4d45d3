package attribution

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Table 1 of Smith 2011: 1,200 random tables of 2 x 6 cells of mean 2, rounded to base 5 with their total. Its counts by bands of SAP
// at two numbers of people known are compared with a larger simulation by chi-square.
func TestTableOneOfTheThesis(t *testing.T) {
	const tables = 60_000
	r := rand.New(rand.NewPCG(7, 7))
	zero, small, second, third, more := 0.0, 0.0, 0.0, 0.0, 0.0 // at n = 4
	never, nearly, always, between := 0.0, 0.0, 0.0, 0.0        // at n = 24
	for range tables {
		p, err := sapOf(t.Context(), thesisTable(r), []int64{4, 24})
		require.NoError(t, err)
		switch x := p[0]; {
		case x == 0:
			zero++
		case x <= 0.1:
			small++
		case x <= 0.2:
			second++
		case x <= 0.3:
			third++
		default:
			more++
		}
		switch x := p[1]; {
		case x == 0:
			never++
		case x == 1:
			always++
		case x > 0.9:
			nearly++
		default:
			between++
		}
	}
	chiSquare := func(printed, simulated []float64) float64 {
		sum, all := 0.0, 0.0
		for _, n := range printed {
			all += n
		}
		for i, n := range printed {
			expected := simulated[i] / tables * all
			sum += (n - expected) * (n - expected) / expected
		}
		return sum
	}
	at4 := chiSquare([]float64{25, 869, 275, 28, 3}, []float64{zero, small, second, third, more})
	at24 := chiSquare([]float64{19, 861, 235, 85}, []float64{never, always, nearly, between})
	t.Logf("chi-square at n = 4: %.2f (4 degrees of freedom), at n = 24: %.2f (3)", at4, at24)
	t.Logf(
		"of 1,200 at n = 4: %.1f %.1f %.1f %.1f %.1f; at n = 24: %.1f %.1f %.1f %.1f",
		zero/50,
		small/50,
		second/50,
		third/50,
		more/50,
		never/50,
		always/50,
		nearly/50,
		between/50,
	)
	require.Less(t, at4, 13.28, "99 % of chi-square with 4 degrees of freedom")
	require.Less(t, at24, 11.34, "99 % of chi-square with 3 degrees of freedom")
}
