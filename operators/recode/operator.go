package recode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/schemas"
)

func init() {
	operators.Register(
		schemas.Kind{Name: Name, New: func() schemas.Config { return &Config{} }, Doc: "Makes columns from others: new column to how it is made."},
	)
}

// Operators is an operators.Config's.
func (c *Config) Operators(operators.Setup) []operators.Operator {
	var list []operators.Operator
	for _, column := range *c {
		list = append(list, Operator{Config: column})
	}
	return list
}

// An Operator makes a column from another one, on its distinct values: categories are mapped to others, texts cut off after some
// characters, numbers put into bands, or values beyond a bottom or a top brought to it. Nulls stay null. In a column of text,
// values that are not numbers pass through bands, bottom and top as they are.
type Operator struct {
	Config  Column
	Unasked bool // map may name values that no row has
}

// Bind is an Operator's.
func (r Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	c := r.Config
	from, name := c.Source(), "recode "+c.Name
	if c.From == "" && !c.Replace {
		return nil, fmt.Errorf("%s: say from which column, or replace: true", name)
	}
	f, err := operators.LookUp(name, in, from)
	if err != nil {
		return nil, err
	}
	recode, out, err := recoding(c, operators.ValueType(f.Type))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	added := operators.Added{Field: arrow.Field{Name: c.Name, Type: out, Nullable: true}, Hidden: c.Keep != nil && !*c.Keep}
	if c.Replace {
		added.Replaces = from
	}
	made := &recoder{recode: recode, out: out, missing: c.Missing}
	if c.Map != nil && !r.Unasked {
		made.sought = operators.NewSought(name, slices.Collect(maps.Keys(c.Map)))
	}
	if t := operators.ValueType(f.Type); operators.IsText(t) && c.Map == nil && c.Truncate == 0 {
		made.odd = &odd{who: name, from: from, rows: map[string]int64{}}
	}
	return &operators.Plan{Reads: []string{from}, Adds: []operators.Added{added}, Apply: made}, nil
}

// A recoder recodes batches. It keeps what it made of the dictionaries it met last, so that all batches of a part share one.
type recoder struct {
	recode  func(values arrow.Array, i int, text string) (string, bool) // the new value as text; false for missing
	out     arrow.DataType
	missing *string           // what nulls become
	sought  *operators.Sought // of a map
	odd     *odd              // of bands and ends, in a column of text

	mu   sync.Mutex
	memo [4]recodedDictionary
	next int
}

// A recodedDictionary is a dictionary recoded: the new one, and the new index of each old value, -1 for missing.
type recodedDictionary struct {
	odd   []string // by old value, the text of one that is no number, else ""; nil: none is looked for
	old   arrow.ArrayData
	new   *array.Data
	index []int32
	null  int32 // that of nulls; -1: they stay
}

func (r *recoder) Summary() any { return nil }

// Unfound is a Seeker's.
func (r *recoder) Unfound() error { return r.sought.Unfound() }

// Remark is a Remarker's.
func (r *recoder) Remark() (string, error) { return r.odd.remark() }

// noticed is what a recoder noticed, for another process.
type noticed struct {
	Sought *operators.Found
	Odd    *oddity
}

// Noticed is a Noticing's.
func (r *recoder) Noticed() ([]byte, error) {
	return json.Marshal(noticed{r.sought.Noticed(), r.odd.noticed()})
}

// Notice is a Noticing's.
func (r *recoder) Notice(b []byte) error {
	var n noticed
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	r.odd.notice(n.Odd)
	return r.sought.Notice(n.Sought)
}

func (r *recoder) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	column := rows.Batch.Column(0)
	r.sought.Look(column)
	if d, ok := column.(*array.Dictionary); ok {
		a, err := r.dictionary(mem, d)
		if err != nil {
			return nil, nil, err
		}
		return []arrow.Array{a}, nil, nil
	}
	a, err := r.plain(mem, column)
	if err != nil {
		return nil, nil, err
	}
	return []arrow.Array{a}, nil, nil
}

func (r *recoder) dictionary(mem memory.Allocator, d *array.Dictionary) (arrow.Array, error) {
	memo, err := r.recoded(d)
	if err != nil {
		return nil, err
	}
	indices, ok := d.Indices().(*array.Int32)
	if !ok {
		return nil, fmt.Errorf("a column is coded with %s, not int32", d.Indices().DataType())
	}
	b := array.NewInt32Builder(mem)
	defer b.Release()
	b.Reserve(d.Len())
	r.odd.look(indices, memo.odd)
	for i, k := range indices.Int32Values() {
		if n := int32(-1); indices.IsValid(i) {
			if k < 0 || int(k) >= len(memo.index) {
				return nil, fmt.Errorf("dictionary index %d is beyond the dictionary of %d values", k, len(memo.index))
			}
			if n = memo.index[k]; n >= 0 {
				b.UnsafeAppend(n)
				continue
			}
		} else if memo.null >= 0 {
			b.UnsafeAppend(memo.null)
			continue
		}
		b.UnsafeAppendBoolToBitmap(false)
	}
	index := b.NewInt32Array()
	defer index.Release()
	data := array.NewDataWithDictionary(operators.CodedType(r.out), index.Len(), index.Data().Buffers(), index.NullN(), 0, memo.new)
	defer data.Release()
	return array.NewDictionaryData(data), nil
}

// recoded recodes the values of a dictionary, once for all batches that share it. The result is not from the caller's allocator: it
// lives as long as the recoder.
func (r *recoder) recoded(d *array.Dictionary) (recodedDictionary, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := d.Data().Dictionary()
	for _, m := range r.memo {
		if m.old == old {
			return m, nil
		}
	}
	values := d.Dictionary()
	m := recodedDictionary{old: old, index: make([]int32, values.Len()), null: -1}
	place := map[string]int32{}
	b := array.NewBuilder(memory.DefaultAllocator, r.out)
	defer b.Release()
	for i := range m.index {
		m.index[i] = -1
		if values.IsNull(i) {
			continue
		}
		if r.odd != nil {
			if m.odd == nil {
				m.odd = make([]string, values.Len())
			}
			if _, ok := operators.Number(values, i); !ok {
				m.odd[i] = cmp.Or(strings.Clone(operators.Text(values, i)), emptyText)
			}
		}
		text, ok := r.recode(values, i, operators.Text(values, i))
		if !ok {
			continue
		}
		k, ok := place[text]
		if !ok {
			k = int32(b.Len())
			place[text] = k
			if err := b.AppendValueFromString(text); err != nil {
				return m, fmt.Errorf("the recoded value %q is no %s: %w", text, r.out, err)
			}
		}
		m.index[i] = k
	}
	if r.missing != nil {
		k, ok := place[*r.missing]
		if !ok {
			k = int32(b.Len())
			if err := b.AppendValueFromString(*r.missing); err != nil {
				return m, fmt.Errorf("the recoded value %q is no %s: %w", *r.missing, r.out, err)
			}
		}
		m.null = k
	}
	a := b.NewArray()
	m.new = a.Data().(*array.Data)
	r.memo[r.next] = m
	r.next = (r.next + 1) % len(r.memo)
	return m, nil
}

// plain recodes a column that is not coded (floating point), row by row.
func (r *recoder) plain(mem memory.Allocator, column arrow.Array) (arrow.Array, error) {
	if operators.HasEquality(r.out) {
		b := array.NewDictionaryBuilder(mem, operators.CodedType(r.out))
		defer b.Release()
		return r.rows(column, b)
	}
	b := array.NewBuilder(mem, r.out)
	defer b.Release()
	return r.rows(column, b)
}

func (r *recoder) rows(column arrow.Array, b array.Builder) (arrow.Array, error) {
	b.Reserve(column.Len())
	for i := range column.Len() {
		if column.IsNull(i) && r.missing == nil {
			b.AppendNull()
			continue
		}
		if column.IsNull(i) {
			if err := b.AppendValueFromString(*r.missing); err != nil {
				return nil, err
			}
			continue
		}
		text, ok := r.recode(column, i, operators.Text(column, i))
		if !ok {
			b.AppendNull()
		} else if err := b.AppendValueFromString(text); err != nil {
			return nil, fmt.Errorf("the recoded value %q is no %s: %w", text, r.out, err)
		}
	}
	return b.NewArray(), nil
}
