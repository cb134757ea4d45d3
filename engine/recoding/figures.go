package recoding

// Figures keep what searches learn of a figure of nodes, so that those by other limits of it need not find it out again. Where what is safe is inferred
// from one node to another, it is from these, too.
type Figures struct {
	Of   func(*Lattice, *Outcome) (float64, error)
	list []figured
	seen map[string]int // place of a node in the list
}

type figured struct {
	node Node
	of   float64
}

// Rule limits the figure; rising says that it is nowhere above what it is at finer nodes.
func (f *Figures) Rule(limit float64, rising bool) Rule {
	return Rule{Of: f.Figure, Limit: limit, Rising: rising, figures: f}
}

// Figure is that of an outcome.
func (f *Figures) Figure(l *Lattice, o *Outcome) (float64, error) {
	if i, known := f.seen[string(o.Node)]; known {
		return f.list[i].of, nil
	}
	x, err := f.Of(l, o)
	if err != nil {
		return 0, err
	}
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	f.seen[string(o.Node)] = len(f.list)
	f.list = append(f.list, figured{o.Node, x})
	return x, nil
}
