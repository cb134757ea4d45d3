package recode

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
)

// BandNames are the categories that cuts make of a column of the type: of each band, from the one below the first cut to that from the last
// one up, the names that its values get. There is one, but a column of text may have whole numbers and others, of which each kind has its
// own: that of whole numbers comes first. The error says that the type has no numbers.
func BandNames(cuts []float64, t arrow.DataType) ([][]string, error) {
	t = operators.ValueType(t)
	if !operators.IsNumber(t) && !operators.IsText(t) {
		return nil, fmt.Errorf("a column of type %s has no numbers to band", t)
	}
	b := bands{Column: Column{Cuts: cuts}, whole: operators.IsInteger(t) || operators.IsText(t)}
	if err := b.check(); err != nil {
		return nil, err
	}
	kinds := []bool{b.whole && b.wholeEnds()}
	if kinds[0] && operators.IsText(t) {
		kinds = append(kinds, false)
	}
	ends := slices.Concat([]float64{math.Inf(-1)}, cuts, []float64{math.Inf(1)})
	names := make([][]string, len(cuts)+1)
	for i := range names {
		for _, whole := range kinds {
			if name := between(ends[i], ends[i+1], whole); !slices.Contains(names[i], name) {
				names[i] = append(names[i], name)
			}
		}
	}
	return names, nil
}
