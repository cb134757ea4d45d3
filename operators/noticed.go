package operators

import "fmt"

// A Seen is what a scan of some parts saw besides what it made.
type Seen struct {
	Chosen  []int64  // by operator: rows chosen by it and those before
	Noticed [][]byte // by operator: what a Noticing noticed
}

// A Noticing is a Seeker or Remarker whose rows may go through it in other processes: Noticed is all that it noticed, and Notice adds that
// of another of its kind.
type Noticing interface {
	Noticed() ([]byte, error)
	Notice(noticed []byte) error
}

// seen is what this run's scan saw.
func (r *run) seen() (s Seen, err error) {
	s.Chosen, s.Noticed = make([]int64, len(r.chain.steps)), make([][]byte, len(r.chain.steps))
	for i, st := range r.chain.steps {
		s.Chosen[i] = r.chosen[i].Load()
		if n, ok := st.plan.Apply.(Noticing); ok && !st.fitted() {
			if s.Noticed[i], err = n.Noticed(); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// notice adds what scans of all parts saw, and asks for what no row had.
func (a *Apart) notice(s *scan, seen []Seen) error {
	for _, one := range seen {
		if len(one.Chosen) != len(a.r.chain.steps) || len(one.Noticed) != len(a.r.chain.steps) {
			return fmt.Errorf("what was seen is of %d operators, not of %d", len(one.Chosen), len(a.r.chain.steps))
		}
		for i, st := range a.r.chain.steps {
			a.r.chosen[i].Add(one.Chosen[i])
			if n, ok := st.plan.Apply.(Noticing); ok && !st.fitted() && !a.r.asked[i] && one.Noticed[i] != nil {
				if err := n.Notice(one.Noticed[i]); err != nil {
					return st.plan.named(err)
				}
			}
		}
	}
	return a.r.checkFound(s)
}
