package recoding

import (
	"fmt"
	"math"
	"strings"
)

// A Rule tells which releases are safe. Records of classes that are not safe can be suppressed, as many as a search allows.
type Rule struct {
	Name string
	// Safe tells it of a class; nil: all are.
	Safe func(Class) bool
	// Of is a figure of what is kept that must be at most Limit; nil: there is none.
	Of    func(*Lattice, *Outcome) (float64, error)
	Limit float64
	// Node tells it of a node without its table; nil: all are.
	Node func(Node) bool
	// Rising says that what is safe stays so at coarser nodes where nothing is suppressed, and Sheltered that it does, too, where records are.
	Rising, Sheltered bool

	figures *Figures // where Of keeps what it told; nil for nowhere
}

// within tells whether a figure is.
func (r *Rule) within(x float64) bool { return x <= r.Limit*(1+1e-12) }

// K is k-anonymity: at least k records share each key (Samarati 2001, Sweeney 2002).
func K(k int64) Rule {
	return Rule{Name: fmt.Sprintf("k = %d", k), Safe: func(c Class) bool { return c.Records >= k }, Rising: true, Sheltered: true}
}

// Uniques allows so many sample uniques.
func Uniques(most int64) Rule {
	return Rule{Name: fmt.Sprintf("at most %d sample uniques", most), Limit: float64(most), Rising: true,
		Of: func(_ *Lattice, o *Outcome) (float64, error) { return float64(o.Uniques), nil }}
}

// MeanRisk limits the mean of 1/f over records: classes / records.
func MeanRisk(most float64) Rule {
	return Rule{Name: fmt.Sprintf("mean 1/f at most %g", most), Limit: most, Rising: true, Of: func(_ *Lattice, o *Outcome) (float64, error) {
		if o.Records == 0 {
			return 0, nil
		}
		return o.Inverse / float64(o.Records), nil
	}}
}

// DIS limits the chance that a unique match is correct, by numbers of uniques and doubles at a sampling fraction; it can rise with a recoding.
func DIS(most, fraction float64) Rule {
	return Rule{Name: fmt.Sprintf("DIS at most %g", most), Limit: most, Of: func(_ *Lattice, o *Outcome) (float64, error) {
		if o.Uniques == 0 {
			return 0, nil
		}
		n1, n2 := float64(o.Uniques), float64(o.Doubles)
		return fraction * n1 / (fraction*n1 + 2*(1-fraction)*n2), nil
	}}
}

// Distinct wants at least so many different sensitive values in each class.
func Distinct(values int) Rule {
	return Rule{Name: fmt.Sprintf("distinct l = %d", values), Safe: func(c Class) bool { return len(c.Values) >= values }, Rising: true, Sheltered: true}
}

// EntropyOf wants the entropy of the sensitive values of each class to be at least that of so many equally frequent ones (Machanavajjhala et al. 2007).
func EntropyOf(values float64) Rule {
	return Rule{Name: fmt.Sprintf("entropy l = %g", values), Rising: true, Safe: func(c Class) bool {
		bits := 0.0
		for _, s := range c.Values {
			bits -= xlog2(s.Records, c.Records)
		}
		return bits/float64(c.Records) >= math.Log2(values)-1e-12
	}}
}

// Recursive is recursive (c,l)-diversity: the most frequent sensitive value of each class is rarer than c times all from the l-th most frequent on.
func Recursive(c float64, l int) Rule {
	return Rule{Name: fmt.Sprintf("recursive (%g,%d)-diversity", c, l), Rising: true, Safe: func(class Class) bool {
		if len(class.Values) < l {
			return false
		}
		counts := make([]int64, 0, len(class.Values))
		for _, s := range class.Values {
			counts = append(counts, s.Records)
		}
		descend(counts)
		tail := int64(0)
		for _, n := range counts[l-1:] {
			tail += n
		}
		return float64(counts[0]) < c*float64(tail)
	}}
}

func descend(list []int64) {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j] > list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// All is safe where all of the rules are.
func All(rules ...Rule) Rule {
	if len(rules) == 1 {
		return rules[0]
	}
	out := Rule{Rising: true, Sheltered: true}
	var names []string
	var safe []func(Class) bool
	var nodes []func(Node) bool
	for _, r := range rules {
		names = append(names, r.Name)
		out.Rising, out.Sheltered = out.Rising && r.Rising, out.Sheltered && r.Sheltered
		if r.Safe != nil {
			safe = append(safe, r.Safe)
		}
		if r.Node != nil {
			nodes = append(nodes, r.Node)
		}
	}
	out.Name = strings.Join(names, ", ")
	if safe != nil {
		out.Safe = func(c Class) bool {
			for _, s := range safe {
				if !s(c) {
					return false
				}
			}
			return true
		}
	}
	if nodes != nil {
		out.Node = func(n Node) bool {
			for _, s := range nodes {
				if !s(n) {
					return false
				}
			}
			return true
		}
	}
	out.Limit = 1 // the largest share of a limit
	out.Of = func(l *Lattice, o *Outcome) (float64, error) {
		worst := 0.0
		for _, r := range rules {
			if r.Of == nil {
				continue
			}
			x, err := r.Of(l, o)
			if err != nil {
				return 0, err
			}
			switch {
			case x > r.Limit:
				worst = max(worst, 2)
			default:
				worst = max(worst, 1)
			}
		}
		return worst, nil
	}
	return out
}
