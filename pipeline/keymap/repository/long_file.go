package repository

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// LongHeaders are those of tables of forms.
func LongHeaders() [][]string { return [][]string{CategoriesHeader, MetadataHeader, EdgesHeader} }

// longReader reads a table, whose fields are separated by commas, semicolons or tabs; the header is in lower case.
func longReader(from io.Reader) (*csv.Reader, []string, error) {
	b := bufio.NewReaderSize(from, 1<<20)
	first, _ := b.Peek(1 << 10)
	first, _, _ = bytes.Cut(bytes.TrimPrefix(first, []byte("\ufeff")), []byte("\n"))
	r := csv.NewReader(b)
	r.ReuseRecord = true
	for _, comma := range ";\t" {
		if bytes.ContainsRune(first, comma) && !bytes.ContainsRune(first, ',') {
			r.Comma = comma
		}
	}
	row, err := r.Read()
	if err != nil {
		return r, nil, err
	}
	header := slices.Clone(row)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.Trim(header[i], `"`)))
	}
	return r, header, nil
}

// openLong opens a table; one that ends in .gz is unpacked.
func openLong(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(strings.ToLower(path), ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// IsLong tells whether a file is a table of forms, by its header. One that is not there, or cannot be read, is none.
func IsLong(path string) bool {
	lower := strings.ToLower(path)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() ||
		!strings.HasSuffix(lower, ".csv") && !strings.HasSuffix(lower, ".csv.gz") {
		return false
	}
	f, err := openLong(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, header, err := longReader(f)
	return err == nil && slices.ContainsFunc(LongHeaders(), func(h []string) bool { return slices.Equal(h, header) })
}

// ReadFile takes the table of a file.
func (l *Long) ReadFile(path string) error {
	f, err := openLong(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return l.Read(path, f)
}

// Beside says which repository the catalogue comes to, before it is read: variables of that are taken with the categories that they have.
func (l *Long) Beside(r *Repository) { l.beside = r }

func (l *Long) conflict(format string, args ...any) {
	l.conflicts = append(l.conflicts, fmt.Sprintf(format, args...))
}

// known takes a variable from the repository if that has it.
func (l *Long) known(v *longVariable) bool {
	if l.beside == nil {
		return false
	}
	doc := l.beside.Variable(v.doc.Name)
	if doc == nil {
		return false
	}
	names := NewNodeIndex(doc)
	v.doc, v.names = doc, &names
	return true
}

// knownEdge finds edges that a variable of the repository would have to get.
func (l *Long) knownEdge(v *Variable, parent, child, parentID, childID string) {
	g := l.beside.Graph(v.Name)
	if g != nil && g.Has(parentID) && g.Has(childID) && !g.Inside(childID, parentID) {
		l.conflict("variable %q, in %s, does not have %q as a part of %q", v.Name, l.beside.File(Variables, v.Name), child, parent)
	}
}

// mostConflicts is how many are told.
const mostConflicts = 20

// PutLong adds a catalogue that was read beside the repository. What would change something that is there is refused by its name.
func (c *Change) PutLong(l *Long) error {
	conflicts := slices.Clone(l.conflicts)
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		v := l.variables[name]
		for _, label := range slices.Sorted(maps.Keys(v.ids)) {
			if v.names != nil && v.ids[label] == "?"+label {
				conflicts = append(conflicts, fmt.Sprintf("variable %q, in %s, has no category %q", name, l.beside.File(Variables, name), label))
			}
		}
	}
	if len(conflicts) > mostConflicts {
		conflicts = append(conflicts[:mostConflicts:mostConflicts], fmt.Sprintf("and %d more", len(conflicts)-mostConflicts))
	}
	if conflicts != nil {
		return errors.New("nothing was written, since an import changes nothing that is there:\n" + strings.Join(conflicts, "\n"))
	}
	for _, v := range l.Variables {
		if err := c.Put(v, ""); err != nil {
			return err
		}
	}
	for _, f := range l.Forms {
		if err := c.Put(f, ""); err != nil {
			return err
		}
	}
	return nil
}

// A TakenBand is a label that was taken for a band of an interval variable by its name.
type TakenBand struct{ Variable, Label, ID string }

// TakenBands are those of interval variables of the repository.
func (l *Long) TakenBands() []TakenBand {
	var list []TakenBand
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		v := l.variables[name]
		if v.names == nil || v.doc.Scale != Interval {
			continue
		}
		for _, label := range slices.Sorted(maps.Keys(v.ids)) {
			list = append(list, TakenBand{name, label, v.ids[label]})
		}
	}
	return list
}
