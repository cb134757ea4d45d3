package schemas

// A Judged part of the summary has figures that limits are compared with.
type Judged interface {
	Counted() int64              // records that the figures are of
	LeftOut() int64              // records that were asked about and are left out
	Figures() map[string]float64 // by the names of limits; those of the key and of single records left out
}

// A Measured is a measure's part of the summary: a pointer to a struct with [MeasuredKey] and [MeasuredRecords] in it.
type Measured interface {
	Judged
	Key() *KeySummary        // nil: it is the document's
	Domains() *DomainSummary // nil: it was not asked for them
	setKey(*KeySummary)
}

// MeasuredKey is what a measure's part of the summary has of the key.
type MeasuredKey struct {
	KeySummary *KeySummary `json:"key,omitempty"` // only when it has a key of its own, or another missing policy
	// Divided tells of domains; nil unless it is asked to.
	Divided *DomainSummary `json:"domains,omitempty"`
}

// Key is a Measured's.
func (m *MeasuredKey) Key() *KeySummary { return m.KeySummary }

//lint:ignore U1000 it makes a Measured of what has it in it
func (m *MeasuredKey) setKey(key *KeySummary) { m.KeySummary = key }

// Domains is a Measured's.
func (m *MeasuredKey) Domains() *DomainSummary { return m.Divided }

// A DomainSummary has the figures of domains: the records of each, of which the classes are those of the whole file.
type DomainSummary struct {
	By    []string    `json:"by"`
	Count int64       `json:"count"` // of all domains
	Rows  []DomainRow `json:"rows"`  // of the first ones, by their values

	Riskiest []DomainRow  `json:"-"` // by the first of Told
	Told     []ToldFigure `json:"-"` // what a report tells of each
}

// A ToldFigure is a figure that a report tells of.
type ToldFigure struct{ Name, As string }

// A DomainRow has the figures of a domain.
type DomainRow struct {
	Values  []*string           `json:"values"`  // of by; null for missing
	Records int64               `json:"records"` // not dropped
	Dropped int64               `json:"dropped"`
	Uniques int64               `json:"sample_uniques"` // records that are unique in the whole file
	Doubles float64             `json:"doubles"`        // records with a frequency of 2 in the whole file, halved
	Figures map[string]*float64 `json:"figures"`        // of the measure; null where there is none
}

// WithoutKey is a part of the summary whose key the document describes.
func WithoutKey(m Measured) Measured {
	m = clone(m)
	m.setKey(nil)
	return m
}

// MeasuredRecords are what a part of the summary is of.
type MeasuredRecords struct {
	Records int64 `json:"records"` // not dropped
	Dropped int64 `json:"dropped"` // asked about, and left out for a missing value
}

// Counted is a Judged's.
func (m *MeasuredRecords) Counted() int64 { return m.Records }

// LeftOut is a Judged's.
func (m *MeasuredRecords) LeftOut() int64 { return m.Dropped }

// A Sampled part of the summary has looked at the sampling.
type Sampled interface {
	Sampled() (fraction, population *float64) // as it was used; nil: not at all
}

// A Lengthy part of the summary has long lists.
type Lengthy interface {
	Short(entries int) any // with these cut to their first entries
}

// An Estimating part of the summary has estimates of what the population's counts would tell.
type Estimating interface{ Estimates() []Estimate }

// An Estimate is one of a measure of the file: pu, pu_su, cm_um, cm_su or expected_reidentifications.
type Estimate struct {
	Measure string
	Value   *float64 // nil where there is none
}
