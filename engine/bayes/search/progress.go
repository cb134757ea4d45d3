package search

import (
	"context"
	"sync"
	"time"
)

// A progress passes on how far a search is, from any goroutine, some times a second.
type progress struct {
	mutex       sync.Mutex
	call        func(done, total int64)
	done, total int64
	last        time.Time // of a call, or of the start
	now         func() time.Time
}

const progressEvery = 100 * time.Millisecond

func newProgress(call func(done, total int64), total int64) *progress {
	return &progress{call: call, total: total, last: time.Now(), now: time.Now}
}

func (p *progress) add(n int64) {
	if p.call == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = min(p.done+n, p.total)
	if now := p.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.call(p.done, p.total)
	}
}

// finish says that all is done.
func (p *progress) finish() {
	if p.call != nil {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.call(p.total, p.total)
	}
}

// stopper tells cheaply whether a context has ended.
func stopper(ctx context.Context) func() bool {
	done := ctx.Done()
	return func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}
