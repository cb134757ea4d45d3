package keymap

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// An Observation is a categorization and how many forms of the match set have exactly that one.
type Observation struct {
	Partition Partition
	Forms     int
}

// A Node is a harmonization that a target can be compared by.
type Node struct {
	Partition Partition
	Size      int  // categories; Unbounded for Any
	Forms     int  // of the match set that have exactly this categorization, after their harmonization with the target
	Support   int  // forms of the match set that harmonize to it
	Observed  bool // it is the categorization of a form
}

// A Query is about one variable.
type Query struct {
	Variable string
	Target   Partition // how the target has it; Any leaves all as they are
	Match    []Observation
	Observed func(Partition) bool // whether some form has the categorization
	Limits   Limits
}

// Nodes are the harmonizations of the target with any number of forms of the match set, best first: those of more categories, then of more
// support, then observed ones, then in canonical order. What the forms have is harmonized with the target before, which changes no answer.
func (q Query) Nodes(ctx context.Context) ([]Node, error) {
	var j joiner
	target := sized{q.Target, q.Target.Size()}
	forms := make(map[Partition]int, len(q.Match))
	distinct := make([]Partition, 0, len(q.Match))
	for _, o := range q.Match {
		if o.Forms == 0 {
			continue
		}
		h := j.join(target, sized{o.Partition, o.Partition.Size()}).p
		if _, ok := forms[h]; !ok {
			distinct = append(distinct, h)
		}
		forms[h] += o.Forms
	}
	closure, err := Closure(ctx, q.Variable, distinct, q.Limits)
	if err != nil {
		return nil, err
	}
	observed := make([]sized, len(distinct))
	for i, p := range distinct {
		observed[i] = sized{p, p.Size()}
	}
	nodes := make([]Node, len(closure))
	var o order
	for i, p := range closure {
		if i&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		nodes[i] = Node{Partition: p, Size: p.Size(), Forms: forms[p], Observed: q.Observed(p)}
		for _, x := range observed {
			if o.refines(x, sized{p, nodes[i].Size}) {
				nodes[i].Support += forms[x.p]
			}
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(b.Support, a.Support), cmp.Compare(truth(b.Observed), truth(a.Observed)),
			cmp.Compare(a.Partition, b.Partition))
	})
	return nodes, nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A Run is the answer for all thresholds From <= N <= To.
type Run struct {
	Node     int // in the order of Nodes
	From, To int
}

// Profile has the answer at every threshold, from the nodes in their order: a largest harmonization of the target with N forms of the match
// set. Beyond the last run there are fewer than N that hold the variable.
func Profile(nodes []Node) []Run {
	var runs []Run
	covered := 0
	for i, x := range nodes {
		if x.Support > covered {
			runs = append(runs, Run{i, covered + 1, x.Support})
			covered = x.Support
		}
	}
	return runs
}

// Best is the node that answers a threshold, -1 if none does.
func Best(nodes []Node, n int) int {
	return slices.IndexFunc(nodes, func(x Node) bool { return x.Support >= n })
}

// Candidates are the nodes that at least n forms support and of which no finer one has that support: the maximal answers at a threshold, best first.
func Candidates(nodes []Node, n int) []int {
	var found []int
	var o order
	for i, x := range nodes {
		if x.Support < n {
			continue
		}
		lowest := true
		for _, c := range found { // a finer one has more categories, and so comes before
			if o.refines(sized{nodes[c].Partition, nodes[c].Size}, sized{x.Partition, x.Size}) {
				lowest = false
				break
			}
		}
		if lowest {
			found = append(found, i)
		}
	}
	return found
}

// Supporters tells which categorizations harmonize to a node, in the order given: whether each, harmonized with the target, refines it.
func Supporters(target, node Partition, forms []Partition) []bool {
	does := make([]bool, len(forms))
	for i, p := range forms {
		does[i] = Join(target, p).Refines(node)
	}
	return does
}

// Bits is the information of a code of that many categories, log2(size): 0 for one of a single category.
func Bits(size int) float64 {
	if size <= 1 {
		return 0
	}
	return math.Log2(float64(size))
}
