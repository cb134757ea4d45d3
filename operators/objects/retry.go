package objects

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Retries of a request.
var (
	tries = 5
	pause = 200 * time.Millisecond // before the second, and twice as long before each that follows
	quiet = 30 * time.Second       // without a byte, after which a request has failed
)

// guarded turns a panic of a provider's library, which an odd answer can bring about, into an error.
func guarded(try func() (bool, error)) (some bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Finally("the store gave an answer that makes no sense: %v", p)
		}
	}()
	return try()
}

// retry calls try until it succeeds, fails for good, or fails too often in a row with nothing to show for it.
func (in *Input) retry(try func(ctx context.Context, alive func()) (some bool, err error)) error {
	wait := pause
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancelCause(in.ctx)
		timer := time.AfterFunc(quiet, func() { cancel(fmt.Errorf("nothing came for %s", quiet)) })
		some, err := guarded(func() (bool, error) { return try(ctx, func() { timer.Reset(quiet) }) })
		timer.Stop()
		if why := context.Cause(ctx); err != nil && why != nil {
			err = why
		}
		cancel(nil)
		if in.ctx.Err() != nil {
			return context.Cause(in.ctx)
		}
		if err == nil {
			return nil
		}
		err = in.bucket.Reason(err)
		var final *Final
		if errors.As(err, &final) || errors.Is(err, ErrNone) || errors.Is(err, ErrReplaced) {
			return err
		}
		if some {
			n, wait = 0, pause
		} else if n >= tries {
			return fmt.Errorf("%w (tried %d times)", err, n)
		}
		select {
		case <-in.ctx.Done():
			return context.Cause(in.ctx)
		case <-time.After(wait):
		}
		wait *= 2
	}
}
