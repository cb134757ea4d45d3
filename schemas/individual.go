package schemas

// IndividualPrefix starts the names of individual's columns unless the spec says otherwise.
const IndividualPrefix = "individual"

// Names of individual's columns, without the prefix.
const (
	IndividualRisk      = "risk"
	IndividualHousehold = "household_risk"
)

// Estimators of individual's risk.
var IndividualEstimators = []string{"exact", "approximate"}

// An Individual estimates the individual risk of Benedetti and Franconi, E[1/F] of a record's class from its sampling weights alone,
// and the risk of its household.
type Individual struct {
	Prefix    string // of the columns; "" means individual
	Key       *Key   // nil means the spec's
	Missing   string // category or drop; "" for what the key says
	Household string // column that is the same for all members of a household; "" for none
	Estimator string // one of IndividualEstimators; "" means exact
	Replace   bool   // existing columns of the same names are replaced
}

// ColumnPrefix is what the names of the operator's columns start with.
func (i *Individual) ColumnPrefix() string {
	if i.Prefix != "" {
		return i.Prefix
	}
	return IndividualPrefix
}

// OwnKey is a Measure's.
func (i *Individual) OwnKey() *Key { return i.Key }

// MissingPolicy is a Measure's.
func (i *Individual) MissingPolicy() string { return i.Missing }

// Figures is a Measure's.
func (i *Individual) Figures(*Spec) []string {
	return append([]string{LimitReidentifications}, figuresOfKey...)
}

// Columns is a Measure's.
func (i *Individual) Columns(writes bool, _ []string) []ColumnInfo {
	var columns []ColumnInfo
	if writes || i.Key != nil {
		columns = append(columns, ColumnInfo{frequencyColumn(i, writes), Int64, frequencyMeaning})
	}
	prefix := i.ColumnPrefix()
	columns = append(columns, ColumnInfo{Column(prefix, IndividualRisk), Double, "individual risk E[1/F] from the class's frequency and the sum of its weights, in (0, 1/f]"})
	if i.Household != "" {
		columns = append(columns, ColumnInfo{Column(prefix, IndividualHousehold), Double, "chance that at least one member of the record's household is recognised"})
	}
	return columns
}

// An IndividualSummary is individual's part of the summary.
type IndividualSummary struct {
	KeySummary          *KeySummary       `json:"key,omitempty"`
	Records             int64             `json:"records"` // not dropped
	Dropped             int64             `json:"dropped"` // chosen, and left out for a missing value
	Fraction            *float64          `json:"sampling_fraction"`
	PopulationSize      *float64          `json:"population_size"`
	Estimator           string            `json:"estimator"`
	Greatest            *float64          `json:"greatest_risk"` // null without records
	Reidentified        float64           `json:"expected_reidentifications"`
	ReidentifiedPercent float64           `json:"expected_reidentification_percent"`
	Household           *HouseholdSummary `json:"household,omitempty"`
}

// A HouseholdSummary has the risk of households.
type HouseholdSummary struct {
	Households   int64   `json:"households"` // records without one are a household each
	Missing      int64   `json:"missing"`    // records without one
	Reidentified float64 `json:"expected_reidentifications"`
	Percent      float64 `json:"expected_reidentification_percent"`
}

// Key is a Measured's.
func (i *IndividualSummary) Key() *KeySummary { return i.KeySummary }

// LeftOut is a Measured's.
func (i *IndividualSummary) LeftOut() int64 { return i.Dropped }

// Counted is a Measured's.
func (i *IndividualSummary) Counted() int64 { return i.Records }

// WithoutKey is a Measured's.
func (i *IndividualSummary) WithoutKey() Measured {
	alone := *i
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (i *IndividualSummary) Sampled() (fraction, population *float64) {
	return i.Fraction, i.PopulationSize
}

// Figures is a Measured's.
func (i *IndividualSummary) Figures() map[string]float64 {
	return map[string]float64{LimitReidentifications: i.Reidentified}
}

// Short is a Measured's.
func (i *IndividualSummary) Short(int) Measured { return i }

func individualFields(i *Individual) []field {
	return []field{
		{"prefix", text("prefix", &i.Prefix)},
		{"key", ownKey(&i.Key)},
		{"missing", text("missing", &i.Missing)},
		{"household", text("household", &i.Household)},
		{"estimator", text("estimator", &i.Estimator)},
		{"replace", boolean("replace", &i.Replace)},
	}
}

func individualYAML(i *Individual) ordered {
	return fieldsOf("missing", i.Missing, "household", i.Household, "estimator", i.Estimator, "replace", i.Replace)
}

func (v *validator) individual(path string, i *Individual, spec *Spec) {
	key := v.measure(path, "individual", i.Prefix, i.Key, i.Missing, spec)
	v.categoryOrDrop(path, "individual", i.Missing, key)
	v.oneOf(path+".estimator", "estimator", i.Estimator, IndividualEstimators)
	if spec.Sampling == nil {
		v.add(path, "individual needs the sampling weights: add sampling: {weight: COLUMN}, or its fraction or the population_size")
	}
	if i.Household != "" && key != nil && key.has(i.Household) {
		v.add(path+".household", "%s is the household and a key variable; leave it out of the key", i.Household)
	}
}
