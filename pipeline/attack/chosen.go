package attack

import (
	"context"
	"fmt"
	"strings"

	"microrisk/engine/attack"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
)

// chosenClasses is what an attack on chosen classes needs.
type chosenClasses struct {
	sample, population *contingency.Table // population is nil if it is not known
	classes            []attack.Class     // nil if the population is not known
	policies           []uniques.Policy
	expects            *mc3.Expectation // nil if no model was fitted
}

// chosen attacks the classes that files list, in both directions. A class that is neither in the population nor, where that is not known,
// in the sample is an error.
func (out *Outcome) chosen(ctx context.Context, s Spec, c *chosenClasses, o session.Options) error {
	spec := session.WithSource(s.Sample, s.Classes)
	spec.AllowEmpty = true // recodes name what the sample has
	wanted, err := session.CountKey(ctx, "chosen classes", spec, o)
	if err != nil {
		return err
	}
	if wanted.Classes() == 0 {
		return session.Wrong(fmt.Errorf("chosen classes: %s has no rows: give one row for each class to attack", strings.Join(s.Classes, ", ")))
	}
	in, what := c.sample, "sample"
	if c.population != nil {
		in, what = c.population, "population"
	}
	places, err := contingency.Match(ctx, wanted, in)
	if err != nil {
		return err
	}
	for i, p := range places {
		if p < 0 {
			return session.Wrong(
				fmt.Errorf("chosen classes: %s has no record with %s, of %s", what, session.ClassText(wanted, i), strings.Join(s.Classes, ", ")),
			)
		}
	}
	rows := map[attack.Direction]*Row{}
	for _, d := range []attack.Direction{attack.PopulationToSample, attack.SampleToPopulation} {
		out.Chosen = append(out.Chosen, Row{Strategy: attack.Strategy{Direction: d, Considers: "chosen"}, Classes: int64(len(places))})
	}
	for i := range out.Chosen {
		rows[out.Chosen[i].Strategy.Direction] = &out.Chosen[i]
	}
	if c.classes != nil {
		chosen := c.known(places)
		for d, row := range rows {
			r := attack.AttackWithErrors(c.classes, d, out.Agree, func(i int) bool { return chosen[i] })
			row.Known = &r
		}
	}
	return c.estimate(ctx, wanted, rows, out.Agree)
}

// known tells which of the population's classes are chosen.
func (c *chosenClasses) known(places []int64) []bool {
	kept := c.population.Keep(operators.Dropping(c.policies))
	chosen := make([]bool, len(c.classes))
	wanted := make([]bool, c.population.Classes())
	for _, p := range places {
		wanted[p] = true
	}
	n := 0
	for i, w := range wanted {
		if kept.Has(i) {
			chosen[n] = w
			n++
		}
	}
	return chosen
}

// estimate fills in what models expect of the chosen classes that the sample has.
func (c *chosenClasses) estimate(ctx context.Context, wanted *contingency.Table, rows map[attack.Direction]*Row, agree float64) error {
	if c.expects == nil {
		return nil
	}
	e, err := c.expects.Attack(ctx)
	if err != nil {
		return err
	}
	e = e.WithErrors(agree)
	places, err := contingency.Match(ctx, wanted, c.sample)
	if err != nil {
		return err
	}
	of := map[int64]bool{}
	for _, p := range places {
		of[p] = true
	}
	var order []int
	for cell := range e.Sample {
		if of[int64(c.expects.Data.ClassOf(cell))] {
			order = append(order, cell)
		}
	}
	if len(order) == 0 { // no record of the sample is looked at
		none := attack.Result{}
		for _, row := range rows {
			row.Estimated = &none
		}
		return nil
	}
	points, err := e.Frontier(ctx, order, []int{len(order)})
	if err != nil {
		return err
	}
	rows[attack.PopulationToSample].Estimated = &points[0].PopulationToSample
	rows[attack.SampleToPopulation].Estimated = &points[0].SampleToPopulation
	return nil
}
