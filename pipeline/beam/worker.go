package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"microrisk/engine/contingency"
	"microrisk/engine/scratch"
	"microrisk/operators"
	"microrisk/operators/carried"
	"microrisk/pipeline/session"
	"microrisk/schemas/specfile"
)

// A state is a run as a worker process knows it: opened once, for all its elements.
type state struct {
	folder   folder
	manifest *manifest
	ctx      context.Context // ends with the run, where that is known

	mu    sync.Mutex
	job   *session.Job
	run   *operators.Apart
	stage int // up to which tables and operators are there
	users sync.WaitGroup
}

var (
	states   = map[folder]*state{}
	statesMu sync.Mutex
	room     = make(chan struct{}, max(runtime.GOMAXPROCS(0), 1)) // elements that a process takes at the same time
)

// attend makes the driver's own run that of the workers in its process; the function ends that, when none is at work.
func attend(ctx context.Context, d *drive) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &state{folder: d.folder, manifest: d.manifest, ctx: ctx, job: d.job, run: d.driver, stage: 1 << 30}
	statesMu.Lock()
	states[d.folder] = s
	statesMu.Unlock()
	return func() {
		cancel()
		statesMu.Lock()
		delete(states, d.folder)
		statesMu.Unlock()
		s.users.Wait()
	}
}

// stateOf is the state of a run. A process keeps one, that of the last run.
func stateOf(f folder) *state {
	statesMu.Lock()
	defer statesMu.Unlock()
	s := states[f]
	if s == nil {
		for other, old := range states {
			if old.ctx == context.Background() {
				delete(states, other)
				go old.close()
			}
		}
		s = &state{folder: f, ctx: context.Background()}
		states[f] = s
	}
	s.users.Add(1)
	return s
}

func (s *state) close() {
	s.users.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		s.run.Close()
		s.job.Source.Close()
	}
}

// ready gives a run in which the tables and operators before a stage are there, for one element.
func (s *state) ready(ctx context.Context, stage int) (*operators.Apart, *session.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		if err := s.load(ctx); err != nil {
			return nil, nil, err
		}
	}
	for s.stage < stage {
		if err := s.restore(ctx, s.stage); err != nil {
			return nil, nil, err
		}
		s.stage++
	}
	chain, err := s.job.Rebind()
	if err != nil {
		return nil, nil, err
	}
	job := *s.job
	job.Chain = chain
	return s.run.On(chain), &job, nil
}

// load opens the job that the manifest describes.
func (s *state) load(ctx context.Context) error {
	b, err := s.folder.get(ctx, manifestName)
	if err != nil {
		return err
	}
	m := &manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%s is damaged: %w", s.folder.path(manifestName), err)
	}
	spec, err := specfile.Decode(manifestName, m.Spec)
	if err != nil {
		return err
	}
	o := session.Options{Seed: m.Seed, Memory: m.Memory, Batch: m.Batch, InsecureSecret: m.Insecure, Spread: m.Spread, TempDir: scratch.TempDir()}
	job, err := session.Prepare(s.ctx, spec, o)
	if err != nil {
		return err
	}
	var run *operators.Apart
	if err = m.seen(ctx); err == nil { // after they were opened: it is what was opened that must be the same
		run, err = job.Chain.Apart(s.ctx, job.Source, job.ChainOptions())
	}
	if err != nil {
		job.Source.Close()
		return err
	}
	s.manifest, s.job, s.run, s.stage = m, job, run, 1
	return nil
}

// restore takes the tables and operators of a stage.
func (s *state) restore(ctx context.Context, n int) error {
	var tables []*contingency.Table
	for k := range s.run.Requests(n) {
		b, err := s.folder.get(ctx, tableName(n, k))
		if err != nil {
			return err
		}
		t, err := decode(ctx, b, s.job.Options.Memory, s.run.Store())
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	b, err := s.folder.get(ctx, fittedName(n))
	if err != nil {
		return err
	}
	fitted, err := carried.Decode(b)
	if err != nil {
		return err
	}
	return s.run.Restore(ctx, n, tables, fitted)
}
