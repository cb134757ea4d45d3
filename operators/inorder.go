package operators

import (
	"context"
	"sync"
)

// InOrder lets the parts of an output be written at the same time and come out one after the other. What comes for a part whose
// turn it is not yet waits in memory, up to a limit; beyond it the writer waits.
type InOrder struct {
	put   func(part int, item any) error
	limit int64

	mu      sync.Mutex
	turn    *sync.Cond
	current int
	waiting map[int]*pending
	held    int64
	err     error
}

type pending struct {
	items []any
	size  int64
	done  bool
}

// NewInOrder hands items to put, part after part and within a part as they came. limit is how many bytes may wait.
func NewInOrder(limit int64, put func(part int, item any) error) *InOrder {
	o := &InOrder{put: put, limit: limit, waiting: map[int]*pending{}}
	o.turn = sync.NewCond(&o.mu)
	return o
}

// Add takes an item of a part. It waits while too much is waiting already and it is not this part's turn; the part whose turn it is
// never waits.
func (o *InOrder) Add(ctx context.Context, part int, item any, size int64) error {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.turn.Broadcast()
	})
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && ctx.Err() == nil && part != o.current && o.held+size > o.limit {
		o.turn.Wait()
	}
	if o.err != nil {
		return o.err
	}
	if err := ctx.Err(); err != nil {
		return err // the parts before this one may go on
	}
	if part == o.current {
		o.err = o.put(part, item)
		return o.err
	}
	p := o.part(part)
	p.items, p.size = append(p.items, item), p.size+size
	o.held += size
	return nil
}

func (o *InOrder) part(n int) *pending {
	p := o.waiting[n]
	if p == nil {
		p = &pending{}
		o.waiting[n] = p
	}
	return p
}

// Done ends a part.
func (o *InOrder) Done(part int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.part(part).done = true
	for o.err == nil && o.waiting[o.current] != nil && o.waiting[o.current].done {
		delete(o.waiting, o.current)
		o.current++
		if p := o.waiting[o.current]; p != nil {
			o.flush(p)
		}
		o.turn.Broadcast()
	}
	return o.err
}

// flush puts what waited for the current part.
func (o *InOrder) flush(p *pending) {
	for _, item := range p.items {
		if o.err == nil {
			o.err = o.put(o.current, item)
		}
	}
	o.held -= p.size
	p.items, p.size = nil, 0
}

// Drop hands what still waits to a function, to be let go.
func (o *InOrder) Drop(release func(item any)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n, p := range o.waiting {
		for _, item := range p.items {
			release(item)
		}
		delete(o.waiting, n)
	}
}
