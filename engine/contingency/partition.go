package contingency

import "errors"

var errStopped = errors.New("contingency: another worker failed")

// sortPartitions takes partitions in order until there are none left.
func (e *external) sortPartitions(worker int) error {
	for {
		e.mu.Lock()
		p := e.next
		e.next++
		failed := e.err != nil
		e.mu.Unlock()
		if failed || p >= len(e.chains[0]) {
			return nil
		}
		var chains []chain
		for _, c := range e.chains {
			chains = append(chains, c[p])
		}
		if err := e.sortChains(worker, p, chains); err != nil {
			return err
		}
		if err := e.await(p); err != nil {
			return err
		}
		e.mu.Lock()
		e.turn++
		e.mu.Unlock()
		e.wake.Broadcast()
	}
}

// await returns when all partitions before p are done.
func (e *external) await(p int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.turn != p && e.err == nil {
		e.wake.Wait()
	}
	if e.err != nil {
		return errStopped
	}
	return nil
}

// sortChains sorts what is in some chains of partition p and appends it to the classes. One half of the worker's room holds the entries.
// When it is full, equal keys are added together; if that does not give much room, the range is split again.
func (e *external) sortChains(worker, p int, chains []chain) error {
	half := len(e.rooms[worker]) / 2
	data, spare := e.rooms[worker][:half], e.rooms[worker][half:2*half]
	n := 0
	for i := range chains {
		for c := &chains[i]; c.words > 0; {
			if err := e.ctx.Err(); err != nil {
				return err
			}
			if n+c.words+link > half {
				var err error
				if n, err = e.addUp(data[:n], spare); err != nil {
					return err
				}
				if n > half/2 {
					return e.splitAgain(worker, p, data[:n], spare, chains)
				}
			}
			entries, err := c.next(e.file, e.ranges.stride, data[n:])
			if err != nil {
				return err
			}
			n += len(entries)
		}
	}
	n, err := e.addUp(data[:n], spare)
	if err != nil {
		return err
	}
	if err := e.await(p); err != nil {
		return err
	}
	return e.out.append(data[:n], spare)
}

// addUp sorts entries, adds those of equal keys together and returns how many words are left.
func (e *external) addUp(entries, spare []uint64) (int, error) {
	e.ranges.sortEntries(entries, spare[:len(entries)], e.ranges.stride)
	n, err := e.ranges.collapse(entries)
	return n * e.ranges.stride, err
}

// splitAgain spreads the classes in data, sorted, and the rest of the chains over narrower ranges, and sorts those. The ranges end at
// classes in data, so that each holds fewer of them.
func (e *external) splitAgain(worker, p int, data, spare []uint64, chains []chain) error {
	stride := e.ranges.stride
	in, room := spare[:e.block], spare[e.block:]
	entries := int64(len(data) / stride)
	for _, c := range chains {
		entries += c.entries
	}
	least := max(min(leastBlock, len(room)/4), stride+link)
	n := entries*int64(stride)/int64(len(spare)/3) + 1
	n = max(2, min(n, int64(len(room)/least), int64(len(data)/stride/2)))
	ranges := &sorter{words: e.ranges.words, stride: stride}
	ranges.split(data, stride, int(n)-1)
	ranges.makeGuide()
	s := newSpreader(e.file, ranges, room, e.block)
	if err := s.add(data); err != nil {
		return err
	}
	for i := range chains {
		for c := &chains[i]; c.words > 0; {
			if err := e.ctx.Err(); err != nil {
				return err
			}
			entries, err := c.next(e.file, stride, in)
			if err != nil {
				return err
			}
			if err := s.add(entries); err != nil {
				return err
			}
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	for _, c := range s.chains {
		if err := e.sortChains(worker, p, []chain{c}); err != nil {
			return err
		}
	}
	return nil
}
