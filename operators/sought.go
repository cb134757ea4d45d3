package operators

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A Seeker is what an operator's Apply may also be: it names values that some row should have. Unfound is asked once, when all rows have
// gone through it for the first time; its error ends the run, unless Options.AllowEmpty.
type Seeker interface{ Unfound() error }

// A Remarker is what an operator's Apply may also be: Remark is asked once, when all rows have gone through it for the first time. It is
// a warning, "" for none, or an error that ends the run.
type Remarker interface{ Remark() (string, error) }

// Sought are values that some row should have.
type Sought struct {
	who    string // the column, with what is done to it
	values []string
	left   atomic.Int32 // values that no row had so far

	mu    sync.Mutex
	found []bool
	met   map[string]bool // values that rows have, up to soughtMost
}

// soughtMost is how many values of a column are kept to find the nearest ones.
const soughtMost = 10000

// NewSought looks for values of a column; who says what is done to it.
func NewSought(who string, values []string) *Sought {
	s := &Sought{who: who, values: slices.Compact(slices.Sorted(slices.Values(values))), met: map[string]bool{}}
	s.found = make([]bool, len(s.values))
	s.left.Store(int32(len(s.values)))
	return s
}

// Look looks for the values among the rows of a column. Once all are found it costs nothing.
func (s *Sought) Look(column arrow.Array) {
	if s == nil || s.left.Load() == 0 {
		return
	}
	met := map[string]bool{}
	if d, ok := column.(*array.Dictionary); ok {
		used := make([]bool, d.Dictionary().Len())
		for r := range d.Len() {
			if d.IsValid(r) {
				if k := d.GetValueIndex(r); k >= 0 && k < len(used) {
					used[k] = true
				}
			}
		}
		for k, u := range used {
			if u && d.Dictionary().IsValid(k) {
				met[Text(d.Dictionary(), k)] = true
			}
		}
	} else {
		for r := range column.Len() {
			if column.IsValid(r) {
				met[Text(column, r)] = true
			}
		}
	}
	s.take(met)
}

func (s *Sought) take(met map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := range met {
		if i, ok := slices.BinarySearch(s.values, text); ok && !s.found[i] {
			s.found[i] = true
			s.left.Add(-1)
		}
		if len(s.met) < soughtMost {
			s.met[strings.Clone(text)] = true
		}
	}
}

// A Found is what a Sought has found so far.
type Found struct {
	Found []bool
	Met   []string
}

// Noticed is what was found, nil for a nil Sought.
func (s *Sought) Noticed() *Found {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Found{slices.Clone(s.found), slices.Sorted(maps.Keys(s.met))}
}

// Notice adds what another with the same values has found.
func (s *Sought) Notice(f *Found) error {
	if s == nil || f == nil {
		return nil
	}
	if len(f.Found) != len(s.values) {
		return fmt.Errorf("%s: %d values were looked for, not %d", s.who, len(f.Found), len(s.values))
	}
	met := make(map[string]bool, len(f.Met))
	for _, text := range f.Met {
		met[text] = true
	}
	for i, found := range f.Found {
		if found {
			met[s.values[i]] = true
		}
	}
	s.take(met)
	return nil
}

// Unfound is a Seeker's.
func (s *Sought) Unfound() error {
	if s == nil || s.left.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	for i, v := range s.values {
		if !s.found[i] {
			missing = append(missing, v)
		}
	}
	known := slices.Sorted(func(yield func(string) bool) {
		for v := range s.met {
			if !yield(v) {
				return
			}
		}
	})
	return &UnfoundError{Who: s.who, Values: missing, Known: known}
}

// allowedEmpty is the way out of an UnfoundError.
var allowedEmpty = advice.Advice{
	Spec:  "; if that is meant, allow it (allow_empty: true in a spec, --allow-empty)",
	Flags: "; if that is meant, allow it with --allow-empty",
}

// An UnfoundError says that an operator names values that no row has, or chooses no row.
type UnfoundError struct {
	Who    string // what names them
	Rows   int64  // of which none is chosen; 0 if it is about values
	Values []string
	Of     string   // what has none of them, "" for row
	Known  []string // values that rows have, sorted; not all of very many
}

// Error is in the words of a spec.
func (e *UnfoundError) Error() string { return e.Worded(advice.OfSpec) }

// Worded is the text, its advice as say words it.
func (e *UnfoundError) Worded(say func(part any) string) string {
	if e.Rows > 0 {
		return fmt.Sprintf("%s: none of the %d rows is chosen, so that there is nothing to measure%s", e.Who, e.Rows, say(allowedEmpty))
	}
	var b strings.Builder
	rows := cmp.Or(e.Of, "row")
	fmt.Fprintf(&b, "%s: no %s has the value %s", e.Who, rows, quotedSome(e.Values, "or"))
	if len(e.Known) == 0 {
		return b.String() + "; the rows have no value at all" + say(allowedEmpty)
	}
	near := nearestValues(e.Values[0], e.Known)
	fmt.Fprintf(&b, "; the nearest values are %s", quotedSome(near, "and"))
	b.WriteString(say(allowedEmpty))
	return b.String()
}

// As makes it a contradiction between who names the values and the data.
func (e *UnfoundError) As(target any) bool {
	c, ok := target.(**schemas.ContradictionError)
	if ok {
		*c = &schemas.ContradictionError{Said: e.Who, Err: e}
	}
	return ok
}

// quotedSome lists up to five values.
func quotedSome(values []string, last string) string {
	const most = 5
	if len(values) == 0 {
		return "none"
	}
	words := make([]string, 0, most+1)
	for _, v := range values[:min(len(values), most)] {
		words = append(words, strconv.Quote(v))
	}
	if more := len(values) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return words[0]
}

// NearestInWords lists up to five known values, those that are most like a value first.
func NearestInWords(value string, known []string) string {
	return quotedSome(nearestValues(value, known), "and")
}

// nearestValues are up to five known values, those that are most like a value first; all, if they are few.
func nearestValues(value string, known []string) []string {
	const most = 5
	if len(known) <= most {
		return known
	}
	list := slices.Clone(known)
	distance := map[string]int{}
	for _, k := range list {
		distance[k] = schemas.Distance(value, k)
	}
	slices.SortStableFunc(list, func(a, b string) int { return distance[a] - distance[b] })
	return list[:most]
}

// checkFound asks the steps of a scan for values that no row had, and the selections for rows. Each is asked once.
func (r *run) checkFound(s *scan) error {
	for i := range r.chain.steps {
		st := &r.chain.steps[i]
		if !s.apply[i] || r.asked[i] || st.fitted() {
			continue
		}
		r.asked[i] = true
		if remarker, ok := st.plan.Apply.(Remarker); ok {
			warning, err := remarker.Remark()
			if err != nil {
				return err
			}
			if warning != "" {
				r.env.Warn("%s", warning)
			}
		}
		if r.o.AllowEmpty || r.rows == 0 {
			continue
		}
		if seeker, ok := st.plan.Apply.(Seeker); ok {
			if err := seeker.Unfound(); err != nil {
				return err
			}
		}
		if st.plan.Filters && r.chosen[i].Load() == 0 {
			return &UnfoundError{Who: "select", Rows: r.rows}
		}
	}
	return nil
}
