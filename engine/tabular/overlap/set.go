package overlap

import "math/bits"

// A Set is a set of finest categories of a variable, a bit each.
type Set string

// SetOf is a set of some of n categories.
func SetOf(n int, members ...int) Set {
	b := make([]byte, (n+7)/8)
	for _, m := range members {
		b[m/8] |= 1 << (m % 8)
	}
	return Set(b)
}

// All is the set of all n categories.
func All(n int) Set {
	b := make([]byte, (n+7)/8)
	for m := range n {
		b[m/8] |= 1 << (m % 8)
	}
	return Set(b)
}

// Size is the number of its members.
func (s Set) Size() int {
	n := 0
	for i := range len(s) {
		n += bits.OnesCount8(s[i])
	}
	return n
}

// Members are the numbers of its members, ascending.
func (s Set) Members() []int {
	var list []int
	for i := range 8 * len(s) {
		if s[i/8]>>(i%8)&1 == 1 {
			list = append(list, i)
		}
	}
	return list
}

// Within tells whether another set has all members.
func (s Set) Within(t Set) bool {
	for i := range len(s) {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}

// Meets tells whether two sets have a member in common.
func (s Set) Meets(t Set) bool {
	for i := range len(s) {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// Union has the members of either set.
func (s Set) Union(t Set) Set { return combine(s, t, func(a, b byte) byte { return a | b }) }

// Less has the members that the other set has not.
func (s Set) Less(t Set) Set { return combine(s, t, func(a, b byte) byte { return a &^ b }) }

func combine(s, t Set, f func(a, b byte) byte) Set {
	b := make([]byte, len(s))
	for i := range b {
		b[i] = f(s[i], t[i])
	}
	return Set(b)
}
