package local

import (
	"context"
	"encoding/binary"
	"fmt"
)

// A Recounted is how a released table does under each meaning of safe.
type Recounted struct {
	Released int64 // rows, without suppressed records
	Class    int64 // rows that fewer than k rows are identical to
	Own      int64 // rows whose shown values fewer than k original records have
	Wildcard int64 // rows that fewer than k rows are compatible with
	// Persons are records of the original whom fewer than k released rows fit: rows that show nothing but values of their true key.
	Persons int64
	// Alone are those whom exactly one released row fits.
	Alone int64
}

// A pattern is a distinct released row.
type pattern struct {
	class int // one that has its values
	shown Set
	rows  int64
}

// Recount counts what is unsafe in a release by plain comparison of values: it shares nothing with the searches. Parts are those of a
// Result; records that they leave out are released as they are. Suppressed records are no rows of the release. Parts that take more records
// of a class than it has are an error, as is a context that ends.
func Recount(ctx context.Context, p *Problem, parts []Part) (Recounted, error) {
	var r Recounted
	for _, x := range Released(p, parts) {
		if x.Records < 0 {
			return r, fmt.Errorf("class %d: the parts have %d records more than it has", x.Class, -x.Records)
		}
		if !x.Whole {
			r.Released += x.Records
		}
	}
	patterns := patternsOf(p, parts)
	masks := make(map[Set]bool)
	for _, x := range patterns {
		masks[x.shown] = true
		if x.rows < p.K {
			r.Class += x.rows
		}
	}
	fits, near := make([]int64, len(p.Counts)), make([]int64, len(patterns))
	for mask := range masks {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.Own += ownUnsafe(p, patterns, mask)
		fitting(p, patterns, mask, fits)
		compatible(p, patterns, mask, near)
	}
	for i, x := range patterns {
		if near[i] < p.K {
			r.Wildcard += x.rows
		}
	}
	for c, n := range fits {
		if n < p.K {
			r.Persons += p.Counts[c]
		}
		if n == 1 {
			r.Alone += p.Counts[c]
		}
	}
	return r, nil
}

func patternsOf(p *Problem, parts []Part) (patterns []pattern) {
	at := make(map[string]int)
	for _, x := range Released(p, parts) {
		if x.Whole {
			continue
		}
		shown := (Set(1)<<len(p.Codes) - 1) &^ (x.Cut | p.missing(x.Class))
		key := string(binary.LittleEndian.AppendUint32(nil, uint32(shown))) + values(p, x.Class, shown)
		i, ok := at[key]
		if !ok {
			i = len(patterns)
			at[key] = i
			patterns = append(patterns, pattern{class: x.Class, shown: shown})
		}
		patterns[i].rows += x.Records
	}
	return patterns
}

// values of class c on some variables.
func values(p *Problem, c int, on Set) string {
	b := make([]byte, 0, 4*MostVariables)
	for v := range p.Codes {
		if on.Has(v) {
			b = binary.LittleEndian.AppendUint32(b, p.Codes[v][c])
		}
	}
	return string(b)
}

// ownUnsafe counts rows that show just the variables of mask, and values that fewer than k originals have.
func ownUnsafe(p *Problem, patterns []pattern, mask Set) (unsafe int64) {
	originals := make(map[string]int64)
	for c, n := range p.Counts {
		if p.missing(c)&mask == 0 {
			originals[values(p, c, mask)] += n
		}
	}
	for _, x := range patterns {
		if x.shown == mask && originals[values(p, x.class, mask)] < p.K {
			unsafe += x.rows
		}
	}
	return unsafe
}

// fitting adds to each class the rows that show just the variables of mask and its own values there.
func fitting(p *Problem, patterns []pattern, mask Set, fits []int64) {
	rows := make(map[string]int64)
	for _, x := range patterns {
		if x.shown == mask {
			rows[values(p, x.class, mask)] += x.rows
		}
	}
	for c := range p.Counts {
		fits[c] += rows[values(p, c, mask)]
	}
}

// compatible adds to each pattern the rows that show just the variables of mask, and what it shows of them itself.
func compatible(p *Problem, patterns []pattern, mask Set, near []int64) {
	common := make(map[Set]map[string]int64)
	for i, x := range patterns {
		on := x.shown & mask
		rows := common[on]
		if rows == nil {
			rows = make(map[string]int64)
			for _, y := range patterns {
				if y.shown == mask {
					rows[values(p, y.class, on)] += y.rows
				}
			}
			common[on] = rows
		}
		near[i] += rows[values(p, x.class, on)]
	}
}
