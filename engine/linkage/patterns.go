package linkage

import (
	"context"
	"slices"
)

// A Pattern is in which of the overlap variables two records differ; they agree on all others.
type Pattern struct {
	Differ []int   // places of the variables in the overlap, ascending
	Pairs  float64 // pairs of a record of the first sample and one of the second
	Within float64 // pairs of two records of one sample
}

// A Class is a class of the overlap with its records in two samples.
type Class struct {
	Codes   []uint32
	Records [2]int64
}

// Patterns counts the pairs that differ in no more than so many variables. Pairs are not looked at one by one: those that agree on all variables
// but some are counted by the margin without these, and those that differ in all of these are what is left after taking away those that differ
// in fewer.
func Patterns(ctx context.Context, classes []Class, differ int) ([]Pattern, error) {
	if len(classes) == 0 {
		return nil, nil
	}
	names := make([]name, len(classes))
	for i := range classes {
		for v, code := range classes[i].Codes {
			names[i].add(nameOf(v, code))
		}
	}
	var out []Pattern
	all := subsets(len(classes[0].Codes), differ)
	loose := make([]Pattern, len(all)) // pairs that may agree on the variables, too
	for k, s := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		margin := make(map[name][2]int64, len(classes))
		for i := range classes {
			n := names[i]
			for _, v := range s {
				n.take(nameOf(v, classes[i].Codes[v]))
			}
			c := margin[n]
			c[0], c[1] = c[0]+classes[i].Records[0], c[1]+classes[i].Records[1]
			margin[n] = c
		}
		for _, c := range margin {
			a, b := float64(c[0]), float64(c[1])
			loose[k].Pairs += a * b
			loose[k].Within += a*(a-1)/2 + b*(b-1)/2
		}
		exact := Pattern{Differ: s, Pairs: loose[k].Pairs, Within: loose[k].Within}
		for _, p := range out { // smaller sets come first
			if contains(s, p.Differ) {
				exact.Pairs -= p.Pairs
				exact.Within -= p.Within
			}
		}
		out = append(out, exact)
	}
	return out, nil
}

// subsets are those of the numbers below n with no more than most members, the smaller ones first.
func subsets(n, most int) [][]int {
	all := [][]int{{}}
	for from, size := 0, 1; size <= most; size++ {
		to := len(all)
		for _, s := range all[from:to] {
			next := 0
			if len(s) > 0 {
				next = s[len(s)-1] + 1
			}
			for v := next; v < n; v++ {
				all = append(all, append(slices.Clone(s), v))
			}
		}
		from = to
	}
	return all
}

// A name stands for the categories of some variables: the sum of their numbers, 128 bits wide, so that no two are the same.
type name [2]uint64

func (n *name) add(x name)  { n[0], n[1] = n[0]+x[0], n[1]+x[1] }
func (n *name) take(x name) { n[0], n[1] = n[0]-x[0], n[1]-x[1] }

// nameOf mixes a variable and its category (Steele, Lea & Flood 2014).
func nameOf(v int, code uint32) name {
	mix := func(x uint64) uint64 {
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	x := mix(uint64(v)<<32 | uint64(code))
	return name{x, mix(x ^ 0x5851f42d4c957f2d)}
}
