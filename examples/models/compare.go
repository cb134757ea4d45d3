package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/bayes/search"
	"microrisk/engine/graph"
	"microrisk/engine/uniques"
)

// A row of the table: a score, and what became of it. What a score does not have is NaN.
type row struct {
	name                  string
	likelihood            float64 // log marginal likelihood of the best model
	edges                 [][]float64
	gap, edgeGap, chains  float64 // to the exact optimum; to the exact edge probabilities; between chains
	auc                   float64 // for population uniqueness of the sample uniques
	calibration           float64 // mean difference of P(F = 1) from the share of population uniques, in bins
	pu, pusu, cmsu, theta float64
	seconds               float64
}

func (s *sample) compare(ctx context.Context, seed uint64, iterations int) ([]row, error) {
	rows, err := s.suda(ctx)
	if err != nil {
		return nil, err
	}
	k := len(s.table.Variables)
	for _, m := range []struct {
		name      string
		options   search.Options
		estimator risk.Estimator
	}{
		{"independence, Poisson", search.Options{Method: search.Fixed, Graph: graph.New(k)}, risk.Poisson},
		{"mc3, plain, from the empty graph", search.Options{Method: search.MC3, Iterations: iterations, Chains: 1, Rungs: 1}, risk.Gamma},
		{"mc3, 4 chains, 12 temperatures", search.Options{Method: search.MC3, Iterations: iterations, Chains: 4, Rungs: 12, Moves: search.CliqueMoves}, risk.Gamma},
		{"anneal, schedule of the thesis", search.Options{Method: search.Anneal, Schedule: search.ThesisSchedule, Restarts: 1}, risk.Gamma},
		{"anneal", search.Options{Method: search.Anneal}, risk.Gamma},
		{"occam", search.Options{Method: search.Occam}, risk.Gamma},
		{"exact", search.Options{Method: search.Exact}, risk.Gamma},
	} {
		r, err := s.model(ctx, m.name, m.options, m.estimator, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, r)
	}
	exact := rows[len(rows)-1]
	for i := range rows {
		rows[i].gap, rows[i].edgeGap = rows[i].likelihood-exact.likelihood, math.NaN()
		if rows[i].edges == nil {
			continue
		}
		rows[i].edgeGap = furthest(rows[i].edges, exact.edges)
	}
	return rows, nil
}

func furthest(a, b [][]float64) float64 {
	most := 0.0
	for v := range a {
		for w := range a[v] {
			most = max(most, math.Abs(a[v][w]-b[v][w]))
		}
	}
	return most
}

func (s *sample) suda(ctx context.Context) ([]row, error) {
	start := time.Now()
	r, err := uniques.Search(ctx, s.table, uniques.Options{})
	if err != nil {
		return nil, err
	}
	suda := s.blank("SUDA", time.Since(start))
	suda.auc = s.area(r.Score)
	dis := uniques.DIS(s.fraction, r.Uniques, r.Doubles)
	scores, err := uniques.DISIS(context.Background(), r, s.table.Count, len(s.table.Variables), dis)
	if err != nil {
		return nil, err
	}
	is := s.blank("DIS-IS", time.Since(start))
	is.auc, is.theta = s.area(scores), dis
	return []row{suda, is}, nil
}

func (s *sample) blank(name string, took time.Duration) row {
	none := math.NaN()
	return row{
		name:        name,
		likelihood:  none,
		gap:         none,
		edgeGap:     none,
		chains:      none,
		calibration: none,
		pu:          none,
		pusu:        none,
		cmsu:        none,
		theta:       none,
		seconds:     took.Seconds(),
	}
}

// model finds models, and scores the sample by them.
func (s *sample) model(ctx context.Context, name string, o search.Options, estimator risk.Estimator, seed uint64) (row, error) {
	start := time.Now()
	r := s.blank(name, 0)
	d, err := bayes.NewData(s.table, nil)
	if err != nil {
		return r, err
	}
	scores, err := bayes.NewScores(d, 1)
	if err != nil {
		return r, err
	}
	o.Seed = seed
	found, err := search.Run(ctx, scores, o)
	if err != nil {
		return r, err
	}
	law, err := risk.NewLaw(context.Background(), d, 1, found.Models, 0)
	if err != nil {
		return r, err
	}
	options := risk.Options{Estimator: estimator, Unsampled: float64(s.population - d.Records), Seed: seed}
	cells, err := law.Cells(ctx, d, options)
	if err != nil {
		return r, err
	}
	file, err := law.File(ctx, d, cells, options)
	if err != nil {
		return r, err
	}
	r.seconds = time.Since(start).Seconds()
	r.likelihood, r.edges = math.Inf(-1), found.Edges
	for _, m := range found.Models {
		r.likelihood = max(r.likelihood, m.LogLikelihood)
	}
	if chains := found.Diagnostics.Chains; len(chains) > 1 {
		r.chains = 0
		for _, c := range chains[1:] {
			for e := range c {
				r.chains = max(r.chains, math.Abs(c[e]-chains[0][e]))
			}
		}
	}
	r.calibration = s.miscalibration(cells.PopulationUnique)
	r.auc, r.pu, r.pusu, r.cmsu, r.theta = s.area(cells.CorrectMatch), file.PU, file.PUSU, file.CMSU, file.CMUM
	return r, nil
}

// area is that under the receiver operating characteristic of a score: the chance that a population unique among the sample
// uniques has a higher score than another one, ties counted by half.
func (s *sample) area(score []float64) float64 {
	list := slices.Clone(s.uniques)
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	ranks, positives := 0.0, 0
	for i := 0; i < len(list); {
		end := i
		for end < len(list) && score[list[end]] == score[list[i]] {
			end++
		}
		for _, c := range list[i:end] {
			if s.truth[c] == 1 {
				ranks += float64(i+1+end) / 2
				positives++
			}
		}
		i = end
	}
	p, q := float64(positives), float64(len(list)-positives)
	return (ranks - p*(p+1)/2) / (p * q)
}

// bins of a calibration.
const bins = 20

// miscalibration is the mean, over bins of equal numbers of sample uniques by their estimates, of the difference between the mean
// estimate and the share of population uniques.
func (s *sample) miscalibration(estimate []float64) float64 {
	list := slices.Clone(s.uniques)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(estimate[a], estimate[b]) })
	sum := 0.0
	for b := range bins {
		part := list[b*len(list)/bins : (b+1)*len(list)/bins]
		difference := 0.0
		for _, c := range part {
			difference += estimate[c]
			if s.truth[c] == 1 {
				difference--
			}
		}
		sum += math.Abs(difference) / float64(max(len(part), 1))
	}
	return sum / bins
}

// known has the true measures of the sample.
func (s *sample) known() row {
	r := s.blank("truth", 0)
	r.auc, r.seconds = math.NaN(), math.NaN()
	alone, sum, inverse := 0.0, 0.0, 0.0
	for _, c := range s.uniques {
		f := float64(s.truth[c])
		if f == 1 {
			alone++
		}
		sum += f
		inverse += 1 / f
	}
	n := float64(len(s.uniques))
	r.pu, r.pusu, r.cmsu, r.theta = float64(s.populated)/float64(s.population), alone/n, inverse/n, n/sum
	return r
}

func (s *sample) print(w io.Writer, rows []row) {
	fmt.Fprintf(
		w,
		"\n%d records of %d (%g %%), %d key variables, %d sample uniques.\n\n",
		s.table.Records(),
		s.population,
		100*s.fraction,
		len(s.table.Variables),
		len(s.uniques),
	)
	fmt.Fprintln(
		w,
		"| score | best model less optimum | largest edge difference | between chains | ROC area | calibration | PU | PU\\|SU | CM\\|SU | CM\\|UM | seconds |",
	)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range append(rows, s.known()) {
		fmt.Fprintf(
			w,
			"| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			r.name,
			cell(r.gap, 1),
			cell(r.edgeGap, 3),
			cell(r.chains, 3),
			cell(r.auc, 3),
			cell(r.calibration, 3),
			cell(r.pu, 3),
			cell(r.pusu, 3),
			cell(r.cmsu, 3),
			cell(r.theta, 3),
			cell(r.seconds, 2),
		)
	}
}

func cell(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%.*f", digits, x)
}
