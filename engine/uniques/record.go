package uniques

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/schemas/pattern"
)

// A Record is why one record is at risk.
type Record struct {
	Counted   bool    // false: dropped for a missing value; then the fields below say nothing
	Frequency int64   // records with the same key
	MSUs      [][]int // minimal sample uniques: positions of variables, by size, then key order
	Score     float64 // of these
	IS        float64 // intermediate SUDA metric, of the same
	Distance  int     // variables in which the nearest other records differ
	Near      []Near  // at most RecordOptions.Nearest, the nearest by the order of values first, then the largest
	NearMore  int     // nearest classes that are not in Near
	NearCount int64   // records in all nearest classes
}

// A Near is a class of records that nearly match.
type Near struct {
	Class   int
	Differs []int // positions of the variables that differ
	Count   int64 // records

	steps int // how far away the values are, where all have an order; maxSteps where they have none
}

// RecordOptions are those of Explain.
type RecordOptions struct {
	Policies []Policy // one a variable; nil means Category
	MaxSize  int      // largest minimal sample unique looked for; 0 means all
	Score    Score
	Nearest  int // classes that are listed
}

// Explain finds the minimal sample uniques of the records of one class, and the classes that differ from it in the fewest variables. It
// compares the class with all others: with the set of variables on which the two agree. The record is unique on a set S exactly if S is
// in none of those, so its minimal sample uniques are the minimal sets that meet the complement of each. (Manning, Haglin & Keane 2008
// search from the sets; for one record the other way is shorter.) A context that ends is an error.
func Explain(ctx context.Context, t *contingency.Table, class int, o RecordOptions) (*Record, error) {
	k := len(t.Variables)
	if o.MaxSize <= 0 || o.MaxSize > k {
		o.MaxSize = k
	}
	if o.Policies == nil {
		o.Policies = make([]Policy, k)
	}
	c := &comparison{t: t, o: o, own: make([]uint32, k), missing: make([]uint32, k), agreements: map[uint64]struct{}{}}
	for v := range t.Variables {
		c.own[v], c.missing[v] = t.Code(class, v), t.Variables[v].Missing()
		if o.Policies[v] == Drop && c.own[v] == c.missing[v] {
			return &c.r, nil
		}
	}
	c.r.Counted = true
	if err := c.compare(ctx, class); err != nil || c.r.Frequency != 1 {
		return &c.r, err
	}
	sets, err := minimalHittingSets(ctx, disagreements(c.agreements, k), o.MaxSize)
	if err != nil {
		return nil, err
	}
	weight, scale := weights(o.Score, k, o.MaxSize)
	for _, set := range sets {
		c.r.MSUs = append(c.r.MSUs, positions(set))
		c.r.Score += weight[bits.OnesCount64(set)]
		c.r.IS += factorial(k - bits.OnesCount64(set))
	}
	c.r.Score /= scale
	return &c.r, nil
}

// A comparison is of one class with all.
type comparison struct {
	t            *contingency.Table
	o            RecordOptions
	r            Record
	own, missing []uint32 // codes, by variable
	agreements   map[uint64]struct{}
	ranks        [][]int // by variable, then code; nil for one without an order
	most         int     // variables on which the nearest classes agree
}

// atOnce is how many classes are decoded at a time, and nearest ones kept before they are cut.
const atOnce = 4096

func (c *comparison) compare(ctx context.Context, class int) error {
	k := len(c.own)
	c.ranks, c.most = ranksOf(c.t), -1
	other, codes := make([]uint32, k), make([][]uint32, k)
	for v := range codes {
		codes[v] = make([]uint32, min(c.t.Classes(), atOnce))
	}
	for i := range c.t.Classes() {
		at := i % atOnce
		if at == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for v := range codes {
				c.t.Codes(v, i, codes[v][:min(atOnce, c.t.Classes()-i)])
			}
		}
		for v := range other {
			other[v] = codes[v][at]
		}
		search, whole, dropped := c.agreement(other)
		if dropped {
			continue
		}
		if bits.OnesCount64(whole) == k {
			c.r.Frequency += c.t.Count(i)
		} else {
			c.near(i, other, whole)
		}
		if i != class {
			c.agreements[search] = struct{}{}
		}
	}
	c.cut()
	return nil
}

// agreement gives two sets of variables: those on which a search takes another record for like this one, and those on which their whole
// keys are alike. The two differ where a missing value is ignored.
func (c *comparison) agreement(other []uint32) (search, whole uint64, dropped bool) {
	for v := range c.own {
		mine, theirs := c.own[v] == c.missing[v], other[v] == c.missing[v]
		alike := c.own[v] == other[v]
		found := alike
		switch c.o.Policies[v] {
		case Wildcard:
			alike = alike || mine || theirs
			found = alike
		case Ignore:
			// No set with v can be a minimal sample unique of a record that misses v, so v must not tell it from any other.
			found = alike || mine
		case Drop:
			dropped = dropped || theirs
		}
		if alike {
			whole |= 1 << v
		}
		if found {
			search |= 1 << v
		}
	}
	return search, whole, dropped
}

// near notes a class if none agrees on more variables.
func (c *comparison) near(class int, codes []uint32, agree uint64) {
	agreeing := bits.OnesCount64(agree)
	if agreeing < c.most {
		return
	}
	if agreeing > c.most {
		c.most = agreeing
		c.r.Near, c.r.NearMore, c.r.NearCount, c.r.Distance = nil, 0, 0, len(codes)-agreeing
	}
	n := Near{Class: class, Count: c.t.Count(class)}
	for v := range codes {
		if agree>>v&1 == 0 {
			n.Differs = append(n.Differs, v)
			n.steps = min(maxSteps, n.steps+c.distance(v, codes[v]))
		}
	}
	c.r.Near = append(c.r.Near, n)
	c.r.NearCount += n.Count
	if len(c.r.Near) >= atOnce { // what is kept is what is listed, and the number of the others
		c.cut()
	}
}

// maxSteps is the distance of values without an order.
const maxSteps = math.MaxInt32

// distance is how many categories lie between the record's value of a variable and another one.
func (c *comparison) distance(v int, code uint32) int {
	ranks := c.ranks[v]
	if ranks == nil || code == c.missing[v] || c.own[v] == c.missing[v] {
		return maxSteps
	}
	d := ranks[code] - ranks[c.own[v]]
	return max(d, -d)
}

// cut keeps the nearest classes by the order of values, then the largest.
func (c *comparison) cut() {
	slices.SortStableFunc(c.r.Near, func(a, b Near) int {
		return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	if more := len(c.r.Near) - c.o.Nearest; more > 0 {
		c.r.NearMore += more
		c.r.Near = c.r.Near[:c.o.Nearest]
	}
}

// disagreements are the complements of the largest agreements: a set that meets those meets all.
func disagreements(agreements map[uint64]struct{}, variables int) []uint64 {
	all := ^uint64(0) >> (64 - variables)
	list := make([]uint64, 0, len(agreements))
	for a := range agreements {
		list = append(list, all&^a)
	}
	slices.SortFunc(list, bySize)
	return minimal(list)
}

// minimal keeps the sets that contain no other; sets are in order of size.
func minimal(sets []uint64) []uint64 {
	var kept []uint64
next:
	for _, s := range sets {
		for _, k := range kept {
			if k&^s == 0 {
				continue next
			}
		}
		kept = append(kept, s)
	}
	return kept
}

// minimalHittingSets are the minimal sets, of at most limit members, that have a member in each of the given ones (Berge's algorithm:
// one given set after the other).
func minimalHittingSets(ctx context.Context, given []uint64, limit int) ([]uint64, error) {
	found := []uint64{0}
	for _, g := range given {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var hit, extended []uint64
		for _, f := range found {
			if f&g != 0 {
				hit = append(hit, f)
				continue
			}
			if bits.OnesCount64(f) == limit {
				continue
			}
			for rest := g; rest != 0; rest &= rest - 1 {
				extended = append(extended, f|rest&-rest)
			}
		}
		found = append(hit, extended...)
		slices.SortFunc(found, bySize)
		found = minimal(found)
	}
	return found, nil
}

// bySize orders sets by size, then by their members in key order.
func bySize(a, b uint64) int {
	return cmp.Or(cmp.Compare(bits.OnesCount64(a), bits.OnesCount64(b)), cmp.Compare(bits.Reverse64(b), bits.Reverse64(a)))
}

func positions(set uint64) []int {
	list := make([]int, 0, bits.OnesCount64(set))
	for ; set != 0; set &= set - 1 {
		list = append(list, bits.TrailingZeros64(set))
	}
	return list
}

// leading is the number that a category begins with: 70-74, <16, 85+, [0.5,1).
var leading = pattern.New(`^(?:<|>=|\[)?(-?[0-9]+(?:\.[0-9]+)?)`)

// ranksOf are the places of the categories of each variable in the order of their values; nil for a variable whose categories have none.
func ranksOf(t *contingency.Table) [][]int {
	ranks := make([][]int, len(t.Variables))
	for v, variable := range t.Variables {
		values, order := make([]float64, len(variable.Categories)), make([]int, len(variable.Categories))
		ordered := len(order) > 2
		for c, category := range variable.Categories {
			order[c] = c
			m := leading().FindStringSubmatch(category)
			if ordered = ordered && m != nil; !ordered {
				break
			}
			values[c], _ = strconv.ParseFloat(m[1], 64)
			if strings.HasPrefix(category, "<") {
				values[c] = math.Inf(-1)
			}
		}
		if !ordered {
			continue
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
		ranks[v] = make([]int, len(order))
		for place, c := range order {
			ranks[v][c] = place
		}
	}
	return ranks
}
