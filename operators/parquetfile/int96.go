package parquetfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
)

// INT96 timestamps are a Julian day and the nanoseconds of it. Most fit into 64-bit nanoseconds since 1970, and are read as these. The
// usual "no end date" of the year 9999 does not: a column that has such a value is read in microseconds.

const (
	unixDay  = 2440588 // as a Julian day
	dayNanos = int64(86400 * 1e9)
)

// julian splits an INT96 into days since 1970 and the nanoseconds of that day.
func julian(b []byte) (days, nanos int64) {
	nanos = int64(binary.LittleEndian.Uint64(b))
	days = int64(int32(binary.LittleEndian.Uint32(b[8:]))) - unixDay
	days += nanos / dayNanos
	if nanos %= dayNanos; nanos < 0 {
		nanos += dayNanos
		days--
	}
	return days, nanos
}

// inNanos tells whether a time fits into 64-bit nanoseconds.
func inNanos(days, nanos int64) bool {
	const last = math.MaxInt64 / dayNanos // the days before -last and after last are not whole
	return days >= -last-1 && days <= last && (days < last || nanos <= math.MaxInt64-last*dayNanos) &&
		(days > -last-1 || nanos >= dayNanos-(math.MaxInt64-last*dayNanos)-1)
}

func inMicros(days int64) bool {
	return days > -math.MaxInt64/(dayNanos/1000) && days < math.MaxInt64/(dayNanos/1000)
}

// An int96Span is what the values of a column need.
type int96Span struct {
	wide bool // years that nanoseconds do not reach
	fine bool // nanoseconds that are no whole microseconds
	far  bool // years that microseconds do not reach
}

func (s *int96Span) see(data []byte) {
	for ; len(data) >= 12; data = data[12:] {
		days, nanos := julian(data)
		s.wide = s.wide || !inNanos(days, nanos)
		s.fine = s.fine || nanos%1000 != 0
		s.far = s.far || !inMicros(days)
	}
}

// settleInt96 looks through the INT96 columns of the files and gives them the unit that holds all values of a name. What cannot be
// decoded is left to whoever reads it.
func (s *Source) settleInt96(ctx context.Context) error {
	spans := map[string]*int96Span{}
	for _, f := range s.files {
		for i := range f.columns {
			c := &f.columns[i]
			if c.nested || c.trouble != nil || c.physical != physicalInt96 || c.isNullType {
				continue
			}
			if spans[c.name] == nil {
				spans[c.name] = &int96Span{}
			}
			for _, p := range f.groups {
				if err := ctx.Err(); err != nil {
					return err
				}
				guard(func() error { p.seeInt96(c, spans[c.name]); return nil })
			}
		}
	}
	for _, f := range s.files {
		for i := range f.columns {
			c := &f.columns[i]
			span := spans[c.name]
			switch {
			case span == nil || !span.wide || c.physical != physicalInt96 || c.nested || c.trouble != nil:
			case span.far:
				c.trouble = fmt.Errorf("an INT96 timestamp of it is more than 290,000 years from 1970")
			case span.fine:
				c.trouble = fmt.Errorf("its INT96 timestamps have nanoseconds and years outside of 1677 to 2262, which no type holds together")
			default:
				c.arrow = &arrow.TimestampType{Unit: arrow.Microsecond}
			}
		}
	}
	return nil
}

func (p *part) seeInt96(c *column, span *int96Span) {
	pages, err := p.openChunk(c, c.leaf, 1)
	if err != nil {
		return
	}
	defer pages.close()
	for {
		page, err := pages.next()
		if err != nil {
			break
		}
		if !page.coded {
			span.see(page.data)
		}
	}
	if pages.dictionary != nil {
		span.see(pages.dictionary.data)
	}
}

// convertInt96 makes timestamps of the unit of c.to.
func (c *conversion) convertInt96(v *vector, data []byte) error {
	micros := c.to.(*arrow.TimestampType).Unit == arrow.Microsecond
	v.data = resized(v.data, 8*v.n)
	for i := range v.n {
		days, nanos := julian(data[12*i:])
		var t int64
		switch {
		case micros && (!inMicros(days) || nanos%1000 != 0):
			return fmt.Errorf("an INT96 timestamp, %d days and %d ns from 1970, is no number of microseconds", days, nanos)
		case micros:
			t = days*(dayNanos/1000) + nanos/1000
		case !inNanos(days, nanos):
			return fmt.Errorf("an INT96 timestamp is %d days from 1970, outside of the years 1677 to 2262 that nanoseconds can hold", days)
		case days < 0: // in this order nothing overflows on the way
			t = (days+1)*dayNanos - (dayNanos - nanos)
		default:
			t = days*dayNanos + nanos
		}
		binary.LittleEndian.PutUint64(v.data[8*i:], uint64(t))
	}
	return nil
}
