package beam

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"microrisk/engine/contingency"
	"microrisk/engine/scratch"
	"microrisk/pipeline/session"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string, []byte), error](&countFn{})
	register.DoFn3x1[context.Context, string, []byte, error](&keepFn{})
	register.DoFn2x1[context.Context, int, error](&writeFn{})
	register.Combiner1[[]byte](&mergeFn{})
	register.Emitter2[string, []byte]()
}

// countFn counts elements.
type countFn struct{ Task task }

func (f *countFn) ProcessElement(ctx context.Context, element int, emit func(string, []byte)) error {
	return f.Task.count(ctx, element, emit)
}

// keepFn writes the shards of tables.
type keepFn struct{ Task task }

func (f *keepFn) ProcessElement(ctx context.Context, key string, table []byte) error {
	return f.Task.keep(ctx, key, table)
}

// writeFn writes elements.
type writeFn struct{ Task task }

func (f *writeFn) ProcessElement(ctx context.Context, element int) error {
	return f.Task.write(ctx, element)
}

// mergeFn adds the tables of a shard up. What it has gathered is tables one after the other, each with its length before it.
type mergeFn struct{}

// gathered is after how many tables they are added up.
const gathered = 16

func (mergeFn) AddInput(list, table []byte) ([]byte, error) {
	list = append(binary.AppendUvarint(list, uint64(len(table))), table...)
	return added(list, gathered)
}

func (mergeFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	return added(append(a[:len(a):len(a)], b...), gathered)
}

func (mergeFn) ExtractOutput(list []byte) ([]byte, error) {
	list, err := added(list, 1)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	_, n := binary.Uvarint(list)
	return list[n:], nil
}

// added adds tables up when there are more than so many.
func added(list []byte, most int) ([]byte, error) {
	var tables [][]byte
	for rest := list; len(rest) > 0; {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(rest)-n) {
			return nil, errors.New("tables that are added up are damaged")
		}
		tables = append(tables, rest[n:n+int(length)])
		rest = rest[n+int(length):]
	}
	if len(tables) <= most {
		return list, nil
	}
	ctx := context.Background() // the SDK gives none here
	decoded := make([]*contingency.Table, len(tables))
	for i, b := range tables {
		var err error
		if decoded[i], err = decode(ctx, b, 0, nil); err != nil {
			return nil, err
		}
	}
	sum, err := contingency.Combine(ctx, 1, 0, nil, decoded...)
	if err != nil {
		return nil, err
	}
	b, err := encode(ctx, sum)
	return append(binary.AppendUvarint(make([]byte, 0, len(b)+10), uint64(len(b))), b...), err
}

// A submission is a job to be run.
type submission struct {
	pipeline *sdk.Pipeline
	token    string
	stage    int
}

func (d *drive) task(stage int) task {
	return task{Folder: string(d.folder), Token: rand.Text()[:8], Stage: stage, Attempts: d.Attempts}
}

// countJob counts all elements and adds their tables up, by shards.
func countJob(d *drive, stage int) submission {
	t := d.task(stage)
	p, s := sdk.NewPipelineWithRoot()
	elements := make([]int, len(d.manifest.Elements))
	for e := range elements {
		elements[e] = e
	}
	counted := sdk.ParDo(s, &countFn{t}, sdk.Reshuffle(s, sdk.CreateList(s, elements)))
	sdk.ParDo0(s, &keepFn{t}, sdk.CombinePerKey(s, &mergeFn{}, counted))
	return submission{p, t.Token, stage}
}

// writeJob writes elements.
func writeJob(d *drive, elements []int) submission {
	t := d.task(d.driver.Stages() + 1)
	p, s := sdk.NewPipelineWithRoot()
	sdk.ParDo0(s, &writeFn{t}, sdk.Reshuffle(s, sdk.CreateList(s, elements)))
	return submission{p, t.Token, t.Stage}
}

// submit runs a job, and tells the failure of the first element that failed.
func (d *drive) submit(ctx context.Context, job submission) error {
	if here() {
		clean, err := d.ownTemp()
		if err != nil {
			return err
		}
		defer clean()
	}
	ran := beamx.Run(ctx, job.pipeline)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for e := range d.manifest.Elements {
		if there, err := d.folder.has(ctx, failedName(job.token, e)); err != nil || !there {
			continue
		}
		var f failure
		if err := d.folder.getGob(ctx, failedName(job.token, e), &f); err != nil {
			return err
		}
		switch {
		case f.Final && f.Spec:
			return session.Wrong(&f)
		case f.Final || ran != nil:
			return &f
		}
	}
	if ran != nil {
		lines := strings.Split(strings.TrimSpace(ran.Error()), "\n")
		return fmt.Errorf("the job failed: %s", strings.TrimSpace(lines[len(lines)-1]))
	}
	return nil
}

// ownTemp makes a folder for temporary files of a job: the SDK makes one that it does not remove.
func (d *drive) ownTemp() (clean func(), err error) {
	dir, err := scratch.Folder(d.o.TempDir)
	if err != nil {
		return nil, err
	}
	free := scratch.Pin()
	before, set := os.LookupEnv("TMPDIR")
	os.Setenv("TMPDIR", dir)
	return func() {
		defer free()
		if os.Unsetenv("TMPDIR"); set {
			os.Setenv("TMPDIR", before)
		}
		os.RemoveAll(dir)
	}, nil
}
