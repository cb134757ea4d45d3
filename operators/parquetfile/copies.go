package parquetfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas/pattern"
)

// Writers keep copies of the schema in the footer, each in its own form, and their readers trust these more than the file's. In an
// output with other columns a copy of which the form is plain names the new columns too; any other is dropped, since a wrong one hides
// columns, or makes the file unreadable.

// schemaCopies are the keys of copies, and what becomes of them: nil for those that are dropped.
var schemaCopies = map[string]func(text string, l *layout, f *file, fields []arrow.Field) (string, bool){
	"org.apache.spark.sql.parquet.row.metadata": sparkSchema,
	"parquet.avro.schema":                       avroSchema,
	"avro.schema":                               avroSchema,
	"iceberg.schema":                            nil, // columns have numbers there, which new ones lack
	"thrift.descriptor":                         nil,
	"thrift.class":                              nil,
	"parquet.proto.descriptor":                  nil,
	"parquet.proto.class":                       nil,
	"writer.model.name":                         modelName,
	"pandas":                                    pandasColumns,
	"r":                                         whileAllStay, // attributes of every column, the labels of its categories among them
	"huggingface":                               whileAllStay,
}

// carryCopy is what the output says under a key of the input, and whether it has it at all.
func (l *layout) carryCopy(key, text string, f *file, fields []arrow.Field) (string, bool) {
	carry, isCopy := schemaCopies[key]
	if !isCopy || l.sameColumns(f) {
		return text, true
	}
	if carry == nil {
		return "", false
	}
	return carry(text, l, f, fields)
}

// sameColumns tells whether the output has the columns of the input, in their order.
func (l *layout) sameColumns(f *file) bool {
	for i, k := range l.columns {
		if i != k {
			return false
		}
	}
	return len(l.columns) == len(f.columns)
}

// modelName keeps the name of the object model that wrote the file while its schema is carried over too.
func modelName(text string, _ *layout, _ *file, _ []arrow.Field) (string, bool) {
	if text != "avro" {
		return "", false
	}
	return text, true
}

// whileAllStay keeps what speaks of every column of the input while all of them are in the output.
func whileAllStay(text string, l *layout, f *file, _ []arrow.Field) (string, bool) {
	for k := range f.columns {
		if !slices.Contains(l.columns, k) {
			return "", false
		}
	}
	return text, true
}

// pandasColumns leaves out of pandas' description what it says of columns that the output does not have. It need not know of new ones.
func pandasColumns(text string, l *layout, f *file, fields []arrow.Field) (string, bool) {
	if _, all := whileAllStay(text, l, f, fields); all {
		return text, true
	}
	var about map[string]json.RawMessage
	var columns, index []json.RawMessage
	if json.Unmarshal([]byte(text), &about) != nil {
		return "", false
	}
	if about["columns"] == nil {
		return text, true
	}
	if json.Unmarshal(about["columns"], &columns) != nil {
		return "", false
	}
	stays := map[string]bool{}
	for _, k := range l.columns {
		if k >= 0 {
			stays[f.columns[k].name] = true
		}
	}
	columns = slices.DeleteFunc(columns, func(raw json.RawMessage) bool {
		var c struct {
			Field *string `json:"field_name"`
			Name  *string `json:"name"`
		}
		if json.Unmarshal(raw, &c) != nil {
			return true
		}
		name := cmp.Or(c.Field, c.Name)
		return name == nil || !stays[*name]
	})
	if json.Unmarshal(about["index_columns"], &index) == nil {
		index = slices.DeleteFunc(index, func(raw json.RawMessage) bool {
			var name string
			return json.Unmarshal(raw, &name) == nil && !stays[name]
		})
		about["index_columns"], _ = json.Marshal(index)
	}
	about["columns"], _ = json.Marshal(columns)
	made, err := json.Marshal(about)
	return string(made), err == nil
}

// withRows gives pandas' index of numbered rows the rows of the output, where some of the input's are left out.
func withRows(text string, rows int64) string {
	var about map[string]json.RawMessage
	var index []map[string]any
	if json.Unmarshal([]byte(text), &about) != nil || json.Unmarshal(about["index_columns"], &index) != nil {
		return text
	}
	for _, x := range index {
		start, isNumber := x["start"].(float64)
		step, isStep := x["step"].(float64)
		if x["kind"] == "range" && isNumber && isStep {
			x["stop"] = int64(start) + int64(step)*rows
		}
	}
	about["index_columns"], _ = json.Marshal(index)
	made, err := json.Marshal(about)
	if err != nil {
		return text
	}
	return string(made)
}

// fieldsOf replaces the fields of a JSON schema by those of the output: of columns that stay as they were, of new ones as make says.
// A schema that is about other columns than the file's cannot be carried over.
func (l *layout) fieldsOf(text string, f *file, fields []arrow.Field, make func(arrow.Field) (any, bool)) (string, bool) {
	var record map[string]json.RawMessage
	var old []json.RawMessage
	if json.Unmarshal([]byte(text), &record) != nil || json.Unmarshal(record["fields"], &old) != nil || len(old) != len(f.columns) {
		return "", false
	}
	for i, raw := range old {
		var named struct{ Name string }
		if json.Unmarshal(raw, &named) != nil || named.Name != f.columns[i].name {
			return "", false
		}
	}
	list := []json.RawMessage{}
	for _, k := range l.columns {
		if k >= 0 {
			list = append(list, old[k])
			continue
		}
		field, ok := make(fields[-1-k])
		raw, err := json.Marshal(field)
		if !ok || err != nil {
			return "", false
		}
		list = append(list, raw)
	}
	return withFields(text, list)
}

// withFields puts the list in the place of the member "fields" and leaves all else of the object as it is written.
func withFields(text string, list []json.RawMessage) (string, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return "", false
	}
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return "", false
		}
		if name != "fields" {
			continue
		}
		made, err := json.Marshal(list)
		if err != nil {
			return "", false
		}
		end := int(decoder.InputOffset())
		return text[:end-len(value)] + string(made) + text[end:], true
	}
	return "", false
}

// sparkSchema is Spark's StructType in JSON.
func sparkSchema(text string, l *layout, f *file, fields []arrow.Field) (string, bool) {
	return l.fieldsOf(text, f, fields, func(field arrow.Field) (any, bool) {
		t, ok := sparkType(field.Type)
		return struct {
			Name     string   `json:"name"`
			Type     any      `json:"type"`
			Nullable bool     `json:"nullable"`
			Metadata struct{} `json:"metadata"`
		}{Name: field.Name, Type: t, Nullable: true}, ok
	})
}

func sparkType(t arrow.DataType) (any, bool) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return sparkType(t.ValueType)
	case *arrow.ListType:
		element, ok := sparkType(t.Elem())
		return map[string]any{"type": "array", "elementType": element, "containsNull": true}, ok
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale), true
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return "timestamp_ntz", true
		}
		return "timestamp", true
	}
	name, ok := map[arrow.Type]string{arrow.BOOL: "boolean", arrow.INT8: "byte", arrow.INT16: "short", arrow.INT32: "integer",
		arrow.INT64: "long", arrow.UINT8: "short", arrow.UINT16: "integer", arrow.UINT32: "long", arrow.FLOAT32: "float",
		arrow.FLOAT64: "double", arrow.STRING: "string", arrow.LARGE_STRING: "string", arrow.BINARY: "binary", arrow.DATE32: "date"}[t.ID()]
	return name, ok
}

var avroName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// avroSchema is a record in Avro's JSON. Names have ASCII letters and digits there.
func avroSchema(text string, l *layout, f *file, fields []arrow.Field) (string, bool) {
	return l.fieldsOf(text, f, fields, func(field arrow.Field) (any, bool) {
		t, ok := avroType(field.Type)
		return struct {
			Name    string `json:"name"`
			Type    []any  `json:"type"`
			Default any    `json:"default"`
		}{Name: field.Name, Type: []any{"null", t}}, ok && avroName().MatchString(field.Name)
	})
}

func avroType(t arrow.DataType) (any, bool) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return avroType(t.ValueType)
	case *arrow.TimestampType:
		if t.Unit == arrow.Nanosecond {
			return nil, false
		}
		kind := "timestamp-millis"
		if t.Unit == arrow.Microsecond {
			kind = "timestamp-micros"
		}
		if t.TimeZone == "" {
			kind = "local-" + kind
		}
		return map[string]any{"type": "long", "logicalType": kind}, true
	}
	if slices.Contains([]arrow.Type{arrow.INT8, arrow.INT16, arrow.UINT8, arrow.UINT16, arrow.INT32}, t.ID()) {
		return "int", true
	}
	if t.ID() == arrow.DATE32 {
		return map[string]any{"type": "int", "logicalType": "date"}, true
	}
	name, ok := map[arrow.Type]string{arrow.BOOL: "boolean", arrow.INT64: "long", arrow.UINT32: "long", arrow.FLOAT32: "float",
		arrow.FLOAT64: "double", arrow.STRING: "string", arrow.LARGE_STRING: "string", arrow.BINARY: "bytes"}[t.ID()]
	return name, ok
}
