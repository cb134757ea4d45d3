package keymap

import (
	"fmt"
	"math/big"

	"microrisk/schemas/pattern"
)

var prevalence = pattern.New(`^(0(\.\d+)?|1(\.0+)?)$`)

// ParsePrevalence reads a share of forms between 0 and 1 exactly: 0.29 is 29/100. It has 100 characters at most.
func ParsePrevalence(text string) (*big.Rat, error) {
	if !prevalence().MatchString(text) || len(text) > 100 {
		return nil, fmt.Errorf("prevalence %q: it must be a number from 0 to 1 such as 0.25", text)
	}
	p, _ := new(big.Rat).SetString(text)
	return p, nil
}

// Required is how many of the forms of a match set must hold a variable, and the share that they are of it: N = max(1, floor(q)), q = base p.
// One form is enough at prevalence 0.
func Required(base int, p *big.Rat) (n int, q *big.Rat) {
	q = new(big.Rat).Mul(new(big.Rat).SetInt64(int64(base)), p)
	return int(max(1, new(big.Int).Quo(q.Num(), q.Denom()).Int64())), q
}

// Enough tells whether the forms that hold a variable are as many as a prevalence asks for: at least q of them, and at least one. It is q that
// they are compared with, not N.
func Enough(present int, q *big.Rat) bool {
	return present > 0 && q.Cmp(new(big.Rat).SetInt64(int64(present))) <= 0
}
