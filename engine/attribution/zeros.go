package attribution

import "fmt"

// Zeros is the law of the number of recovered zeros: out[k][z] is the probability of z of them, z up to the number of cells, when
// known[k] people are known.
func (s *Sound) Zeros(known []int64) ([][]float64, error) {
	t := s.table
	p := s.problem()
	most, cells := int64(0), len(t.Counts)
	for _, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		most = max(most, p.hold(n))
	}
	out := numberFull(p.relevant, p.rest, most)
	if e := s.opening(); e != nil && most >= e.people {
		e.correct(out, p.n, most)
	}
	law := make([][]float64, len(known))
	for k, n := range known {
		law[k] = make([]float64, cells+1)
		copy(law[k], out[p.hold(n)])
	}
	return law, nil
}

// An opening is the event that all open cells are known, which a tight total turns into zeros of all of them, and of each closed
// cell that is known in full.
type opening struct {
	people           int64 // in open cells
	zeros, relevant  int   // open cells that can be zeros, and those of them that are relevant
	closed, both     []int64
	rest, restOfBoth int64 // people in other closed cells
}

// opening is nil where the total is not tight, or no cell is open.
func (s *Sound) opening() *opening {
	if !s.bound || !s.opened {
		return nil
	}
	t, e := s.table, &opening{}
	for i, c := range t.Counts {
		switch {
		case t.Lower[i] < c:
			e.people += c
			e.zeros++ // it has people, so it is possible
			if t.Relevant(i) {
				e.relevant++
			}
			continue
		case t.impossible(i):
			continue
		}
		e.closed = append(e.closed, c)
		if t.Relevant(i) {
			e.both = append(e.both, c)
		} else {
			e.restOfBoth += c
		}
	}
	return e
}

// correct moves the event in the law of the number of relevant cells known in full: there, the zeros are others. law has all
// columns that it can need, n people in all.
func (e *opening) correct(law [][]float64, n, most int64) {
	within := numberFull(e.both, e.restOfBoth, most-e.people)
	all := numberFull(e.closed, e.rest, most-e.people)
	for m := e.people; m <= most; m++ {
		event := AllKnown(e.people, m, n)
		for z, x := range within[m-e.people] {
			law[m][z+e.relevant] = max(0, law[m][z+e.relevant]-event*x)
		}
		row := make([]float64, len(e.closed)+e.zeros+1)
		copy(row, law[m])
		for z, x := range all[m-e.people] {
			row[z+e.zeros] += event * x
		}
		law[m] = row
	}
}

// numberFull is the law of the number of cells known in full when n people are known, for n from 0 to most.
func numberFull(cells []int64, rest, most int64) [][]float64 {
	before := make([][]float64, most+1)
	for n := range before {
		before[n] = make([]float64, len(cells)+1)
		before[n][0] = 1
	}
	total := int64(0)
	for k, c := range cells {
		after := make([][]float64, most+1)
		for j := range after {
			after[j] = make([]float64, len(cells)+1)
			if int64(j) > total+c {
				continue
			}
			weigh(c, total, int64(j), func(i int64, p float64) {
				step := 0
				if i == c {
					step = 1
				}
				for z := 0; z <= k; z++ {
					after[j][z+step] += p * before[int64(j)-i][z]
				}
			})
		}
		before, total = after, total+c
	}
	if rest == 0 {
		return before
	}
	after := make([][]float64, most+1)
	for j := range after {
		after[j] = make([]float64, len(cells)+1)
		if int64(j) > total+rest {
			continue
		}
		weigh(rest, total, int64(j), func(i int64, p float64) {
			for z, x := range before[int64(j)-i] {
				after[j][z] += p * x
			}
		})
	}
	return after
}
