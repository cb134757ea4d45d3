package operators

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/schemas"
)

// secretBytes are those of a secret that is made: 128 bits.
const secretBytes = 16

// A Chance is what decides about counts that are left to chance: a secret, and whose noise it is.
type Chance struct {
	schemas.People
	Key  perturb.Key
	Made []byte // the secret, if it was made and is in no file
}

// NewChance is by a secret; nil makes one that nobody can guess.
func NewChance(p schemas.People, secret []byte) (*Chance, error) {
	c := &Chance{People: p}
	if secret == nil {
		c.Made = make([]byte, secretBytes)
		if _, err := rand.Read(c.Made); err != nil {
			return nil, err
		}
		secret = c.Made
	}
	c.Key = perturb.KeyOf(secret)
	return c, nil
}

// keyColumn is the name of the column with the keys of records, which no file has.
const keyColumn = "keys of records"

// Keys is the operator that makes the keys of records, which goes before the one that asks for their sums; nil for noise by cells.
func (c *Chance) Keys(who string) Operator {
	switch {
	case c == nil || !c.ByPeople():
		return nil
	case c.RecordKey != "":
		return recordKeys{who: who, column: c.RecordKey}
	}
	return recordKeys{who: who, column: c.RecordID, key: &c.Key, made: c.Made != nil}
}

// Sums are what a table is asked for so that its cells have keys.
func (c *Chance) Sums(who string) []contingency.Sum {
	if c == nil || !c.ByPeople() {
		return nil
	}
	return []contingency.Sum{{Name: who + ": " + keyColumn}}
}

// recordKeys makes the keys of records: those that a column has, or those of identities by a secret.
type recordKeys struct {
	who, column string
	key         *perturb.Key // nil: the column has them
	made        bool         // of a secret that no file has
}

// Bind is an Operator's.
func (k recordKeys) Bind(in *arrow.Schema) (*Plan, error) {
	f, err := LookUp(k.who, in, k.column)
	if err != nil {
		return nil, err
	}
	switch t := ValueType(f.Type); {
	case k.key == nil && !IsNumber(t):
		return nil, fmt.Errorf("%s: the column of record keys %q is of type %s: keys are whole numbers from 0 to 2^53", k.who, k.column, t)
	case k.key != nil && !HasEquality(t):
		return nil, fmt.Errorf("%s: %q is of type %s, which cannot tell records apart", k.who, k.column, t)
	}
	return &Plan{Reads: []string{k.column}, Apply: k,
		Adds: []Added{{Field: arrow.Field{Name: k.who + ": " + keyColumn, Type: arrow.PrimitiveTypes.Float64}, Hidden: true}}}, nil
}

// Summary is a Fitted's.
func (k recordKeys) Summary() any { return nil }

// Apply is a Fitted's.
func (k recordKeys) Apply(_ context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	column := rows.Batch.Column(0)
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	b.Reserve(column.Len())
	memo := make(map[int]float64) // of a dictionary
	d, coded := column.(*array.Dictionary)
	for i := range column.Len() {
		if !rows.Has(i) {
			b.Append(0)
			continue
		}
		at := -1
		if coded && d.IsValid(i) {
			at = d.GetValueIndex(i)
			if v, met := memo[at]; met {
				b.Append(v)
				continue
			}
		}
		v, err := k.of(column, i)
		if err != nil {
			return nil, nil, &RowError{i, k.column, err}
		}
		if at >= 0 {
			memo[at] = v
		}
		b.Append(v)
	}
	return []arrow.Array{b.NewArray()}, nil, nil
}

// of is the key of record i.
func (k recordKeys) of(column arrow.Array, i int) (float64, error) {
	if k.key != nil {
		if column.IsNull(i) {
			return 0, fmt.Errorf("a record has no %s, which tells whose noise it has: choose the records that have one", k.column)
		}
		return float64(perturb.RecordKey(*k.key, []byte(Text(column, i)))), nil
	}
	v, whole := Integer(column, i)
	if !whole || v < 0 || v > schemas.MaxCount {
		return 0, fmt.Errorf("the record key %s is %s: it must be a whole number from 0 to 2^53", k.column, Shown(column, i))
	}
	return float64(v), nil
}
