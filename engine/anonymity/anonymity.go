// Package anonymity has the measures of an equivalence class by itself: on how many combinations of the key variables fewer than k
// records agree, and how diverse the values of a sensitive variable are within it.
//
//	c := anonymity.NewCombinations(4, 2)            // 4 key variables, combinations of at most 2
//	n := c.Violating(sets)                         // of the minimal ones below k, as package uniques finds them
//	d := anonymity.Diverse([]int64{3, 1}, 2)       // a class with a value three times and another once
//
// Sources: Samarati & Sweeney 1998; Sweeney 2002; Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007.
package anonymity

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// MostVariables is the largest number of key variables whose combinations are counted.
const MostVariables = 20

// Combinations counts those combinations of key variables, of at most some size, that contain one of a list of minimal ones. It is not
// safe for concurrent use.
type Combinations struct {
	variables, size int
	marked          []uint64 // a bit for each combination
	sizes           []int64
	small           []uint64 // the combinations of at most the size; nil: all
}

// NewCombinations is for so many key variables, and combinations of at most size of them (0: of any number).
func NewCombinations(variables, size int) (*Combinations, error) {
	if variables < 1 || variables > MostVariables {
		return nil, fmt.Errorf("combinations of %d key variables cannot be counted one by one: at most %d can", variables, MostVariables)
	}
	if size <= 0 || size > variables {
		size = variables
	}
	words := max(1, 1<<variables/64)
	c := &Combinations{variables: variables, size: size, marked: make([]uint64, words), sizes: make([]int64, size+1)}
	if size < variables {
		c.small = make([]uint64, words)
		for set := range 1 << variables {
			if n := bits.OnesCount(uint(set)); n > 0 && n <= size {
				c.small[set/64] |= 1 << (set % 64)
			}
		}
	}
	return c, nil
}

// All is the number of combinations that are looked at: those of 1 to size variables.
func (c *Combinations) All() int64 {
	n, all := int64(1), int64(0)
	for s := range c.size {
		n = n * int64(c.variables-s) / int64(s+1)
		all += n
	}
	return all
}

// within masks the bits of a word whose number has a bit set.
var within = [6]uint64{0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000}

// Violating is the number of combinations that contain one of sets, bit sets of key variables. The empty set is in all of them.
func (c *Combinations) Violating(sets []uint64) int64 {
	if len(sets) == 0 {
		return 0
	}
	clear(c.marked)
	for _, s := range sets {
		c.marked[s/64] |= 1 << (s % 64)
	}
	// Upwards: with a set all that have one variable more, variable by variable.
	for v := range min(c.variables, 6) {
		for w, m := range c.marked {
			c.marked[w] = m | m<<(1<<v)&within[v]
		}
	}
	for v := 6; v < c.variables; v++ {
		step := 1 << (v - 6)
		for w := range c.marked {
			if w&step != 0 {
				c.marked[w] |= c.marked[w-step]
			}
		}
	}
	if c.marked[0]&1 != 0 {
		c.marked[0] &^= 1 // the empty set is no combination
	}
	n := 0
	for w, m := range c.marked {
		if c.small != nil {
			m &= c.small[w]
		}
		n += bits.OnesCount64(m)
	}
	return int64(n)
}

// A Diversity is how diverse the sensitive values of a class are.
type Diversity struct {
	Distinct int64 // different values
	// Entropy is exp(-sum p log p) of the shares of the values: the class is entropy l-diverse for all l up to it; 0 without values.
	Entropy float64
	// Recursive is the largest l for which the class is recursive (c, l)-diverse: the most frequent value is less frequent than c times
	// the sum of all but the l-1 most frequent ones; 0 if it is for none.
	Recursive int64
}

// Diverse measures a class by the counts of its values, which are above 0 and are sorted; c is above 0.
// (Machanavajjhala et al. 2007, definitions 4.1 and 4.2.)
func Diverse(counts []int64, c float64) Diversity {
	slices.SortFunc(counts, func(a, b int64) int { return cmp.Compare(b, a) })
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	d := Diversity{Distinct: int64(len(counts))}
	if len(counts) == 0 {
		return d
	}
	entropy, rest := 0.0, total
	for l, n := range counts {
		p := float64(n) / total
		entropy -= p * math.Log(p)
		if float64(counts[0]) < c*rest { // rest sums all but the l most frequent
			d.Recursive = int64(l + 1)
		}
		rest -= float64(n)
	}
	d.Entropy = math.Exp(entropy)
	return d
}
