package protect

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// InUnits makes of a column of numbers one of whole numbers of units of their last decimal, which other operators of the run see and files
// do not.
type InUnits struct {
	What     string // the column is, for messages: "the response"
	From, To string
	Decimals int
	Absolute bool // negative values are not refused
	Empty    bool // nor are values that are not there
}

// Bind is an Operator's.
func (u InUnits) Bind(in *arrow.Schema) (*operators.Plan, error) {
	f, err := operators.LookUp(Name, in, u.From)
	if err != nil {
		return nil, err
	}
	if t := operators.ValueType(f.Type); !operators.IsNumber(t) && !operators.IsText(t) {
		return nil, fmt.Errorf("%s: %s %q is of type %s, and cannot be added up", Name, u.What, u.From, t)
	}
	return &operators.Plan{Reads: []string{u.From}, Apply: u,
		Adds: []operators.Added{{Field: arrow.Field{Name: u.To, Type: arrow.PrimitiveTypes.Int64}, Hidden: true}}}, nil
}

// Summary is a Fitted's.
func (u InUnits) Summary() any { return nil }

// Apply is a Fitted's.
func (u InUnits) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	column := rows.Batch.Column(0)
	b.Reserve(column.Len())
	var memo map[int]int64 // of a dictionary
	d, coded := column.(*array.Dictionary)
	if coded {
		memo = make(map[int]int64)
	}
	for i := range column.Len() {
		if u.Empty && column.IsNull(i) || !rows.Has(i) {
			b.AppendNull()
			continue
		}
		if coded && d.IsValid(i) {
			if v, met := memo[d.GetValueIndex(i)]; met {
				b.Append(v)
				continue
			}
		}
		v, err := u.of(column, i)
		if err != nil {
			return nil, nil, &operators.RowError{Row: i, Column: u.From, Err: err}
		}
		if coded {
			memo[d.GetValueIndex(i)] = v
		}
		b.Append(v)
	}
	return []arrow.Array{b.NewArray()}, nil, nil
}

// of is value i in units. The error tells what is wrong with it.
func (u InUnits) of(column arrow.Array, i int) (int64, error) {
	if column.IsNull(i) {
		return 0, fmt.Errorf("a record has no value of %s: choose the records that have one, or recode it to 0", u.From)
	}
	v, err := Units(column, i, u.Decimals)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s %s: %w", u.What, u.From, err)
	case v < 0 && !u.Absolute:
		return 0, fmt.Errorf(
			"the response %s is %s in a record, and rules are for contributions of at least 0: say absolute: true (--absolute) if they are to count by their "+
				"absolute value",
			u.From,
			operators.Text(column, i),
		)
	}
	return v, nil
}

// Units is value i, a number or the text of one, in whole units of so many decimals; further ones than these are an error, unless they are
// noise of a binary number.
func Units(column arrow.Array, i, decimals int) (int64, error) {
	scale := math.Pow10(decimals)
	if f, is := column.(*array.Float64); is {
		if near := math.Round(f.Value(i) * scale); math.Abs(near) <= MaxUnits && near/scale == f.Value(i) {
			return int64(near), nil
		}
	} else if n, whole := operators.Integer(column, i); whole && operators.IsInteger(column.DataType()) && max(n, -n) <= int64(MaxUnits/scale) {
		return n * int64(scale), nil
	}
	return unitsOf(operators.Text(column, i), decimals)
}

// ParseUnits is a number in whole units of so many decimals.
func ParseUnits(text string, decimals int) (int64, error) { return unitsOf(text, decimals) }

func unitsOf(text string, decimals int) (int64, error) {
	x, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xX") {
		return 0, fmt.Errorf("%q is no number", text)
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
	x.Mul(x, scale)
	if !x.IsInt() {
		f, err := strconv.ParseFloat(text, 64)
		near := math.Round(f * math.Pow10(decimals))
		// Sums in binary end in digits such as 0000001, which nobody has written.
		if err != nil || len(text) < 15 || math.Abs(f*math.Pow10(decimals)-near) > 1e-6*max(1, math.Abs(near)*1e-6) {
			return 0, fmt.Errorf("%s has more than %d decimals; say how many there are (decimals, --decimals)", text, decimals)
		}
		x.SetFloat64(near)
	}
	if n := x.Num(); x.IsInt() && n.IsInt64() && n.CmpAbs(big.NewInt(MaxUnits)) <= 0 {
		return n.Int64(), nil
	}
	return 0, fmt.Errorf("%s is beyond 2^53 units", text)
}
