package sap

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/schemas"
)

// A fit is the making of a fitted.
type fit struct {
	*fitted
	table      *contingency.Table
	layout     *layout
	first      []int32 // of each area, its first class; one more at the end
	byCodes    [][]uint32
	impossible []bool
	key        perturb.Key
	known      []int64
	threshold  float64
	smallest   []int64 // of each area, -1 for none
	zeros      [][]float64
	margins    []marginLayout // released besides the tables
	joint      bool           // what is known comes of several tables together
	seed       uint64         // of estimates
	estimated  atomic.Bool    // SAP of a table was estimated
	unsharp    atomic.Bool    // bounds were not the tightest
	halfWidth  []float64      // of each area, the greatest of its intervals; nil where the release is not joint
	nowhere    int64          // records without a value of by
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	f := &fit{fitted: &fitted{bound: b}, table: t, known: b.Config.Known, threshold: *b.Config.Threshold}
	if err := f.fits(env, 0); err != nil {
		return nil, err
	}
	var err error
	if f.layout, err = newLayout(t, b.by, b.Config.Missing); err != nil {
		return nil, err
	}
	if err := operators.NoTotals(t); err != nil {
		return nil, err
	}
	if f.impossible, err = f.layout.impossible(b.Config.Impossible); err != nil {
		return nil, err
	}
	if f.margins, err = f.layout.margins(b.Config.Release.Margins, b.margins); err != nil {
		return nil, err
	}
	f.joint = b.Config.Release.Joint() && f.layout.cells > 0 // no record, and no levels: there is nothing to be a margin of
	f.seed = env.Seed
	if err := f.findAreas(ctx, env.Budget); err != nil {
		return nil, err
	}
	if err := f.fits(env, len(f.first)-1); err != nil {
		return nil, err
	}
	if f.nowhere > 0 {
		env.Warn("%s: %d records have no value of %s: they are in no table", b.prefix, f.nowhere, strings.Join(schemas.VariableNames(b.Config.By), ", "))
	}
	if b.Published != nil {
		if err := f.foreignRows(env); err != nil {
			return nil, err
		}
	}
	f.makeKey(env)
	f.makeRoom()
	if err := f.affordable(ctx, env); err != nil {
		return nil, err
	}
	if err := f.measure(ctx, env); err != nil {
		return nil, err
	}
	f.Columns = f.columns()
	f.Columns = f.columns()
	f.fit = f
	f.summary = f.summarise(env)
	return f.fitted, t.Err()
}

// fits tells whether the table and what is made of it go into the memory that is allowed.
func (f *fit) fits(env operators.Env, areas int) error {
	classes := int64(f.table.Classes())
	needs := classes*int64(8+8*len(f.known)) + int64(areas)*f.bytesOfArea()
	if !f.table.OnDisk() {
		needs += f.table.Bytes()
	}
	return env.InMemory(f.table, fmt.Sprintf("measuring tables of %d cells that are not empty", classes), needs, "take coarser cells")
}

// makeKey is what cells are perturbed by where nothing else is said.
func (f *fit) makeKey(env operators.Env) {
	b := f.bound
	switch {
	case b.Secret != nil:
		f.key = perturb.KeyOf(b.Secret)
	case b.Published == nil && b.Config.Release.Random():
		f.key = perturb.KeyOf(fmt.Appendf(nil, "microrisk seed %d", env.Seed))
		env.Warn(
			"%s: the published counts are made anew by the run's seed, which anybody can know; give the secret that they were published by, or the counts that were "+
				"published, for what really is released",
			b.prefix,
		)
	}
}
