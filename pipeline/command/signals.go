package command

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signals end a command, or first a search of it, if there is one that has its best so far.
type Signals struct {
	mu     sync.Mutex
	enough chan struct{} // nil: the command has no such search now
	cancel context.CancelFunc
}

// listen ends a context by the signals that ask for it: the first one, unless that ended a search; the next one ends the process at once.
func listen() (context.Context, *Signals) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Signals{cancel: cancel}
	taken := make(chan os.Signal, 4)
	signal.Notify(taken, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { signal.Stop(taken) })
	go func() {
		for x := range taken {
			s.Take(x != syscall.SIGHUP)
		}
	}()
	return ctx, s
}

// Take is what a signal does; one that is not patient ends a command even in its search.
func (s *Signals) Take(patient bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.enough == nil || !patient {
		s.cancel()
		return
	}
	close(s.enough)
	s.enough = nil
}

// search begins a search: the channel is closed by a signal that asks for its best so far. over ends it.
func (s *Signals) search() (enough <-chan struct{}, over func()) {
	if s == nil {
		return nil, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enough = make(chan struct{})
	return s.enough, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.enough = nil
	}
}

// enough is session.Options.Enough: it says that one signal more does not wait.
func (c *console) enough() (<-chan struct{}, func()) {
	enough, over := c.Signals.search()
	done := make(chan struct{})
	go func() {
		select {
		case <-enough:
			c.logger.Warn("interrupted: the search ends with the best so far; a second time ends at once, with nothing written")
		case <-done:
		}
	}()
	return enough, sync.OnceFunc(func() {
		close(done)
		over()
	})
}
