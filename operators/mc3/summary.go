package mc3

import (
	"path/filepath"

	"microrisk/operators/known"
	"microrisk/schemas"
)

// A Summary is mc3's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	Fraction         float64  `json:"sampling_fraction"`
	PopulationSize   float64  `json:"population_size"` // of the records: records / sampling_fraction
	Search           string   `json:"search"`
	SearchReason     string   `json:"search_reason,omitempty"` // why this search, where the spec left it open
	Fit              string   `json:"fit,omitempty"`           // each: of each domain
	ModelFrom        string   `json:"model_from,omitempty"`    // the file that the model came from
	Estimator        string   `json:"estimator"`
	PriorPrecision   float64  `json:"prior_precision"`
	PrecisionChosen  bool     `json:"prior_precision_chosen,omitempty"` // by the sample
	DIS              *float64 `json:"dis"`                              // Pr(correct match given unique match) of the data without a model
	PU               *float64 `json:"pu"`
	PUSE             *float64 `json:"pu_se"` // 0 when the empty cells were summed or not needed
	PUSU             *float64 `json:"pu_su"`
	CMUM             *float64 `json:"cm_um"`                 // theta
	CMUMDrawn        *Drawn   `json:"cm_um_drawn,omitempty"` // of estimator exact and montecarlo
	CMSU             *float64 `json:"cm_su"`
	PopulationUnique *float64 `json:"expected_population_uniques"` // tau1, among the sample uniques
	CorrectMatches   *float64 `json:"expected_correct_matches"`    // tau2, among the sample uniques
	Reidentified     *float64 `json:"expected_reidentifications"`  // among all records
	ReidentifiedPart *float64 `json:"expected_reidentification_percent"`
	// Intervals say how sure these figures are: what the sample, the models and sigma leave open.
	Intervals []Interval `json:"intervals,omitempty"`
	// SD are posterior standard deviations, of montecarlo only.
	SD *Deviations `json:"standard_deviations,omitempty"`

	Effects *EffectsSummary `json:"effects,omitempty"`
	Halves  *Halves         `json:"halves,omitempty"` // how the models do on half of the sample
	Known   *known.Summary  `json:"known_tables,omitempty"`

	Models            []ModelSummary    `json:"models"`         // the most probable first
	DroppedWeight     float64           `json:"dropped_weight"` // of models below one millionth, left out
	EdgeProbabilities []EdgeProbability `json:"edge_probabilities"`
	Variables         []RelativeRisk    `json:"variables,omitempty"`
	Categories        []CategoryRisk    `json:"categories,omitempty"`
	Calibration       []CalibrationBin  `json:"calibration"`
	Sensitivity       []Sensitivity     `json:"sensitivity,omitempty"`
	Baselines         []Baseline        `json:"baselines,omitempty"`
	Diagnostics       Diagnostics       `json:"diagnostics"`
}

// EffectsSummary says what the sample tells of the effects of cells.
type EffectsSummary struct {
	Sigma       float64        `json:"sigma"`
	SE          *float64       `json:"se"` // null where sigma is at a border, or read
	Gain        float64        `json:"log_likelihood_gain"`
	Unknown     string         `json:"unknown,omitempty"` // why sigma is not identified
	Anchor      string         `json:"anchor,omitempty"`
	Factor      float64        `json:"factor"` // on what all cells should have
	Cells       int64          `json:"cells"`  // with 1 to 6 records
	Frequencies []FrequencyRow `json:"frequencies"`
}

// A FrequencyRow compares the number of keys that so many records have with what models foretell, given that they have 1 to 6.
type FrequencyRow struct {
	Records   int64   `json:"records"`
	Observed  int64   `json:"observed"`
	Without   float64 `json:"expected_without_effects"`
	Expected  float64 `json:"expected"`
	Deviation float64 `json:"standardised_difference"`
}

// Deviations are posterior standard deviations of the expected numbers.
type Deviations struct {
	PopulationUniques float64 `json:"expected_population_uniques"`
	CorrectMatches    float64 `json:"expected_correct_matches"`
	Reidentifications float64 `json:"expected_reidentifications"`
}

// Drawn is what draws say of a figure: its standard error, and between which values 95 % of the posterior lie.
type Drawn struct {
	SE    float64 `json:"se"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// A ModelSummary is a graphical model and its posterior probability.
type ModelSummary struct {
	Cliques       string      `json:"cliques"` // [AGE SEX][SEX MSTATUS]
	Edges         [][2]string `json:"edges"`
	LogLikelihood float64     `json:"log_marginal_likelihood"`
	Weight        float64     `json:"weight"`
}

// An EdgeProbability is the posterior probability that two key variables are joined by an edge.
type EdgeProbability struct {
	Edge        [2]string `json:"edge"`
	Probability float64   `json:"probability"`
	SE          *float64  `json:"standard_error"` // null where it is no estimate, or has none
}

// A RelativeRisk compares the file with all key variables with the file without one.
type RelativeRisk struct {
	Name          string   `json:"name"`
	Theta         *float64 `json:"theta_ratio"`    // theta(all) / theta(without); null when no sample unique survives
	Tau2          *float64 `json:"tau2_reduction"` // 1 - tau2(without) / tau2(all)
	SampleUniques int64    `json:"sample_uniques"` // that survive
}

// A CategoryRisk compares the file with one in which a category is collapsed or suppressed.
type CategoryRisk struct {
	Variable         string   `json:"variable"`
	Category         *string  `json:"category"` // null: missing
	CollapseTheta    *float64 `json:"collapse_theta_ratio"`
	CollapseTau2     *float64 `json:"collapse_tau2_reduction"`
	SuppressTheta    *float64 `json:"suppress_theta_ratio"`
	SuppressTau2     *float64 `json:"suppress_tau2_reduction"`
	SuppressedUnique int64    `json:"suppressed_sample_uniques"` // sample uniques in the category
}

// A CalibrationBin holds sample uniques with neighbouring estimates: what a known truth would be compared with.
type CalibrationBin struct {
	Records           int64   `json:"records"`
	CorrectMatch      float64 `json:"mean_correct_match"`
	PopulationUnique  float64 `json:"mean_population_unique"`
	ExpectedFrequency float64 `json:"mean_expected_frequency"`
}

// A Sensitivity row has the file-level measures at one prior precision.
type Sensitivity struct {
	PriorPrecision float64  `json:"prior_precision"`
	Best           string   `json:"best_model"`
	BestWeight     float64  `json:"best_weight"`
	Evidence       float64  `json:"log_evidence"`
	Predictive     float64  `json:"log_predictive"`
	PU             *float64 `json:"pu"`
	PUSU           *float64 `json:"pu_su"`
	CMUM           *float64 `json:"cm_um"`
	CMSU           *float64 `json:"cm_su"`
}

// A Baseline has the file-level measures of a simpler model; null where it does not give one.
type Baseline struct {
	Name string   `json:"name"`
	PU   *float64 `json:"pu"`
	PUSU *float64 `json:"pu_su"`
	CMUM *float64 `json:"cm_um"`
	CMSU *float64 `json:"cm_su"`
	Note string   `json:"note,omitempty"` // why a figure is null
}

// Diagnostics tell how the search went; null or left out is what the search does not have.
type Diagnostics struct {
	Margins        int64             `json:"margins"` // variable sets scored
	Graphs         int64             `json:"graphs"`  // distinct graphs seen
	Proposals      int64             `json:"proposals,omitempty"`
	AcceptanceRate *float64          `json:"acceptance_rate,omitempty"`
	ESS            *float64          `json:"ess"`
	RHat           *float64          `json:"r_hat"`
	Unseen         *float64          `json:"unseen_mass"` // posterior probability of models never seen: a bound (exact) or an estimate (mc3)
	LogTotal       *float64          `json:"log_total,omitempty"`
	Enumerated     bool              `json:"enumerated,omitempty"`
	Draws          int64             `json:"draws,omitempty"`
	Steps          int64             `json:"steps,omitempty"`
	Edges          []EdgeDiagnostics `json:"edges,omitempty"` // of mc3: of each edge's indicator
	WorstEdge      *WorstEdge        `json:"worst_edge,omitempty"`
	Returns        *int64            `json:"returns,omitempty"` // of states from the hottest temperature to the coldest
	Temperatures   []float64         `json:"inverse_temperatures,omitempty"`
	SwapRates      []float64         `json:"swap_rates,omitempty"`
	Trace          [][]float64       `json:"trace,omitempty"`
	EmptyCells     string            `json:"empty_cells"` // how PU was made: summed, sampled or scaled
}

// EdgeDiagnostics are those of the indicator of an edge; null where it never changes.
type EdgeDiagnostics struct {
	Edge [2]string `json:"edge"`
	RHat *float64  `json:"r_hat"`
	ESS  *float64  `json:"ess"`
}

// A WorstEdge is the one whose probability is the least certain.
type WorstEdge struct {
	Edge [2]string `json:"edge"`
	RHat *float64  `json:"r_hat"` // null too where chains stay apart altogether
	ESS  *float64  `json:"ess"`
	SE   float64   `json:"se"`  // of its frequency
	Gap  float64   `json:"gap"` // between its frequency and its probability by marginal likelihoods
}

// Sampled is a Sampled part's.
func (m *Summary) Sampled() (fraction, population *float64) { return &m.Fraction, &m.PopulationSize }

// Figures is a Measured's.
func (m *Summary) Figures() map[string]float64 {
	figures := map[string]float64{}
	for name, value := range map[string]*float64{
		LimitPU: m.PU, LimitPUSU: m.PUSU, LimitCMUM: m.CMUM, LimitCMSU: m.CMSU, LimitPopulationUniques: m.PopulationUnique,
		LimitCorrectMatches: m.CorrectMatches, schemas.LimitReidentifications: m.Reidentified,
	} {
		if value != nil {
			figures[name] = *value
		}
	}
	return figures
}

// Short is a Lengthy part's.
func (m *Summary) Short(entries int) any {
	short := *m
	short.Categories = m.Categories[:min(len(m.Categories), entries)]
	return &short
}

// Public is a PrivateDocument's: without folders.
func (m *Summary) Public() any {
	if m.ModelFrom == "" {
		return m
	}
	bare := *m
	bare.ModelFrom = filepath.Base(m.ModelFrom)
	return &bare
}

// Estimates is an Estimating part's.
func (m *Summary) Estimates() []schemas.Estimate {
	return []schemas.Estimate{{Measure: "pu", Value: m.PU}, {Measure: "pu_su", Value: m.PUSU}, {Measure: "cm_um", Value: m.CMUM},
		{Measure: "cm_su", Value: m.CMSU}, {Measure: schemas.LimitReidentifications, Value: m.Reidentified}}
}
