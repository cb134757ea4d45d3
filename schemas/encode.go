package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"microrisk/schemas/pattern"
)

// YAML is the spec as a person would write it: fields that are unset are left out, short lists and mappings stand on one line.
func (s *Spec) YAML() []byte {
	var b strings.Builder
	writeBlock(&b, s.ordered(), 0)
	return []byte(b.String())
}

func (s *Spec) ordered() Ordered {
	version := int64(Version)
	return s.fields(&version).Write()
}

// Write is what is said, as a spec would have it.
func (t Table) Write() Ordered {
	out := Ordered{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if value, said := f.form().Write(f); said {
			out = append(out, Member{f.Name, value})
		}
	}
	return out
}

// JSON is the spec as JSON, with all that is set.
func (s *Spec) JSON() ([]byte, error) { return json.Marshal(s.ordered()) }

// IndentedJSON is a value as a JSON document of two blanks an indent.
func IndentedJSON(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return []byte(escapeOdd(b.String())), nil
}

// MarshalJSON keeps the order.
func (o Ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(e.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(e.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Ordered is a mapping whose order counts; values are Ordered, []any, string, bool, int, int64 or float64.
type Ordered []Member

// A Member is an entry of a mapping.
type Member struct {
	Key   string
	Value any
}

const lineWidth = 100

// writeBlock writes a mapping or a list a line an entry; entries that are short stand on their line in flow style.
func writeBlock(b *strings.Builder, value any, indent int) {
	pad := strings.Repeat("  ", indent)
	switch v := value.(type) {
	case Ordered:
		for _, e := range v {
			b.WriteString(pad + scalarYAML(e.Key) + ":")
			writeRest(b, e.Value, indent, len(pad)+len(e.Key)+2)
		}
	case []any:
		for _, x := range v {
			b.WriteString(pad + "-")
			if o, ok := x.(Ordered); ok && len(o) == 1 {
				key := scalarYAML(o[0].Key)
				b.WriteString(" " + key + ":")
				writeRest(b, o[0].Value, indent+1, len(pad)+len(key)+4)
				continue
			}
			writeRest(b, x, indent, len(pad)+2)
		}
	}
}

func writeRest(b *strings.Builder, value any, indent, used int) {
	_, isList := value.([]any)
	open := isList && indent == 0 && slices.ContainsFunc(value.([]any), isMapping)
	if flow := flowYAML(value); oneLine(value) || len(flow)+used <= lineWidth && !open {
		b.WriteString(" " + flow + "\n")
		return
	}
	b.WriteString("\n")
	writeBlock(b, value, indent+1)
}

// oneLine tells whether a value stands on one line, however long that is: what has no parts.
func oneLine(v any) bool {
	switch v := v.(type) {
	case Ordered:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return true
}

func isMapping(v any) bool { _, ok := v.(Ordered); return ok }

func flowYAML(value any) string {
	var parts []string
	switch v := value.(type) {
	case Ordered:
		for _, e := range v {
			parts = append(parts, scalarYAML(e.Key)+": "+flowYAML(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, x := range v {
			parts = append(parts, flowYAML(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalarYAML(value)
}

// plain texts mean themselves without quotes, wherever they stand.
var (
	plain    = pattern.New(`^[A-Za-z_./][A-Za-z0-9_./+-]*$`)
	reserved = pattern.New(`(?i)^(true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$`)
)

// TextYAML tells whether a text without quotes is text to readers of YAML 1.1 too: "no" and "1_000" are not, to some.
func TextYAML(text string) bool {
	return !reserved().MatchString(text) && strings.IndexAny(text, "0123456789+-.") != 0
}

func scalarYAML(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if size := math.Abs(v); size >= 1e-9 && size < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		if plain().MatchString(v) && !reserved().MatchString(v) && !strings.HasPrefix(v, "...") {
			return v
		}
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return strconv.Quote(v)
		}
		return escapeOdd(strings.TrimSuffix(b.String(), "\n"))
	}
	return ""
}

// escapeOdd escapes, in JSON, the characters that it may have as they are and YAML may not.
func escapeOdd(text string) string {
	odd := func(r rune) bool { return r >= 0x7F && r < 0xA0 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF }
	if strings.IndexFunc(text, odd) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if odd(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
