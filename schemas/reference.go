package schemas

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Marks of the part of a document that is made from the field tables.
const (
	referenceBegins = "<!-- made by go generate ./pipeline/documents -->\n"
	referenceEnds   = "<!-- end -->\n"
)

// WithReference is a Markdown document with the reference of the options of operators, of the spec of a run, of verbs and of the files of a
// repository of forms between its marks, or at its end.
func WithReference(document []byte, verbs, files []Verb) []byte {
	before, rest, found := bytes.Cut(document, []byte(referenceBegins))
	_, after, ended := bytes.Cut(rest, []byte(referenceEnds))
	if !found || !ended {
		before, after = append(bytes.TrimRight(document, "\n"), "\n\n"...), nil
	}
	var b strings.Builder
	b.Write(before)
	b.WriteString(referenceBegins + "## The options of the operators\n\n")
	for _, k := range kinds {
		b.WriteString(k.Reference())
	}
	b.WriteString("## The options of the verbs\n\nThose of the spec of a run, and of the verbs that have a spec of their own (`--spec`).\n\n")
	section(&b, "run", runDoc, new(Spec).fields(new(int64)))
	section(&b, "key", new(Key).Fields().Doc, new(Key).Fields())
	section(&b, "variable", "A variable of a key or of tables, where more is said of it than its name.", new(KeyVariable).Fields())
	for _, v := range verbs {
		t := new(head).of(v.New())
		section(&b, v.Name, t.Doc, t)
	}
	if len(files) > 0 {
		b.WriteString("## The files of keymap\n\nYAML or JSON, one object a file, in the folders `variables`, `forms`, `groups` and `scenarios`.\n\n")
	}
	for _, v := range files {
		t := new(head).of(v.New())
		section(&b, v.Name, t.Doc, t)
	}
	b.WriteString(referenceEnds)
	b.Write(after)
	return []byte(b.String())
}

// section tells the options of a field table.
func section(b *strings.Builder, name, doc string, t Table) {
	fmt.Fprintf(b, "### %s\n\n%s\n\n| option | value | meaning |\n|---|---|---|\n", name, doc)
	t.reference(b, "")
	b.WriteByte('\n')
}

// Reference is a section of Markdown on an operator: what it does, its options, its limits.
func (k *Kind) Reference() string {
	var b strings.Builder
	section(&b, k.Name, k.Doc, k.New().Fields())
	for i, f := range k.Limits {
		if i == 0 {
			b.WriteString("| limit | of |\n|---|---|\n")
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, cell(f.Doc))
	}
	if k.Limits != nil {
		b.WriteByte('\n')
	}
	return b.String()
}

// reference has a row a field, and those of the tables within.
func (t Table) reference(b *strings.Builder, path string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		inner, nested := f.form().(interface{ shape() Table })
		doc := f.Doc
		_, key := f.To.(**Key)
		switch {
		case f.part:
			doc, nested = "As in the spec of a [run](#run).", false
		case key:
			doc = new(Key).Fields().Doc + " See [key](#key)."
		case doc == "" && nested:
			doc = inner.shape().Doc
		}
		if f.Flag != nil {
			doc = strings.TrimSpace(doc + " By flags: `--" + f.Flag.Name + "`.")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", path+f.Name, cell(f.value(slices.Contains(t.Required, f.Name))), cell(doc))
		if nested {
			at := path + f.Name
			if many, ok := inner.(interface{ within() string }); ok {
				at += many.within()
			}
			inner.shape().reference(b, at+".")
		}
	}
}

// value says what a field may be.
func (f *Field) value(required bool) string {
	var parts []string
	if required {
		parts = append(parts, "required")
	}
	if kind := f.kind(); kind != "" {
		parts = append(parts, kind)
	}
	if f.Words != nil {
		parts = append(parts, oneOfWords(f.Words))
	}
	if r := f.Range; r != nil {
		least, most := "at least ", "at most "
		if r.Above {
			least = "above "
		}
		if r.Below {
			most = "below "
		}
		switch {
		case r.Most >= 1e300:
			parts = append(parts, least+plainly(r.Least))
		case r.Above || r.Below:
			parts = append(parts, least+plainly(r.Least)+" and "+most+plainly(r.Most))
		default:
			parts = append(parts, plainly(r.Least)+" to "+plainly(r.Most))
		}
	}
	if f.Default != nil {
		parts = append(parts, "default "+strings.Join(strings.Fields(strings.Trim(fmt.Sprint(f.Default), "[]")), ", "))
	}
	return strings.Join(parts, ", ")
}

// kind is what sort of value a field has, "" where its words or its meaning tell.
func (f *Field) kind() string {
	text := "text"
	if f.File {
		text = "path"
	}
	switch f.To.(type) {
	case *string, **string, prefixForm:
		if f.Words != nil {
			return ""
		}
		return text
	case *bool, **bool:
		return "true or false"
	case *int, *int64, **int:
		return "whole number"
	case *float64, **float64:
		return "number"
	case *[]string:
		if f.Words != nil {
			return ""
		}
		return f.several(text)
	case *[]KeyVariable:
		return f.several("name")
	case *[]int64, *[]float64:
		return f.several("number")
	case **Key:
		return "key"
	case operatorsForm:
		return "list of operators"
	case limitsForm:
		return "mapping of figures to limits"
	}
	switch f.form().Schema(f).at("type") {
	case "object":
		return "mapping"
	case "array":
		return "list"
	case "string":
		return "text"
	}
	return ""
}

// several values of a list, or also one alone.
func (f *Field) several(noun string) string {
	if f.Single {
		return noun + " or list of " + noun + "s"
	}
	return "list of " + noun + "s"
}

// cell is text in a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
