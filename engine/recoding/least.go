package recoding

import (
	"math"
)

// Prices say what hiding a cell costs, by variable and group; a nil variable is not in the key, and one that is fixed is hidden with all others alone.
type Prices struct {
	Of    [][]float64
	Fixed []bool
}

// LeastHidden is at most what it costs to hide cells of a node so that at least k records of the file have what each record shows: where no single cell
// does, two must go.
func (l *Lattice) LeastHidden(n Node, k int64, p Prices) (float64, error) {
	t, err := l.table(n)
	if err != nil {
		return 0, err
	}
	var keys []uint64
	var counts []int64
	var groups [][]uint32
	l.classes(t, func(key []uint64, c Class) bool {
		keys, counts = append(keys, key...), append(counts, c.Records)
		if c.Records < k {
			row := make([]uint32, len(n))
			l.groups(key, row)
			groups = append(groups, row)
		}
		return true
	})
	one, least, next, whole := make([]float64, len(groups)), make([]float64, len(groups)), make([]float64, len(groups)), make([]float64, len(groups))
	for i := range groups {
		one[i], least[i], next[i] = math.Inf(1), math.Inf(1), math.Inf(1)
	}
	of := make([]int32, len(counts))
	row := make([]uint64, l.words)
	for v, prices := range p.Of {
		if prices == nil {
			continue
		}
		m := newMerger(l.words, len(counts))
		f := l.fields[v]
		for i, records := range counts {
			copy(row, keys[i*l.words:])
			row[f.word] &^= f.mask << f.shift
			of[i] = m.add(row, records)
		}
		at := 0
		for i, records := range counts {
			if records >= k {
				continue
			}
			price := prices[groups[at][v]]
			whole[at] += price
			if !p.Fixed[v] || price == 0 { // what is missing is hidden already
				if m.counts[of[i]] >= k {
					one[at] = min(one[at], price)
				}
				least[at], next[at] = min(least[at], price), min(next[at], max(least[at], price))
			}
			at++
		}
	}
	sum, at := 0.0, 0
	for _, records := range counts {
		if records < k {
			sum += float64(records) * min(one[at], least[at]+next[at], whole[at])
			at++
		}
	}
	return sum, nil
}
