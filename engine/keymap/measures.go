package keymap

import "math/big"

// Sizes are the categories by which a size is counted: that of Any, which has none, is set to levels, and none is above cap, if that is not 0.
type Sizes struct {
	Levels int // of a variable of arbitrary precision: what is assumed, or its smallest categories, which are a lower bound
	Cap    int // of a review: what the variable is worth at most; 0 for none
}

// Of is the size that counts of a node, and whether it was cut or assumed.
func (s Sizes) Of(size int) (n int, capped bool) {
	if size == Unbounded {
		size, capped = s.Levels, true
	}
	if s.Cap > 0 && size > s.Cap {
		size, capped = s.Cap, true
	}
	return size, capped
}

// Area is that under the sizes of a profile against prevalence, exactly: the mean over N = 1 to all of the size of the answer at N, where a
// threshold without an answer counts 0. capped: some size was assumed or cut.
func Area(nodes []Node, runs []Run, all int, s Sizes) (area *big.Rat, capped bool) {
	return s.sum(nodes, runs, all, func(r Run) int64 { return int64(r.To - r.From + 1) })
}

// Continuous is the area under sizes as prevalence p itself runs from 0 to 1. N is 1 up to p = 2/all, and between two thresholds the variable
// is missing as soon as p all exceeds the forms that hold it: (f(1) + f(1) + ... + f(present-1)) / all.
func Continuous(nodes []Node, runs []Run, all int, s Sizes) (area *big.Rat, capped bool) {
	last := 0
	if len(runs) > 0 {
		last = runs[len(runs)-1].To
	}
	return s.sum(nodes, runs, all, func(r Run) int64 {
		n := int64(r.To - r.From + 1)
		if r.From == 1 {
			n++
		}
		if r.To == last {
			n--
		}
		return n
	})
}

func (s Sizes) sum(nodes []Node, runs []Run, all int, weight func(Run) int64) (*big.Rat, bool) {
	sum, capped := new(big.Int), false
	for _, r := range runs {
		n, cut := s.Of(nodes[r.Node].Size)
		capped = capped || cut
		sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(weight(r))))
	}
	if all == 0 {
		return new(big.Rat), false
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(int64(all))), capped
}
