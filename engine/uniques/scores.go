package uniques

import (
	"context"
	"fmt"
	"math"
	"math/big"
)

// weights is the weight of a minimal sample unique by size 0 to variables, times scale; limit is the size limit, at most variables. With the
// weights' common denominator as scale the weights are whole numbers, so that their sums are exact and scores are rounded once,
// when they are divided by it: equal scores are then equal to the last bit.
func weights(score Score, variables, limit int) (w []float64, scale float64) {
	w, scale = make([]float64, variables+1), 1
	if score == Lattice || score == LatticeLimited {
		scale = common(variables)
	}
	for s := range w {
		switch score {
		case Lattice:
			w[s] = latticeWeight(variables, s, variables, scale)
		case LatticeLimited:
			w[s] = latticeWeight(variables, s, limit, scale)
		case Factorial:
			w[s] = factorial(variables - s)
		case ElliotLimited:
			x := new(big.Int).SetInt64(1)
			for i := s; i <= min(limit, variables-1); i++ {
				x.Mul(x, big.NewInt(int64(variables-i)))
			}
			w[s], _ = new(big.Float).SetInt(x).Float64()
		}
	}
	return w, scale
}

// common is the least common denominator of the lattice weights, the C(K,s), as far as a float64 counts exactly; 1 beyond.
func common(variables int) float64 {
	lcm, g := big.NewInt(1), new(big.Int)
	for s := range variables + 1 {
		c := new(big.Int).Binomial(int64(variables), int64(s))
		lcm.Mul(lcm, new(big.Int).Div(c, g.GCD(nil, nil, lcm, c)))
	}
	if lcm.BitLen() > 40 {
		return 1
	}
	return float64(lcm.Int64())
}

// latticeWeight is scale times sum_{i=1}^{limit-s} C(K-s,i) / C(K,s), rounded once.
func latticeWeight(variables, s, limit int, scale float64) float64 {
	sum, c := new(big.Int), new(big.Int)
	for i := 1; i <= limit-s; i++ {
		sum.Add(sum, c.Binomial(int64(variables-s), int64(i)))
	}
	weight := new(big.Rat).SetFrac(sum, c.Binomial(int64(variables), int64(s)))
	f, _ := weight.Mul(weight, new(big.Rat).SetFloat64(scale)).Float64()
	return f
}

func factorial(n int) float64 {
	f, _ := new(big.Float).SetInt(new(big.Int).MulRange(1, int64(n))).Float64()
	return f
}

// latticeSize is the number of sets of 1 to limit variables, or the largest int64.
func latticeSize(variables, limit int) int64 {
	var sum int64
	for s := 1; s <= limit; s++ {
		c := binomial(variables, s)
		if sum > math.MaxInt64-c {
			return math.MaxInt64
		}
		sum += c
	}
	return sum
}

// binomial is C(n, k), or the largest int64.
func binomial(n, k int) int64 {
	c := new(big.Int).Binomial(int64(n), int64(k))
	if !c.IsInt64() {
		return math.MaxInt64
	}
	return c.Int64()
}

// DIS estimates the probability that a unique match is correct, from the sampling fraction pi in (0, 1], the number of
// sample uniques n1 and the number of pairs n2: pi n1 / (pi n1 + 2 (1-pi) n2). It is 0 without sample uniques and 1 without pairs.
// Source: Skinner & Elliot 2002, equation for the data intrusion simulation.
func DIS(pi float64, uniques int64, doubles float64) float64 {
	switch {
	case uniques == 0:
		return 0
	case doubles == 0:
		return 1
	}
	right := pi * float64(uniques)
	return right / (right + 2*(1-pi)*doubles)
}

// checkedClasses is after how many classes the context is looked at.
const checkedClasses = 1 << 16

// DISIS spreads a file's DIS over its records with a minimal sample unique; NaN for the others:
//
//	DIS-IS_j = 1 / (1 + w_j (U/D - U)),  w_j = S_j^-Q / sum S^-Q,  Q = 1 + (8-K)/20
//
// with S the intermediate SUDA metric of r, D the file's DIS in (0, 1], K the number of variables, and U and the sum over the
// records with a minimal sample unique; counts gives the records of each class. So sum (1/DIS-IS - 1) = U/D - U. Errors: K over 27, where Q is
// no longer positive enough to mean anything, a DIS that is no probability, and a context that ends. Source: Elliot 2003.
func DISIS(ctx context.Context, r *Result, counts func(i int) int64, variables int, dis float64) ([]float64, error) {
	if variables > 27 {
		return nil, fmt.Errorf(
			"uniques: DIS-IS of %d key variables: its exponent 1 + (8-K)/20 is positive up to 27 only; take fewer variables or leave DIS-IS out",
			variables,
		)
	}
	if !(dis >= 0 && dis <= 1) {
		return nil, fmt.Errorf("uniques: DIS is %v, must be from 0 to 1", dis)
	}
	q := 1 + float64(8-variables)/20
	var records int64
	var sum float64
	out := make([]float64, len(r.IS))
	for i, is := range r.IS {
		if i%checkedClasses == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = math.NaN()
		if r.Count[i] == 0 {
			continue
		}
		out[i] = math.Pow(is, -q)
		records += counts(i)
		sum += out[i] * float64(counts(i))
	}
	u := float64(records)
	for i := range out {
		switch {
		case r.Count[i] == 0:
		case dis == 1:
			out[i] = 1
		default:
			out[i] = 1 / (1 + out[i]/sum*(u/dis-u))
		}
	}
	return out, nil
}
