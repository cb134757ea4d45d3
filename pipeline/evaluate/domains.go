package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/evaluate"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// domainColumn names the counting operator of domains.
const domainColumn = " domain"

// mostDomains is how many domains are judged.
const mostDomains = 1000

// A DomainSummary is what scores are worth for the sample uniques of a domain: records of it that are unique in the whole sample.
type DomainSummary struct {
	Values            []*string     `json:"values"` // of by; null for missing
	Records           float64       `json:"mean_records"`
	SampleUniques     float64       `json:"mean_sample_uniques"`
	PopulationUniques float64       `json:"mean_population_uniques"` // among these
	Scores            []DomainScore `json:"scores"`
}

// A DomainScore compares a score with the truth in a domain. One that estimates E[1/F] or P(F = 1) is summed over the sample uniques; of
// others there is the AUC alone.
type DomainScore struct {
	Name     string     `json:"name"`
	AUC      MeanFigure `json:"auc"`
	Estimate MeanFigure `json:"estimate"`
	Truth    MeanFigure `json:"truth"`
	Bias     MeanFigure `json:"bias"`
}

// checkDomains finds columns of by that would be those of their file.
func (s *Spec) checkDomains(c *schemas.Checker) {
	if s.By == nil {
		return
	}
	if len(s.By) == 0 {
		c.Add("by", "by is an empty list; name the columns that tell domains apart, or leave it out")
	}
	for i, name := range s.By {
		if slices.Contains(domainNames, name) {
			c.Add(fmt.Sprintf("by[%d]", i), "%s is the name of a column of the file of domains: give it another name (recode)", name)
		}
	}
}

// apartFromKey tells whether an operator fits a model of each domain and domains are not told apart by the key.
func apartFromKey(o schemas.Operator, key *schemas.Key) bool {
	c, ok := o.Config.(*mc3.Config)
	return ok && c.Fit == mc3.FitEach && slices.ContainsFunc(c.By, func(name string) bool { return !key.Has(name) })
}

// countDomains counts the domains of the population.
func countDomains(by []string) *session.Counting {
	var key schemas.Key
	for _, name := range by {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: name})
	}
	request := session.KeyRequest(key)
	c := &session.Counting{Classes: true, As: domainColumn, Requests: func(in *arrow.Schema) ([]contingency.Request, error) {
		r, err := request(in)
		if err != nil {
			err = advice.Errorf("domains: %w", err)
		}
		return r, err
	}}
	c.Check = func(context.Context) error {
		if n := c.Tables[0].Classes(); n > mostDomains {
			return fmt.Errorf("there are %d domains; at most %d are judged: take coarser ones", n, mostDomains)
		}
		return nil
	}
	return c
}

// domainsOf compares the scores with the truth in each domain, over the samples of a fraction.
func domainsOf(ctx context.Context, t *contingency.Table, scores []scoreColumn, all []*judged) ([]DomainSummary, error) {
	list := make([]DomainSummary, t.Classes())
	places := make([][][]int, len(all)) // of the sample uniques, by sample and domain
	for i, j := range all {
		places[i] = make([][]int, t.Classes())
		for k, d := range j.domain {
			places[i][d] = append(places[i][d], k)
		}
	}
	samples := float64(len(all))
	for d := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := &list[d]
		out.Values = []*string{}
		for v, variable := range t.Variables {
			var value *string
			if c := int(t.Code(d, v)); c < len(variable.Categories) {
				value = &variable.Categories[c]
			}
			out.Values = append(out.Values, value)
		}
		for i, j := range all {
			out.Records += float64(j.records[int64(d)]) / samples
			out.SampleUniques += float64(len(places[i][d])) / samples
			for _, k := range places[i][d] {
				if j.people[k] == 1 {
					out.PopulationUniques += 1 / samples
				}
			}
		}
		for k, score := range scores {
			one, err := domainScore(score, k, all, func(sample int) []int { return places[sample][d] })
			if err != nil {
				return nil, err
			}
			out.Scores = append(out.Scores, one)
		}
	}
	return list, t.Err()
}

// domainScore compares a score with the truth over the sample uniques of a domain, sample by sample.
func domainScore(score scoreColumn, place int, all []*judged, uniques func(sample int) []int) (DomainScore, error) {
	var auc, estimates, truths []float64
	for i, j := range all {
		list := uniques(i)
		values, unique := make([]float64, len(list)), make([]bool, len(list))
		estimate, truth := math.NaN(), math.NaN()
		if score.match || score.alone {
			estimate, truth = 0, 0
		}
		for n, k := range list {
			values[n], unique[n] = j.scores[place][k], j.people[k] == 1
			estimate += values[n]
			switch {
			case score.match:
				truth += 1 / float64(j.people[k])
			case unique[n]:
				truth++
			}
		}
		roc, err := evaluate.NewROC(values, unique)
		if err != nil {
			return DomainScore{}, advice.Errorf("%s: %w", score.name, err)
		}
		auc, estimates, truths = append(auc, roc.Area), append(estimates, estimate), append(truths, truth)
	}
	return DomainScore{score.name, meanOf(evaluate.Mean(auc)), meanOf(evaluate.Mean(estimates)), meanOf(evaluate.Mean(truths)),
		meanOf(evaluate.Paired(estimates, truths))}, nil
}

// domainTable has a row for each sampling fraction, domain and score.
type domainTable struct{ e *Evaluation }

// domainNames are its columns besides those of by.
var domainNames = []string{"sampling_fraction", "mean_records", "mean_sample_uniques", "mean_population_uniques", "score", "auc", "auc_se", "estimate",
	"estimate_se", "truth", "truth_se", "bias", "bias_se"}

// Tables is operators.Tabled's.
func (t domainTable) Tables(mem memory.Allocator) arrow.Record {
	type row struct {
		fraction float64
		domain   *DomainSummary
		score    *DomainScore
	}
	var rows []row
	for _, f := range t.e.Fractions {
		for d := range f.Domains {
			for s := range f.Domains[d].Scores {
				rows = append(rows, row{f.Fraction, &f.Domains[d], &f.Domains[d].Scores[s]})
			}
		}
	}
	c := &operators.Columns{Mem: mem, Rows: len(rows)}
	c.Numbers(domainNames[0], func(i int) float64 { return rows[i].fraction })
	for v, name := range t.e.By {
		c.TextsOrNull(name, func(i int) *string { return rows[i].domain.Values[v] })
	}
	c.Numbers(domainNames[1], func(i int) float64 { return rows[i].domain.Records })
	c.Numbers(domainNames[2], func(i int) float64 { return rows[i].domain.SampleUniques })
	c.Numbers(domainNames[3], func(i int) float64 { return rows[i].domain.PopulationUniques })
	c.TextsOrNull(domainNames[4], func(i int) *string { return &rows[i].score.Name })
	for k, of := range []func(s *DomainScore) MeanFigure{
		func(s *DomainScore) MeanFigure { return s.AUC }, func(s *DomainScore) MeanFigure { return s.Estimate },
		func(s *DomainScore) MeanFigure { return s.Truth }, func(s *DomainScore) MeanFigure { return s.Bias },
	} {
		c.NumbersOrNull(domainNames[5+2*k], func(i int) float64 { return orNaN(of(rows[i].score).Mean) })
		c.NumbersOrNull(domainNames[6+2*k], func(i int) float64 { return orNaN(of(rows[i].score).SE) })
	}
	return c.Record()
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
