// Package beam runs jobs on a cluster by Apache Beam: row groups are counted and annotated by workers, tables are added up and operators
// fitted by the driver, and the bytes written are those of one machine.
//
//	outcome, err := pipeline.Run(ctx, spec, session.Options{Runner: &beam.Runner{Store: "/shared/runs"}})
//
// Which runner of Beam does the work is said by the flags of its SDK, which must have been parsed; without any it is the one of this
// process. The README says what goes where.
package beam

import (
	"context"
	"fmt"
	"os"
	"time"

	"microrisk/engine/contingency"
	"microrisk/engine/scratch"
	"microrisk/operators"
	"microrisk/operators/carried"
	"microrisk/operators/files"
	"microrisk/operators/parquetfile"
	"microrisk/pipeline/session"
)

// A Runner is a session.Runner. The zero value is good for workers in this process.
type Runner struct {
	// Store is the folder that driver and workers share: tables, fitted operators, pieces of the output. What is in it of a broken run is
	// not done again by the next one of the same spec and inputs. "": one for this run, in the folder for temporary files.
	Store string
	// Rows is how many rows an element has at least: row groups are taken together until there are as many. 0: a million.
	Rows int64
	// Shards is how many pieces tables are added up in, beside each other. 0: 16.
	Shards int
	// Attempts is how often a worker tries an element before the bundle fails. 0: 3.
	Attempts int

	reload bool // workers of this process read what the driver wrote, as those of others do; for tests
}

func (r *Runner) withDefaults() *Runner {
	d := *r
	if d.Rows <= 0 {
		d.Rows = 1 << 20
	}
	if d.Shards <= 0 {
		d.Shards = 16
	}
	if d.Attempts <= 0 {
		d.Attempts = 3
	}
	return &d
}

// Run is a session.Runner's.
func (r *Runner) Run(ctx context.Context, j *session.Job, sink operators.Sink, o operators.Options) (*operators.Report, error) {
	r = r.withDefaults()
	if r.Store == "" {
		dir, err := scratch.Folder(o.TempDir)
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		r.Store = dir
	} else {
		j.Options.Sweep(files.Join(r.Store, manifestName))
	}
	if err := answers(ctx); err != nil {
		return nil, err
	}
	driver, err := j.Chain.Apart(ctx, j.Source, o)
	if err != nil {
		return nil, err
	}
	defer driver.Close()
	m, err := r.manifest(ctx, j, driver)
	if err != nil {
		return nil, err
	}
	d := &drive{Runner: r, job: j, driver: driver, manifest: m, o: o, folder: folder(files.Join(r.Store, "microrisk-"+m.id()))}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	if here() && !r.reload {
		defer attend(ctx, d)()
	}
	report, err := d.run(ctx, sink)
	if err == nil {
		d.folder.remove()
		return report, nil
	}
	if there, failed := d.folder.has(ctx, manifestName); failed == nil && !there {
		return nil, fmt.Errorf("%s was removed during the run, as by another run of the same spec that was done before this one", d.folder)
	}
	return nil, err
}

// A drive is a run by its driver.
type drive struct {
	*Runner
	job      *session.Job
	driver   *operators.Apart
	manifest *manifest
	folder   folder
	o        operators.Options
}

// run does all stages.
func (d *drive) run(ctx context.Context, sink operators.Sink) (*operators.Report, error) {
	for n := 1; n <= d.driver.Stages(); n++ {
		if err := d.count(ctx, n); err != nil {
			return nil, err
		}
	}
	var wrote []*operators.Wrote
	if sink != nil {
		var err error
		if wrote, err = d.write(ctx, sink); err != nil {
			return nil, err
		}
	}
	return d.driver.Finish(ctx, sink, wrote)
}

// count counts stage n in a job, adds the tables up and fits.
func (d *drive) count(ctx context.Context, n int) error {
	name := fmt.Sprintf("counted-%d", n)
	if there, err := d.folder.has(ctx, name); err != nil {
		return err
	} else if !there {
		stage := "counting"
		if d.driver.Stages() > 1 {
			stage = fmt.Sprintf("counting, stage %d of %d", n, d.driver.Stages())
		}
		err := d.watched(ctx, stage, func(e int) string { return seenName(n, e) }, func() error { return d.submit(ctx, countJob(d, n)) })
		if err != nil {
			return err
		}
		if err := d.folder.put(ctx, name, []byte(time.Now().UTC().Format(time.RFC3339))); err != nil {
			return err
		}
	}
	var tables []*contingency.Table
	for k := range d.driver.Requests(n) {
		t, err := d.table(ctx, n, k)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	seen := make([]operators.Seen, len(d.manifest.Elements))
	for e := range seen {
		if err := d.folder.getGob(ctx, seenName(n, e), &seen[e]); err != nil {
			return err
		}
	}
	if err := d.driver.Take(ctx, n, tables, seen...); err != nil {
		return err
	}
	if here() && !d.reload {
		return nil
	}
	fitted, err := d.driver.Carry(n)
	if err != nil {
		return err
	}
	return d.folder.write(ctx, fittedName(n), func(w *files.Output) error { return carried.Encode(*w, fitted) })
}

// table adds up the shards of table k of stage n.
func (d *drive) table(ctx context.Context, n, k int) (*contingency.Table, error) {
	var shards []*contingency.Table
	for s := range d.manifest.Shards {
		b, err := d.folder.get(ctx, shardName(n, k, s))
		if err != nil {
			return nil, err
		}
		t, err := decode(ctx, b, d.o.Memory/2, d.driver.Store())
		if err != nil {
			return nil, err
		}
		shards = append(shards, t)
	}
	t, err := contingency.Combine(ctx, d.o.Workers, d.o.Memory, d.driver.Store(), shards...)
	if err != nil || here() && !d.reload {
		return t, err
	}
	return t, d.folder.write(ctx, tableName(n, k), func(w *files.Output) error { return contingency.Encode(ctx, *w, t) })
}

// write writes the pieces of the output in a job, and puts them together.
func (d *drive) write(ctx context.Context, sink operators.Sink) ([]*operators.Wrote, error) {
	to, ok := sink.(*parquetfile.Sink)
	if !ok {
		return nil, fmt.Errorf("the output is not Parquet")
	}
	if _, err := to.Begin(ctx, d.driver.Parts(), d.job.Chain.Output()); err != nil {
		return nil, err
	}
	left, err := d.left(ctx)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		if err := d.watched(ctx, "writing", wroteName, func() error { return d.submit(ctx, writeJob(d, left)) }); err != nil {
			return nil, err
		}
	}
	wrote := make([]*operators.Wrote, len(d.manifest.Elements))
	for e := range wrote {
		wrote[e] = &operators.Wrote{}
		if err := d.folder.getGob(ctx, wroteName(e), wrote[e]); err != nil {
			return nil, err
		}
	}
	for i := range d.driver.Parts() {
		piece, err := d.folder.get(ctx, pieceName(i))
		if err == nil {
			err = to.Take(ctx, i, piece)
		}
		if err != nil {
			return nil, err
		}
	}
	return wrote, nil
}

// left are the elements that are not written yet.
func (d *drive) left(ctx context.Context) ([]int, error) {
	var list []int
	for e := range d.manifest.Elements {
		there, err := d.folder.has(ctx, wroteName(e))
		if err != nil {
			return nil, err
		}
		if !there {
			list = append(list, e)
		}
	}
	return list, nil
}
