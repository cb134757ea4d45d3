package parquetfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
)

// An output is a file that is being written: row groups first, then their page indexes, then the footer.
type output struct {
	path    string
	file    files.Output
	at      int64 // end of what is written
	sink    *Sink
	inputs  []*file // whose rows go into it, nil for other sources
	layouts map[*file]*layout
	shape   *footer // of an encoded file, for other sources
	indexed bool    // all chunks have page indexes

	copier     files.Copier // what takes stretches of all inputs without their bytes passing through here; nil for none
	later      []laterBytes
	laterBytes int

	groups  [][]byte // without the places of page indexes
	indexes [][]pageIndex
	rows    int64
}

// begin writes what a file begins with.
func (s *Sink) begin(i int, o *output, shape *encoded) error {
	o.sink, o.shape = s, shape.footer
	if s.source != nil {
		o.inputs = s.source.files
		if len(s.outputs) > 1 {
			o.inputs = s.source.files[i : i+1]
		}
		o.layouts = map[*file]*layout{}
		for _, f := range o.inputs {
			l, err := s.arrange(f)
			if err != nil {
				return err
			}
			o.layouts[f] = l
		}
	}
	o.indexed = o.allIndexed()
	o.findCopier()
	o.expectIndexes()
	if o.copier != nil {
		// Inputs begin with it too, and what follows it in them then is a part of the same stretch.
		if err := o.copy(o.inputs[0].file, 0, int64(len(magic))); err != nil {
			return o.failed(err)
		}
		return nil
	}
	if _, err := io.WriteString(o.file, magic); err != nil {
		return o.failed(err)
	}
	o.at = int64(len(magic))
	return nil
}

// write appends a unit.
func (o *output) write(u *unit, m *made) error {
	if m.rows == 0 {
		return nil
	}
	var err error
	if p, ok := u.parts[0].part.(*part); ok && o.sink.source != nil {
		err = o.splice(p, m)
	} else {
		return o.appendGroups(append(m.before, m.added))
	}
	if err != nil {
		return o.failed(err)
	}
	return nil
}

// appendGroups writes row groups that were encoded whole.
func (o *output) appendGroups(list []*encoded) error {
	for _, e := range list {
		for g := range e.footer.groups {
			if err := o.appendGroup(e, g); err != nil {
				return o.failed(err)
			}
		}
	}
	return nil
}

func (o *output) failed(err error) error {
	return fmt.Errorf("writing %s: %w", o.path, scratch.Reason(err))
}

// A chunkMove is a column chunk on its way into the output.
type chunkMove struct {
	chunk    thriftValue
	from, to int64 // where its pages are
	source   io.ReaderAt
	end      int64       // of the source's data
	input    bool        // a chunk of an input
	place    *chunkPlace // of its pages; nil if they were not looked for
	flat     bool        // a value a row
	later    bool        // it is not written yet
}

// splice writes a row group of the chunks of the input, or of those that were rewritten, and the added ones.
func (o *output) splice(p *part, m *made) error {
	l := o.layouts[p.file]
	group, err := p.file.footer.group(p.group)
	if err != nil {
		return err
	}
	chunks := group.field(groupColumns).kids
	if m.original != nil {
		if chunks, err = m.original.chunks(0); err != nil {
			return err
		}
		o.withoutIntervalBounds(p.file, chunks)
	}
	var added []thriftValue
	if len(o.sink.fields) > 0 {
		if added, err = m.added.chunks(0); err != nil {
			return err
		}
	}
	moves := make([]chunkMove, len(l.leaves))
	for i, leaf := range l.leaves {
		if leaf.added {
			o.nameChunk(&added[leaf.leaf], leaf.field)
			moves[i] = encodedMove(added[leaf.leaf], m.added)
			continue
		}
		if m.original != nil {
			moves[i] = encodedMove(chunks[leaf.leaf], m.original)
			continue
		}
		if moves[i], err = inputMove(p, chunks[leaf.leaf], leaf.leaf); err != nil {
			return err
		}
		if p.file != o.inputs[0] {
			o.distrust(p.file, &moves[i].chunk)
		}
	}
	if err := o.move(moves); err != nil {
		return err
	}
	l.keepSorting(&group)
	return o.addGroup(group, moves, m.rows)
}

// appendGroup writes a row group that was encoded whole.
func (o *output) appendGroup(e *encoded, g int) error {
	chunks, err := e.chunks(g)
	if err != nil {
		return err
	}
	moves := make([]chunkMove, len(chunks))
	for i := range chunks {
		o.nameChunk(&chunks[i], i)
		moves[i] = encodedMove(chunks[i], e)
	}
	if err := o.move(moves); err != nil {
		return err
	}
	group, err := e.footer.group(g)
	if err != nil {
		return err
	}
	rows := group.integer(groupRows, 0)
	return o.addGroup(thriftValue{kind: thriftStruct}, moves, rows)
}

func (e *encoded) ReadAt(b []byte, at int64) (int, error) {
	n := copy(b, e.data[min(at, int64(len(e.data))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (e *encoded) chunks(g int) ([]thriftValue, error) {
	if g >= len(e.footer.groups) {
		return nil, errors.New("nothing was encoded of a row group")
	}
	group, err := e.footer.group(g)
	if err != nil {
		return nil, err
	}
	return group.field(groupColumns).kids, nil
}

// nameChunk gives an encoded chunk the name of its column, and drops bounds that would be wrong.
func (o *output) nameChunk(chunk *thriftValue, field int) {
	meta := chunk.field(chunkMeta)
	path := meta.field(metaPath)
	path.kids[0] = thriftText(o.sink.fields[field].Name)
	if o.sink.formats[field].noBounds {
		dropBounds(chunk)
	}
}

func dropBounds(chunk *thriftValue) {
	if s := chunk.field(chunkMeta).field(metaStatistics); s != nil {
		for _, id := range []int16{1, 2, 5, 6, 7, 8} { // max, min, max_value, min_value, and whether they are exact
			s.remove(id)
		}
	}
	chunk.remove(chunkColumnIndex)
	chunk.remove(chunkColumnIndexLength)
}

// withoutIntervalBounds drops the bounds that the library makes of INTERVAL, which has no order.
func (o *output) withoutIntervalBounds(f *file, chunks []thriftValue) {
	leaf := 0
	for _, e := range f.footer.top.field(footerSchema).kids {
		if e.field(elementType) == nil {
			continue
		}
		fixedDecimal := e.integer(elementType, 0) >= physicalBytes && logicalOf(&e).kind == logicalDecimal // unsigned order
		if e.integer(6, -1) == 21 || fixedDecimal || e.integer(elementType, 0) == physicalInt96 || logicalOf(&e).kind == logicalFloat16 {
			dropBounds(&chunks[leaf])
		}
		leaf++
	}
}

// distrust drops the statistics of an input by another writer than the first's, whose name the output carries: readers judge
// old statistics by it.
func (o *output) distrust(f *file, chunk *thriftValue) {
	if f.footer.top.text(footerCreatedBy) != o.inputs[0].footer.top.text(footerCreatedBy) {
		chunk.field(chunkMeta).remove(metaStatistics)
	}
}

// move copies the pages of the chunks, those that lie side by side in one go, and notes their new places.
func (o *output) move(moves []chunkMove) error {
	o.indexes = append(o.indexes, make([]pageIndex, len(moves))) // in the order of the columns, the first one first: readers begin there
	order := make([]int, len(moves))
	for i := range moves {
		order[i] = i
		if moves[i].from < 4 || moves[i].to > moves[i].end || moves[i].to < moves[i].from {
			return fmt.Errorf("the pages of column %d are beyond the data", i)
		}
	}
	// Chunks of the input keep the order they have there, and the added ones follow them.
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &moves[a], &moves[b]
		if x.source != y.source {
			switch {
			case x.input && !y.input:
				return -1
			case y.input && !x.input:
				return 1
			}
			return 0
		}
		return cmp.Compare(x.from, y.from)
	})
	o.expectMoves(moves)
	for i := 0; i < len(order); {
		first := &moves[order[i]]
		if o.copier != nil && !first.input && moves[order[0]].input {
			if err := o.putOff(order[i], first); err != nil {
				return err
			}
			i++
			continue
		}
		to := first.to
		j := i + 1
		for ; j < len(order) && moves[order[j]].source == first.source && moves[order[j]].from == to; j++ {
			to = moves[order[j]].to
		}
		shift := o.at - first.from
		if err := o.copy(first.source, first.from, to); err != nil {
			return err
		}
		for ; i < j; i++ {
			m := &moves[order[i]]
			if err := o.index(order[i], m, shift); err != nil {
				return err
			}
			shiftChunk(&m.chunk, shift)
		}
	}
	return o.moveBlooms(moves)
}

func (o *output) copy(source io.ReaderAt, from, to int64) error {
	if in, ok := source.(files.Input); ok && o.copier != nil && o.copier.Copies(in) {
		err := o.copier.Copy(in, files.Stretch{From: from, To: to})
		if err == nil {
			o.at += to - from
		}
		return err
	}
	n, err := io.CopyBuffer(onlyWriter{o.file}, io.NewSectionReader(source, from, to-from), make([]byte, max(min(to-from, 1<<20), 1)))
	o.at += n
	if err == nil && n < to-from {
		err = errors.New("the input has become shorter")
	}
	return err
}

// onlyWriter hides ReadFrom, which would take a small buffer of its own.
type onlyWriter struct{ io.Writer }

func shiftChunk(chunk *thriftValue, shift int64) {
	meta := chunk.field(chunkMeta)
	for _, id := range []int16{metaData, metaIndex, metaDictionary} {
		if x := meta.integer(id, 0); x > 0 {
			meta.set(id, thriftInt(thriftI64, x+shift))
		}
	}
	if x := chunk.integer(chunkOffset, 0); x > 0 {
		chunk.set(chunkOffset, thriftInt(thriftI64, x+shift))
	}
}

// keepSorting renumbers the sorting columns; from the first that is gone on they do not hold.
func (l *layout) keepSorting(group *thriftValue) {
	sorting := group.field(groupSorting)
	if sorting == nil {
		return
	}
	for i := range sorting.kids {
		leaf, ok := l.newLeaf[int(sorting.kids[i].integer(1, -1))]
		if !ok {
			sorting.kids = sorting.kids[:i]
			break
		}
		sorting.kids[i].set(1, thriftInt(thriftI32, int64(leaf)))
	}
	if len(sorting.kids) == 0 {
		group.remove(groupSorting)
	}
}

// addGroup notes a row group whose chunks have been written.
func (o *output) addGroup(group thriftValue, moves []chunkMove, rows int64) error {
	columns := thriftValue{kind: thriftList, elem: thriftStruct}
	var whole, packed int64
	first := o.at
	for i := range moves {
		meta := moves[i].chunk.field(chunkMeta)
		whole += meta.integer(metaUncompressed, 0)
		packed += meta.integer(metaCompressed, 0)
		if from, _ := chunkRange(meta); !moves[i].later {
			first = min(first, from)
		}
		columns.kids = append(columns.kids, moves[i].chunk)
	}
	group.set(groupColumns, columns)
	group.set(groupBytes, thriftInt(thriftI64, whole))
	group.set(groupRows, thriftInt(thriftI64, rows))
	group.set(groupOffset, thriftInt(thriftI64, first))
	group.set(groupCompressed, thriftInt(thriftI64, packed))
	group.remove(groupOrdinal)
	if n := len(o.groups); n < 1<<15 {
		group.set(groupOrdinal, thriftInt(thriftI16, int64(n)))
	}
	o.groups = append(o.groups, group.append(nil))
	o.rows += rows
	if o.laterBytes >= laterMost {
		return o.writeLater()
	}
	return nil
}

// finish writes page indexes and footer.
func (o *output) finish(metadata map[string]string) error {
	if err := o.writeLater(); err != nil {
		return err
	}
	groups, err := o.writeIndexes()
	if err != nil {
		return err
	}
	f := &footer{top: o.top(metadata), groups: groups, start: o.at}
	b := f.append(nil)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	b = append(b, magic...)
	if _, err = o.file.Write(b); err != nil {
		return err
	}
	if written, ok := o.file.(io.ReaderAt); ok {
		return o.readBack(written, f.start+int64(len(b)))
	}
	return nil
}

// readBack opens what was written as a reader would, before it takes its place.
func (o *output) readBack(written io.ReaderAt, size int64) error {
	f, err := readFooter(written, size, maxPageBytes)
	if err != nil {
		return fmt.Errorf("what was written cannot be read: %w", err)
	}
	if n := f.top.integer(footerRows, -1); n != o.rows {
		return fmt.Errorf("what was written has %d of %d rows", n, o.rows)
	}
	w := &headerBytes{r: written}
	for g := range f.groups {
		group, err := f.group(g)
		if err != nil {
			return err
		}
		for i := range group.field(groupColumns).list() {
			meta := group.field(groupColumns).kids[i].field(chunkMeta)
			if meta.integer(metaValues, 0) == 0 {
				continue
			}
			from, to := chunkRange(meta)
			if _, _, err := readPageHeader(w, from, min(to, f.start)); err != nil {
				return fmt.Errorf("what was written cannot be read: row group %d, column chunk %d: %w", g, i, err)
			}
		}
	}
	return nil
}
