package schemas

// LimitReidentifications is the limit of correct matches expected among all records, which several operators have.
const LimitReidentifications = "expected_reidentifications"

// A Judged part of the summary has figures that limits are compared with.
type Judged interface {
	Counted() int64              // records that the figures are of
	LeftOut() int64              // records that were asked about and are left out
	Figures() map[string]float64 // by the names of limits; those of the key and of single records left out
}

// A Measured is a measure's part of the summary.
type Measured interface {
	Judged
	Key() *KeySummary                         // nil: it is the document's
	WithoutKey() Measured                     // for a key that the document describes
	Sampled() (fraction, population *float64) // as it was used; nil: not at all
	Short(entries int) Measured               // with its long lists cut to their first entries
}

// An Estimating part of the summary has estimates of what the population's counts would tell.
type Estimating interface{ Estimates() []Estimate }

// An Estimate is one of a measure of the file: pu, pu_su, cm_um, cm_su or expected_reidentifications.
type Estimate struct {
	Measure string
	Value   *float64 // nil where there is none
}
