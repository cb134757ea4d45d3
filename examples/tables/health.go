package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// people are in the table of healthTable.
const people = 499_793

// healthTable is a made-up table of people by 26 areas, 12 diseases and sex, as CSV with the column n: areas by Zipf's law and one that is missing,
// diseases of an area by a Dirichlet law, two of them rare.
func healthTable(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, people))
	shares := make([]float64, 26*12)
	for g := range 26 {
		size := 1 / float64(g+1)
		if g == 25 {
			size = 1e-4
		}
		concentration := .5 + 4.5*r.Float64()
		diseases, sum := make([]float64, 12), 0.0
		for d := range diseases {
			diseases[d] = distuv.Gamma{Alpha: concentration, Beta: 1, Src: r}.Rand()
			if d >= 10 {
				diseases[d] *= 1e-3
			}
			sum += diseases[d]
		}
		for d, x := range diseases {
			shares[12*g+d] = size * x / sum
		}
	}
	at := distuv.NewCategorical(shares, r)
	counts := make([]int, 2*len(shares))
	for range people {
		counts[2*int(at.Rand())+r.IntN(2)]++
	}
	var text strings.Builder
	text.WriteString("area,disease,sex,n\n")
	for i, n := range counts {
		fmt.Fprintf(&text, "%02d,%02d,%d,%d\n", i/24, i/2%12, i%2, n)
	}
	return text.String()
}
