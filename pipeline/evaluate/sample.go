package evaluate

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/attack"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A judged sample has the scores of its sample uniques, and the truth of each.
type judged struct {
	*SampleSummary
	scores  [][]float64     // by score, then sample unique
	people  []int64         // F of each
	unknown []int           // by score: sample uniques without a value, which count as 0
	domain  []int64         // of each; nil unless there are domains
	records map[int64]int64 // of each domain, those dropped left out
	joint   [][]int64       // keys by f and F
	models  []told
}

// judge runs the operators on a sample and compares it with its population.
func (p *population) judge(
	ctx context.Context,
	s *Spec,
	fraction float64,
	sample *sampleOf,
	scores []scoreColumn,
	o session.Options,
) (*judged, []string, error) {
	table := p.key.Tables[0]
	policies := session.PoliciesOf(*s.Spec.Key)
	source, err := sample.source()
	if err != nil {
		return nil, nil, err
	}
	defer source.Release()
	count := &session.Counting{Requests: session.KeyRequest(*s.Spec.Key)}
	people := func(policies []uniques.Policy) int64 {
		return table.Keep(operators.Dropping(policies)).Records
	}
	chain, err := operators.NewChain(source.Schema(), append(append(p.recodes(s), p.operators(s, people)...), count)...)
	if err != nil {
		return nil, nil, session.Wrong(err)
	}
	sink := &scoreSink{scores: scores, domains: p.domain != nil}
	options := operators.Options{Workers: o.Workers, Memory: o.Memory, MemoryGiven: o.MemoryGiven, TempDir: o.TempDir, Seed: o.Seed + uint64(sample.repetition)}
	report, err := chain.Run(ctx, source, sink, options)
	if err != nil {
		return nil, nil, err
	}
	classes, of, err := session.KnownClasses(ctx, count.Tables[0], table, policies)
	if err != nil {
		return nil, nil, err
	}
	j := &judged{
		SampleSummary: &SampleSummary{Fraction: fraction, Repetition: sample.repetition, Truth: attack.Measure(classes)},
		scores:        make([][]float64, len(scores)),
		unknown:       make([]int, len(scores)),
		joint:         jointOf(classes),
		models:        modelsOf(report),
	}
	kept := table.Keep(operators.Dropping(policies))
	number := make([]int, table.Classes()) // among classes
	n := 0
	for i := range number {
		if number[i] = -1; kept.Has(i) {
			number[i] = n
			n++
		}
	}
	j.records = map[int64]int64{}
	sink.each(func(class, domain int64, values []float64) {
		c := number[class]
		if c >= 0 {
			j.records[domain]++
		}
		if c < 0 || classes[c].Sample != 1 {
			return
		}
		j.domain = append(j.domain, domain)
		j.people = append(j.people, classes[c].Population)
		for k, v := range values {
			if math.IsNaN(v) {
				v = 0
				j.unknown[k]++
			}
			j.scores[k] = append(j.scores[k], v)
		}
	})
	j.Estimates = estimatesOf(report)
	return j, report.Warnings, j.strategies(ctx, s, report, classes, of)
}

// recodes are the operators before those that are judged.
func (p *population) recodes(s *Spec) []operators.Operator {
	spec := *s.Spec
	spec.Operators = nil
	for _, op := range s.Spec.Operators {
		if _, ok := op.Config.(*recode.Config); ok {
			spec.Operators = append(spec.Operators, op)
		}
	}
	return session.OperatorsOf(&spec, &session.Companions{})
}

// source is the sample as a source, which has the records now.
func (s *sampleOf) source() (*operators.Records, error) {
	reader, err := array.NewRecordReader(s.records[0].Schema(), s.records)
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	source, err := operators.NewRecords(reader)
	s.release()
	s.records = nil
	return source, err
}

// A scoreSink keeps the scores of each record, and its class in the population.
type scoreSink struct {
	scores  []scoreColumn
	domains bool

	at    []int // positions of the scores among the columns added
	mu    sync.Mutex
	parts map[int][]scored
	last  int
}

// A scored batch has the class of each record in the population, and each score of each.
type scored struct {
	class, domain []int64 // domain is nil for none
	values        [][]float64
}

func (s *scoreSink) Begin(_ context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	s.at, s.parts, s.last = make([]int, len(s.scores)), map[int][]scored{}, len(parts)
	for k, score := range s.scores {
		s.at[k] = -1
		n := 0
		for _, o := range out {
			if o.Input {
				continue
			}
			if o.Field.Name == score.name {
				s.at[k] = n
			}
			n++
		}
		if s.at[k] < 0 {
			return nil, fmt.Errorf("no operator wrote %s", score.name)
		}
	}
	if s.domains {
		return []string{session.ClassColumn, session.ClassColumn + domainColumn}, nil
	}
	return []string{session.ClassColumn}, nil
}

func (s *scoreSink) Part(_ context.Context, i int) (operators.PartWriter, error) {
	return &scorePart{s, i}, nil
}
func (s *scoreSink) Commit(context.Context, map[string]string) error { return nil }
func (s *scoreSink) Abort()                                          {}

type scorePart struct {
	sink *scoreSink
	part int
}

func (p *scorePart) Write(rows arrow.Record, added []arrow.Array, _ *operators.Bitmap) error {
	b := scored{class: append([]int64(nil), rows.Column(0).(*array.Int64).Int64Values()...)}
	if p.sink.domains {
		b.domain = append([]int64(nil), rows.Column(1).(*array.Int64).Int64Values()...)
	}
	for _, at := range p.sink.at {
		values := make([]float64, rows.NumRows())
		for r := range values {
			if values[r] = math.NaN(); added[at].IsValid(r) {
				switch a := added[at].(type) {
				case *array.Float64:
					values[r] = a.Value(r)
				case *array.Int64:
					values[r] = float64(a.Value(r))
				case *array.Int32:
					values[r] = float64(a.Value(r))
				}
			}
		}
		b.values = append(b.values, values)
	}
	p.sink.mu.Lock()
	defer p.sink.mu.Unlock()
	p.sink.parts[p.part] = append(p.sink.parts[p.part], b)
	return nil
}

func (p *scorePart) Close() error { return nil }

// each goes through the records in order.
func (s *scoreSink) each(record func(class, domain int64, values []float64)) {
	values := make([]float64, len(s.scores))
	for part := range s.last {
		for _, b := range s.parts[part] {
			for r, c := range b.class {
				for k := range values {
					values[k] = b.values[k][r]
				}
				var domain int64
				if b.domain != nil {
					domain = b.domain[r]
				}
				record(c, domain, values)
			}
		}
	}
}

// An Estimate is a measure of the file that an operator estimates, and the truth knows.
type Estimate struct {
	Operator string   `json:"operator"`
	Measure  string   `json:"measure"`
	Value    float64  `json:"estimate"`
	Truth    *float64 `json:"truth"` // null where it is not defined, as of no sample unique
	// Ends of its 95 % interval; null for none.
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

// covers is 1 where the interval has the truth, 0 where it has not, and NaN where there is none.
func (e *Estimate) covers() float64 {
	switch {
	case e.Lower == nil || e.Truth == nil:
		return math.NaN()
	case *e.Lower <= *e.Truth && *e.Truth <= *e.Upper:
		return 1
	}
	return 0
}

// estimatesOf are the file-level measures of the operators; nulls are left out.
func estimatesOf(r *operators.Report) []Estimate {
	var list []Estimate
	for _, o := range r.Operators {
		x, ok := o.Summary.(schemas.Estimating)
		if !ok {
			continue
		}
		m, _ := o.Summary.(*mc3.Summary)
		for _, e := range x.Estimates() {
			if e.Value == nil {
				continue
			}
			out := Estimate{Operator: o.Name, Measure: e.Measure, Value: *e.Value}
			if i := interval(m, e.Measure); i != nil {
				out.Lower, out.Upper = &i.Lower, &i.Upper
			}
			list = append(list, out)
		}
	}
	return list
}

// dis is the name of what DIS says of CM|UM, which stands beside the strategies (Smith 2011, figure 43).
const dis = "DIS, estimate of CM|UM"

// known are the strategies that look at f alone, and what DIS says of one.
func (j *judged) known(classes []attack.Class) {
	names := map[int]string{1: "all, s to p", 2: "all, p to s", 3: "sampled, p to s", 4: "CM|SU", 5: "CM|UM"}
	order := []int{4, 5, 1, 2, 3}
	all := attack.Strategies(2)
	for _, number := range order {
		strategy := all[number-1]
		result := strategy.Result(classes)
		r := StrategyResult{Name: names[number]}
		if result.Classes > 0 && (number == 2 || j.Truth.Records > 0) {
			r.Correct, r.Cost = &result.Correct, &result.CostWithout
		}
		j.Strategies = append(j.Strategies, r)
	}
	uniques1, pairs := int64(0), 0.0
	for _, c := range classes {
		switch c.Sample {
		case 1:
			uniques1++
		case 2:
			pairs++
		}
	}
	r := StrategyResult{Name: dis}
	if uniques1 > 0 {
		r.Correct = finite(uniques.DIS(j.Fraction, uniques1, pairs))
	}
	j.Strategies = append(j.Strategies, r)
}

// strategies compares those of the literature with the Bayesian strategy, and fills in the truth of estimates.
func (j *judged) strategies(ctx context.Context, s *Spec, r *operators.Report, classes []attack.Class, of []int) error {
	truth := map[string]*float64{"pu": &j.Truth.PU, "expected_reidentifications": &j.Truth.Reidentifications}
	if j.Truth.SampleUniques > 0 {
		truth["pu_su"], truth["cm_um"], truth["cm_su"] = &j.Truth.PUSU, &j.Truth.CMUM, &j.Truth.CMSU
	}
	for i, e := range j.Estimates {
		j.Estimates[i].Truth = truth[e.Measure]
	}
	j.known(classes)
	for _, o := range r.Operators {
		expecting, ok := o.Fitted.(mc3.Expecting)
		if !ok {
			continue
		}
		expects := expecting.Expectation()
		if expects == nil || len(expects.Data.Counts) == 0 {
			continue
		}
		e := &attack.Estimate{Sample: expects.Data.Counts, Match: expects.Cells.CorrectMatch, Expected: expects.Cells.ExpectedFrequency}
		order := e.Order(attack.ByMatch)
		m := min(s.TopClasses, len(order))
		chosen := make([]bool, len(classes))
		for _, cell := range order[:m] {
			chosen[of[expects.Data.ClassOf(cell)]] = true
		}
		for _, way := range []struct {
			direction attack.Direction
			name      string
		}{{attack.PopulationToSample, "p to s"}, {attack.SampleToPopulation, "s to p"}} {
			result := attack.Attack(classes, way.direction, func(i int) bool { return chosen[i] })
			j.Strategies = append(j.Strategies, StrategyResult{fmt.Sprintf("%s top %d, %s", o.Name, s.TopClasses, way.name), &result.Correct,
				&result.CostWithout})
		}
	}
	return ctx.Err()
}
