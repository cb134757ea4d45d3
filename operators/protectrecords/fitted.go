package protectrecords

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/recoding"
	"microrisk/operators"
)

// fitted makes the columns of a release.
type fitted struct {
	bound    *bound
	summary  *Summary
	node     recoding.Node
	groups   [][]uint32  // by variable, of each class
	texts    [][]*string // by variable, of each group; nil: missing
	of       []int32     // of each class, its place in portions
	portions [][]portion // the first is of classes of which nothing is hidden
	limited  bool
	taken    []int64 // by portions, in the order of the rows
}

// Start is a Starting's.
func (f *fitted) Start() { f.taken = make([]int64, len(f.portions)) }

// Summary is a Fitted's.
func (f *fitted) Summary() any { return f.summary }

// Apply is a Fitted's.
func (f *fitted) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	class := rows.Class[0]
	hide := make([]uint64, rows.Batch.NumRows())
	for r := range hide {
		if class[r] >= 0 && rows.Has(r) {
			hide[r] = f.hidden(f.of[class[r]])
		}
	}
	var out []arrow.Array
	for _, c := range f.bound.columns {
		out = append(out, f.column(mem, c, rows, hide))
	}
	return out, nil, nil
}

// hidden are the variables that are hidden in the next record of a class of the release.
func (f *fitted) hidden(k int32) uint64 {
	list := f.portions[k]
	if list == nil {
		return 0
	}
	before := int64(0)
	if f.limited {
		before = f.taken[k]
		f.taken[k]++
	}
	for _, p := range list {
		if p.records < 0 || before < p.records {
			return p.hide
		}
		before -= p.records
	}
	return 0
}

// column is a variable of the release.
func (f *fitted) column(mem memory.Allocator, c column, rows operators.Rows, hide []uint64) arrow.Array {
	index := array.NewInt32Builder(mem)
	defer index.Release()
	index.Reserve(len(hide))
	var values arrow.Array
	var place []int32 // of each group
	var was *array.Dictionary
	if c.read >= 0 {
		was = rows.Batch.Column(c.read).(*array.Dictionary)
		values = was.Dictionary()
		values.Retain()
	} else {
		values, place = dictionary(mem, f.texts[c.variable], c.t)
	}
	defer values.Release()
	class := rows.Class[0]
	for r, bits := range hide {
		at := int32(-1)
		switch {
		case class[r] < 0 || bits>>c.variable&1 == 1:
		case was == nil:
			at = place[f.groups[c.variable][class[r]]]
		case was.IsValid(r):
			at = int32(was.GetValueIndex(r))
		}
		if at < 0 {
			index.AppendNull()
		} else {
			index.Append(at)
		}
	}
	made := index.NewArray()
	defer made.Release()
	return array.NewDictionaryArray(operators.CodedType(c.t), made, values)
}

// dictionary has the texts of groups, and where each is: -1 for a missing one.
func dictionary(mem memory.Allocator, texts []*string, t arrow.DataType) (arrow.Array, []int32) {
	b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
	defer b.Release()
	place := make([]int32, len(texts))
	for g, text := range texts {
		if place[g] = -1; text != nil {
			place[g] = int32(b.Len())
			b.AppendString(*text)
		}
	}
	made := b.NewArray()
	defer made.Release()
	data := array.NewData(t, made.Len(), made.Data().Buffers(), nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), place
}
