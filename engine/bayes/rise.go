package bayes

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A rise evaluates log rise(lambda, n) = lgamma(lambda+n) - lgamma(lambda), the logarithm of lambda (lambda+1) ... (lambda+n-1),
// for lambda = alpha / product of levels. The product is kept as mantissa and exponent: it may pass the range of float64, and
// lambda may be so small that only its logarithm is left.
type rise struct {
	lambda    float64 // 0 where it is below the range of float64
	logLambda float64
	logOver   float64 // lgamma(lambda+1)
}

// newRise prepares lambda = alpha / product of levels.
func newRise(alpha float64, levels iter.Seq[int]) rise {
	mantissa, exponent := math.Frexp(alpha)
	if levels != nil {
		product, shift := 1.0, 0
		for l := range levels {
			product *= float64(l)
			if product > 1<<52 {
				var e int
				product, e = math.Frexp(product)
				shift += e
			}
		}
		var e int
		mantissa, e = math.Frexp(mantissa / product)
		exponent += e - shift
	}
	r := rise{lambda: math.Ldexp(mantissa, exponent)}
	if r.lambda > 0x1p-1000 {
		r.logLambda = math.Log(r.lambda)
	} else {
		r.logLambda = math.Log(mantissa) + float64(exponent)*math.Ln2
	}
	if r.lambda < stirlingFrom {
		r.logOver, _ = math.Lgamma(r.lambda + 1)
	}
	return r
}

const (
	productUpTo  = 64      // rises by at most this much are logarithms of products,
	productBelow = 0x1p100 // for lambda below this
	stirlingFrom = 16      // from here on Stirling's series is exact to the last digits
)

// log is log rise(lambda, n) for n >= 0.
func (r *rise) log(n int64) float64 {
	if n == 0 {
		return 0
	}
	if r.byProduct(n) {
		f := factorials{rise: r, next: 1, product: 1}
		return f.log(n)
	}
	return r.large(n)
}

// byProduct tells whether log n is made from a product.
func (r *rise) byProduct(n int64) bool { return n <= productUpTo && r.lambda < productBelow }

// large is log where no product is made.
func (r *rise) large(n int64) float64 {
	x := float64(n)
	if r.lambda < stirlingFrom {
		top, _ := math.Lgamma(r.lambda + x)
		return r.logLambda + (top - r.logOver)
	}
	// The difference of two Stirling series, arranged so that the large terms do not cancel.
	l := r.lambda
	main := (l-0.5)*math.Log1p(x/l) - x
	return x*math.Log(l+x) + (main + (stirling(l+x) - stirling(l)))
}

// stirling is the tail of Stirling's series for lgamma.
func stirling(x float64) float64 {
	y := 1 / (x * x)
	return (1.0/12 - y*(1.0/360-y*(1.0/1260-y*(1.0/1680-y*(1.0/1188))))) / x
}

// factorials give log rise(lambda, n) for small ascending n: each product is made from the one before.
type factorials struct {
	rise    *rise
	next    int64   // factors lambda+1 ... lambda+next-1 are in the product or in sum
	product float64 // of the latest factors
	sum     float64 // logarithm of those before
}

func (f *factorials) log(n int64) float64 {
	for ; f.next < n; f.next++ {
		f.product *= f.rise.lambda + float64(f.next)
		if f.product > 0x1p900 {
			f.sum += math.Log(f.product)
			f.product = 1
		}
	}
	return f.rise.logLambda + (f.sum + math.Log(f.product))
}

// A histogram counts how often each count occurs among the cells of a margin.
type histogram struct {
	small []int64  // how often each count below histogramSmall occurs
	words []uint64 // bit c: small[c] is not 0
	tops  []uint64 // bit w: words[w] is not 0
	large []int64  // the other counts, one by one
	order []int64  // large in ascending order, for sum
}

const histogramSmall = 1 << 14

var histograms = sync.Pool{New: func() any { return newHistogram() }}

func newHistogram() *histogram {
	return &histogram{
		small: make([]int64, histogramSmall), words: make([]uint64, histogramSmall/64), tops: make([]uint64, histogramSmall/64/64),
	}
}

func (h *histogram) add(n int64) {
	if uint64(n) >= histogramSmall {
		h.large = append(h.large, n)
		return
	}
	h.small[n]++
	if h.small[n] == 1 {
		h.words[n>>6] |= 1 << (n & 63)
		h.tops[n>>12] |= 1 << (n >> 6 & 63)
	}
}

// remove takes out a count that is in the histogram; of large ones the latest must go first.
func (h *histogram) remove(n int64) {
	if uint64(n) >= histogramSmall {
		h.large = h.large[:len(h.large)-1]
		return
	}
	h.small[n]--
	if h.small[n] == 0 {
		h.words[n>>6] &^= 1 << (n & 63)
		if h.words[n>>6] == 0 {
			h.tops[n>>12] &^= 1 << (n >> 6 & 63)
		}
	}
}

func (h *histogram) clear() {
	for t, top := range h.tops {
		for ; top != 0; top &= top - 1 {
			w := t<<6 | bits.TrailingZeros64(top)
			for word := h.words[w]; word != 0; word &= word - 1 {
				h.small[w<<6|bits.TrailingZeros64(word)] = 0
			}
			h.words[w] = 0
		}
		h.tops[t] = 0
	}
	h.large = h.large[:0]
}

func (h *histogram) copyTo(to *histogram) {
	to.clear()
	copy(to.small, h.small)
	copy(to.words, h.words)
	copy(to.tops, h.tops)
	to.large = append(to.large, h.large...)
}

// sum adds log rise(lambda, n) over all counts n, the distinct ones in ascending order.
func (h *histogram) sum(r *rise) float64 {
	f := factorials{rise: r, next: 1, product: 1}
	sum := 0.0
	for t, top := range h.tops {
		for ; top != 0; top &= top - 1 {
			w := t<<6 | bits.TrailingZeros64(top)
			for word := h.words[w]; word != 0; word &= word - 1 {
				n := int64(w<<6 | bits.TrailingZeros64(word))
				if r.byProduct(n) {
					sum += float64(h.small[n]) * f.log(n)
				} else {
					sum += float64(h.small[n]) * r.large(n)
				}
			}
		}
	}
	h.order = append(h.order[:0], h.large...)
	slices.Sort(h.order)
	for i := 0; i < len(h.order); {
		j := i + 1
		for j < len(h.order) && h.order[j] == h.order[i] {
			j++
		}
		sum += float64(j-i) * r.large(h.order[i])
		i = j
	}
	return sum
}
