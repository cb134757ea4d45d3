package keymap

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// A SharedKey is a set of variables that some forms all hold, with all the forms that do: no other variable of the target is held by them all.
type SharedKey struct {
	Variables []int // ascending
	Forms     []int // ascending
}

// MaxSharedKeys is how many sets of variables are listed at most.
const MaxSharedKeys = 100_000

// SharedKeys are the closed sets of variables of a target: what forms have in common, each with its forms. held tells of each form the
// variables that it shares with the target. Sets of fewer than least forms are left out. Larger sets come first.
func SharedKeys(held [][]int, variables, least int) ([]SharedKey, error) {
	words := (variables + 7) / 8
	row := func(vars []int) string {
		b := make([]byte, words)
		for _, v := range vars {
			b[v/8] |= 1 << (v % 8)
		}
		return string(b)
	}
	rows := make([]string, len(held))
	closed := make(map[string]struct{})
	for i, vars := range held {
		rows[i] = row(vars)
		if _, ok := closed[rows[i]]; ok || len(vars) == 0 {
			continue
		}
		more := []string{rows[i]}
		for a := range closed {
			if both := meet(a, rows[i]); strings.Trim(both, "\x00") != "" {
				more = append(more, both)
			}
		}
		for _, x := range more {
			closed[x] = struct{}{}
		}
		if len(closed) > MaxSharedKeys {
			return nil, fmt.Errorf("forms share more than %d sets of variables: match fewer forms at once, or fewer variables", MaxSharedKeys)
		}
	}
	var keys []SharedKey
	for set := range closed {
		var k SharedKey
		for i, r := range rows {
			if meet(r, set) == set {
				k.Forms = append(k.Forms, i)
			}
		}
		if len(k.Forms) < least {
			continue
		}
		for v := range variables {
			if set[v/8]>>(v%8)&1 == 1 {
				k.Variables = append(k.Variables, v)
			}
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b SharedKey) int {
		if len(a.Variables) != len(b.Variables) {
			return len(b.Variables) - len(a.Variables)
		}
		return slices.Compare(a.Variables, b.Variables)
	})
	return keys, nil
}

func meet(a, b string) string {
	both := make([]byte, len(a))
	for i := range both {
		both[i] = a[i] & b[i]
	}
	return string(both)
}

// KeySpace is how many keys variables of these sizes can make, and its binary logarithm. Forms need not hold all of them together: it is an
// upper bound of what they tell apart.
func KeySpace(sizes []int) (keys *big.Int, bits float64) {
	keys = big.NewInt(1)
	for _, n := range sizes {
		keys.Mul(keys, big.NewInt(int64(n)))
		bits += Bits(n)
	}
	return keys, bits
}
