// Package attack tells what strategies of an intruder achieve and cost, from file to file; package engine/attack has the mathematics.
package attack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/attack"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An Outcome has what each attack achieves.
type Outcome struct {
	Known      *attack.File // nil if the population is not known
	Expected   *risk.File   // nil if no model was fitted
	People     float64      // N
	Agree      float64      // probability that the intruder's key of a person is the file's; 1 without errors
	Records    int64        // n, those dropped left out
	Strategies []Row        // strategies 1 to 7
	Frontier   []Row        // of the Bayesian strategy, by the number of classes
	Affordable []Row        // at the cost that was asked for
	Chosen     []Row        // on the classes that were chosen
	Warnings   []string
}

// A Row is an attack on some classes.
type Row struct {
	Strategy  attack.Strategy // Number 0: the Bayesian one, by Ranking
	Ranking   string
	Classes   int64
	People    float64        // expected in the classes, of the Bayesian strategy
	Known     *attack.Result // nil if the population is not known
	Estimated *attack.Result // nil if no model was fitted
}

// Run counts a sample, and the population if it is known, and tells what strategies of an intruder achieve. Errors about what was
// asked are those for which IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	if err := s.check(o); err != nil {
		return nil, err
	}
	schemas.Complete(s.Fields())
	o.Sweep(s.Out, s.Model.ModelOut)
	spec, policies := *s.Sample, session.PoliciesOf(*s.Sample.Key)
	var population *contingency.Table
	if s.Population != nil {
		var err error
		if population, err = session.CountKey(ctx, "population", session.WithSource(s.Sample, s.Population), o); err != nil {
			return nil, err
		}
		people := population.Keep(operators.Dropping(policies)).Records
		if people == 0 {
			return nil, fmt.Errorf("population: no record of %s was counted", strings.Join(s.Population, ", "))
		}
		spec.Sampling = &schemas.Sampling{PopulationSize: people} // of the records that are not dropped
	}
	out := &Outcome{Agree: divergence.Agree(s.Errors)}
	var classes []attack.Class
	var of []int
	count := &session.Counting{Requests: session.KeyRequest(*spec.Key)}
	var unsound error
	if population != nil {
		// A sample that is none of its population is told before a model is sought.
		count.Check = func(ctx context.Context) error {
			classes, of, unsound = session.KnownClasses(ctx, count.Tables[0], population, policies)
			return unsound
		}
	}
	expects, err := s.sample(ctx, &spec, count, o, out)
	switch {
	case unsound != nil:
		return nil, unsound
	case err != nil:
		return nil, err
	}
	out.Records = count.Tables[0].Keep(operators.Dropping(policies)).Records
	if population != nil {
		f := attack.Measure(classes)
		out.Known, out.People = &f, float64(f.People)
	}
	if out.Records == 0 {
		const none = "the sample has no records that count: every figure of it is 0"
		out.Warnings = append(out.Warnings, none)
		o.Logger.Warn(none)
	}
	if err := out.attack(ctx, s, classes, of, expects); err != nil {
		return nil, err
	}
	if s.Classes != nil {
		if err := out.chosen(ctx, s, &chosenClasses{sample: count.Tables[0], population: population, classes: classes, policies: policies, expects: expects}, o); err != nil {
			return nil, err
		}
	}
	if s.Out == "" {
		return out, nil
	}
	return out, session.WriteRecord(ctx, s.Out, attackTable{out}, o, slices.Concat(s.Sample.Source.Path, s.Population))
}

// sample counts the sample, and fits the model unless there is none.
func (s *Spec) sample(ctx context.Context, spec *schemas.Spec, count *session.Counting, o session.Options, out *Outcome) (*mc3.Expectation, error) {
	if s.KnownOnly {
		return nil, session.CountWith(ctx, "sample", spec, count, o)
	}
	model := s.Model
	model.Replace = true // the sample may be annotated already, and nothing of it is written
	fitted := *spec
	fitted.Operators = append(slices.Clone(spec.Operators), schemas.Operator{Config: &model})
	if err := fitted.Validate(); err != nil {
		return nil, err
	}
	j, err := session.OpenJob(ctx, spec, o)
	if err != nil {
		return nil, session.InRole("sample", err)
	}
	defer j.Source.Close()
	with, err := session.ReadBeside(ctx, &fitted, o)
	if err != nil {
		return nil, err
	}
	list := session.OperatorsOf(&fitted, with)
	if j.Chain, err = j.Bind(true, slices.Insert(list, len(list)-1, operators.Operator(count))...); err != nil {
		return nil, session.InRole("sample", err)
	}
	tidy, err := session.MakeFolders(session.SidesOut(&fitted, operators.MadeDocument))
	if err != nil {
		return nil, err
	}
	defer tidy()
	models, err := session.OpenSideFiles(ctx, &fitted, j.Source.Inputs())
	if err != nil {
		return nil, err
	}
	defer models.Abort()
	report, err := j.Chain.Run(ctx, j.Source, nil, j.ChainOptions())
	if err != nil {
		return nil, session.InRole("sample", err)
	}
	out.Warnings = report.Warnings
	files, err := models.Write(ctx, report, o)
	if err != nil {
		return nil, err
	}
	if err := (session.SummaryFile{}).Commit(nil, files...); err != nil {
		return nil, err
	}
	e := report.Operators[len(report.Operators)-1].Fitted.(mc3.Expecting).Expectation()
	out.Expected, out.People = e.File, e.People()
	return e, nil
}

// check finds what is wrong before anything is read.
func (s *Spec) check(o session.Options) error {
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	return s.checkOut(o)
}

// checkOut finds outputs that cannot be written.
func (s *Spec) checkOut(o session.Options) error {
	read, err := session.Readings("the input", s.Sample.Source.Path, s.Population, s.Classes)
	if err != nil {
		return err
	}
	model := &schemas.Spec{Operators: []schemas.Operator{{Config: &s.Model}}}
	read = slices.Concat(read, session.ReadBesides(model), o.Reads)
	writes := session.SidesOut(model, operators.MadeDocument)
	if s.Out == "" {
		return session.CheckPaths(read, writes)
	}
	writes = append(writes, s.Out)
	if err := session.KnownKind(s.Out); err != nil {
		return err
	}
	return session.CheckPaths(read, writes)
}

// attack tries all strategies; classes are nil if the population is not known, expects is nil if no model was fitted.
func (out *Outcome) attack(ctx context.Context, s Spec, classes []attack.Class, of []int, expects *mc3.Expectation) error {
	var estimate *attack.Estimate
	if expects != nil && out.Records > 0 {
		var err error
		if estimate, err = expects.Attack(ctx); err != nil {
			return err
		}
		estimate = estimate.WithErrors(out.Agree)
	}
	for _, strategy := range attack.Strategies(s.Frequency) {
		row := Row{Strategy: strategy}
		if classes != nil {
			r := strategy.ResultWithErrors(classes, out.Agree)
			row.Known, row.Classes = &r, r.Classes
		}
		if estimate != nil {
			r, err := estimate.Strategy(ctx, strategy)
			if err != nil {
				return err
			}
			row.Estimated = &r
			if classes == nil {
				row.Classes = r.Classes
			}
		}
		out.Strategies = append(out.Strategies, row)
	}
	if estimate == nil {
		return nil
	}
	by := attack.Ranking(s.Ranking)
	known := func(cell int) int { return of[expects.Data.ClassOf(cell)] }
	var err error
	if out.Frontier, err = frontier(ctx, estimate, by, estimate.Order(by), attack.Steps(len(estimate.Sample)), classes, known, out.Agree); err != nil ||
		s.Cost == 0 {
		return err
	}
	cheapest := estimate.Order(attack.ByExpected)
	m := estimate.Affordable(cheapest, s.Cost)
	out.Affordable, err = frontier(ctx, estimate, attack.ByExpected, cheapest, []int{m}, classes, known, out.Agree)
	return err
}

// frontier is the Bayesian strategy at several numbers of the first cells of an order: two rows each, one a direction. class gives the class
// of a cell.
func frontier(
	ctx context.Context,
	e *attack.Estimate,
	by attack.Ranking,
	order, at []int,
	classes []attack.Class,
	class func(cell int) int,
	agree float64,
) ([]Row, error) {
	points, err := e.Frontier(ctx, order, at)
	if err != nil {
		return nil, err
	}
	var rows []Row
	chosen := make([]bool, len(classes))
	done := 0
	for _, p := range points {
		for _, cell := range order[done:p.Classes] {
			if classes != nil {
				chosen[class(cell)] = true
			}
		}
		done = p.Classes
		for _, d := range []struct {
			way    attack.Direction
			result attack.Result
		}{{attack.PopulationToSample, p.PopulationToSample}, {attack.SampleToPopulation, p.SampleToPopulation}} {
			row := Row{Strategy: attack.Strategy{Direction: d.way, Considers: fmt.Sprintf("best %d", p.Classes)}, Ranking: string(by),
				Classes: int64(p.Classes), People: p.People, Estimated: &d.result}
			if classes != nil {
				r := attack.AttackWithErrors(classes, d.way, agree, func(i int) bool { return chosen[i] })
				row.Known = &r
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// attackTable is an outcome as a table: a row for each attack and each of known and estimated.
type attackTable struct{ out *Outcome }

// Tables is operators.Tabled's.
func (t attackTable) Tables(mem memory.Allocator) arrow.Record {
	type line struct {
		strategy, source string
		Row
		*attack.Result
	}
	var lines []line
	both := func(strategy string, row Row) {
		for _, r := range []struct {
			source string
			result *attack.Result
		}{{"known", row.Known}, {"estimated", row.Estimated}} {
			if r.result != nil {
				lines = append(lines, line{strategy, r.source, row, r.result})
			}
		}
	}
	for _, row := range t.out.Strategies {
		both(fmt.Sprint(row.Strategy.Number), row)
	}
	for _, row := range t.out.Frontier {
		both("bayesian", row)
	}
	for _, row := range t.out.Affordable {
		both("affordable", row)
	}
	for _, row := range t.out.Chosen {
		both("chosen", row)
	}
	c := &operators.Columns{Mem: mem, Rows: len(lines)}
	c.TextsOrNull("strategy", func(i int) *string { return &lines[i].strategy })
	c.TextsOrNull("considers", func(i int) *string { return &lines[i].Strategy.Considers })
	c.TextsOrNull("direction", func(i int) *string { return (*string)(&lines[i].Strategy.Direction) })
	c.TextsOrNull("ranking", func(i int) *string {
		if lines[i].Ranking == "" {
			return nil
		}
		return &lines[i].Ranking
	})
	c.WholesOrNull("classes", func(i int) (int64, bool) { return lines[i].Row.Classes, true })
	c.TextsOrNull("source", func(i int) *string { return &lines[i].source })
	c.Numbers("correct_match", func(i int) float64 { return lines[i].Correct })
	c.Numbers("cost_with", func(i int) float64 { return lines[i].CostWith })
	c.Numbers("cost_without", func(i int) float64 { return lines[i].CostWithout })
	c.Numbers("efficiency_with", func(i int) float64 { return lines[i].EfficiencyWith })
	c.Numbers("efficiency_without", func(i int) float64 { return lines[i].EfficiencyWithout })
	return c.Record()
}
