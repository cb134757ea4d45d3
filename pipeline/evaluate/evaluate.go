// Package evaluate judges risk scores against a population that is known, from file to folder; package engine/evaluate has the mathematics.
package evaluate

import (
	"context"
	"fmt"
	"slices"

	"microrisk/engine/attack"
	"microrisk/engine/evaluate"
	"microrisk/operators/files"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// An Evaluation is what scores are worth.
type Evaluation struct {
	Input             []string            `json:"input"`
	Key               []string            `json:"key"`
	By                []string            `json:"by,omitempty"`
	Rows              int64               `json:"rows"` // of the population, those chosen
	Classes           int64               `json:"classes"`
	PopulationUniques int64               `json:"population_uniques"`
	Design            string              `json:"design"`
	Repetitions       int                 `json:"repetitions"`
	Seed              uint64              `json:"seed"`
	Fractions         []FractionSummary   `json:"fractions"`
	Samples           []*SampleSummary    `json:"samples"`
	Warnings          []string            `json:"warnings"`
	plots             []fractionPlots     // what is drawn, by fraction
	strategies        map[string][]*curve // by name, a point a fraction
}

// A FractionSummary is what the scores are worth in samples of one sampling fraction.
type FractionSummary struct {
	Fraction      float64          `json:"sampling_fraction"`
	Records       float64          `json:"mean_records"` // drawn
	SampleUniques float64          `json:"mean_sample_uniques"`
	Scores        []ScoreSummary   `json:"scores"`
	Comparisons   []ScorePair      `json:"comparisons"`
	FileMeasures  []MeasureSummary `json:"file_measures"`
	Strategies    []StrategyMean   `json:"strategies"`
	Joint         []JointRow       `json:"joint"`
	Domains       []DomainSummary  `json:"domains,omitempty"` // in the order of their values
}

// A MeanFigure is the mean of a figure over samples, and its standard error; null where they are not defined.
type MeanFigure struct {
	Mean    *float64 `json:"mean"`
	SE      *float64 `json:"standard_error"`
	Samples int      `json:"samples"`
}

// A ScoreSummary is how well a score tells population uniques from other sample uniques.
type ScoreSummary struct {
	Name      string          `json:"name"`
	AUC       MeanFigure      `json:"auc"`
	Slope     MeanFigure      `json:"slope"` // of the logit rank plot
	Precision []PrecisionMean `json:"precision"`
	Unknown   int             `json:"nulls"` // sample uniques without a value, which counted as 0
}

// A PrecisionMean is the share of population uniques among the riskiest sample uniques.
type PrecisionMean struct {
	Top int `json:"top"`
	MeanFigure
}

// A ScorePair is the mean difference of two scores, sample by sample.
type ScorePair struct {
	First  string     `json:"first"`
	Second string     `json:"second"`
	AUC    MeanFigure `json:"auc_difference"`
	Slope  MeanFigure `json:"slope_difference"`
}

// A MeasureSummary is the bias of a measure of the file.
type MeasureSummary struct {
	Operator string     `json:"operator"`
	Measure  string     `json:"measure"`
	Estimate MeanFigure `json:"estimate"`
	Truth    MeanFigure `json:"truth"`
	Bias     MeanFigure `json:"bias"`
	Coverage MeanFigure `json:"coverage"` // share of the samples whose 95 % interval has the truth; null without intervals
}

// A StrategyMean is what a strategy achieves.
type StrategyMean struct {
	Name    string     `json:"name"`
	Correct MeanFigure `json:"correct_match"`
	Cost    MeanFigure `json:"cost"`
}

// A SampleSummary is what one sample says.
type SampleSummary struct {
	Fraction   float64          `json:"sampling_fraction"`
	Repetition int              `json:"repetition"`
	Truth      attack.File      `json:"truth"`
	AUC        []*float64       `json:"auc"`   // by score
	Slope      []*float64       `json:"slope"` // by score
	Estimates  []Estimate       `json:"estimates"`
	Strategies []StrategyResult `json:"strategies"`
}

// A StrategyResult is the true chance of a correct match of a strategy.
type StrategyResult struct {
	Name    string   `json:"name"`
	Correct *float64 `json:"correct_match"` // null where no record can be attacked
	Cost    *float64 `json:"cost"`          // people looked at, drawn without replacement; null where Correct is, and of DIS
}

// bytesPerValue is about what a value of a sample takes in memory.
const bytesPerValue = 16

// Run draws samples, has operators score them, and compares that with the truth. Errors about what was asked are those for which
// IsSpec is true. Numbers do not depend on workers or batches; samples depend on the order of the population's rows, but for whole
// households.
func Run(ctx context.Context, s Spec, o session.Options) (*Evaluation, error) {
	o = o.WithDefaults()
	if err := s.check(o.Reads, o.Writes...); err != nil {
		return nil, err
	}
	if s.Out != "" {
		o.Sweep(files.Join(s.Out, evaluationFile))
	}
	scores := s.scores(&schemas.Checker{})
	p, err := openPopulation(ctx, &s, o)
	if err != nil {
		return nil, err
	}
	defer p.job.Source.Close()
	e := &Evaluation{
		Input:       p.job.Source.Inputs(),
		By:          s.By,
		Design:      s.words(),
		Repetitions: s.Repetitions,
		Seed:        o.Seed,
		Warnings:    []string{},
		strategies:  map[string][]*curve{},
	}
	for _, v := range s.Spec.Key.Variables {
		e.Key = append(e.Key, v.Name)
	}
	for _, fraction := range s.Fractions {
		if err := e.fraction(ctx, &s, p, fraction, scores, o); err != nil {
			return nil, err
		}
	}
	if s.Out == "" {
		return e, nil
	}
	return e, e.write(ctx, &s, o)
}

// words describe the design.
func (s *Spec) words() string {
	text := "simple random"
	switch {
	case s.Household != "":
		text = "whole households by " + s.Household
	case s.Stratify != "":
		text = "stratified by " + s.Stratify
	}
	if s.Bernoulli {
		text += ", Bernoulli"
	}
	return text
}

// fraction evaluates the samples of one sampling fraction, as many at once as memory allows.
func (e *Evaluation) fraction(ctx context.Context, s *Spec, p *population, fraction float64, scores []scoreColumn, o session.Options) error {
	rows, err := p.rows(ctx)
	if err != nil {
		return err
	}
	each := int64(fraction*float64(rows)) * int64(len(p.reads)+1) * bytesPerValue
	together := max(1, int(min(o.Memory/2/max(each, 1), int64(s.Repetitions))))
	var all []*judged
	for from := 0; from < s.Repetitions; from += together {
		var numbers []int
		for n := from; n < min(from+together, s.Repetitions); n++ {
			numbers = append(numbers, n)
		}
		samples, err := p.draw(ctx, s.design(fraction), o.Seed, numbers)
		if err != nil {
			return err
		}
		for i, sample := range samples {
			o.Progress(fmt.Sprintf("judging samples of %g", fraction), int64(from+i), int64(s.Repetitions))
			if sample.rows == 0 {
				e.warn([]string{fmt.Sprintf("some samples of fraction %g have no record, and are left out", fraction)})
				continue
			}
			j, warnings, err := p.judge(ctx, s, fraction, sample, scores, o)
			if err != nil {
				for _, rest := range samples[i:] {
					rest.release()
				}
				return advice.Errorf("sample %d of fraction %g: %w", sample.repetition, fraction, err)
			}
			e.warn(warnings)
			all = append(all, j)
		}
	}
	o.Progress(fmt.Sprintf("judging samples of %g", fraction), int64(s.Repetitions), int64(s.Repetitions))
	if len(all) == 0 {
		return fmt.Errorf("no sample of fraction %g has a record: take a larger one", fraction)
	}
	truth := all[0].Truth // without those dropped
	e.Rows, e.Classes, e.PopulationUniques = truth.People, truth.PopulationClasses, truth.PopulationUniques
	if err := e.summarise(ctx, s, fraction, scores, all); err != nil || s.By == nil {
		return err
	}
	f := &e.Fractions[len(e.Fractions)-1]
	f.Domains, err = domainsOf(ctx, p.domain.Tables[0], scores, all)
	return err
}

// rows is the number of records of the population.
func (p *population) rows(ctx context.Context) (int64, error) {
	parts, err := p.job.Source.Parts(ctx)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, part := range parts {
		n += part.Rows()
	}
	return n, nil
}

func (e *Evaluation) warn(list []string) {
	for _, w := range list {
		if !slices.Contains(e.Warnings, w) {
			e.Warnings = append(e.Warnings, w)
		}
	}
}

// summarise compares the scores over the samples of a fraction.
func (e *Evaluation) summarise(ctx context.Context, s *Spec, fraction float64, scores []scoreColumn, all []*judged) error {
	top := make([]int, len(s.Top))
	for i, m := range s.Top {
		top[i] = int(m)
	}
	f := FractionSummary{Fraction: fraction, Comparisons: []ScorePair{}, FileMeasures: []MeasureSummary{}}
	plots := fractionPlots{fraction: fraction}
	auc, slope := make([][]float64, len(scores)), make([][]float64, len(scores))
	for _, j := range all {
		f.Records += float64(j.Truth.Records) / float64(len(all))
		f.SampleUniques += float64(len(j.people)) / float64(len(all))
		e.Samples = append(e.Samples, j.SampleSummary)
	}
	for k, score := range scores {
		out := ScoreSummary{Name: score.name}
		precision := make([][]float64, len(top))
		drawn := scorePlots{scoreColumn: score}
		for _, j := range all {
			truth := make([]bool, len(j.people))
			for i, people := range j.people {
				truth[i] = people == 1
			}
			roc, err := evaluate.NewROC(j.scores[k], truth)
			if err != nil {
				return advice.Errorf("%s: %w", score.name, err)
			}
			rank, err := evaluate.NewLogitRank(ctx, j.scores[k], truth, 0, 0)
			if err != nil {
				return advice.Errorf("%s: %w", score.name, err)
			}
			auc[k], slope[k] = append(auc[k], roc.Area), append(slope[k], rank.Slope)
			j.AUC, j.Slope = append(j.AUC, finite(roc.Area)), append(j.Slope, finite(rank.Slope))
			for i, x := range evaluate.Precision(j.scores[k], truth, top) {
				precision[i] = append(precision[i], x)
			}
			out.Unknown += j.unknown[k]
			drawn.add(roc, rank, j, k)
		}
		out.AUC, out.Slope = meanOf(evaluate.Mean(auc[k])), meanOf(evaluate.Mean(slope[k]))
		for i, m := range top {
			out.Precision = append(out.Precision, PrecisionMean{m, meanOf(evaluate.Mean(precision[i]))})
		}
		if out.Unknown > 0 {
			e.warn([]string{fmt.Sprintf("%s is null for some sample uniques: that counts as 0, the least risk", score.name)})
		}
		f.Scores = append(f.Scores, out)
		if err := drawn.finish(s.Bins); err != nil {
			return advice.Errorf("%s: %w", score.name, err)
		}
		plots.scores = append(plots.scores, &drawn)
	}
	for a := range scores {
		for b := a + 1; b < len(scores); b++ {
			f.Comparisons = append(
				f.Comparisons,
				ScorePair{scores[a].name, scores[b].name, meanOf(evaluate.Paired(auc[a], auc[b])), meanOf(evaluate.Paired(slope[a], slope[b]))},
			)
		}
	}
	f.FileMeasures = biases(all)
	f.Strategies = e.means(fraction, all)
	f.Joint = joint(all)
	var err error
	if plots.halves, err = halves(all, s.Bins); err != nil {
		return err
	}
	plots.models = append(densities(all[0]), graphs(all[0])...)
	e.Fractions = append(e.Fractions, f)
	e.plots = append(e.plots, plots)
	return nil
}
