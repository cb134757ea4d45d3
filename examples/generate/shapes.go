package main

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// A variable is drawn from a skewed distribution: rank r has a probability in proportion to 1 / (r+1)^skew. Which category has
// which rank depends on the values of its parents, so that variables hang together.
type variable struct {
	name    string
	size    int
	skew    float64
	parents []int
	label   func(code int) string
}

// shapes are the kinds of file that can be made.
var shapes = map[string][]variable{
	// like a census of persons: twelve key variables that hang together
	"census": {
		{name: "age", size: 91, skew: 0.15, label: number},
		{name: "sex", size: 2, skew: 0.1, label: word("female", "male")},
		{name: "household", size: 8, skew: 2.3, parents: []int{0}},
		{name: "marital_status", size: 7, skew: 2.8, parents: []int{0, 2}},
		{name: "education", size: 17, skew: 1.9, parents: []int{0}},
		{name: "class_of_worker", size: 9, skew: 2.6, parents: []int{4}},
		{name: "industry", size: 24, skew: 2.3, parents: []int{5}},
		{name: "occupation", size: 15, skew: 2.5, parents: []int{6}},
		{name: "race", size: 5, skew: 2.8},
		{name: "origin", size: 9, skew: 3.6, parents: []int{8}},
		{name: "birth_country", size: 43, skew: 3.2, parents: []int{9}},
		{name: "citizenship", size: 5, skew: 3.6, parents: []int{10}},
	},
	// independent columns, nearly all rows unique: the hard case for the search
	"census8": {
		{name: "region", size: 36, skew: 0.6}, {name: "sex", size: 2, skew: 0.1}, {name: "age", size: 100, skew: 0.3, label: number},
		{name: "marital_status", size: 6, skew: 1}, {name: "household_size", size: 10, skew: 1}, {name: "education", size: 8, skew: 0.7},
		{name: "occupation", size: 400, skew: 0.8}, {name: "industry", size: 90, skew: 0.8},
	},
	// one column of many codes beside small ones
	"codes": {
		{name: "code", size: 50_000, skew: 0.4, label: number}, {name: "sex", size: 2, skew: 0.1},
		{name: "region", size: 12, skew: 0.6}, {name: "band", size: 6, skew: 0.8},
	},
	"binary": binary(20),
}

func binary(n int) []variable {
	list := make([]variable, n)
	for i := range list {
		list[i] = variable{name: fmt.Sprintf("item%02d", i+1), size: 2, label: word("no", "yes")}
	}
	return list
}

func number(code int) string { return fmt.Sprint(code) }

func word(words ...string) func(int) string { return func(code int) string { return words[code] } }

func (v variable) text(code int) string {
	if v.label != nil {
		return v.label(code)
	}
	return fmt.Sprintf("%s %d", v.name, code+1)
}

// thresholds are the cumulated probabilities of the ranks, as fractions of 2^63.
func (v variable) thresholds() []uint64 {
	sum, cumulated := 0.0, make([]float64, v.size)
	for r := range cumulated {
		sum += math.Pow(float64(r+1), -v.skew)
		cumulated[r] = sum
	}
	out := make([]uint64, v.size)
	for r, c := range cumulated {
		out[r] = uint64(c / sum * (1 << 63))
	}
	out[v.size-1] = 1 << 63
	return out
}

// A generator makes the values of a row from the seed and the row's number alone.
type generator struct {
	variables  []variable
	thresholds [][]uint64
	seed       uint64
}

func newGenerator(variables []variable, seed uint64) *generator {
	g := &generator{variables: variables, seed: seed}
	for _, v := range variables {
		g.thresholds = append(g.thresholds, v.thresholds())
	}
	return g
}

// row writes the codes of a row.
func (g *generator) row(row uint64, codes []int32) {
	for i, v := range g.variables {
		u := mix(g.seed, row, uint64(i)) >> 1
		rank := sort.Search(v.size-1, func(r int) bool { return g.thresholds[i][r] > u })
		shift := uint64(i)
		for _, p := range v.parents {
			shift = mix(shift, uint64(codes[p]), uint64(p))
		}
		if len(v.parents) == 0 {
			shift = 0
		}
		codes[i] = int32((uint64(rank) + shift%uint64(v.size)) % uint64(v.size))
	}
}

// weight is between 50 and 150, as a sampling weight of one in a hundred would be.
func (g *generator) weight(row uint64) float64 {
	return 50 + float64(mix(g.seed, row, 1<<32)>>11)/(1<<53)*100
}

// mix is a hash of three numbers.
func mix(a, b, c uint64) uint64 {
	h := a*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	for _, x := range [2]uint64{b, c} {
		high, low := bits.Mul64(h^x, 0xd6e8feb86659fd93)
		h = high ^ low ^ bits.RotateLeft64(x, 32)
		h = (h ^ h>>32) * 0xa0761d6478bd642f
	}
	return h ^ h>>29
}
