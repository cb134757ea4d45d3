package suppress

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// An Operator hides cells.
type Operator struct {
	Config Config
	Cells  *Cells
}

// Bind is an Operator's.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	if o.Cells == nil {
		return nil, fmt.Errorf("%s: the table of hidden cells was not read", Name)
	}
	plan := &operators.Plan{Who: Name, Reads: o.Cells.Variables, InOrder: o.Cells.limited}
	h := &hider{cells: o.Cells, code: o.Config.Code}
	for v, name := range o.Cells.Variables {
		f, err := operators.LookUp(Name, in, name)
		if err != nil {
			return nil, err
		}
		t := operators.ValueType(f.Type)
		if !operators.HasEquality(t) {
			return nil, fmt.Errorf("%s: %s is of type %s, which no key variable is", Name, name, t)
		}
		if !o.Cells.hidden[v] {
			continue
		}
		if o.Config.Code != nil && !operators.IsText(t) {
			return nil, fmt.Errorf(
				"%s: %s is of type %s, and the code %q is text; leave the code out, and hidden cells become missing",
				Name,
				name,
				t,
				*o.Config.Code,
			)
		}
		plan.Adds = append(plan.Adds, operators.Added{Field: arrow.Field{Name: name, Type: t, Nullable: true}, Replaces: name})
		h.columns = append(h.columns, v)
	}
	plan.Apply = h
	return plan, nil
}

// A hider hides cells of batches, in the order of the rows where it must count them.
type hider struct {
	cells   *Cells
	code    *string
	columns []int // variables that are hidden somewhere
	taken   map[string]int64
}

// Start is a Starting's.
func (h *hider) Start() { h.taken = map[string]int64{} }

// Summary is a Fitted's: there is none.
func (h *hider) Summary() any { return nil }

// Apply is a Fitted's.
func (h *hider) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	n := int(rows.Batch.NumRows())
	columns := make([]*array.Dictionary, len(h.cells.Variables))
	texts := make([][]string, len(columns)) // of each dictionary
	for v := range columns {
		columns[v] = rows.Batch.Column(v).(*array.Dictionary)
		values := columns[v].Dictionary()
		for i := range values.Len() {
			if values.IsNull(i) {
				texts[v] = append(texts[v], missing)
			} else {
				texts[v] = append(texts[v], operators.Text(values, i))
			}
		}
	}
	hide := make([]uint64, n)
	key := make([]string, len(columns))
	var b strings.Builder
	for r := range n {
		if !rows.Has(r) {
			continue
		}
		for v, c := range columns {
			if key[v] = missing; !c.IsNull(r) {
				key[v] = texts[v][c.GetValueIndex(r)]
			}
		}
		text := keyOf(&b, key)
		list, hidden := h.cells.keys[text]
		if !hidden {
			continue
		}
		at := 0
		if h.cells.limited {
			before := h.taken[text]
			h.taken[strings.Clone(text)] = before + 1
			for at < len(list) && list[at].records >= 0 && before >= list[at].records {
				before -= list[at].records
				at++
			}
		}
		if at < len(list) {
			hide[r] = list[at].hide
		}
	}
	var out []arrow.Array
	for _, v := range h.columns {
		a, err := h.hidden(mem, columns[v], hide, v)
		if err != nil {
			for _, a := range out {
				a.Release()
			}
			return nil, nil, err
		}
		out = append(out, a)
	}
	return out, nil, nil
}

// hidden is a column with some cells hidden.
func (h *hider) hidden(mem memory.Allocator, from *array.Dictionary, hide []uint64, v int) (arrow.Array, error) {
	index := array.NewInt32Builder(mem)
	defer index.Release()
	index.Reserve(len(hide))
	values := from.Dictionary()
	code := int32(-1)
	if h.code != nil {
		with, at, err := withValue(mem, values, *h.code)
		if err != nil {
			return nil, err
		}
		defer with.Release()
		values, code = with, at
	}
	for r, bits := range hide {
		switch {
		case bits>>v&1 == 1 && code < 0:
			index.AppendNull()
		case bits>>v&1 == 1:
			index.Append(code)
		case from.IsNull(r):
			index.AppendNull()
		default:
			index.Append(int32(from.GetValueIndex(r)))
		}
	}
	made := index.NewArray()
	defer made.Release()
	return array.NewDictionaryArray(operators.CodedType(from.DataType()), made, values), nil
}

// withValue is a dictionary with a text in it, and its place.
func withValue(mem memory.Allocator, values arrow.Array, text string) (arrow.Array, int32, error) {
	var texts []string
	for i := range values.Len() {
		texts = append(texts, operators.Text(values, i))
	}
	if at := slices.Index(texts, text); at >= 0 {
		return nil, 0, fmt.Errorf("%s: the code %q is a value of the file already; take another one", Name, text)
	}
	b := array.NewBuilder(mem, values.DataType())
	defer b.Release()
	for i, t := range append(texts, text) {
		if i < values.Len() && values.IsNull(i) {
			b.AppendNull()
			continue
		}
		if err := b.AppendValueFromString(t); err != nil {
			return nil, 0, err
		}
	}
	return b.NewArray(), int32(len(texts)), nil
}
