package pipeline

import (
	"context"
	"math"

	"microrisk/engine/contingency"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// A linked is a sample that is to be linked: the table of its key, and where its records are.
type linked struct {
	role   string
	job    *job
	count  *counting
	table  *contingency.Table
	inputs []string
	first  []place // the first record of each class
}

// openLinked opens a sample with a key.
func openLinked(ctx context.Context, role string, spec *schemas.Spec, o Options) (*linked, error) {
	if progress := o.Progress; progress != nil {
		o.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the records
				stage = "finding records of"
			}
			progress(stage+" "+role, done, total)
		}
	}
	j, err := openToLook(ctx, spec, suda.Config{}, o)
	if err != nil {
		return nil, inRole(role, err)
	}
	l := &linked{role: role, job: j, inputs: j.source.Inputs(), count: &counting{requests: keyRequest(*spec.Key), classes: true}}
	if j.chain, err = j.bind(true, append(operatorsOf(spec, &companions{}), l.count)...); err != nil {
		j.source.Close()
		return nil, inRole(role, err)
	}
	return l, nil
}

func (l *linked) Close() { l.job.source.Close() }

// read counts the sample, and finds the first record of each class.
func (l *linked) read(ctx context.Context) error {
	sink := &classSink{prepare: func() error {
		l.table = l.count.tables[0]
		l.first = make([]place, l.table.Classes())
		for i := range l.first {
			l.first[i] = place{math.MaxInt, 0}
		}
		return nil
	}, take: func(class int64, at place) {
		if comparePlaces(at, l.first[class]) < 0 {
			l.first[class] = at
		}
	}}
	_, err := l.job.chain.Run(ctx, l.job.source, sink, l.job.chainOptions())
	if err != nil {
		return inRole(l.role, err)
	}
	return nil
}

// records finds all records of some classes, in no order.
func (l *linked) records(ctx context.Context, wanted map[int64]bool) (map[int64][]place, error) {
	found := map[int64][]place{}
	sink := &classSink{prepare: func() error { return nil }, take: func(class int64, at place) {
		if wanted[class] {
			found[class] = append(found[class], at)
		}
	}}
	if _, err := l.job.chain.Run(ctx, l.job.source, sink, l.job.chainOptions()); err != nil {
		return nil, inRole(l.role, err)
	}
	return found, nil
}
