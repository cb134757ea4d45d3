package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/stretchr/testify/require"
)

// A forgery is a file of one column, made byte by byte, so that pages can be what no writer makes.
type forgery struct {
	physical, fixed, converted int // converted type + 1, 0 for none
	repetition                 int // 0 required, 1 optional, 2 repeated
	codec                      int64
	rows, values               int64
	pages                      []forgedPage
	name                       *string
}

// A forgedPage has a body as it would be decompressed; packed is what lies in the file, the body itself without one.
type forgedPage struct {
	kind           int64
	encoding       int64
	values         int64
	nulls          int64
	levels         [2][]byte // repetition and definition levels, encoded
	body           []byte
	packed         []byte
	whole          int64 // that the header claims, 0 for what it is
	levelEncodings [2]int64
}

func fields(pairs ...any) thriftValue {
	v := thriftValue{kind: thriftStruct}
	for i := 0; i < len(pairs); i += 2 {
		var kid thriftValue
		switch x := pairs[i+1].(type) {
		case int:
			kid = thriftInt(thriftI32, int64(x))
		case int64:
			kid = thriftInt(thriftI64, x)
		case bool:
			kid = thriftValue{kind: thriftFalse}
			if x {
				kid.kind = thriftTrue
			}
		case string:
			kid = thriftText(x)
		case thriftValue:
			kid = x
		}
		v.set(int16(pairs[i].(int)), kid)
	}
	return v
}

func list(kids ...thriftValue) thriftValue {
	return thriftValue{kind: thriftList, elem: kids[0].kind, kids: kids}
}

func (p *forgedPage) append(b []byte) []byte {
	var levels []byte
	for _, l := range p.levels {
		if l != nil && p.kind == pageData {
			levels = binary.LittleEndian.AppendUint32(levels, uint32(len(l)))
		}
		levels = append(levels, l...)
	}
	whole := int64(len(levels) + len(p.body))
	packed := append(levels, p.body...)
	if p.packed != nil && p.kind == pageDataV2 {
		packed = append(append([]byte{}, p.levels[0]...), p.levels[1]...)
		packed = append(packed, p.packed...)
	} else if p.packed != nil {
		packed = p.packed
	}
	if p.whole != 0 {
		whole = p.whole
	}
	header := fields(1, int(p.kind), 2, int(whole), 3, int(len(packed)))
	levelEncodings := [2]int{encodingRLE, encodingRLE}
	for k, e := range p.levelEncodings {
		if e != 0 {
			levelEncodings[k] = int(e)
		}
	}
	switch p.kind {
	case pageData:
		header.set(5, fields(1, int(p.values), 2, int(p.encoding), 3, levelEncodings[1], 4, levelEncodings[0]))
	case pageDictionary:
		header.set(7, fields(1, int(p.values), 2, int(p.encoding)))
	case pageDataV2:
		header.set(8, fields(1, int(p.values), 2, int(p.nulls), 3, int(p.values), 4, int(p.encoding), 5, len(p.levels[1]), 6, len(p.levels[0])))
	}
	return append(header.append(b), packed...)
}

func (f *forgery) bytes() []byte {
	b := []byte(magic)
	var dictionary, data int64
	for i := range f.pages {
		if f.pages[i].kind == pageDictionary {
			dictionary = int64(len(b))
		} else if data == 0 {
			data = int64(len(b))
		}
		b = f.pages[i].append(b)
	}
	name := "x"
	if f.name != nil {
		name = *f.name
	}
	size := int64(len(b) - 4)
	element := fields(elementType, f.physical, elementRepetition, f.repetition, elementName, name)
	if f.fixed > 0 {
		element.set(elementLength, thriftInt(thriftI32, int64(f.fixed)))
	}
	if f.converted > 0 {
		element.set(6, thriftInt(thriftI32, int64(f.converted-1)))
	}
	meta := fields(metaType, f.physical, metaEncodings, list(thriftInt(thriftI32, 0)), metaPath, list(thriftText(name)), metaCodec, int(f.codec),
		metaValues, f.values, metaUncompressed, size, metaCompressed, size, metaData, data)
	if dictionary > 0 {
		meta.set(metaDictionary, thriftInt(thriftI64, dictionary))
	}
	group := fields(groupColumns, list(fields(chunkOffset, int64(0), chunkMeta, meta)), groupBytes, size, groupRows, f.rows)
	top := fields(
		footerVersion,
		1,
		footerSchema,
		list(fields(elementName, "schema", elementChildren, 1), element),
		footerRows,
		f.rows,
		footerGroups,
		list(group),
	)
	from := len(b)
	b = top.append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-from))
	return append(b, magic...)
}

// A codable is an encoding with values of a physical type; encode encodes a run of them.
type codable struct {
	name             string
	physical, fixed  int
	encoding         int64
	texts            []string // of the values, as they are read back
	encode           func(values []int) []byte
	dictionary       []byte
	dictionaryValues int64
}

const forgedValues = 61 // of which pages take some

func plainValue(physical int, b []byte, x int64) []byte {
	switch physical {
	case physicalInt32, physicalFloat:
		return binary.LittleEndian.AppendUint32(b, uint32(x))
	case physicalInt64, physicalDouble:
		return binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	s := forgedText(x)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func forgedText(x int64) string { return fmt.Sprint("text ", x*x*x+1e6)[:8+int(x)%5] }

// codables are all physical types in all encodings that the format has for them.
func codables(t testing.TB) []codable {
	var all []codable
	number := func(i int) int64 { return int64(int32([]int64{-2e9, 2e9, 17, -1, 5e5}[i%5]) + int32(i)) }
	for _, physical := range []int{physicalInt32, physicalInt64} {
		scale := int64(1)
		if physical == physicalInt64 {
			scale = 1 << 31
		}
		c := codable{name: physicalNames[physical], physical: physical}
		for i := range forgedValues {
			c.texts = append(c.texts, fmt.Sprint(number(i)*scale))
		}
		encodings := map[int64]func(values []int) []byte{
			encodingPlain: func(values []int) (b []byte) {
				for _, i := range values {
					b = plainValue(physical, b, number(i)*scale)
				}
				return b
			},
			encodingDelta: func(values []int) []byte {
				var wide []int64 // of 32-bit numbers too: differences of 33 bits
				for _, i := range values {
					wide = append(wide, number(i)*scale)
				}
				b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, wide)
				require.NoError(t, err)
				return b
			},
		}
		encodings[encodingSplit] = func(values []int) []byte { return split(encodings[encodingPlain](values), conversionWidth(physical)) }
		for e, encode := range encodings {
			c.encoding, c.encode = e, encode
			all = append(all, c)
		}
		all = append(all, dictionaryOf(t, c, encodings[encodingPlain]))
	}
	all = append(all, booleans()...)
	all = append(all, textCodables(t)...)
	all = append(all, floats(t)...)
	return all
}

func conversionWidth(physical int) int { return (&leafType{physical: physical}).width() }

func split(b []byte, width int) []byte {
	n := len(b) / width
	out := make([]byte, len(b))
	for i, x := range b {
		out[i%width*n+i/width] = x
	}
	return out
}

func dictionaryOf(t testing.TB, c codable, plain func([]int) []byte) codable {
	var every []int
	for i := range forgedValues {
		every = append(every, i)
	}
	c.encoding, c.dictionary, c.dictionaryValues = encodingDictionary, plain(every), forgedValues
	c.encode = func(values []int) []byte {
		codes := make([]int32, len(values))
		for i, v := range values {
			codes[i] = int32(v)
		}
		b, err := new(rle.DictionaryEncoding).EncodeInt32(nil, codes)
		require.NoError(t, err)
		return b
	}
	return c
}

func booleans() []codable {
	c := codable{name: "BOOLEAN", physical: physicalBoolean, encoding: encodingPlain}
	is := func(i int) byte { return byte(bits.OnesCount(uint(i/9)) & 1) }
	for i := range forgedValues {
		c.texts = append(c.texts, fmt.Sprint(is(i) == 1))
	}
	c.encode = func(values []int) []byte {
		b := make([]byte, (len(values)+7)/8)
		for k, i := range values {
			b[k/8] |= is(i) << (k % 8)
		}
		return b
	}
	r := c
	r.encoding = encodingRLE
	plain := c.encode
	r.encode = func(values []int) []byte {
		var b []byte
		for k := 0; k < len(values); {
			n := 1
			for k+n < len(values) && is(values[k+n]) == is(values[k]) {
				n++
			}
			if k+n < len(values) && n < 8 && k%8 == 0 && len(values)-k >= 8 {
				b = append(b, 1<<1|1, plain(values[k : k+8])[0])
				k += 8
				continue
			}
			b = append(binary.AppendUvarint(b, uint64(n)<<1), is(values[k]))
			k += n
		}
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	return []codable{c, r}
}

func textCodables(t testing.TB) []codable {
	c := codable{name: "BYTE_ARRAY", physical: physicalBytes}
	for i := range forgedValues {
		c.texts = append(c.texts, forgedText(int64(i)))
	}
	plain := func(values []int) (b []byte) {
		for _, i := range values {
			b = plainValue(physicalBytes, b, int64(i))
		}
		return b
	}
	together := func(values []int) (b []byte, offsets []uint32) {
		offsets = []uint32{0}
		for _, i := range values {
			b = append(b, forgedText(int64(i))...)
			offsets = append(offsets, uint32(len(b)))
		}
		return b, offsets
	}
	encode := func(e interface {
		EncodeByteArray(dst, src []byte, offsets []uint32) ([]byte, error)
	}) func(values []int) []byte {
		return func(values []int) []byte {
			b, offsets := together(values)
			out, err := e.EncodeByteArray(nil, b, offsets)
			require.NoError(t, err)
			return out
		}
	}
	p, l, d := c, c, c
	p.encoding, p.encode = encodingPlain, plain
	l.encoding, l.encode = encodingDeltaLength, encode(new(delta.LengthByteArrayEncoding))
	d.encoding, d.encode = encodingDeltaBytes, encode(new(delta.ByteArrayEncoding))
	all := []codable{p, l, d, dictionaryOf(t, c, plain)}
	f := codable{name: "FIXED", physical: physicalFixed, fixed: 3, encoding: encodingPlain}
	for i := range forgedValues {
		f.texts = append(f.texts, fmt.Sprintf("v%02d", i/2))
	}
	fixed := func(values []int) (b []byte) {
		for _, i := range values {
			b = append(b, f.texts[i]...)
		}
		return b
	}
	f.encode = fixed
	s, b := f, f
	s.encoding, s.encode = encodingSplit, func(values []int) []byte { return split(fixed(values), 3) }
	b.encoding, b.encode = encodingDeltaBytes, func(values []int) []byte {
		out, err := new(delta.ByteArrayEncoding).EncodeFixedLenByteArray(nil, fixed(values), 3)
		require.NoError(t, err)
		return out
	}
	return append(all, f, s, b, dictionaryOf(t, f, fixed))
}

func floats(t testing.TB) (all []codable) {
	for _, physical := range []int{physicalFloat, physicalDouble} {
		c := codable{name: physicalNames[physical], physical: physical, encoding: encodingPlain}
		value := func(i int) int64 {
			if physical == physicalFloat {
				return int64(math.Float32bits(float32(i) / 4))
			}
			return int64(math.Float64bits(float64(i) / 4))
		}
		for i := range forgedValues {
			c.texts = append(c.texts, fmt.Sprint(float64(i)/4))
		}
		plain := func(values []int) (b []byte) {
			for _, i := range values {
				b = plainValue(physical, b, value(i))
			}
			return b
		}
		c.encode = plain
		s := c
		s.encoding, s.encode = encodingSplit, func(values []int) []byte { return split(plain(values), conversionWidth(physical)) }
		all = append(all, c, s, dictionaryOf(t, c, plain))
	}
	return all
}

// A forgedRow has values of a codable; a null has none.
type forgedRow []int

// forgedRows are rows of all values: one each, one or none, or a list each.
func forgedRows(repetition int) (rows []forgedRow) {
	for i := 0; i < forgedValues; {
		switch repetition {
		case 0:
			rows = append(rows, forgedRow{i})
			i++
		case 1:
			if len(rows)%4 == 1 {
				rows = append(rows, nil)
			}
			rows = append(rows, forgedRow{i})
			i++
		default:
			var row forgedRow
			for k := 0; k < len(rows)%4 && i < forgedValues; k++ {
				row = append(row, i)
				i++
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// forge makes a file of the rows in two pages.
func (c *codable) forge(t testing.TB, version, repetition int, rows []forgedRow) *forgery {
	f := &forgery{physical: c.physical, fixed: c.fixed, repetition: repetition, rows: int64(len(rows))}
	if c.physical == physicalBytes {
		f.converted = 1
	}
	if c.dictionary != nil {
		f.pages = append(f.pages, forgedPage{kind: pageDictionary, values: c.dictionaryValues, body: c.dictionary})
	}
	for _, part := range [][]forgedRow{rows[:len(rows)/2], rows[len(rows)/2:]} {
		p := forgedPage{kind: pageData, encoding: c.encoding}
		if version == 2 {
			p.kind = pageDataV2
		}
		var repetitions, definitions []byte
		var values []int
		for _, row := range part {
			for k := range max(len(row), 1) {
				repetitions, definitions = append(repetitions, byte(min(k, 1))), append(definitions, byte(min(len(row), 1)))
			}
			values = append(values, row...)
		}
		p.values = int64(len(definitions))
		p.nulls = p.values - int64(len(values))
		p.body = c.encode(values)
		for k, levels := range [2][]byte{repetitions, definitions} {
			if repetition == 2 || k == 1 && repetition == 1 {
				var err error
				p.levels[k], err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, levels)
				require.NoError(t, err)
			}
		}
		f.values += p.values
		f.pages = append(f.pages, p)
	}
	return f
}
