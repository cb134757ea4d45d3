package pipeline

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// An Explanation tells why a record is at risk.
type Explanation struct {
	Inputs    []string // that were counted together
	Input     string   // that has the record
	Row       int64    // in it
	Records   int64    // counted
	Variables []string
	Values    []*string // of the record, by variable; nil for missing
	From      []Source  // what recoded variables were made from, in the file
	Counted   bool      // false: not chosen, or dropped for a missing value; then the fields below say nothing
	Frequency int64     // records with the same key
	MSUs      [][]int   // minimal sample uniques: positions of variables, by size, then key order
	MaxSize   int       // largest size listed
	ScoreName string    // the definition of Score, one of schemas.Scores
	Score     float64   // SUDA score, of the minimal sample uniques listed
	IS        float64   // intermediate SUDA metric, of the same
	Risks     []Risk    // what else was measured, where the sampling is known
	Distance  int       // variables in which the nearest other records differ
	Near      []NearClass
	NearMore  int   // nearest classes that are not in Near
	NearCount int64 // records in all nearest classes
}

// A Source is the value of the file that a recoded variable was made from.
type Source struct {
	Variable int // position
	Column   string
	Value    *string
}

// A Risk is a figure of the record by a model or by DIS.
type Risk struct {
	Column string
	Value  *float64
}

// A NearClass is a class of records that nearly match.
type NearClass struct {
	Differs []int     // positions of the variables that differ
	Values  []*string // their values there
	Count   int64     // records
	Rows    []RowAt   // the first of them

	class int
	steps int // how far away the values are, where all have an order; maxSteps where they have none
}

// A RowAt is a row of an input.
type RowAt struct {
	Input string
	Row   int64
}

// nearest is how many of the nearest classes an explanation lists.
const nearest = 10

// nearRows is how many rows of each it lists.
const nearRows = 3

// A Which is the record to be explained.
type Which struct {
	Row   int64  // in its input, from 0
	Input string // one of the spec's inputs; "" if there is only one
}

// Explain finds the minimal sample uniques of one record among all that the spec's source has, and the records that differ from it in the
// fewest variables. Of suda the size limit and the score's definition matter. If the sampling is known, DIS-IS and what mc3 says of the
// record (if the spec has mc3) come too; that takes as long as measuring all records does.
func Explain(ctx context.Context, spec *schemas.Spec, which Which, scored suda.Config, options Options) (*Explanation, error) {
	if progress := options.Progress; progress != nil {
		options.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the record
				stage = "finding the record"
			}
			progress(stage, done, total)
		}
	}
	x := &explaining{spec: spec, suda: scored, which: which}
	var err error
	if x.job, err = openToLook(ctx, x.prepared(), scored, options); err != nil {
		return nil, err
	}
	defer x.job.source.Close()
	if err := x.find(ctx); err != nil {
		return nil, err
	}
	return x.e, x.nearby(ctx)
}

// compare compares the record's class with all others. For each it takes the set of variables on which the two agree; the record is
// unique on a set S exactly if S is in none of those, so its minimal sample uniques are the minimal sets that meet the complement
// of each. (Manning, Haglin & Keane 2008 search from the sets; for one record the other way is shorter.)
func (e *Explanation) compare(ctx context.Context, t *contingency.Table, class int, policies []uniques.Policy) error {
	k := len(t.Variables)
	own, other := make([]uint32, k), make([]uint32, k)
	missing := make([]uint32, k)
	for v := range t.Variables {
		own[v], missing[v] = t.Code(class, v), t.Variables[v].Missing()
		e.Values = append(e.Values, category(t.Variables[v], own[v]))
		if policies[v] == uniques.Drop && own[v] == missing[v] {
			return nil
		}
	}
	e.Counted = true
	agreements := map[uint64]struct{}{}
	near := nearClasses{e: e, table: t, own: own, ranks: ranksOf(t), most: -1}
	codes := make([][]uint32, k) // of some classes at a time
	for v := range codes {
		codes[v] = make([]uint32, min(t.Classes(), 4096))
	}
	for i := range t.Classes() {
		at := i % 4096
		if at == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for v := range codes {
				t.Codes(v, i, codes[v][:min(4096, t.Classes()-i)])
			}
		}
		for v := range other {
			other[v] = codes[v][at]
		}
		search, whole, dropped := agreement(own, other, missing, policies)
		if dropped {
			continue
		}
		same := bits.OnesCount64(whole) == k
		if same {
			e.Frequency += t.Count(i)
		} else {
			near.add(i, other, whole)
		}
		if i != class {
			agreements[search] = struct{}{}
		}
	}
	near.cut()
	if e.Frequency != 1 {
		return nil
	}
	sets, err := minimalHittingSets(ctx, disagreements(agreements, k), e.MaxSize)
	if err != nil {
		return err
	}
	for _, set := range sets {
		e.MSUs = append(e.MSUs, positions(set))
	}
	e.Score, e.IS = score(e.ScoreName, k, e.MaxSize, e.MSUs)
	return nil
}

// agreement gives two sets of variables: those on which a search takes another record for like this one, and those on which their whole
// keys are alike. The two differ where a missing value is ignored.
func agreement(own, other, missing []uint32, policies []uniques.Policy) (search, whole uint64, dropped bool) {
	for v := range own {
		mine, theirs := own[v] == missing[v], other[v] == missing[v]
		alike := own[v] == other[v]
		found := alike
		switch policies[v] {
		case uniques.Wildcard:
			alike = alike || mine || theirs
			found = alike
		case uniques.Ignore:
			// No set with v can be a minimal sample unique of a record that misses v, so v must not tell it from any other.
			found = alike || mine
		case uniques.Drop:
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

// score sums the SUDA score and the intermediate SUDA metric over minimal sample uniques of a key of k variables, searched for up to
// size limit. The formulas are those of package uniques, which scores all records at once.
func score(definition string, k, limit int, sets [][]int) (score, is float64) {
	factorial := func(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }
	scores, metrics := new(big.Rat), new(big.Int)
	for _, set := range sets {
		s := len(set)
		weight, one := new(big.Int), new(big.Int)
		divisor := big.NewInt(1)
		switch definition {
		case suda.ScoreFactorial:
			weight = factorial(k - s)
		case suda.ScoreElliotLimited:
			weight.SetInt64(1)
			for i := s; i <= min(limit, k-1); i++ {
				weight.Mul(weight, one.SetInt64(int64(k-i)))
			}
		default:
			most := k
			if definition == suda.ScoreLatticeLimited {
				most = limit
			}
			for i := 1; i <= most-s; i++ {
				weight.Add(weight, one.Binomial(int64(k-s), int64(i)))
			}
			divisor.Binomial(int64(k), int64(s))
		}
		scores.Add(scores, new(big.Rat).SetFrac(weight, divisor))
		metrics.Add(metrics, factorial(k-s))
	}
	score, _ = scores.Float64()
	is, _ = new(big.Float).SetInt(metrics).Float64()
	return score, is
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

// minimalHittingSets are the minimal sets, of at most limit members, that have a member in each of the given ones (Berge's
// algorithm: one given set after the other).
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
	if c := cmp.Compare(bits.OnesCount64(a), bits.OnesCount64(b)); c != 0 {
		return c
	}
	return cmp.Compare(bits.Reverse64(b), bits.Reverse64(a))
}

func positions(set uint64) []int {
	list := make([]int, 0, bits.OnesCount64(set))
	for ; set != 0; set &= set - 1 {
		list = append(list, bits.TrailingZeros64(set))
	}
	return list
}

func category(v contingency.Variable, code uint32) *string {
	if code == v.Missing() {
		return nil
	}
	return &v.Categories[code]
}

// nearClasses collects the classes that agree on the most variables.
type nearClasses struct {
	e     *Explanation
	table *contingency.Table
	own   []uint32
	ranks [][]int // by variable, then code; nil for one without an order
	most  int
}

func (n *nearClasses) add(class int, codes []uint32, agree uint64) {
	agreeing := bits.OnesCount64(agree)
	if agreeing < n.most {
		return
	}
	e := n.e
	if agreeing > n.most {
		n.most = agreeing
		e.Near, e.NearMore, e.NearCount, e.Distance = nil, 0, 0, len(codes)-agreeing
	}
	near := NearClass{Count: n.table.Count(class), class: class}
	for v := range codes {
		if agree>>v&1 == 0 {
			near.Differs = append(near.Differs, v)
			near.Values = append(near.Values, category(n.table.Variables[v], codes[v]))
			near.steps = min(maxSteps, near.steps+n.distance(v, codes[v]))
		}
	}
	e.Near = append(e.Near, near)
	e.NearCount += near.Count
	if len(e.Near) >= 4096 { // what is kept is what is listed, and the number of the others
		n.cut()
	}
}

// maxSteps is the distance of values without an order.
const maxSteps = math.MaxInt32

// distance is how many categories lie between the record's value of a variable and another one.
func (n *nearClasses) distance(v int, code uint32) int {
	ranks := n.ranks[v]
	if missing := n.table.Variables[v].Missing(); ranks == nil || code == missing || n.own[v] == missing {
		return maxSteps
	}
	d := ranks[code] - ranks[n.own[v]]
	return max(d, -d)
}

// cut keeps the nearest classes by the order of values, then the largest.
func (n *nearClasses) cut() {
	slices.SortStableFunc(n.e.Near, func(a, b NearClass) int {
		return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(b.Count, a.Count), cmp.Compare(a.class, b.class))
	})
	if more := len(n.e.Near) - nearest; more > 0 {
		n.e.NearMore += more
		n.e.Near = n.e.Near[:nearest]
	}
}
