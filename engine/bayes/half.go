package bayes

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Half draws each record with a chance of one half: the cells that have records then, and how many records each of them has in d. The order of the
// cells and the seed say which are drawn.
func (d *Data) Half(seed uint64) (half *Data, whole []int64) {
	r := rand.New(rand.NewPCG(seed, 0x68616c66))
	half = &Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes))}
	for i, f := range d.Counts {
		g := f & int64(r.Uint64()>>63) // of one record
		if f > 1 {
			g = int64(distuv.Binomial{N: float64(f), P: .5, Src: r}.Rand())
		}
		if g == 0 {
			continue
		}
		for v, codes := range d.Codes {
			half.Codes[v] = append(half.Codes[v], codes[i])
		}
		half.Counts, whole = append(half.Counts, g), append(whole, f)
		half.Records += g
	}
	return half, whole
}
