package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A program sums, or maximises, over all rooted junction trees of all decomposable graphs of k variables by dynamic programming
// over disjoint sets (Kangas, Koivisto & Niinimaki 2014, 2015). phi is the score of a set; for trees with the separator S above
// them, that cover the further variables R:
//
//	f(S, R) = sum over C, S < C <= S+R, of phi(C) g(C, S+R-C)            trees whose root clique C strictly contains S
//	h(C, R) = sum over S, S < C, of f(S, R) / phi(S)                     one branch hung on C that covers R
//	g(C, U) = sum over R <= U with min(U) in R of h(C, R) g(C, U-R)      all branches of C; g(C, {}) = 1
//
// f({}, V) is the sum over all. It goes by the size w of S+R, C+R or C+U: g of size w needs h up to w, f of size w needs g of size
// w, h of size w+1 needs f up to w. For one set S+R the sums f are made together, with bit after bit, from g: that takes
// w 2^w steps, so that the 4^k/2 steps for g and 4^k for h are what takes time.
//
// g and h are kept in one block for each C, f in one for each R (as f/phi, own): within a block the other set is numbered by the
// bits that are left when the block's own are squeezed out. All blocks have 3^k places.
type program struct {
	k       int
	all     uint32
	logPhi  []float64
	phi     []scaled
	offset  []int // of the block of each set
	squeeze *squeezer
	g, h    []uint64
	own     []uint64
	packing packing
	ordered []uint32 // all sets but the empty one, small sets (large blocks) first
	workers int
	report  *progress
}

// An algebra does the steps of the program for one set: adding up scaled numbers, or taking the maximum of logarithms.
type algebra interface {
	branches(b *buffer, c uint32, u int) // g(c, U) for all U of u variables
	trees(b *buffer, w uint32)           // f(S, w-S) for all S < w
	branch(b *buffer, r uint32, c int)   // h(C, r) for all C of c variables
}

// A buffer is what a worker needs.
type buffer struct {
	x, y        []scaled
	s, t        []float64
	sets        []uint32
	least, most float64 // of all logarithms that were stored
}

// errScores is why a program was given up.
var errScores = errors.New(
	"the scores of the variable sets differ by more than 10^7 nats, too much for the search \"exact\": use the search \"mc3\" or \"occam\"",
)

// newProgram prepares a program for phi = exp(logPhi), by variable set. It takes exactBytes of memory.
func newProgram(k int, logPhi []float64, workers int, report *progress) *program {
	p := &program{k: k, all: 1<<k - 1, logPhi: logPhi, workers: max(1, workers), report: report}
	p.phi = make([]scaled, 1<<k)
	p.offset = make([]int, 1<<k)
	places := 0
	for c := range p.phi {
		p.phi[c] = fromLog(logPhi[c])
		p.offset[c] = places
		places += 1 << (k - bits.OnesCount32(uint32(c)))
	}
	p.squeeze = newSqueezer()
	p.g, p.h, p.own = make([]uint64, places), make([]uint64, places), make([]uint64, places)
	for c := uint32(1); c <= p.all; c++ {
		p.ordered = append(p.ordered, c)
	}
	slices.SortFunc(p.ordered, func(a, b uint32) int {
		return cmp.Or(bits.OnesCount32(a)-bits.OnesCount32(b), cmp.Compare(a, b))
	})
	return p
}

func (p *program) newBuffer() *buffer {
	n := 1 << p.k
	return &buffer{
		x: make([]scaled, n), y: make([]scaled, n), s: make([]float64, n), t: make([]float64, n), sets: make([]uint32, n),
		least: math.Inf(1), most: math.Inf(-1),
	}
}

// run goes through all states with one algebra. Then g, h and own have what it made.
func (p *program) run(ctx context.Context, a algebra) (least, most float64, err error) {
	buffers := make([]*buffer, p.workers)
	for i := range buffers {
		buffers[i] = p.newBuffer()
	}
	for w := 1; w <= p.k; w++ {
		if err := p.step(ctx, buffers, 1, w, func(b *buffer, c uint32) int64 {
			u := w - bits.OnesCount32(c)
			a.branches(b, c, u)
			return terms(p.k-bits.OnesCount32(c), u) / 2
		}); err != nil {
			return 0, 0, err
		}
		if w == p.k {
			break
		}
		if err := p.step(ctx, buffers, w, w, func(b *buffer, c uint32) int64 { a.trees(b, c); return 0 }); err != nil {
			return 0, 0, err
		}
		if err := p.step(ctx, buffers, 1, w, func(b *buffer, r uint32) int64 {
			c := w + 1 - bits.OnesCount32(r)
			a.branch(b, r, c)
			return terms(p.k-bits.OnesCount32(r), c)
		}); err != nil {
			return 0, 0, err
		}
	}
	least, most = math.Inf(1), math.Inf(-1)
	for _, b := range buffers {
		least, most = min(least, b.least), max(most, b.most)
	}
	return least, most, nil
}

// terms is the number of all subsets of all n-subsets of m elements.
func terms(m, n int) int64 {
	choose := int64(1)
	for i := range n {
		choose = choose * int64(m-i) / int64(i+1)
	}
	return choose << n
}

// step does f for all sets of least to most variables, each once. f says how much work that was.
func (p *program) step(ctx context.Context, buffers []*buffer, least, most int, f func(b *buffer, c uint32) int64) error {
	from, _ := slices.BinarySearchFunc(p.ordered, least, func(c uint32, n int) int { return bits.OnesCount32(c) - n })
	to, _ := slices.BinarySearchFunc(p.ordered, most+1, func(c uint32, n int) int { return bits.OnesCount32(c) - n })
	list := p.ordered[from:to]
	const chunk = 8
	var next atomic.Int64
	var group sync.WaitGroup
	stopped := stopper(ctx)
	for _, b := range buffers[:max(1, min(len(buffers), len(list)/chunk))] {
		group.Go(func() {
			for {
				end := int(next.Add(chunk))
				if end-chunk >= len(list) || stopped() {
					return
				}
				work := int64(0)
				for _, c := range list[end-chunk : min(end, len(list))] {
					work += f(b, c)
				}
				if p.report != nil {
					p.report.add(work)
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// at is the place of the other set in the block of a set.
func (p *program) at(block, other uint32) int {
	return p.offset[block] + p.squeeze.out(other, block)
}

// subsets lists the subsets of a set in the order of their bits with all others squeezed out.
func subsets(of uint32, list []uint32) []uint32 {
	list = list[:1<<bits.OnesCount32(of)]
	list[0] = 0
	for n := 1; of != 0; of &= of - 1 {
		v := of & -of
		for i, s := range list[:n] {
			list[n+i] = s | v
		}
		n *= 2
	}
	return list
}

// following is the next larger number with as many bits (Gosper).
func following(x uint32) uint32 {
	low := x & -x
	carry := x + low
	return carry | (x^carry)>>2/low
}

// A squeezer takes bits out of a number and moves the others together, for six bits at a time.
type squeezer struct {
	places [64][64]uint8
	kept   [64]uint8
}

func newSqueezer() *squeezer {
	s := new(squeezer)
	for out := range 64 {
		s.kept[out] = uint8(6 - bits.OnesCount8(uint8(out)))
		for from := range 64 {
			n := 0
			for i := range 6 {
				if out>>i&1 == 0 {
					s.places[out][from] |= uint8(from>>i&1) << n
					n++
				}
			}
		}
	}
	return s
}

// out is x, of at most 18 bits, without the bits that are set in without.
func (s *squeezer) out(x, without uint32) int {
	a, b, c := without&63, without>>6&63, without>>12&63
	n := int(s.places[c][x>>12&63])<<s.kept[b] | int(s.places[b][x>>6&63])
	return n<<s.kept[a] | int(s.places[a][x&63])
}
