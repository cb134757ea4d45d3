package contingency

// A spilled is what a counter has on disk: entries of its runs one after the other in one file.
type spilled struct {
	file *tempFile
	runs []spilledRun
}

// A spilledRun is one run of entries (words of the key in the counter's provisional codes, count, sums).
type spilledRun struct {
	layout  layout
	at      int64 // bytes from the start of the file
	entries int
}

// spillWords is the size, in words, of the buffer through which a dense table is written.
const spillWords = 1 << 15

// Spill writes what the counter holds to the store and empties it; it can count on. An empty counter writes nothing. All spills of
// a counter must go to the same store. After an error the counter must not be used any more.
func (c *Counter) Spill(s *Store) error {
	if c.records == c.since {
		return nil
	}
	if c.spilled.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		c.spilled.file = f
	}
	run := spilledRun{layout: c.layout, at: c.spilled.file.end.Load()}
	write := func(entries []uint64) error {
		run.entries += len(entries) / (c.layout.words + 1 + 2*c.sums)
		p := bytesOf(entries)
		return c.spilled.file.write(p, c.spilled.file.reserve(len(p)))
	}
	if err := c.writeDense(write); err != nil {
		return err
	}
	if c.sorted != nil {
		c.sorted.flush()
		for _, run := range c.sorted.runs {
			if err := write(run); err != nil {
				return err
			}
		}
		c.sorted = nil
	}
	for p := range c.table.part {
		if err := write(c.table.compact(p)); err != nil {
			return err
		}
		c.table.part[p] = partition{}
	}
	c.spilled.runs = append(c.spilled.runs, run)
	c.dense = nil
	c.since = c.records
	return nil
}

func (c *Counter) writeDense(write func(entries []uint64) error) error {
	stride := 1 + 2*c.sums
	buffer := make([]uint64, 0, min(spillWords, len(c.dense)/stride*(1+stride)))
	for at := 0; at < len(c.dense); at += stride {
		if c.dense[at] == 0 {
			continue
		}
		if len(buffer)+1+stride > cap(buffer) {
			if err := write(buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
		buffer = append(append(buffer, uint64(at/stride)), c.dense[at:at+stride]...)
	}
	return write(buffer)
}
