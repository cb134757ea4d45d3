package csvfile

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

var typeNames = map[string]arrow.DataType{
	"string": arrow.BinaryTypes.String, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16, "uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"date": arrow.FixedWidthTypes.Date32, "timestamp": &arrow.TimestampType{Unit: arrow.Microsecond},
}

// TypeNames are the types that a CSV column can be declared to have.
func TypeNames() []string { return slices.Sorted(maps.Keys(typeNames)) }

// A guess infers the type of a column: whole numbers if all values are written as such (01 and +1 are not: they are codes), else
// numbers, else text. Whole numbers that the type cannot tell apart are text too: those beyond 64 bits, and beyond 53 where others have a
// fraction.
type guess struct{ seen, notWhole, notNumber, large bool }

// exact is the largest whole number up to which doubles tell all apart.
const exact = 1 << 53

// guessesOf are the guesses of a file's columns; columns of the same name share one.
func guessesOf(all map[string]*guess, header []string) []*guess {
	g := make([]*guess, len(header))
	for i, name := range header {
		if all[name] == nil {
			all[name] = &guess{}
		}
		g[i] = all[name]
	}
	return g
}

func (g *guess) see(text string) {
	if text == "" || g.notNumber {
		return
	}
	g.seen = true
	if whole(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		g.notNumber = err != nil
		g.large = g.large || n > exact || n < -exact
	} else {
		g.notWhole, g.notNumber = true, !number(text)
	}
}

// whole tells whether a text is a whole number as it is written in decimal.
func whole(text string) bool {
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '0' && text != "0" {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// number tells whether a text is a plain decimal number.
func number(text string) bool {
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '+' || len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return false
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsInf(x, 0)
}

func (g *guess) typ() arrow.DataType {
	switch {
	case !g.seen || g.notNumber || g.notWhole && g.large:
		return arrow.BinaryTypes.String
	case g.notWhole:
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.PrimitiveTypes.Int64
}
