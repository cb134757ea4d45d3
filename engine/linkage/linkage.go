// Package linkage tells how likely it is that records of two or more samples of one population, which agree on the variables that all
// have, are the same person: Bayesian record linkage.
//
// The samples share overlap variables. A class over them with exactly one record in each of two samples is a unique match, and with F
// people of the class in the population the two records are one person with probability 1/F. What is known of F are the sizes of the
// samples and of the population, other tables that were published of it (exact, perturbed, or counted from samples), and what a model of
// the population says of the class; without one all numbers of people are taken to be equally likely at first.
//
//	p := &linkage.Problem{People: 18, Levels: []int{2}, Overlap: []int{0}, Samples: samples, Tables: tables}
//	matches, err := p.Link(ctx)
//	fmt.Println(matches[0].Correct)
//
// Sources: Smith 2011, chapter 7; Smith & Elliot, naive Bayesian record linkage; Skinner & Elliot 2002.
package linkage

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/perturb"
)

// MostPeople is the largest population that can be computed with.
const MostPeople = 1 << 53

// A Problem is two samples or more, and what else is known of their population.
type Problem struct {
	People  int64    // N
	Levels  []int    // categories of each variable that any sample or table has; a category that only one of them has counts too
	Open    []bool   // variables that may have categories besides these, which nobody lists; nil: none may
	Overlap []int    // the variables that all samples have, ascending
	Samples []Counts // over the overlap and whatever variables of Tables they have
	Tables  []Table
	Prior   *Prior // what a model says of F; nil: the prior is flat

	// Tight takes the narrowest bounds that samples, tables and N imply together, where Naive ones are made table by table.
	Tight bool
	// Convolve has a published cell that is a part of a class, or the sum of several, weigh in the posterior too, and not in the bounds
	// alone. All splits of a sum into its parts are taken to be equally likely.
	Convolve bool

	Workers  int                     // goroutines, at least 1
	Listed   int                     // the most numbers of people of each class whose probabilities are listed
	Progress func(done, total int64) // called now and then with the classes linked; nil: not at all
}

// Counts are the cells of a table that are not 0.
type Counts struct {
	Variables []int      // ascending
	Codes     [][]uint32 // Codes[j][i]: category of cell i on the j-th variable
	Count     []int64
}

// A Table was published.
type Table struct {
	Name string // for messages
	Counts
	Kernel perturb.Kernel // how counts were perturbed; a cell that is not listed was published as 0
	Sample bool           // counted from a sample of the population, exactly; Kernel is not looked at
}

// A Match is a class of the overlap with records in two samples or more.
type Match struct {
	Codes   []uint32 // by overlap variable
	Records []int64  // by sample
	Low     int64    // bounds on F
	High    int64
	Mean    float64   // E[F]
	Correct float64   // E[1/F]: chance that two records of different samples in the class are one person
	Law     []float64 // P(F = Low), P(F = Low + 1), ...: as many as were asked for
}

// Unique tells whether two samples have one record each of the class.
func (m *Match) Unique() bool { return Uniques(m.Records) > 0 }

// Pairs is the number of candidate pairs; Correct of these are expected to be one person each.
func (m *Match) Pairs() float64 { return Pairs(m.Records) }

// Pairs is how many pairs of records of different samples there are.
func Pairs(records []int64) float64 {
	pairs, before := 0.0, 0.0
	for _, n := range records {
		pairs += before * float64(n)
		before += float64(n)
	}
	return pairs
}

// Uniques is how many pairs of samples have one record each.
func Uniques(records []int64) int {
	n := 0
	for _, r := range records {
		if r == 1 {
			n++
		}
	}
	return n * (n - 1) / 2
}

// Check finds what is wrong with a problem.
func (p *Problem) Check() error {
	if len(p.Samples) < 2 {
		return fmt.Errorf("two samples are linked or more, not %d", len(p.Samples))
	}
	if len(p.Overlap) == 0 {
		return errors.New("the samples have no variable in common: there is nothing to link by")
	}
	if p.Open != nil && len(p.Open) != len(p.Levels) {
		return fmt.Errorf("%d variables are open or not, of %d", len(p.Open), len(p.Levels))
	}
	if p.People > MostPeople {
		return fmt.Errorf("a population of %d is more than can be computed with: at most %d", p.People, int64(MostPeople))
	}
	for i, s := range p.Samples {
		if err := s.check(p.Levels); err != nil {
			return fmt.Errorf("sample %d: %w", i+1, err)
		}
		if !contains(s.Variables, p.Overlap) {
			return fmt.Errorf("sample %d lacks a variable of the overlap", i+1)
		}
		if n := s.records(); n > p.People {
			return fmt.Errorf("sample %d has %d records, the population %d", i+1, n, p.People)
		}
	}
	for _, t := range p.Tables {
		if err := t.check(p.Levels); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		if n := t.records(); t.Sample && n > p.People {
			return fmt.Errorf("%s counts a sample of %d, the population is %d", t.Name, n, p.People)
		}
		seen := make(map[key]bool, len(t.Count))
		for _, k := range t.keys(t.Variables) {
			if seen[k] {
				return fmt.Errorf("%s has the cell %v twice", t.Name, k.codes())
			}
			seen[k] = true
		}
		if t.Sample {
			continue
		}
		for _, j := range t.Count {
			if _, _, ok := t.Kernel.Bounds(j); !ok {
				return fmt.Errorf("%s: %s never publishes a count of %d", t.Name, t.Kernel.Name(), j)
			}
		}
		if _, _, ok := t.Kernel.Bounds(0); !ok {
			return fmt.Errorf("%s: %s never publishes 0, but some cells are not listed", t.Name, t.Kernel.Name())
		}
	}
	return nil
}

func (c *Counts) check(levels []int) error {
	if !slices.IsSorted(c.Variables) {
		return errors.New("variables must ascend")
	}
	if len(c.Codes) != len(c.Variables) {
		return fmt.Errorf("%d columns of codes for %d variables", len(c.Codes), len(c.Variables))
	}
	for j, v := range c.Variables {
		if v < 0 || v >= len(levels) || j > 0 && c.Variables[j-1] == v {
			return fmt.Errorf("there is no variable %d, or it is there twice", v)
		}
		if len(c.Codes[j]) != len(c.Count) {
			return fmt.Errorf("%d codes for %d cells", len(c.Codes[j]), len(c.Count))
		}
		for _, code := range c.Codes[j] {
			if int(code) >= levels[v] {
				return fmt.Errorf("code %d of variable %d, which has %d categories", code, v, levels[v])
			}
		}
	}
	for _, n := range c.Count {
		if n < 0 {
			return fmt.Errorf("a count of %d", n)
		}
	}
	return nil
}

func (c *Counts) records() (n int64) {
	for _, x := range c.Count {
		n += x
	}
	return n
}

// open tells whether a variable may have categories that nobody lists.
func (p *Problem) open(v int) bool { return p.Open != nil && p.Open[v] }

// contains tells whether all of some ascending variables are among others.
func contains(all, some []int) bool {
	for _, v := range some {
		if _, ok := slices.BinarySearch(all, v); !ok {
			return false
		}
	}
	return true
}

// A key is the categories of some variables, in bytes whose order is theirs.
type key string

// keys are those of all cells over some of the variables of a table.
func (c *Counts) keys(over []int) []key {
	columns := make([][]uint32, len(over))
	for k, v := range over {
		j, _ := slices.BinarySearch(c.Variables, v)
		columns[k] = c.Codes[j]
	}
	list := make([]key, len(c.Count))
	b := make([]byte, 4*len(over))
	for i := range list {
		for k, codes := range columns {
			binary.BigEndian.PutUint32(b[4*k:], codes[i])
		}
		list[i] = key(b)
	}
	return list
}

// collapse sums the counts over some of the variables.
func (c *Counts) collapse(over []int) map[key]int64 {
	sums := make(map[key]int64, len(c.Count))
	for i, k := range c.keys(over) {
		if c.Count[i] > 0 {
			sums[k] += c.Count[i]
		}
	}
	return sums
}

func (k key) codes() []uint32 {
	codes := make([]uint32, len(k)/4)
	for j := range codes {
		codes[j] = binary.BigEndian.Uint32([]byte(k[4*j:]))
	}
	return codes
}

// part takes the categories of some variables out of a key over others; of gives their places.
func (k key) part(places []int) key {
	b := make([]byte, 0, 4*len(places))
	for _, j := range places {
		b = append(b, k[4*j:4*j+4]...)
	}
	return key(b)
}

// Link finds the classes with records in two samples or more, ascending by their codes. Errors: what Check finds; tables that contradict the
// samples or each other; a table too large for tight bounds; a context that ends.
func (p *Problem) Link(ctx context.Context) ([]Match, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	classes, shared := p.shared()
	n := make([]int64, len(p.Samples))
	for i := range n {
		n[i] = p.Samples[i].records()
	}
	evidence := make([]*evidence, len(p.Tables))
	for i := range p.Tables {
		var err error
		if evidence[i], err = p.weigh(&p.Tables[i]); err != nil {
			return nil, err
		}
	}
	var narrow *tight
	if p.Tight {
		var err error
		if narrow, err = p.narrow(ctx, classes); err != nil {
			return nil, err
		}
	}
	known := map[string]*posterior{}
	matches := make([]Match, 0, len(shared))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(1, p.Workers))
	for i, k := range shared {
		if err := within.Err(); err != nil {
			return nil, cmp.Or(g.Wait(), err)
		}
		if p.Progress != nil && (i%1024 == 0 || p.Tight) {
			p.Progress(int64(i), int64(len(shared)))
		}
		m := Match{Codes: k.codes(), High: p.People}
		for i, c := range classes {
			m.Records = append(m.Records, c[k])
			m.Low, m.High = max(m.Low, c[k]), min(m.High, p.People-(n[i]-c[k]))
		}
		facts := m.narrow(k, n, evidence)
		if narrow != nil && m.Low <= m.High {
			low, high, err := narrow.of(ctx, k)
			if err != nil {
				return nil, err
			}
			m.Low, m.High = max(m.Low, low), min(m.High, high)
		}
		if m.Low > m.High {
			return nil, &ClassError{Codes: m.Codes, Low: m.Low, High: m.High}
		}
		if p.Prior != nil {
			matches = append(matches, m)
			at := &matches[i] // as many as there are were asked for
			g.Go(func() error {
				if err := p.expect(at, facts, narrow != nil || len(p.Tables) > 0); err != nil {
					return &ClassError{Codes: at.Codes, Reason: err.Error()}
				}
				return within.Err()
			})
			continue
		}
		id := fmt.Sprint(m.Low, m.High, facts)
		if known[id] == nil {
			post, err := p.posterior(m.Low, m.High, facts)
			if err != nil {
				return nil, &ClassError{Codes: m.Codes, Reason: err.Error()}
			}
			post.shorten(m.Low, p.Listed)
			known[id] = post
		}
		m.Mean, m.Correct, m.Law = known[id].mean, known[id].correct, known[id].p
		matches = append(matches, m)
	}
	return matches, g.Wait()
}

// shared are the classes of each sample with their records, and those that two samples have or more, ascending.
func (p *Problem) shared() (classes []map[key]int64, shared []key) {
	has := map[key]int{}
	for i := range p.Samples {
		c := p.Samples[i].collapse(p.Overlap)
		for k := range c {
			has[k]++
		}
		classes = append(classes, c)
	}
	return classes, slices.DeleteFunc(sortedKeys(has), func(k key) bool { return has[k] < 2 })
}

// narrow brings the bounds of a class to those of each table, and gives the facts that its posterior is of; n are the sizes of the samples.
func (m *Match) narrow(k key, n []int64, known []*evidence) []fact {
	var facts []fact
	for i, records := range n {
		facts = append(facts, fact{records: records, count: m.Records[i]})
	}
	for _, e := range known {
		low, high, f := e.of(k)
		m.Low, m.High = max(m.Low, low), min(m.High, high)
		if f != nil {
			facts = append(facts, *f)
		}
	}
	return facts
}

// unlimited stands for no upper bound.
const unlimited = math.MaxInt64

// add sums counts that may be unlimited.
func add(a, b int64) int64 {
	if a == unlimited || b == unlimited || a > unlimited-b {
		return unlimited
	}
	return a + b
}

// A ClassError says that what is known of a class contradicts itself.
type ClassError struct {
	Codes     []uint32 // by overlap variable
	Low, High int64    // bounds, if Reason is ""
	Reason    string
}

func (e *ClassError) Error() string { return e.Text(fmt.Sprint("the class ", e.Codes)) }

// Text is the message with other words for the class.
func (e *ClassError) Text(class string) string {
	if e.Reason != "" {
		return class + ": " + e.Reason
	}
	return fmt.Sprintf("the tables and samples contradict each other: %s would have at least %d and at most %d people", class, e.Low, e.High)
}
