package schemas

import (
	"bytes"
	"fmt"
	"strings"
)

// Marks of the part of a document that is made from the field tables.
const (
	referenceBegins = "<!-- made by go generate ./pipeline/documents -->\n"
	referenceEnds   = "<!-- end -->\n"
)

// WithReference is a Markdown document with the reference of the operators' options between its marks, or at its end.
func WithReference(document []byte) []byte {
	before, rest, found := bytes.Cut(document, []byte(referenceBegins))
	_, after, ended := bytes.Cut(rest, []byte(referenceEnds))
	if !found || !ended {
		before, after = append(bytes.TrimRight(document, "\n"), "\n\n## The options of the operators\n\n"...), nil
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(referenceBegins)
	for _, k := range kinds {
		b.WriteString(k.Reference())
	}
	b.WriteString(referenceEnds)
	b.Write(after)
	return b.Bytes()
}

// Reference is a section of Markdown on an operator: what it does, its options, its limits.
func (k *Kind) Reference() string {
	var b strings.Builder
	t := k.New().Fields()
	fmt.Fprintf(&b, "### %s\n\n%s\n\n| option | value | meaning |\n|---|---|---|\n", k.Name, k.Doc)
	t.reference(&b, "")
	for i, f := range k.Limits {
		if i == 0 {
			b.WriteString("\n| limit | of |\n|---|---|\n")
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, cell(f.Doc))
	}
	b.WriteByte('\n')
	return b.String()
}

// reference has a row a field, and those of the tables within.
func (t Table) reference(b *strings.Builder, path string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		doc := f.Doc
		if f.Flag != nil {
			doc = strings.TrimSpace(doc + " By flags: `--" + f.Flag.Name + "`.")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", path+f.Name, cell(f.value()), cell(doc))
		if n, ok := f.form().(interface{ shape() Table }); ok {
			n.shape().reference(b, path+f.Name+".")
		}
	}
}

// value says what a field may be.
func (f *Field) value() string {
	var parts []string
	switch f.To.(type) {
	case *string, **string, prefixForm:
		if f.Words == nil {
			parts = append(parts, "text")
		}
	case *bool, **bool:
		parts = append(parts, "true or false")
	case *int, *int64, **int:
		parts = append(parts, "whole number")
	case *float64, **float64:
		parts = append(parts, "number")
	case *[]string, *[]KeyVariable:
		parts = append(parts, "list of names")
	case *[]int64, *[]float64:
		parts = append(parts, "number or list of numbers")
	case **Key:
		parts = append(parts, "key")
	}
	if f.Words != nil {
		parts = append(parts, oneOfWords(f.Words))
	}
	if f.Range != nil {
		if r := f.Range; r.Most < 1e300 {
			parts = append(parts, fmt.Sprintf("%s to %s", plainly(r.Least), plainly(r.Most)))
		} else if r.Above {
			parts = append(parts, "above "+plainly(r.Least))
		} else {
			parts = append(parts, "at least "+plainly(r.Least))
		}
	}
	if f.Default != nil {
		value := f.Default
		if list, ok := value.([]float64); ok && len(list) == 1 {
			value = list[0]
		}
		parts = append(parts, fmt.Sprintf("default %v", value))
	}
	return strings.Join(parts, ", ")
}

// cell is text in a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
