package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
)

// An Explanation tells why a record is at risk.
type Explanation struct {
	Input     string
	Row       int64
	Records   int64 // counted
	Variables []string
	Values    []*string // of the record, by variable; nil for missing
	Counted   bool      // false: not chosen, or dropped for a missing value; then the fields below say nothing
	Frequency int64     // records with the same key
	MSUs      [][]int   // minimal sample uniques: positions of variables, by size, then key order
	MaxSize   int       // largest size listed
	ScoreName string    // the definition of Score, one of schemas.Scores
	Score     float64   // SUDA score, of the minimal sample uniques listed
	IS        float64   // intermediate SUDA metric, of the same
	Distance  int       // variables in which the nearest other records differ
	Near      []NearClass
	NearMore  int   // nearest classes that are not in Near
	NearCount int64 // records in all nearest classes
}

// A NearClass is a class of records that nearly match.
type NearClass struct {
	Differs []int     // positions of the variables that differ
	Values  []*string // their values there
	Count   int64     // records
}

// nearest is how many of the nearest classes an explanation lists.
const nearest = 10

// Explain finds the minimal sample uniques of one record of the spec's only input, and the records that differ from it in the fewest
// variables. Of suda the size limit and the score's definition matter.
func Explain(ctx context.Context, spec *schemas.Spec, row int64, suda schemas.Suda, options Options) (*Explanation, error) {
	if progress := options.Progress; progress != nil {
		options.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the record
				stage = "finding the record"
			}
			progress(stage, done, total)
		}
	}
	j, err := openToLook(ctx, spec, suda, options)
	if err != nil {
		return nil, err
	}
	defer j.source.Close()
	if n := len(j.source.Inputs()); n != 1 {
		return nil, wrong(fmt.Errorf("a record is explained within one file; %d are named", n))
	}
	count := &counting{requests: keyRequest(*spec.Key), classes: true}
	if j.chain, err = j.bind(true, append(operatorsOf(spec, &companions{}), count)...); err != nil {
		return nil, err
	}
	find := &rowSink{row: row, class: -1}
	e := &Explanation{Input: j.source.Inputs()[0], Row: row}
	count.look = func(ctx context.Context, tables []*contingency.Table, report *operators.Report) error {
		if row >= report.Rows {
			return wrong(fmt.Errorf("there is no row %d; %s has %d rows, numbered from 0", row, e.Input, report.Rows))
		}
		if e.Records = tables[0].Records(); find.class < 0 {
			return nil
		}
		return e.compare(ctx, tables[0], int(find.class), policiesOf(*spec.Key))
	}
	for _, v := range spec.Key.Variables {
		e.Variables = append(e.Variables, v.Name)
	}
	e.ScoreName = cmp.Or(suda.Score, schemas.ScoreLattice)
	e.MaxSize = len(e.Variables)
	if suda.MaxSize > 0 {
		e.MaxSize = min(suda.MaxSize, e.MaxSize)
	}
	_, err = j.count(ctx, count, find)
	return e, err
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
	near := nearClasses{e: e, table: t, most: -1}
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
	near.finish()
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
		case schemas.ScoreFactorial:
			weight = factorial(k - s)
		case schemas.ScoreElliotLimited:
			weight.SetInt64(1)
			for i := s; i <= min(limit, k-1); i++ {
				weight.Mul(weight, one.SetInt64(int64(k-i)))
			}
		default:
			most := k
			if definition == schemas.ScoreLatticeLimited {
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
		e.Near, e.NearCount, e.Distance = nil, 0, len(codes)-agreeing
	}
	near := NearClass{Count: n.table.Count(class)}
	for v := range codes {
		if agree>>v&1 == 0 {
			near.Differs = append(near.Differs, v)
			near.Values = append(near.Values, category(n.table.Variables[v], codes[v]))
		}
	}
	e.Near = append(e.Near, near)
	e.NearCount += near.Count
}

// finish keeps the largest classes.
func (n *nearClasses) finish() {
	slices.SortStableFunc(n.e.Near, func(a, b NearClass) int { return cmp.Compare(b.Count, a.Count) })
	if more := len(n.e.Near) - nearest; more > 0 {
		n.e.NearMore = more
		n.e.Near = n.e.Near[:nearest]
	}
}

// A rowSink writes nothing; it looks for the class of one row.
type rowSink struct {
	row   int64
	parts []operators.Part
	mu    sync.Mutex
	class int64
}

func (s *rowSink) Begin(_ context.Context, parts []operators.Part, _ []operators.Output) ([]string, error) {
	s.parts = parts
	return nil, nil
}

func (s *rowSink) Part(_ context.Context, i int) (operators.PartWriter, error) {
	return &rowWriter{sink: s, next: s.parts[i].FirstRow()}, nil
}

func (s *rowSink) Commit(context.Context, map[string]string) error { return nil }
func (s *rowSink) Abort()                                          {}

type rowWriter struct {
	sink *rowSink
	next int64
}

func (w *rowWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	class := added[len(added)-1].(*array.Int64)
	at := w.sink.row - w.next
	w.next += int64(class.Len())
	if at < 0 || at >= int64(class.Len()) || keep != nil && !keep.Get(int(at)) {
		return nil
	}
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.class = class.Value(int(at))
	return nil
}

func (w *rowWriter) Close() error { return nil }
