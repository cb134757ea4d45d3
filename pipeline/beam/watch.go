package beam

import (
	"context"
	"sync"
	"time"

	"microrisk/operators/files"
)

// watched tells of the progress of a job by the files of its elements while it runs.
func (d *drive) watched(ctx context.Context, stage string, name func(element int) string, job func() error) error {
	parts := d.driver.Parts()
	var all int64
	rows := make([]int64, len(d.manifest.Elements))
	for e, element := range d.manifest.Elements {
		for _, p := range element {
			rows[e] += parts[p].Rows()
		}
		all += rows[e]
	}
	d.o.Progress(stage, 0, all)
	done := make(chan struct{})
	var watcher sync.WaitGroup
	if !files.Elsewhere(string(d.folder)) { // there each look is a request
		watcher.Go(func() { d.watch(ctx, done, func(now int64) { d.o.Progress(stage, now, all) }, rows, name) })
	}
	err := job()
	close(done)
	watcher.Wait()
	if err == nil {
		d.o.Progress(stage, all, all)
	}
	return err
}

func (d *drive) watch(ctx context.Context, done chan struct{}, tell func(rows int64), rows []int64, name func(element int) string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	there := make([]bool, len(rows))
	var sum int64
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for e := range rows {
			if there[e] {
				continue
			}
			if has, err := d.folder.has(ctx, name(e)); err == nil && has {
				there[e] = true
				sum += rows[e]
			}
		}
		tell(sum)
	}
}
