package attribution

import "slices"

// exactPeople is the largest N for which all binomial coefficients C(N, n) are whole numbers of 64 bits.
const exactPeople = 67

// anyFull is the probability that at least one of the cells is known in full when n of all people are known, for n from 0 to most:
// cells has their counts, above 0, rest the number of people in other cells. Every figure has full relative accuracy, however small.
func anyFull(clock *clock, cells []int64, rest, most int64) ([]float64, error) {
	total := rest
	for _, c := range cells {
		total += c
	}
	if total > exactPeople {
		return anyFullLarge(clock, cells, rest, most)
	}
	ways := noneFull(cells, rest)
	out := make([]float64, most+1)
	for n := range out {
		all := binomials[total][n]
		out[n] = float64(all-ways[n]) / float64(all)
	}
	return out, nil
}

// binomials[n][k] is C(n, k).
var binomials = func() (b [exactPeople + 1][exactPeople + 1]uint64) {
	for n := range b {
		b[n][0] = 1
		for k := 1; k <= n; k++ {
			b[n][k] = b[n-1][k-1] + b[n-1][k]
		}
	}
	return b
}()

// ways[n] is a number of ways to know n people.
type ways [exactPeople + 1]uint64

// noneFull counts the ways to know n people and no cell in full, of at most exactPeople: the coefficients of the product of
// (1+x)^c - x^c over the cells and (1+x)^rest (Smith 2011, chapter 3, as a generating function). They are whole numbers below 2^64.
func noneFull(cells []int64, rest int64) ways {
	var now, next ways
	degree := rest
	copy(now[:rest+1], binomials[rest][:rest+1])
	for _, c := range cells {
		clear(next[:degree+c+1])
		for i := range c { // not all c
			b := binomials[c][i]
			for j, w := range now[:degree+1] {
				next[int64(j)+i] += b * w
			}
		}
		degree += c
		now, next = next, now
	}
	return now
}

// anyFullLarge adds cell after cell. With j people known among the first k cells, i of them are in cell k with the hypergeometric
// probability H(i); then the cell is known in full if i is its count, and else it is up to the cells before:
//
//	B_k(j) = sum over i of H(i) (1 if i = c_k, else B_{k-1}(j-i)).
//
// All terms are positive. The people in other cells come last.
func anyFullLarge(clock *clock, cells []int64, rest, most int64) ([]float64, error) {
	cells = slices.Sorted(slices.Values(cells))
	before := make([]float64, most+1) // B of the cells so far, for j up to the people in them
	after := make([]float64, most+1)
	total := int64(0)
	for _, c := range cells {
		for j := range min(most, total+c) + 1 {
			if err := clock.spend(1 + min(c, j)); err != nil {
				return nil, err
			}
			after[j] = mixed(before, c, total, j, true)
		}
		total += c
		before, after = after, before
	}
	if rest == 0 {
		return before, nil
	}
	for j := range min(most, total+rest) + 1 {
		if err := clock.spend(1 + min(rest, j)); err != nil {
			return nil, err
		}
		after[j] = mixed(before, rest, total, j, false)
	}
	return after, nil
}

// mixed is the sum over i of the probability that i of j known people are among c, the others among total, times before[j-i]; or
// times 1 for i = c, if full says so.
func mixed(before []float64, c, total, j int64, full bool) float64 {
	sum := 0.0
	weigh(c, total, j, func(i int64, p float64) {
		if full && i == c {
			sum += p
		} else {
			sum += p * before[j-i]
		}
	})
	return sum
}

// weigh gives the hypergeometric probability that i of j people drawn from c + total are among the c, for every i that can be. The
// terms are made from the most probable one outwards, each by its ratio to the one before, and divided by their sum: no logarithms.
func weigh(c, total, j int64, take func(i int64, p float64)) {
	low, high := max(0, j-total), min(c, j)
	mode := min(max(int64(float64(j+1)*float64(c+1)/float64(total+c+2)), low), high)
	var room [64]float64
	terms := room[:]
	if n := high - low + 1; n > int64(len(room)) {
		terms = make([]float64, n)
	}
	terms[mode-low] = 1
	all := 1.0
	for i := mode; i < high; i++ {
		terms[i+1-low] = terms[i-low] * (float64(c-i) * float64(j-i) / (float64(i+1) * float64(total-j+i+1)))
		all += terms[i+1-low]
	}
	for i := mode; i > low; i-- {
		terms[i-1-low] = terms[i-low] * (float64(i) * float64(total-j+i) / (float64(c-i+1) * float64(j-i+1)))
		all += terms[i-1-low]
	}
	for i := low; i <= high; i++ {
		take(i, terms[i-low]/all)
	}
}
