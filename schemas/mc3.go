package schemas

// MC3Prefix starts the names of mc3's columns unless the spec says otherwise.
const MC3Prefix = "mc3"

// Names of mc3's columns, without the prefix.
const (
	MC3CorrectMatch      = "correct_match"
	MC3PopulationUnique  = "population_unique"
	MC3ExpectedFrequency = "expected_frequency"
	MC3SetMatch          = "set_match"
)

// An MC3 estimates for each record the probabilities of a correct match and of population uniqueness, from Bayesian models of the
// joint distribution of the key variables. Zero values of the settings mean the defaults of packages search and risk.
type MC3 struct {
	Prefix         string    // of the columns; "" means mc3
	Key            *Key      // nil means the spec's
	Missing        string    // category or drop, for all variables of the key; "" for what the key says
	PriorPrecision []float64 // total prior precision; the columns are of the first, all are compared in the summary; nil means 1
	Search         string    // one of Searches; "" means exact where it can be afforded, else mc3 with tempering
	Weights        string    // one of ModelWeights; "" means likelihood
	EdgePenalty    float64   // log prior odds against each edge
	BurnIn         *int      // of mc3
	Iterations     *int      // of mc3
	Thinning       *int      // of mc3
	Chains         *int      // of mc3
	Temperatures   *int      // of mc3: 1 for no tempering
	Moves          string    // of mc3: one of GraphMoves
	Schedule       string    // of anneal: one of Schedules
	Restarts       *int      // of anneal
	Window         *float64  // of occam
	Directions     string    // of occam: one of WindowDirections
	Razor          bool      // of occam
	Draws          *int      // of exact: junction trees
	Graph          string    // of fixed: cliques as in [AGE SEX][SEX MSTATUS], or independence, or saturated
	Estimator      string    // one of Estimators; "" means gamma
	PosteriorDraws *int      // of montecarlo
	CellDraws      *int      // for PU over the empty cells of a large table
	SetMatch       bool      // write the probability that a set of f records is matched to itself, too
	Baselines      bool      // compare with simpler models
	RelativeRisk   bool      // compare with the risk without each variable and category
	Ordinal        []string  // variables whose categories are collapsed with their neighbours only
	ModelOut       string    // file that the fitted model is saved to
	ModelIn        string    // file with a model that is used without a fit
	Replace        bool      // existing columns of the same names are replaced
}

// Words of mc3.
var (
	Searches         = []string{"exact", "mc3", "anneal", "occam", "fixed"}
	ModelWeights     = []string{"likelihood", "visits"}
	GraphMoves       = []string{"edge", "edges", "clique"}
	Schedules        = []string{"sweeps", "thesis"}
	WindowDirections = []string{"up", "both"}
	Estimators       = []string{"gamma", "poisson", "exact", "montecarlo"}
)

// Graphs of mc3 that have a name.
const (
	GraphIndependence = "independence"
	GraphSaturated    = "saturated"
)

// ColumnPrefix is what the names of the operator's columns start with.
func (m *MC3) ColumnPrefix() string {
	if m.Prefix != "" {
		return m.Prefix
	}
	return MC3Prefix
}

// OwnKey is a Measure's.
func (m *MC3) OwnKey() *Key { return m.Key }

// MissingPolicy is a Measure's.
func (m *MC3) MissingPolicy() string { return m.Missing }

// Columns is a Measure's. sample_frequency is written unless another operator does.
func (m *MC3) Columns(writes bool, _ []string) []ColumnInfo {
	prefix := m.ColumnPrefix()
	var columns []ColumnInfo
	if writes || m.Key != nil {
		columns = append(columns, ColumnInfo{frequencyColumn(m, writes), Int64, frequencyMeaning})
	}
	columns = append(columns,
		ColumnInfo{Column(prefix, MC3CorrectMatch), Double, "E[1/F]: chance that a population member who fits this key is this record; above 0, at most 1/f"},
		ColumnInfo{Column(prefix, MC3PopulationUnique), Double, "P(F = 1 given the sample): chance that the key is unique in the population; 0 if f > 1"},
		ColumnInfo{Column(prefix, MC3ExpectedFrequency), Double, "E[F]: expected number of population members with this key, the sample's included"},
	)
	if m.SetMatch {
		columns = append(columns, ColumnInfo{Column(prefix, MC3SetMatch), Double, "E[1/C(F,f)]: chance that the f records of this key are just the f members that were chosen among F"})
	}
	return columns
}

// Figures is a Measure's.
func (m *MC3) Figures(*Spec) []string {
	return append([]string{LimitPU, LimitPUSU, LimitCMUM, LimitCMSU, LimitPopulationUniques, LimitCorrectMatches, LimitReidentifications}, figuresOfKey...)
}

// An MC3Summary is mc3's part of the summary.
type MC3Summary struct {
	KeySummary       *KeySummary `json:"key,omitempty"` // only when it has a key of its own, or another missing policy
	Records          int64       `json:"records"`       // not dropped
	Dropped          int64       `json:"dropped"`       // chosen, and left out for a missing value
	Fraction         float64     `json:"sampling_fraction"`
	PopulationSize   float64     `json:"population_size"` // of the records: records / sampling_fraction
	Search           string      `json:"search"`
	SearchReason     string      `json:"search_reason,omitempty"` // why this search, where the spec left it open
	ModelFrom        string      `json:"model_from,omitempty"`    // the file that the model came from
	Estimator        string      `json:"estimator"`
	PriorPrecision   float64     `json:"prior_precision"`
	DIS              *float64    `json:"dis"` // Pr(correct match given unique match) of the data without a model
	PU               *float64    `json:"pu"`
	PUSE             *float64    `json:"pu_se"` // 0 when the empty cells were summed
	PUSU             *float64    `json:"pu_su"`
	CMUM             *float64    `json:"cm_um"`                 // theta
	CMUMDrawn        *MC3Drawn   `json:"cm_um_drawn,omitempty"` // of estimator exact and montecarlo
	CMSU             *float64    `json:"cm_su"`
	PopulationUnique *float64    `json:"expected_population_uniques"` // tau1, among the sample uniques
	CorrectMatches   *float64    `json:"expected_correct_matches"`    // tau2, among the sample uniques
	Reidentified     *float64    `json:"expected_reidentifications"`  // among all records
	ReidentifiedPart *float64    `json:"expected_reidentification_percent"`
	// SD are posterior standard deviations, of montecarlo only.
	SD *MC3Deviations `json:"standard_deviations,omitempty"`

	Models            []ModelSummary    `json:"models"`         // the most probable first
	DroppedWeight     float64           `json:"dropped_weight"` // of models below one millionth, left out
	EdgeProbabilities []EdgeProbability `json:"edge_probabilities"`
	Variables         []RelativeRisk    `json:"variables,omitempty"`
	Categories        []CategoryRisk    `json:"categories,omitempty"`
	Calibration       []CalibrationBin  `json:"calibration"`
	Sensitivity       []Sensitivity     `json:"sensitivity,omitempty"`
	Baselines         []Baseline        `json:"baselines,omitempty"`
	Diagnostics       MC3Diagnostics    `json:"diagnostics"`
}

// MC3Deviations are posterior standard deviations of the expected numbers.
type MC3Deviations struct {
	PopulationUniques float64 `json:"expected_population_uniques"`
	CorrectMatches    float64 `json:"expected_correct_matches"`
	Reidentifications float64 `json:"expected_reidentifications"`
}

// MC3Drawn is what draws say of a figure: its standard error, and between which values 95 % of the posterior lie.
type MC3Drawn struct {
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

// MC3Diagnostics tell how the search went; null or left out is what the search does not have.
type MC3Diagnostics struct {
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
	EmptyCells     string            `json:"empty_cells"` // how PU was made: summed or sampled
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

// Key is a Measured's.
func (m *MC3Summary) Key() *KeySummary { return m.KeySummary }

// LeftOut is a Measured's.
func (m *MC3Summary) LeftOut() int64 { return m.Dropped }

// Counted is a Measured's.
func (m *MC3Summary) Counted() int64 { return m.Records }

// WithoutKey is a Measured's.
func (m *MC3Summary) WithoutKey() Measured {
	alone := *m
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (m *MC3Summary) Sampled() (fraction, population *float64) { return &m.Fraction, &m.PopulationSize }

// Figures is a Measured's.
func (m *MC3Summary) Figures() map[string]float64 {
	figures := map[string]float64{}
	for name, value := range map[string]*float64{
		LimitPU: m.PU, LimitPUSU: m.PUSU, LimitCMUM: m.CMUM, LimitCMSU: m.CMSU, LimitPopulationUniques: m.PopulationUnique,
		LimitCorrectMatches: m.CorrectMatches, LimitReidentifications: m.Reidentified,
	} {
		if value != nil {
			figures[name] = *value
		}
	}
	return figures
}

// Short is a Measured's.
func (m *MC3Summary) Short(entries int) Measured {
	short := *m
	short.Categories = m.Categories[:min(len(m.Categories), entries)]
	return &short
}
