package csvfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// An opened is a file that is being read; its header has been read and checked.
type opened struct {
	*lines
	gzip *gzip.Reader // nil if it is not compressed
}

// Close ends the reading; the input stays open.
func (o *opened) Close() error {
	if o.gzip != nil {
		return o.gzip.Close()
	}
	return nil
}

// open starts to read a file.
func (f *file) open(o Options) (*opened, error) {
	r := &opened{}
	if err := f.start(r, o); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (f *file) start(r *opened, o Options) error {
	in := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.file.Size()), 1<<20)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return f.unreadable("its compression is broken: %w", err)
		}
		r.gzip, in = z, bufio.NewReaderSize(z, 1<<20)
	}
	if err := f.checkStart(in); err != nil {
		return err
	}
	comma, err := f.findDelimiter(in, o.Delimiter)
	if err != nil {
		return err
	}
	f.delimiter = comma
	r.lines = newLines(in, comma)
	if err := r.next(); err != nil {
		return f.wrong("reading the header: %w", err)
	}
	r.single = len(r.fields) == 1
	f.header = slices.Clone(r.fields)
	return f.checkHeader()
}

// checkStart finds other kinds of data by their first bytes.
func (f *file) checkStart(in *bufio.Reader) error {
	head, err := in.Peek(8)
	switch {
	case err != nil && err != io.EOF:
		return f.unreadable("%w", err)
	case len(head) == 0:
		return f.unreadable("it is empty: a CSV file has a header line")
	case bytes.HasPrefix(head, []byte("PAR1")):
		return f.unreadable("it is a Parquet file, not CSV")
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return f.unreadable("it is an Arrow IPC file, not CSV")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return f.noText()
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		in.Discard(3) // the byte order mark that some spreadsheets write
	}
	return nil
}

// noText refuses what other encodings, and files that are no text, begin with: a byte order mark, or zero bytes in the header.
func (f *file) noText() error {
	return f.unreadable("it is UTF-16, or no text: CSV is read as UTF-8; convert it first, as by iconv -f UTF-16 -t UTF-8")
}

func (f *file) checkHeader() error {
	seen := map[string]bool{}
	for i, name := range f.header {
		switch {
		case strings.Contains(name, "\x00"):
			return f.noText()
		case name == "" && i == 0:
			return f.wrong("column 1 has no name in the header (R writes row names so: write without them)")
		case name == "":
			return f.wrong("column %d has no name in the header", i+1)
		case !utf8.ValidString(name):
			return f.wrong("the name of column %d is not UTF-8: %s", i+1, latin)
		case strings.ContainsRune(name, '\r') && len(f.header) == 1:
			return f.unreadable("its lines end with CR alone: write them with LF or CR LF")
		case seen[name]:
			return f.wrong("the header names %q twice", name)
		}
		seen[name] = true
	}
	return nil
}

// latin is the way out for text in another encoding.
const latin = "convert the file first; from Latin-1 or Windows-1252: iconv -f WINDOWS-1252 -t UTF-8"

// Delimiters are those that are found by themselves.
const Delimiters = ",;\t|"

// sampled is how many bytes of a file are looked at to find its delimiter.
const sampled = 1 << 18

// findDelimiter is the delimiter that was given, that a first line sep=X says (as spreadsheets write it, and which is skipped), or that
// by which all lines at the start of the file have the same number of fields, more than one. Where several do so the comma is taken,
// and any other is to be given.
func (f *file) findDelimiter(in *bufio.Reader, given rune) (rune, error) {
	head, err := in.Peek(sampled)
	if err != nil && err != io.EOF {
		return 0, f.unreadable("%w", err)
	}
	whole := err == io.EOF
	if line, _, _ := bytes.Cut(head, []byte("\n")); len(line) >= 5 && strings.EqualFold(string(line[:4]), "sep=") {
		said, size := utf8.DecodeRune(line[4:])
		if len(trimEnd(line[4+size:])) == 0 && (given == 0 || given == said) && said != '"' && said != '\r' {
			in.Discard(min(len(line)+1, len(head)))
			return said, nil
		}
	}
	if given != 0 {
		return given, nil
	}
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1] // whole lines
	}
	var fit []rune
	for _, comma := range Delimiters {
		if alike(head, comma, whole) {
			fit = append(fit, comma)
		}
	}
	switch {
	case len(fit) == 0 || fit[0] == ',':
		return ',', nil
	case len(fit) > 1:
		return 0, f.unreadable("its fields may be separated by %q: say by which (delimiter)", fit)
	}
	return fit[0], nil
}

// alike tells whether all records of a text have the same number of fields, more than one. The last may be cut off unless it is whole.
func alike(text []byte, comma rune, whole bool) bool {
	l := newLines(bufio.NewReaderSize(bytes.NewReader(text), 1<<16), comma)
	fields := 0
	for {
		err := l.next()
		switch {
		case err == io.EOF || err != nil && !whole && fields > 0 && l.number > 1 && l.atEnd():
			return fields > 1
		case err != nil || fields > 0 && len(l.fields) != fields:
			return false
		}
		fields = len(l.fields)
	}
}

// atEnd tells whether nothing is left to be read.
func (l *lines) atEnd() bool {
	_, err := l.in.Peek(1)
	return err == io.EOF
}
