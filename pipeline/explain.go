package pipeline

import (
	"cmp"
	"context"
	"fmt"
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

// Explain finds the minimal sample uniques of one record of the spec's only input, of at most maxSize variables (0: any number),
// and the records that differ from it in the fewest variables.
func Explain(ctx context.Context, spec *schemas.Spec, row int64, maxSize int, options Options) (*Explanation, error) {
	j, err := openToLook(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	defer j.source.Close()
	if n := len(j.source.Inputs()); n != 1 {
		return nil, wrong(fmt.Errorf("a record is explained within one file; %d are named", n))
	}
	count := &counting{requests: keyRequest(*spec.Key), classes: true}
	if j.chain, err = j.bind(append(operatorsOf(spec), count)...); err != nil {
		return nil, err
	}
	find := &rowSink{row: row, class: -1}
	report, err := j.chain.Run(ctx, j.source, find, j.chainOptions())
	if err != nil {
		return nil, err
	}
	if row >= report.Rows {
		return nil, wrong(fmt.Errorf("there is no row %d; %s has %d rows, numbered from 0", row, j.source.Inputs()[0], report.Rows))
	}
	e := &Explanation{Input: j.source.Inputs()[0], Row: row, Records: count.tables[0].Records()}
	for _, v := range spec.Key.Variables {
		e.Variables = append(e.Variables, v.Name)
	}
	e.MaxSize = len(e.Variables)
	if maxSize > 0 {
		e.MaxSize = min(maxSize, e.MaxSize)
	}
	if find.class < 0 {
		return e, nil
	}
	return e, e.compare(ctx, count.tables[0], int(find.class), policiesOf(*spec.Key))
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
	for i := range t.Classes() {
		if i%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for v := range other {
			other[v] = t.Code(i, v)
		}
		agree, same, dropped := agreement(own, other, missing, policies)
		switch {
		case dropped:
			continue
		case same:
			e.Frequency += t.Count(i)
		}
		if i != class {
			agreements[agree] = struct{}{}
			if !same {
				near.add(i, other, agree)
			}
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
	return nil
}

// agreement is the set of variables on which a search takes two records for alike, and whether their whole keys are.
func agreement(own, other, missing []uint32, policies []uniques.Policy) (agree uint64, same, dropped bool) {
	same = true
	for v := range own {
		mine, theirs := own[v] == missing[v], other[v] == missing[v]
		alike := own[v] == other[v]
		switch policies[v] {
		case uniques.Wildcard:
			alike = alike || mine || theirs
			same = same && alike
		case uniques.Ignore:
			same = same && alike
			alike = alike || mine // no set with v can be a minimal sample unique of this record
		case uniques.Drop:
			dropped = dropped || theirs
			same = same && alike
		default:
			same = same && alike
		}
		if alike {
			agree |= 1 << v
		}
	}
	return agree, same, dropped
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
