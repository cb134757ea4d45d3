package mc3

import (
	"cmp"
	"context"
	"math"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/bayes/search"
	"microrisk/engine/contingency"
	"microrisk/engine/graph"
	"microrisk/engine/uniques"
	"microrisk/operators"
)

// calibrationBins is the number of bins of sample uniques in the summary.
const calibrationBins = 20

// An summarizer makes mc3's part of the summary.
type summarizer struct {
	bound   *bound
	table   *contingency.Table
	weights *contingency.Table // the same classes with sums of weights; nil unless they are wanted
	data    *bayes.Data
	laws    []*fittedLaw
	sample  operators.SampleSize
	options risk.Options
	env     operators.Env
}

func (s *summarizer) summarise(ctx context.Context) (*Summary, error) {
	b, first := s.bound, s.laws[0]
	names := b.names()
	m := &Summary{
		Fraction:          s.sample.Fraction,
		PopulationSize:    s.sample.Population,
		ModelFrom:         b.Config.ModelIn,
		Estimator:         string(s.options.Estimator),
		PriorPrecision:    first.precision,
		PrecisionChosen:   b.Config.Auto,
		Models:            []ModelSummary{},
		EdgeProbabilities: []EdgeProbability{},
		Calibration:       s.calibration(first.cells),
	}
	kept := s.table.Keep(b.drop)
	m.MeasuredKey, m.MeasuredRecords = b.Counted.Kept(s.table, kept)
	if s.sample.Fraction > 0 && kept.Records > 0 {
		m.DIS = figure(uniques.DIS(s.sample.Fraction, kept.Uniques, float64(kept.Doubles)))
	}
	s.measures(m, first)
	for _, model := range first.law.Models {
		m.Models = append(
			m.Models,
			ModelSummary{Cliques: model.Graph.Format(names), Edges: namedEdges(model.Graph, names), LogLikelihood: model.LogLikelihood, Weight: model.Weight},
		)
	}
	if first.found != nil {
		s.search(m, first.found, names)
	} else {
		m.Search, m.Diagnostics.Graphs = b.Model.Search, int64(len(first.law.Models))
		s.edges(m, names, edgesOf(first.law.Models, len(names)), nil)
	}
	if len(s.laws) > 1 {
		s.sensitivity(m, names)
	}
	if b.Config.RelativeRisk {
		if err := s.relative(ctx, m); err != nil {
			return nil, err
		}
	}
	if b.Config.Baselines {
		if err := s.baselines(ctx, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s *summarizer) measures(m *Summary, l *fittedLaw) {
	f := l.file
	m.PU, m.PUSE, m.PUSU, m.CMUM, m.CMSU = figure(f.PU), figure(f.PUSE), figure(f.PUSU), figure(f.CMUM), figure(f.CMSU)
	m.PopulationUnique, m.CorrectMatches, m.Reidentified = figure(f.PopulationUniques), figure(f.CorrectMatches), figure(f.Reidentifications)
	if s.data.Records > 0 {
		m.ReidentifiedPart = figure(100 * f.Reidentifications / float64(s.data.Records))
	}
	m.Diagnostics.EmptyCells, m.Intervals = f.EmptyCells, l.intervals
	if d := f.CMUMDrawn; d != nil {
		m.CMUMDrawn = &Drawn{SE: d.SE, Lower: d.Low, Upper: d.High}
	}
	if e := l.effects; e != nil {
		out := &EffectsSummary{
			Sigma:       e.Sigma,
			SE:          figure(e.SE),
			Gain:        e.Gain,
			Unknown:     e.Unknown,
			Anchor:      s.bound.Config.Anchor,
			Factor:      l.factor,
			Cells:       e.Cells,
			Frequencies: []FrequencyRow{},
		}
		for g, n := range e.Observed {
			if e.Cells > 0 {
				out.Frequencies = append(out.Frequencies, FrequencyRow{int64(g + 1), n, e.Without[g], e.Expected[g], e.Deviations[g]})
			}
		}
		m.Effects = out
	}
	m.Known, m.Halves = l.known, l.halves
	if sd := l.cells.SD; sd != nil {
		m.SD = &Deviations{PopulationUniques: sd.PopulationUniques, CorrectMatches: sd.CorrectMatches, Reidentifications: sd.Reidentifications}
	}
}

func (s *summarizer) search(m *Summary, r *search.Result, names []string) {
	m.Search, m.SearchReason, m.DroppedWeight = string(r.Method), r.Reason, r.Dropped
	s.edges(m, names, r.Edges, r.EdgesSE)
	d := r.Diagnostics
	out := &m.Diagnostics
	out.Margins, out.Graphs, out.Proposals, out.Enumerated, out.Draws, out.Steps = d.Margins, d.Graphs, d.Proposals, d.Enumerated, d.Draws, d.Steps
	out.ESS, out.RHat, out.Unseen, out.LogTotal = figure(d.ESS), figure(d.RHat), figure(d.Unseen), figure(d.LogTotal)
	if d.Proposals > 0 {
		out.AcceptanceRate = figure(float64(d.Accepted) / float64(d.Proposals))
	}
	if d.EdgeRHat != nil {
		for v := range names {
			for w := v + 1; w < len(names); w++ {
				out.Edges = append(
					out.Edges,
					EdgeDiagnostics{Edge: [2]string{names[v], names[w]}, RHat: figure(d.EdgeRHat[v][w]), ESS: figure(d.EdgeESS[v][w])},
				)
			}
		}
	}
	if w := d.Worst; w != nil {
		out.WorstEdge = &WorstEdge{Edge: [2]string{names[w.Edge[0]], names[w.Edge[1]]}, RHat: figure(w.RHat), ESS: figure(w.ESS), SE: w.SE, Gap: w.Gap}
	}
	if len(d.Temperatures) > 1 {
		out.Returns = &d.Trips
	}
	out.Temperatures, out.SwapRates, out.Trace = d.Temperatures, d.Swaps, d.Trace
}

func (s *summarizer) edges(m *Summary, names []string, p, se [][]float64) {
	for v := range names {
		for w := v + 1; w < len(names); w++ {
			e := EdgeProbability{Edge: [2]string{names[v], names[w]}, Probability: p[v][w]}
			if se != nil {
				e.SE = figure(se[v][w])
			}
			m.EdgeProbabilities = append(m.EdgeProbabilities, e)
		}
	}
}

// edgesOf are the edge probabilities of weighted models.
func edgesOf(models []bayes.Model, k int) [][]float64 {
	p := make([][]float64, k)
	for v := range p {
		p[v] = make([]float64, k)
	}
	for _, m := range models {
		for _, e := range m.Graph.Edges() {
			p[e[0]][e[1]] += m.Weight
		}
	}
	return p
}

func (s *summarizer) sensitivity(m *Summary, names []string) {
	laws := slices.Clone(s.laws)
	if s.bound.Config.Auto {
		slices.SortFunc(laws, func(a, b *fittedLaw) int { return cmp.Compare(a.precision, b.precision) })
	}
	for _, l := range laws {
		best := l.law.Models[0]
		m.Sensitivity = append(
			m.Sensitivity,
			Sensitivity{PriorPrecision: l.precision, Best: best.Graph.Format(names), BestWeight: best.Weight, Evidence: l.evidence, Predictive: l.predictive,
				PU: figure(l.file.PU), PUSU: figure(l.file.PUSU), CMUM: figure(l.file.CMUM), CMSU: figure(l.file.CMSU)},
		)
	}
}

// relative compares with the risk without each variable and category.
func (s *summarizer) relative(ctx context.Context, m *Summary) error {
	law := s.laws[0].law
	variables, err := law.Variables(ctx, s.data, s.options)
	if err != nil {
		return err
	}
	names := s.bound.names()
	ordinal := make([]bool, len(names))
	for v, name := range names {
		m.Variables = append(
			m.Variables,
			RelativeRisk{Name: name, Theta: figure(variables[v].Theta), Tau2: figure(variables[v].Tau2), SampleUniques: variables[v].Unique},
		)
		ordinal[v] = slices.Contains(s.bound.Config.Ordinal, name)
	}
	collapse, suppress, err := law.Categories(ctx, s.data, ordinal, s.options)
	if err != nil {
		return err
	}
	n1 := m.KeySummary.SampleUniques
	for v, name := range names {
		for c := range collapse[v] {
			row := CategoryRisk{
				Variable:         name,
				Category:         s.category(v, c),
				CollapseTheta:    figure(collapse[v][c].Theta),
				CollapseTau2:     figure(collapse[v][c].Tau2),
				SuppressTheta:    figure(suppress[v][c].Theta),
				SuppressTau2:     figure(suppress[v][c].Tau2),
				SuppressedUnique: n1 - suppress[v][c].Unique,
			}
			if row.SuppressedUnique > 0 || row.CollapseTau2 != nil && *row.CollapseTau2 != 0 {
				m.Categories = append(m.Categories, row)
			}
		}
	}
	return nil
}

// category is the name of a code of the law, nil for the missing one.
func (s *summarizer) category(v, code int) *string {
	categories := s.table.Variables[v].Categories
	if s.bound.Model != nil {
		categories = s.bound.Model.Variables[v].Categories
	}
	if code < len(categories) {
		return &categories[code]
	}
	return nil
}

// calibration puts the sample uniques into bins of about equal size by their estimates, so that a truth that becomes known can be
// laid beside them.
func (s *summarizer) calibration(cells *risk.Cells) []CalibrationBin {
	var list []int
	for i, f := range s.data.Counts {
		if f == 1 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(cells.CorrectMatch[a], cells.CorrectMatch[b]) })
	bins := []CalibrationBin{}
	for j := range min(calibrationBins, len(list)) {
		part := list[j*len(list)/min(calibrationBins, len(list)) : (j+1)*len(list)/min(calibrationBins, len(list))]
		bin := CalibrationBin{Records: int64(len(part))}
		for _, i := range part {
			bin.CorrectMatch += cells.CorrectMatch[i] / float64(len(part))
			bin.PopulationUnique += cells.PopulationUnique[i] / float64(len(part))
			bin.ExpectedFrequency += cells.ExpectedFrequency[i] / float64(len(part))
		}
		bin.CorrectMatch, bin.PopulationUnique = min(bin.CorrectMatch, 1), min(bin.PopulationUnique, 1)
		bin.ExpectedFrequency = max(bin.ExpectedFrequency, 1)
		bins = append(bins, bin)
	}
	return bins
}

func namedEdges(g *graph.Graph, names []string) [][2]string {
	list := [][2]string{}
	for _, e := range g.Edges() {
		list = append(list, [2]string{names[e[0]], names[e[1]]})
	}
	return list
}

// figure is one of the summary, null for one without a value.
func figure(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
