package sap

import (
	"context"
	"fmt"

	"microrisk/engine/attribution"
	"microrisk/operators"
)

// Steps of package budget to publish a cell: as it is or rounded, or by a secret or from a file.
const (
	stepsToRound = 5
	stepsToDraw  = 800
)

// areasTried is of how many tables with margins the work is estimated, to tell that of all.
const areasTried = 32

// affordable refuses what is estimated to take too long.
func (f *fit) affordable(ctx context.Context, env operators.Env) error {
	areas := len(f.first) - 1
	work, counts := 0.0, []int64(nil)
	publish := float64(stepsToRound)
	if f.bound.Published != nil || f.bound.Config.Release.Random() {
		publish = stepsToDraw
	}
	for a := range areas {
		if a%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		work += publish * float64(f.layout.cells)
		if f.joint {
			continue
		}
		counts = counts[:0]
		for i := f.first[a]; i < f.first[a+1]; i++ {
			if f.area[i] == int32(a) {
				counts = append(counts, f.table.Count(int(i)))
			}
		}
		work += attribution.Work(counts, f.layout.cells, f.known)
	}
	advice := "take fewer or coarser variables, or smaller numbers of people known"
	if f.joint {
		advice = "take fewer or coarser variables, smaller areas, or fewer margins"
	}
	refused := func() error {
		return env.Budget.Steps(
			fmt.Sprintf("%d tables of %d cells, of which %d in all have people, are", areas, f.layout.cells, f.table.Classes()),
			work,
			advice,
		)
	}
	if err := refused(); err != nil || !f.joint {
		return err
	}
	estimated, err := f.workOfMargins(ctx, env)
	if err != nil {
		return err
	}
	work += estimated
	return refused()
}

// workOfMargins estimates the work of all tables with margins by that of some, evenly chosen.
func (f *fit) workOfMargins(ctx context.Context, env operators.Env) (float64, error) {
	areas := len(f.first) - 1
	tried, work := min(areas, areasTried), 0.0
	w := newTableWorker(f)
	for k := range tried {
		env.Progress("estimating the work", int64(k), int64(tried))
		a := k * areas / tried
		if err := w.count(ctx, a); err != nil {
			return 0, err
		}
		r, err := w.released(a)
		if err != nil {
			return 0, err
		}
		of, err := r.Work(ctx, attribution.ReleaseOptions{})
		if err != nil && ctx.Err() == nil {
			return 0, w.names.where(a, err)
		} else if err != nil {
			return 0, err
		}
		work += of
	}
	if tried > 0 {
		env.Progress("estimating the work", int64(tried), int64(tried))
		work *= float64(areas) / float64(tried)
	}
	return work, nil
}
