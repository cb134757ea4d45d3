package session

import (
	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
)

// Reasons why a column has no categories.
const (
	ReasonFloating = "floating point: a key variable only in bands"
	ReasonNested   = "nested: no key variable"
	ReasonType     = "values of this type are not compared"
	ReasonTwice    = "the input has more than one column of this name"
)

// Reason says why a column has no categories, "" if it has.
func Reason(in *arrow.Schema, f arrow.Field) string {
	t := f.Type
	if d, coded := t.(*arrow.DictionaryType); coded {
		t = d.ValueType
	}
	switch {
	case len(in.FieldIndices(f.Name)) > 1:
		return ReasonTwice
	case operators.HasEquality(f.Type):
		return ""
	case arrow.IsFloating(t.ID()):
		return ReasonFloating
	case arrow.IsNested(t.ID()):
		return ReasonNested
	}
	return ReasonType
}

// TypeName is a type as a person would write it.
func TypeName(t arrow.DataType) string {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return TypeName(d.ValueType) + " (dictionary)"
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return "string"
	case arrow.FLOAT64:
		return "double"
	case arrow.FLOAT32:
		return "float"
	case arrow.DATE32, arrow.DATE64:
		return "date"
	case arrow.MAP:
		m := t.(*arrow.MapType)
		return "map<" + TypeName(m.KeyType()) + ", " + TypeName(m.ItemType()) + ">"
	case arrow.STRUCT:
		return "struct"
	case arrow.LIST, arrow.LARGE_LIST:
		return "list<" + TypeName(t.(arrow.ListLikeType).Elem()) + ">"
	}
	return t.String()
}
