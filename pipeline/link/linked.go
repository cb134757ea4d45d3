package link

import (
	"context"
	"math"

	"microrisk/engine/contingency"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A linked is a sample that is to be linked: the table of its key, and where its records are.
type linked struct {
	role   string
	job    *session.Job
	count  *session.Counting
	table  *contingency.Table
	inputs []string
	first  []session.Place // the first record of each class
}

// openLinked opens a sample with a key.
func openLinked(ctx context.Context, role string, spec *schemas.Spec, o session.Options) (*linked, error) {
	if progress := o.Progress; progress != nil {
		o.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the records
				stage = "finding records of"
			}
			progress(stage+" "+role, done, total)
		}
	}
	j, err := session.OpenToLook(ctx, spec, o)
	if err != nil {
		return nil, session.InRole(role, err)
	}
	l := &linked{role: role, job: j, inputs: j.Source.Inputs(), count: &session.Counting{Requests: session.KeyRequest(*spec.Key), Classes: true}}
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), l.count)...); err != nil {
		j.Source.Close()
		return nil, session.InRole(role, err)
	}
	return l, nil
}

func (l *linked) Close() { l.job.Source.Close() }

// read counts the sample, and finds the first record of each class.
func (l *linked) read(ctx context.Context) error {
	sink := &session.ClassSink{Prepare: func() error {
		l.table = l.count.Tables[0]
		l.first = make([]session.Place, l.table.Classes())
		for i := range l.first {
			l.first[i] = session.Place{Input: math.MaxInt, Row: 0}
		}
		return nil
	}, Take: func(class int64, at session.Place) {
		if session.ComparePlaces(at, l.first[class]) < 0 {
			l.first[class] = at
		}
	}}
	_, err := l.job.Chain.Run(ctx, l.job.Source, sink, l.job.ChainOptions())
	if err != nil {
		return session.InRole(l.role, err)
	}
	return nil
}

// records finds all records of some classes, in no order.
func (l *linked) records(ctx context.Context, wanted map[int64]bool) (map[int64][]session.Place, error) {
	found := map[int64][]session.Place{}
	sink := &session.ClassSink{Take: func(class int64, at session.Place) {
		if wanted[class] {
			found[class] = append(found[class], at)
		}
	}}
	if _, err := l.job.Chain.Run(ctx, l.job.Source, sink, l.job.ChainOptions()); err != nil {
		return nil, session.InRole(l.role, err)
	}
	return found, nil
}
