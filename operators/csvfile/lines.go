package csvfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"microrisk/schemas"
)

// A lines reads records of CSV as RFC 4180 has them, with any delimiter. Unlike the standard library's reader it tells a field in quotes
// from one without, leaves line breaks within quotes as they are, and has a largest record.
type lines struct {
	in     *bufio.Reader
	comma  []byte
	single bool // one column: an empty line is a record with an empty field
	number int  // of lines read

	buf    []byte
	spans  [][2]int // of the fields in buf
	long   []byte   // a line that does not fit in the buffer of in
	fields []string
	quoted []bool
	at     []int // line of each field
}

// largestRecord is the most bytes that a record may have: a file with a quote that is never closed is one record.
const largestRecord = 64 << 20

// inLine says in which line something is wrong.
func inLine(line int, format string, args ...any) error {
	return &schemas.InputError{Location: schemas.Location{Unit: "line", Number: int64(line)}, Err: fmt.Errorf(format, args...)}
}

func newLines(in *bufio.Reader, comma rune) *lines {
	return &lines{in: in, comma: utf8.AppendRune(nil, comma)}
}

// next reads a record into fields and quoted, which the next call overwrites. At the end it gives io.EOF.
func (l *lines) next() error {
	l.buf, l.spans, l.quoted, l.at = l.buf[:0], l.spans[:0], l.quoted[:0], l.at[:0]
	var line []byte
	var err error
	for {
		if line, err = l.line(); err != nil {
			return err
		}
		if len(trimEnd(line)) > 0 || l.single {
			break
		}
	}
	for {
		if len(line) > 0 && line[0] == '"' {
			if line, err = l.inQuotes(line[1:]); err != nil {
				return err
			}
		} else {
			if line, err = l.plain(line); err != nil {
				return err
			}
		}
		if line == nil {
			break
		}
	}
	// One string for all fields.
	text := string(l.buf)
	l.fields = l.fields[:0]
	for _, s := range l.spans {
		l.fields = append(l.fields, text[s[0]:s[1]])
	}
	return nil
}

// plain takes a field without quotes, and gives the rest of the line, nil if there is none.
func (l *lines) plain(line []byte) ([]byte, error) {
	text, rest := line, []byte(nil)
	if i := bytes.Index(line, l.comma); i >= 0 {
		text, rest = line[:i], line[i+len(l.comma):]
	} else {
		text = trimEnd(text)
	}
	if bytes.IndexByte(text, '"') >= 0 {
		return nil, inLine(l.number, "field %d: a quote stands within a field that does not begin with one", len(l.spans)+1)
	}
	l.add(text, false, l.number)
	return rest, nil
}

// inQuotes takes a field after its opening quote, and gives the rest of the line, nil if there is none.
func (l *lines) inQuotes(line []byte) ([]byte, error) {
	from, first := len(l.buf), l.number
	for {
		i := bytes.IndexByte(line, '"')
		switch {
		case i < 0:
			l.buf = append(l.buf, line...)
			if len(l.buf) > largestRecord {
				return nil, inLine(first, "field %d: a quote is not closed within %d MiB", len(l.spans)+1, largestRecord>>20)
			}
			next, err := l.line()
			if err == io.EOF {
				return nil, inLine(first, "field %d: a quote is not closed", len(l.spans)+1)
			} else if err != nil {
				return nil, err
			}
			line = next
			continue
		case i+1 < len(line) && line[i+1] == '"':
			l.buf = append(l.buf, line[:i+1]...)
			line = line[i+2:]
			continue
		}
		l.buf = append(l.buf, line[:i]...)
		l.spans, l.quoted, l.at = append(l.spans, [2]int{from, len(l.buf)}), append(l.quoted, true), append(l.at, first)
		rest := line[i+1:]
		switch {
		case len(trimEnd(rest)) == 0:
			return nil, nil
		case bytes.HasPrefix(rest, l.comma):
			return rest[len(l.comma):], nil
		}
		return nil, inLine(l.number, "field %d: something follows the closing quote", len(l.spans))
	}
}

func (l *lines) add(text []byte, quoted bool, line int) {
	from := len(l.buf)
	l.buf = append(l.buf, text...)
	l.spans, l.quoted, l.at = append(l.spans, [2]int{from, len(l.buf)}), append(l.quoted, quoted), append(l.at, line)
}

// line reads a line with its end. It is overwritten by the next call.
func (l *lines) line() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.in.ReadSlice('\n')
			if l.long = append(l.long, line...); len(l.long) > largestRecord {
				return nil, inLine(l.number+1, "more than %d MiB", largestRecord>>20)
			}
		}
		line = l.long
	}
	if len(line) > 0 && err == io.EOF {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	l.number++
	return line, nil
}

// trimEnd takes the end off a line.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// appendField appends a field to a line of CSV. A null is nothing, an empty text is two quotes.
func appendField(line []byte, text string, null, quote bool, comma []byte) []byte {
	if null {
		return line
	}
	if !quote && !needsQuotes(text, comma) {
		return append(line, text...)
	}
	line = append(line, '"')
	for i := range len(text) {
		if text[i] == '"' {
			line = append(line, '"')
		}
		line = append(line, text[i])
	}
	return append(line, '"')
}

// beginsOtherwise tells whether a file that begins with a name would be taken for something else.
func beginsOtherwise(name string) bool {
	for _, start := range []string{"\ufeff", "\xff\xfe", "\xfe\xff", "PAR1", "ARROW1", "\x1f\x8b"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return len(name) >= 4 && strings.EqualFold(name[:4], "sep=")
}

func needsQuotes(text string, comma []byte) bool {
	if text == "" || text[0] == ' ' || text[0] == '\t' {
		return true
	}
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\n' || c == '\r' || c == comma[0] {
			return true
		}
	}
	return false
}
