package recoding

import "slices"

// tagged tells what is known of a node without its table.
func (s *searcher) tagged(n Node) (safe, known bool) {
	if !s.tags {
		return false, false
	}
	for _, x := range s.met {
		if x.Finer(n) {
			return true, true
		}
	}
	for _, x := range s.not {
		if n.Finer(x) {
			return false, true
		}
	}
	return false, false
}

func (s *searcher) tag(n Node, safe bool) {
	if !s.tags {
		return
	}
	if safe {
		s.met = append(slices.DeleteFunc(s.met, func(x Node) bool { return n.Finer(x) }), n)
	} else {
		s.not = append(slices.DeleteFunc(s.not, func(x Node) bool { return x.Finer(n) }), n)
	}
}

// bare tells whether the loss of a safe release needs no table.
func (s *searcher) bare() bool {
	return s.o.Judge == nil && s.o.Loss.Free() && (s.o.Suppressed == 0 || s.o.Loss.Blind())
}

// visit judges a node, and tells whether those above it are still of interest.
func (s *searcher) visit(n Node) (above bool, err error) {
	safe, known := s.tagged(n)
	if s.sharp != nil && (safe || !known) && s.enough(s.bound(n)) {
		return true, nil
	}
	if !known {
		if s.tags {
			if err := s.chain(n); err != nil || s.found.Stopped != "" {
				return true, err
			}
			safe, _ = s.tagged(n)
		} else {
			r, err := s.check(n)
			if err != nil {
				return false, err
			}
			safe = r != nil
		}
	}
	if !safe {
		return true, nil
	}
	if _, checked := s.seen[s.number(n)]; !checked {
		if s.bare() {
			s.offer(Release{Outcome: &Outcome{Node: n}, Loss: s.o.Loss.Bound(s.l, n)})
		} else if _, err := s.check(n); err != nil {
			return false, err
		}
	}
	// Above a safe release without suppressed records none is both better and finer.
	return s.o.Judge != nil || !(s.o.Loss.Rises() && (s.o.Suppressed == 0 || s.o.Loss.Blind())), nil
}

// check makes the table of a node; nil: it is not safe.
func (s *searcher) check(n Node) (*Release, error) {
	number := s.number(n)
	if r, checked := s.seen[number]; checked {
		return r, nil
	}
	if s.o.Rule.Node != nil && !s.o.Rule.Node(n) {
		s.seen[number] = nil
		s.tag(n, false)
		return nil, nil
	}
	if s.o.Rule.Safe == nil && s.o.Rule.Of == nil && s.bare() {
		r := &Release{Outcome: &Outcome{Node: n}, Loss: s.o.Loss.Bound(s.l, n)}
		s.offer(*r)
		s.seen[number] = r
		s.tag(n, true)
		return r, nil
	}
	if safe, known := s.tagged(n); known && (!safe || s.bare()) {
		var r *Release
		if safe {
			r = &Release{Outcome: &Outcome{Node: n}, Loss: s.o.Loss.Bound(s.l, n)}
			s.offer(*r)
		}
		s.seen[number] = r
		return r, nil
	}
	o, err := s.l.Outcome(n, s.o.Rule.Safe)
	if err != nil {
		return nil, err
	}
	if s.o.Figures != nil {
		if _, err := s.o.Figures.Figure(s.l, o); err != nil {
			return nil, err
		}
	}
	if s.o.Least == nil {
		s.found.Checked++
		s.tell()
	}
	return s.judge(n, o)
}

// judge tells whether the outcome of a node is safe, and what it loses; nil: it is not.
func (s *searcher) judge(n Node, o *Outcome) (*Release, error) {
	var err error
	s.judged++
	number := s.number(n)
	safe := o.Suppressed <= s.o.Suppressed
	if safe && s.o.Rule.Of != nil {
		x, err := s.o.Rule.Of(s.l, o)
		if err != nil {
			return nil, err
		}
		safe = s.o.Rule.within(x)
	}
	var r *Release
	if safe {
		r = &Release{Outcome: o}
		if s.o.Judge == nil {
			r.Loss = s.o.Loss.Of(s.l, o)
		} else if r.Loss, safe, err = s.o.Judge(o, s.worst()); err != nil {
			return nil, err
		}
	}
	if safe {
		s.hide(o)
		s.offer(*r)
	} else {
		r = nil
	}
	s.seen[number] = r
	s.tag(n, safe)
	return r, nil
}
