package parquetfile

import (
	"errors"
	"slices"

	"microrisk/engine/scratch"
	"microrisk/operators"
	"microrisk/operators/files"
)

// Files that are far away cost a round trip a read: what will be read of them is told beforehand, and what the footer tells is not
// looked up again.

// expect tells a distant file which column chunks will be read.
func (p *part) expect(want []operators.Want) {
	far, ok := p.file.file.(files.Distant)
	if !ok {
		return
	}
	var list []files.Stretch
	for _, w := range want {
		i, has := p.file.byName[w.Name]
		if !has || i < 0 {
			continue
		}
		if c, err := p.chunk(p.file.columns[i].leaf); err == nil && !c.odd {
			list = append(list, files.Stretch{From: c.from, To: min(c.to, p.file.footer.start)})
		}
	}
	far.Expect(list...)
}

// chunksAbut tells whether the footer speaks true of where the column chunks are: each ends where something else begins that it names,
// and none begins within another. Then the pages need not be looked for.
func (f *file) chunksAbut() bool {
	f.settled.Do(func() {
		begins := map[int64]bool{f.footer.start: true}
		var chunks []files.Stretch
		for g := range f.footer.groups {
			group, err := f.footer.group(g)
			if err != nil {
				return
			}
			for i := range group.field(groupColumns).kids {
				c := &group.field(groupColumns).kids[i]
				meta := c.field(chunkMeta)
				from, to := chunkRange(meta)
				if data := meta.integer(metaData, 0); from < 4 || to < from || to > f.footer.start || data < from || data > to {
					return
				}
				chunks = append(chunks, files.Stretch{From: from, To: to})
				for _, at := range []int64{from, c.integer(chunkColumnIndex, 0), c.integer(chunkOffsetIndex, 0), meta.integer(metaBloom, 0)} {
					begins[at] = true
				}
			}
		}
		slices.SortFunc(chunks, func(a, b files.Stretch) int { return int(max(-1, min(1, a.From-b.From))) })
		for i, c := range chunks {
			if !begins[c.To] || i > 0 && chunks[i-1].To > c.From {
				return
			}
		}
		f.abut = true
	})
	return f.abut
}

// findCopier finds out whether the output takes stretches of all its inputs by itself.
func (o *output) findCopier() {
	copier, ok := o.file.(files.Copier)
	if !ok || len(o.inputs) == 0 {
		return
	}
	for _, f := range o.inputs {
		if !copier.Copies(f.file) {
			return
		}
	}
	o.copier = copier
}

// expectIndexes tells distant inputs that all their page indexes will be read.
func (o *output) expectIndexes() {
	if !o.indexed {
		return
	}
	for _, f := range o.inputs {
		far, ok := f.file.(files.Distant)
		if !ok {
			continue
		}
		var list []files.Stretch
		for _, p := range f.groups {
			group, err := f.footer.group(p.group)
			if err != nil {
				return
			}
			chunks := group.field(groupColumns).kids
			for leaf := range o.layouts[f].newLeaf {
				for _, id := range [][2]int16{{chunkColumnIndex, chunkColumnIndexLength}, {chunkOffsetIndex, chunkOffsetIndexLength}} {
					at := chunks[leaf].integer(id[0], 0)
					list = append(list, files.Stretch{From: at, To: at + chunks[leaf].integer(id[1], 0)})
				}
			}
		}
		far.Expect(list...)
	}
}

// expectMoves tells a distant input what of its chunks will be copied by way of here.
func (o *output) expectMoves(moves []chunkMove) {
	var far files.Distant
	var list []files.Stretch
	for i := range moves {
		in, ok := moves[i].source.(files.Distant)
		if !ok {
			continue
		}
		far = in
		if o.copier == nil {
			list = append(list, files.Stretch{From: moves[i].from, To: moves[i].to})
		}
		meta := moves[i].chunk.field(chunkMeta)
		if from, n := meta.integer(metaBloom, 0), meta.integer(metaBloomLength, 0); from >= 4 && n > 0 && n <= moves[i].end {
			list = append(list, files.Stretch{From: from, To: from + n})
		}
	}
	if far != nil {
		far.Expect(list...)
	}
}

// laterBytes are a chunk that was made here, or a bloom filter, of a row group that is written already: between stretches that the
// store copies itself there must be nothing, or much.
type laterBytes struct {
	group, chunk int
	data         []byte
	from         int64 // where it was
	bloom        bool
}

// laterMost is how many bytes are put off: more than stores demand of what stands between what they copy.
const laterMost = 8 << 20

// putOff keeps an encoded chunk for later.
func (o *output) putOff(i int, m *chunkMove) error {
	data := make([]byte, m.to-m.from)
	if _, err := m.source.ReadAt(data, m.from); err != nil {
		return err
	}
	if err := o.index(i, m, 0); err != nil {
		return err
	}
	m.later = true
	o.later, o.laterBytes = append(o.later, laterBytes{group: len(o.groups), chunk: i, data: data, from: m.from}), o.laterBytes+len(data)
	return nil
}

// putOffBloom keeps a bloom filter for later.
func (o *output) putOffBloom(i int, m *chunkMove, from, n int64) error {
	data := make([]byte, n)
	if _, err := m.source.ReadAt(data, from); err != nil {
		return scratch.Reason(err)
	}
	o.later, o.laterBytes = append(o.later, laterBytes{group: len(o.groups), chunk: i, data: data, bloom: true}), o.laterBytes+len(data)
	return nil
}

// writeLater writes what was put off, and says in the row groups where it is.
func (o *output) writeLater() error {
	for len(o.later) > 0 {
		g := o.later[0].group
		group, _, err := parseThriftStruct(o.groups[g])
		if err != nil {
			return err
		}
		chunks := group.field(groupColumns).kids
		for len(o.later) > 0 && o.later[0].group == g {
			l := o.later[0]
			if l.chunk >= len(chunks) {
				return errors.New("a row group has fewer chunks than were put off")
			}
			if err := o.place(&chunks[l.chunk], l); err != nil {
				return err
			}
			o.later = o.later[1:]
		}
		o.groups[g] = group.append(nil)
	}
	o.later, o.laterBytes = nil, 0
	return nil
}

// place writes what was put off of a chunk.
func (o *output) place(chunk *thriftValue, l laterBytes) error {
	if l.bloom {
		chunk.field(chunkMeta).set(metaBloom, thriftInt(thriftI64, o.at))
	} else {
		shiftChunk(chunk, o.at-l.from)
		if err := o.indexes[l.group][l.chunk].shift(o.at - l.from); err != nil {
			return err
		}
	}
	n, err := o.file.Write(l.data)
	o.at += int64(n)
	return err
}
