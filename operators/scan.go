package operators

// A scan is one pass over the source: what is read, applied and counted in it.
type scan struct {
	chain  *Chain
	number int // 1, 2, ... count; chain.stages+1 writes
	final  bool
	apply  []bool // steps to apply
	count  []int  // steps whose tables are counted
	wants  []Want
	coded  map[int]int // position in a batch of an input column that is read coded
	plain  map[int]int // and of one that is read as it is
	sink   []int       // positions of the columns that the sink asked for
	disk   []diskTable // tables on disk that rows are looked up in, in the order of the steps
	id     int         // position of the column that names records, -1 for none
	times  int         // position of the column with the number of records a row stands for, -1 for none
}

// plan works out what scan n needs, from the last step back to the first.
func (c *Chain) plan(n int, sinkReads []string, times string) *scan {
	s := &scan{chain: c, number: n, final: n > c.stages, apply: make([]bool, len(c.steps)), coded: map[int]int{}, plain: map[int]int{}, id: -1, times: -1}
	needed := map[int]bool{}
	codedInputs, plainInputs := map[int]bool{}, map[int]bool{}
	need := func(id int, coded bool) {
		needed[id] = true
		if c.columns[id].step >= 0 {
			return
		}
		if coded && HasEquality(c.columns[id].field.Type) {
			codedInputs[id] = true
		} else {
			plainInputs[id] = true
		}
	}
	if s.final {
		for _, id := range c.output {
			if c.columns[id].step >= 0 {
				need(id, true)
			}
		}
	}
	for i := len(c.steps) - 1; i >= 0; i-- {
		st := &c.steps[i]
		counted := st.fitted() && st.stage == n
		if counted {
			s.count = append([]int{i}, s.count...)
		} else if st.stage < n {
			s.apply[i] = st.plan.Filters && (s.final || len(s.count) > 0)
			for _, id := range st.adds {
				s.apply[i] = s.apply[i] || needed[id]
			}
			if s.final && st.fitted() {
				s.apply[i] = true
			}
		}
		if counted || s.apply[i] && st.fitted() {
			for _, t := range st.tables {
				for _, id := range t.keys {
					need(id, true)
				}
				for _, id := range t.sums {
					if counted {
						need(id, false)
					}
				}
			}
		}
		if s.apply[i] {
			for _, id := range st.reads {
				need(id, true)
			}
		}
	}
	for id := range c.columns {
		if codedInputs[id] {
			s.coded[id] = len(s.wants)
			s.wants = append(s.wants, Want{c.columns[id].field.Name, true})
		}
		if plainInputs[id] {
			s.plain[id] = len(s.wants)
			s.wants = append(s.wants, Want{c.columns[id].field.Name, false})
		}
	}
	for _, name := range sinkReads {
		s.sink = append(s.sink, s.want(name))
	}
	if times != "" {
		s.times = s.want(times)
	}
	return s
}

// want is the position of an input column that is read as it is.
func (s *scan) want(name string) int {
	for i, w := range s.wants {
		if w == (Want{Name: name}) {
			return i
		}
	}
	s.wants = append(s.wants, Want{Name: name})
	return len(s.wants) - 1
}
