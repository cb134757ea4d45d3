package operators

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
)

// A domain hands out provisional codes for the values of a key variable as they are met: 0 is missing, the others count from 1.
// It is shared by all workers; each asks it once a dictionary, not once a row.
type domain struct {
	key     contingency.Key
	typ     arrow.DataType
	missing map[string]bool
	levels  map[string]bool

	mu    sync.RWMutex
	codes map[string]uint32
	texts []string // by provisional code - 1
}

func newDomain(key contingency.Key, typ arrow.DataType) *domain {
	d := &domain{key: key, typ: ValueType(typ), missing: map[string]bool{}, codes: map[string]uint32{}}
	for _, m := range key.MissingCodes {
		d.missing[m] = true
	}
	if key.Levels != nil {
		d.levels = map[string]bool{}
		for _, l := range key.Levels {
			d.levels[l] = true
		}
	}
	return d
}

// provisional gives the provisional code of each value of a dictionary. With add false, an unknown value is an error: it was not
// there when the file was counted.
func (d *domain) provisional(values arrow.Array, add bool) ([]uint32, error) {
	codes := make([]uint32, values.Len())
	texts := make([]string, values.Len())
	d.mu.RLock()
	unknown := 0
	for i := range codes {
		if values.IsNull(i) {
			continue
		}
		texts[i] = Text(values, i)
		if d.missing[texts[i]] {
			continue
		}
		c, ok := d.codes[texts[i]]
		if !ok {
			c = absent
			unknown++
		}
		codes[i] = c
	}
	d.mu.RUnlock()
	if unknown == 0 || !add {
		return codes, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, c := range codes {
		if c != absent {
			continue
		}
		c, ok := d.codes[texts[i]]
		if !ok {
			if len(d.texts) >= 1<<31 {
				return nil, fmt.Errorf("key variable %q has more than 2^31 categories", d.key.Name)
			}
			text := strings.Clone(texts[i])
			d.texts = append(d.texts, text)
			c = uint32(len(d.texts))
			d.codes[text] = c
		}
		codes[i] = c
	}
	return codes, nil
}

// undeclared are the values among provisional codes that are not declared levels, by code; nil if there are none.
func (d *domain) undeclared(codes []uint32) map[uint32]string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var others map[uint32]string
	for _, c := range codes {
		if c == 0 || c == absent || d.levels[d.texts[c-1]] {
			continue
		}
		if others == nil {
			others = map[uint32]string{}
		}
		others[c] = d.texts[c-1]
	}
	return others
}

// absent is the code of a value that no table has.
const absent = ^uint32(0)

// order gives the categories in the order of their values, and the final code of each provisional one. If levels are declared,
// these come first, observed or not, and observed values that are not among them follow; declared is the number of levels.
func (d *domain) order() (categories []string, final []uint32, declared int) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	compare := orderOf(d.typ).Compare
	var others []string
	for _, text := range d.texts {
		if !d.levels[text] {
			others = append(others, text)
		}
	}
	slices.SortFunc(others, compare)
	categories = slices.Clone(d.key.Levels)
	slices.SortFunc(categories, compare)
	declared = len(categories)
	categories = append(categories, others...)
	code := make(map[string]uint32, len(categories))
	for c, text := range categories {
		code[text] = uint32(c)
	}
	final = make([]uint32, len(d.texts)+1)
	final[0] = uint32(len(categories))
	for p, text := range d.texts {
		final[p+1] = code[text]
	}
	return categories, final, declared
}

// A coder gives the columns of one key variable in one worker; it keeps what it computed for the last dictionary.
type coder struct {
	domain *domain
	final  []uint32 // final codes by provisional one, nil while counting
	null   uint32
	last   arrow.ArrayData
	codes  []uint32
}

func (c *coder) column(a arrow.Array) (contingency.Column, error) {
	d, ok := a.(*array.Dictionary)
	if !ok {
		return contingency.Column{}, fmt.Errorf("key variable %q came as %s, not coded", c.domain.key.Name, a.DataType())
	}
	if data := d.Data().Dictionary(); c.codes == nil || data != c.last {
		codes, err := c.domain.provisional(d.Dictionary(), c.final == nil)
		if err != nil {
			return contingency.Column{}, err
		}
		if c.final != nil {
			for i, p := range codes {
				if p == absent || int(p) >= len(c.final) {
					codes[i] = absent
				} else {
					codes[i] = c.final[p]
				}
			}
		}
		if len(codes) == 0 {
			codes = []uint32{absent} // the index of a null is 0 even if the dictionary is empty
		}
		c.last, c.codes = data, codes
	}
	index, ok := d.Indices().(*array.Int32)
	if !ok {
		return contingency.Column{}, fmt.Errorf("key variable %q is coded with %s, not int32", c.domain.key.Name, d.Indices().DataType())
	}
	col := contingency.Column{Index: index.Int32Values(), Codes: c.codes, Null: c.null}
	if d.NullN() > 0 {
		col.Valid, col.Offset = d.NullBitmapBytes(), d.Data().Offset()
	}
	return col, nil
}
