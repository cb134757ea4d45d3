package parquetfile

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Physical types of Parquet.
const (
	physicalBoolean = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalBytes
	physicalFixed
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// maxFixed is the largest FIXED_LEN_BYTE_ARRAY that is taken for one.
const maxFixed = 1 << 24

// Members of the LogicalType union.
const (
	logicalString, logicalMap, logicalList, logicalEnum, logicalDecimal, logicalDate, logicalTime, logicalTimestamp = 1, 2, 3, 4, 5, 6, 7, 8

	logicalInteger, logicalNull, logicalJSON, logicalBSON, logicalUUID, logicalFloat16 = 10, 11, 12, 13, 14, 15

	logicalInterval = 1 << 10 // a converted type only
)

// convertedLogical maps the older ConvertedType to the logical type it stands for; times were adjusted to UTC.
var convertedLogical = map[int64]logicalType{
	0: {kind: logicalString}, 1: {kind: logicalMap}, 2: {kind: logicalMap}, 3: {kind: logicalList}, 4: {kind: logicalEnum},
	5: {kind: logicalDecimal}, 6: {kind: logicalDate},
	7: {kind: logicalTime, unit: arrow.Millisecond, utc: true}, 8: {kind: logicalTime, unit: arrow.Microsecond, utc: true},
	9: {kind: logicalTimestamp, unit: arrow.Millisecond, utc: true}, 10: {kind: logicalTimestamp, unit: arrow.Microsecond, utc: true},
	11: {kind: logicalInteger, width: 8}, 12: {kind: logicalInteger, width: 16}, 13: {kind: logicalInteger, width: 32}, 14: {kind: logicalInteger, width: 64},
	15: {kind: logicalInteger, width: 8, signed: true}, 16: {kind: logicalInteger, width: 16, signed: true},
	17: {kind: logicalInteger, width: 32, signed: true}, 18: {kind: logicalInteger, width: 64, signed: true},
	19: {kind: logicalJSON}, 20: {kind: logicalBSON}, 21: {kind: logicalInterval},
}

type logicalType struct {
	kind             int
	width            int // integers, in bits
	signed, utc      bool
	unit             arrow.TimeUnit
	precision, scale int32
}

// A column is a top-level column of a file.
type column struct {
	name     string
	arrow    arrow.DataType
	metadata arrow.Metadata // of the stored Arrow field, and the number that the schema gives the field
	nested   bool
	leaf     int // number of its first leaf
	leaves   int
	elements int // its first schema element
	length   int // number of its schema elements
	trouble  error

	// Of a flat column:
	physical   int
	fixed      int // bytes of a FIXED_LEN_BYTE_ARRAY
	optional   bool
	unsigned   bool
	isNullType bool // UNKNOWN: every value is null
}

// columns lists the top-level columns of the file, with the Arrow types that hints (of ARROW:schema, nil for none) and the
// schema say.
func (f *footer) columns(hints *arrow.Schema) []column {
	schema := f.top.field(footerSchema)
	w := schemaWalk{elements: schema.kids, next: 1}
	n := int(schema.kids[0].integer(elementChildren, 0))
	list := make([]column, n)
	if hints != nil && hints.NumFields() != n {
		hints = nil // as other readers do: it is about another file
	}
	for i := range list {
		from, leaf := w.next, w.leaf
		e := &w.elements[from]
		c := column{name: e.text(elementName), leaf: leaf, elements: from}
		if repeated := e.integer(elementRepetition, 0) == 2; e.field(elementType) != nil && !repeated {
			w.next++
			w.leaf++
			c.flat(e)
			if hints != nil && hints.Field(i).Name == c.name {
				c.hint(hints.Field(i).Type)
			}
		} else {
			c.nested = true
			c.arrow = w.nested()
		}
		c.metadata = fieldMetadata(hints, i, c.name, e)
		c.leaves, c.length = w.leaf-leaf, w.next-from
		list[i] = c
	}
	return list
}

// fieldIDKey is the metadata in which Arrow's readers and writers keep the number of a field.
const fieldIDKey = "PARQUET:field_id"

// fieldMetadata is the metadata of a column as an Arrow field.
func fieldMetadata(hints *arrow.Schema, i int, name string, e *thriftValue) arrow.Metadata {
	values := map[string]string{}
	if hints != nil && hints.Field(i).Name == name {
		maps.Copy(values, hints.Field(i).Metadata.ToMap())
	}
	delete(values, fieldIDKey) // the schema says it
	if e.field(elementField) != nil {
		values[fieldIDKey] = strconv.FormatInt(e.integer(elementField, 0), 10)
	}
	return arrow.MetadataFrom(values)
}

type schemaWalk struct {
	elements []thriftValue
	next     int
	leaf     int
}

// nested makes a type that names the structure of a nested column, and passes over it.
func (w *schemaWalk) nested() arrow.DataType {
	e := &w.elements[w.next]
	w.next++
	var t arrow.DataType
	if e.field(elementType) != nil {
		w.leaf++
		c := column{}
		c.flat(e)
		t = c.arrow
		if t == nil {
			t = arrow.BinaryTypes.Binary
		}
	} else {
		n := int(e.integer(elementChildren, 0))
		fields := make([]arrow.Field, n)
		for i := range fields {
			name := w.elements[w.next].text(elementName)
			fields[i] = arrow.Field{Name: name, Type: w.nested(), Nullable: true}
		}
		t = groupType(logicalOf(e).kind, fields)
	}
	if e.integer(elementRepetition, 0) == 2 {
		t = arrow.ListOf(t)
	}
	return t
}

func groupType(kind int, fields []arrow.Field) arrow.DataType {
	if len(fields) != 1 {
		return arrow.StructOf(fields...)
	}
	list, ok := fields[0].Type.(*arrow.ListType)
	if !ok {
		return arrow.StructOf(fields...)
	}
	inner, isStruct := list.Elem().(*arrow.StructType)
	switch {
	case kind == logicalMap && isStruct && inner.NumFields() == 2:
		return arrow.MapOf(inner.Field(0).Type, inner.Field(1).Type)
	case kind == logicalList && isStruct && inner.NumFields() == 1:
		return arrow.ListOf(inner.Field(0).Type)
	case kind == logicalList:
		return list
	}
	return arrow.StructOf(fields...)
}

func logicalOf(e *thriftValue) logicalType {
	if u := e.field(10); u != nil && u.kind == thriftStruct && len(u.kids) == 1 {
		l := logicalType{kind: int(u.ids[0])}
		v := &u.kids[0]
		switch l.kind {
		case logicalDecimal:
			l.scale, l.precision = int32(v.integer(1, 0)), int32(v.integer(2, 0))
		case logicalInteger:
			l.width, l.signed = int(v.integer(1, 0)), isTrue(v.field(2))
		case logicalTime, logicalTimestamp:
			l.utc = isTrue(v.field(1))
			if unit := v.field(2); unit != nil && len(unit.ids) == 1 && unit.ids[0] >= 1 && unit.ids[0] <= 3 {
				l.unit = arrow.TimeUnit(unit.ids[0]) // Arrow: second 0, then as in Parquet
			}
		}
		return l
	}
	l := convertedLogical[e.integer(6, -1)]
	if l.kind == logicalDecimal {
		l.scale, l.precision = int32(e.integer(7, 0)), int32(e.integer(8, 0))
	}
	return l
}

func isTrue(v *thriftValue) bool { return v != nil && v.kind == thriftTrue }

// flat finds the type of a leaf; c.trouble says why there is none.
func (c *column) flat(e *thriftValue) {
	c.physical = int(e.integer(elementType, -1))
	c.optional = e.integer(elementRepetition, 0) == 1
	if c.physical < 0 || c.physical > physicalFixed {
		c.trouble = fmt.Errorf("unknown physical type %d", c.physical)
		return
	}
	if c.physical == physicalFixed {
		if c.fixed = int(e.integer(elementLength, 0)); c.fixed <= 0 || c.fixed > maxFixed {
			c.trouble = fmt.Errorf("FIXED_LEN_BYTE_ARRAY of %d bytes", c.fixed)
			return
		}
	}
	l := logicalOf(e)
	if c.arrow = c.logical(l); c.arrow != nil {
		return
	}
	if l.kind != 0 && l.kind <= logicalFloat16 {
		c.trouble = fmt.Errorf("physical type %s does not go with its logical type %d", physicalNames[c.physical], l.kind)
		return
	}
	c.arrow = c.plainType()
}

func (c *column) plainType() arrow.DataType {
	switch c.physical {
	case physicalBoolean:
		return arrow.FixedWidthTypes.Boolean
	case physicalInt32:
		return arrow.PrimitiveTypes.Int32
	case physicalInt64:
		return arrow.PrimitiveTypes.Int64
	case physicalInt96:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case physicalFloat:
		return arrow.PrimitiveTypes.Float32
	case physicalDouble:
		return arrow.PrimitiveTypes.Float64
	case physicalBytes:
		return arrow.BinaryTypes.Binary
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: c.fixed}
}

// logical is the type of a leaf by its logical type, nil if it has none or they do not go together.
func (c *column) logical(l logicalType) arrow.DataType {
	is := func(physical int) bool { return c.physical == physical }
	switch l.kind {
	case logicalString, logicalEnum, logicalJSON:
		if is(physicalBytes) {
			return arrow.BinaryTypes.String
		}
	case logicalBSON:
		if is(physicalBytes) {
			return arrow.BinaryTypes.Binary
		}
	case logicalDecimal:
		return c.decimal(l)
	case logicalDate:
		if is(physicalInt32) {
			return arrow.FixedWidthTypes.Date32
		}
	case logicalTime:
		switch {
		case is(physicalInt32) && l.unit == arrow.Millisecond:
			return arrow.FixedWidthTypes.Time32ms
		case is(physicalInt64) && l.unit > arrow.Millisecond:
			return &arrow.Time64Type{Unit: l.unit}
		}
	case logicalTimestamp:
		if is(physicalInt64) && l.unit > arrow.Second {
			t := &arrow.TimestampType{Unit: l.unit}
			if l.utc {
				t.TimeZone = "UTC"
			}
			return t
		}
	case logicalInteger:
		return c.integer(l)
	case logicalNull:
		c.isNullType = true
		return arrow.Null
	case logicalUUID:
		if is(physicalFixed) && c.fixed == 16 {
			return arrow.BinaryTypes.String // what people write and read
		}
	case logicalInterval:
		if is(physicalFixed) && c.fixed == 12 {
			return arrow.FixedWidthTypes.MonthDayNanoInterval
		}
	case logicalFloat16:
		if is(physicalFixed) && c.fixed == 2 {
			return arrow.FixedWidthTypes.Float16
		}
	}
	return nil
}

func (c *column) decimal(l logicalType) arrow.DataType {
	digits := map[int]int32{physicalInt32: 9, physicalInt64: 18, physicalBytes: 76, physicalFixed: 76}[c.physical]
	switch {
	case l.precision <= 0 || l.precision > digits || l.scale < 0 || l.scale > l.precision || c.fixed > 32:
		return nil
	case l.precision <= 38:
		return &arrow.Decimal128Type{Precision: l.precision, Scale: l.scale}
	}
	return &arrow.Decimal256Type{Precision: l.precision, Scale: l.scale}
}

func (c *column) integer(l logicalType) arrow.DataType {
	c.unsigned = !l.signed
	switch {
	case c.physical == physicalInt64 && l.width == 64, c.physical == physicalInt32 && (l.width == 8 || l.width == 16 || l.width == 32):
		return integerType(l.width, l.signed)
	}
	return nil
}

func integerType(width int, signed bool) arrow.DataType {
	switch {
	case width == 8 && signed:
		return arrow.PrimitiveTypes.Int8
	case width == 16 && signed:
		return arrow.PrimitiveTypes.Int16
	case width == 32 && signed:
		return arrow.PrimitiveTypes.Int32
	case signed:
		return arrow.PrimitiveTypes.Int64
	case width == 8:
		return arrow.PrimitiveTypes.Uint8
	case width == 16:
		return arrow.PrimitiveTypes.Uint16
	case width == 32:
		return arrow.PrimitiveTypes.Uint32
	}
	return arrow.PrimitiveTypes.Uint64
}

// hint takes from the Arrow schema that the writer stored what Parquet's types cannot say: time zones and durations.
func (c *column) hint(t arrow.DataType) {
	switch h := t.(type) {
	case *arrow.TimestampType:
		if have, ok := c.arrow.(*arrow.TimestampType); ok && have.TimeZone != "" && h.TimeZone != "" {
			c.arrow = &arrow.TimestampType{Unit: have.Unit, TimeZone: h.TimeZone}
		}
	case *arrow.DurationType:
		if c.arrow.ID() == arrow.INT64 {
			c.arrow = h
		}
	}
}

// typeName is what messages call a type.
func typeName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.StringType:
		return "string"
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return fmt.Sprintf("timestamp[%s, %s]", t.Unit, t.TimeZone)
		}
		return fmt.Sprintf("timestamp[%s]", t.Unit)
	}
	return strings.ToLower(t.String())
}

// unify is the type that holds the values of both, nil if they differ in more than integer width.
func unify(a, b arrow.DataType) arrow.DataType {
	switch {
	case arrow.TypeEqual(a, b), b.ID() == arrow.NULL:
		return a
	case a.ID() == arrow.NULL:
		return b
	case !arrow.IsInteger(a.ID()) || !arrow.IsInteger(b.ID()):
		return nil
	}
	wa, wb := a.(arrow.FixedWidthDataType).BitWidth(), b.(arrow.FixedWidthDataType).BitWidth()
	sa, sb := arrow.IsSignedInteger(a.ID()), arrow.IsSignedInteger(b.ID())
	if sa == sb {
		return integerType(max(wa, wb), sa)
	}
	if sa {
		wa, wb = wb, wa // wa: the unsigned one
	}
	if w := max(2*wa, wb); w <= 64 {
		return integerType(w, true)
	}
	return nil
}
