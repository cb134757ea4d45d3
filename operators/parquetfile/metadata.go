package parquetfile

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// top is the footer without its row groups.
func (o *output) top(metadata map[string]string) thriftValue {
	top := thriftValue{kind: thriftStruct}
	old := &o.shape.top
	if len(o.inputs) > 0 {
		old = &o.inputs[0].footer.top
	}
	for i, id := range old.ids {
		top.set(id, old.kids[i])
	}
	top.set(footerRows, thriftInt(thriftI64, o.rows))
	schema := thriftValue{kind: thriftList, elem: thriftStruct}
	var stored string
	if len(o.inputs) > 0 {
		l := o.layouts[o.inputs[0]]
		schema.kids = l.elements
		if orders := old.field(footerOrders); orders != nil {
			top.set(footerOrders, l.orders(orders))
		}
		stored = l.arrowSchema(keyValue(old, arrowSchemaKey), o.inputs[0], o.sink.fields)
	} else {
		schema.kids = append(schema.kids, old.field(footerSchema).kids[0])
		fields := make([]arrow.Field, len(o.sink.fields))
		for i := range o.sink.fields {
			schema.kids = append(schema.kids, o.sink.elements[i]...)
			fields[i] = storedField(o.sink.fields[i])
		}
		stored, _ = encodeArrowSchema(arrow.NewSchema(fields, nil))
	}
	top.set(footerSchema, schema)
	o.setKeyValues(&top, stored, metadata)
	return top
}

func (o *output) setKeyValues(top *thriftValue, stored string, metadata map[string]string) {
	list := thriftValue{kind: thriftList, elem: thriftStruct}
	seen := map[string]bool{}
	for i, f := range o.inputs {
		old := f.footer.top.field(footerKeyValues)
		if old == nil {
			continue
		}
		for _, kv := range old.kids {
			key := kv.text(1)
			if _, replaced := metadata[key]; replaced || key == arrowSchemaKey || i > 0 && seen[key] {
				continue
			}
			seen[key] = true
			text, kept := o.layouts[f].carryCopy(key, kv.text(2), f, o.sink.fields)
			if !kept {
				continue
			}
			if key == "pandas" && o.rows != o.inputRows() {
				text = withRows(text, o.rows)
			}
			if text != kv.text(2) {
				kv = keyValueOf(key, text)
			}
			list.kids = append(list.kids, kv)
		}
	}
	add := func(key, value string) { list.kids = append(list.kids, keyValueOf(key, value)) }
	if stored != "" {
		add(arrowSchemaKey, stored)
	}
	keys := make([]string, 0, len(metadata))
	for key := range metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if metadata[key] != "" { // else the input's own goes, and none comes
			add(key, metadata[key])
		}
	}
	top.remove(footerKeyValues)
	if len(list.kids) > 0 {
		top.set(footerKeyValues, list)
	}
}

// inputRows is the number of rows of the inputs.
func (o *output) inputRows() (n int64) {
	for _, f := range o.inputs {
		n += f.footer.top.integer(footerRows, 0)
	}
	return n
}

func keyValueOf(key, value string) thriftValue {
	return thriftValue{kind: thriftStruct, ids: []int16{1, 2}, kids: []thriftValue{thriftText(key), thriftText(value)}}
}

func keyValue(top *thriftValue, key string) string {
	if list := top.field(footerKeyValues); list != nil {
		for i := range list.kids {
			if list.kids[i].text(1) == key {
				return list.kids[i].text(2)
			}
		}
	}
	return ""
}
