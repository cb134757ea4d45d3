package schemas

// A Measure is an operator with a contingency table of a key: it measures records by their classes.
type Measure interface {
	ColumnPrefix() string                                 // starts the names of its columns, and names it in the summary
	OwnKey() *Key                                         // nil: it takes the spec's
	MissingPolicy() string                                // for all variables of the key; "" for what the key says
	Columns(writes bool, variables []string) []ColumnInfo // in order; writes: it writes sample_frequency for the spec's key
	Figures(s *Spec) []string                             // names of the limits that its figures can be compared with
}

// Name is what the spec calls the operator.
func (o Operator) Name() string {
	switch {
	case o.Recode != nil:
		return "recode"
	case o.Select != nil:
		return "select"
	case o.Suda != nil:
		return "suda"
	case o.Frequency != nil:
		return "frequency"
	case o.MC3 != nil:
		return "mc3"
	case o.SAP != nil:
		return "sap"
	case o.Tabulate != nil:
		return "tabulate"
	case o.KAnonymity != nil:
		return "kanonymity"
	case o.LDiversity != nil:
		return "ldiversity"
	case o.Individual != nil:
		return "individual"
	}
	return ""
}

// Measure is the operator as a measure; nil for one that has no table.
func (o Operator) Measure() Measure {
	switch {
	case o.Suda != nil:
		return o.Suda
	case o.Frequency != nil:
		return o.Frequency
	case o.MC3 != nil:
		return o.MC3
	case o.KAnonymity != nil:
		return o.KAnonymity
	case o.LDiversity != nil:
		return o.LDiversity
	case o.Individual != nil:
		return o.Individual
	}
	return nil
}

// Common is what all operators that make columns of risk can be told: their prefix, their own policy for missing values, and whether their
// columns take the place of others of the same names. nil for operators that make none.
func (o Operator) Common() (prefix, missing *string, replace *bool) {
	switch {
	case o.Suda != nil:
		return &o.Suda.Prefix, &o.Suda.Missing, &o.Suda.Replace
	case o.Frequency != nil:
		return &o.Frequency.Prefix, &o.Frequency.Missing, &o.Frequency.Replace
	case o.MC3 != nil:
		return &o.MC3.Prefix, &o.MC3.Missing, &o.MC3.Replace
	case o.SAP != nil:
		return &o.SAP.Prefix, &o.SAP.Missing, &o.SAP.Replace
	case o.KAnonymity != nil:
		return &o.KAnonymity.Prefix, &o.KAnonymity.Missing, &o.KAnonymity.Replace
	case o.LDiversity != nil:
		return &o.LDiversity.Prefix, &o.LDiversity.Missing, &o.LDiversity.Replace
	case o.Individual != nil:
		return &o.Individual.Prefix, &o.Individual.Missing, &o.Individual.Replace
	}
	return nil, nil, nil
}

// clone is a copy of the operator that can be told something else.
func (o Operator) clone() Operator {
	switch {
	case o.Suda != nil:
		c := *o.Suda
		o.Suda = &c
	case o.Frequency != nil:
		c := *o.Frequency
		o.Frequency = &c
	case o.MC3 != nil:
		c := *o.MC3
		o.MC3 = &c
	case o.SAP != nil:
		c := *o.SAP
		o.SAP = &c
	case o.KAnonymity != nil:
		c := *o.KAnonymity
		o.KAnonymity = &c
	case o.LDiversity != nil:
		c := *o.LDiversity
		o.LDiversity = &c
	case o.Individual != nil:
		c := *o.Individual
		o.Individual = &c
	}
	return o
}

// WithPrefix is the operator with another prefix of its columns.
func (o Operator) WithPrefix(prefix string) Operator {
	o = o.clone()
	if p, _, _ := o.Common(); p != nil {
		*p = prefix
	}
	return o
}

// WithKey is a measure with a key of its own.
func (o Operator) WithKey(key *Key) Operator {
	o = o.clone()
	switch {
	case o.Suda != nil:
		o.Suda.Key = key
	case o.Frequency != nil:
		o.Frequency.Key = key
	case o.MC3 != nil:
		o.MC3.Key = key
	case o.KAnonymity != nil:
		o.KAnonymity.Key = key
	case o.LDiversity != nil:
		o.LDiversity.Key = key
	case o.Individual != nil:
		o.Individual.Key = key
	}
	return o
}

// A Measured is a measure's part of the summary.
type Measured interface {
	Key() *KeySummary                         // nil: it is the document's
	Counted() int64                           // records not dropped
	LeftOut() int64                           // records dropped for a missing value
	WithoutKey() Measured                     // for a key that the document describes
	Figures() map[string]float64              // by the names of limits; those of the key and of single records left out
	Sampled() (fraction, population *float64) // as it was used; nil: not at all
	Short(entries int) Measured               // with its long lists cut to their first entries
}

// frequencyColumn is the name of the column with the sample frequency.
func frequencyColumn(m Measure, writes bool) string {
	if writes {
		return Frequency
	}
	return Column(m.ColumnPrefix(), Frequency)
}

var figuresOfKey = []string{LimitClasses, LimitSampleUniques, LimitSampleUniqueShare, LimitDoubles}

// OwnKey is a Measure's.
func (s *Suda) OwnKey() *Key { return s.Key }

// MissingPolicy is a Measure's.
func (s *Suda) MissingPolicy() string { return s.Missing }

// Figures is a Measure's.
func (s *Suda) Figures(spec *Spec) []string {
	list := append([]string{LimitSpecialUniques, LimitMSUs, LimitFileScore, LimitMaxScore}, figuresOfKey...)
	if s.Threshold <= 1 && spec.Sampling != nil {
		list = append(list, LimitDIS)
	}
	return list
}

// OwnKey is a Measure's.
func (f *FrequencyOperator) OwnKey() *Key { return f.Key }

// MissingPolicy is a Measure's.
func (f *FrequencyOperator) MissingPolicy() string { return f.Missing }

// Figures is a Measure's.
func (f *FrequencyOperator) Figures(*Spec) []string { return figuresOfKey }

// Columns is a Measure's.
func (f *FrequencyOperator) Columns(writes bool, _ []string) []ColumnInfo {
	return []ColumnInfo{{frequencyColumn(f, writes), Int64, frequencyMeaning}}
}

// Key is a Measured's.
func (s *SudaSummary) Key() *KeySummary { return s.KeySummary }

// LeftOut is a Measured's.
func (s *SudaSummary) LeftOut() int64 { return s.Dropped }

// Counted is a Measured's.
func (s *SudaSummary) Counted() int64 { return s.Records }

// WithoutKey is a Measured's.
func (s *SudaSummary) WithoutKey() Measured {
	alone := *s
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (s *SudaSummary) Sampled() (fraction, population *float64) { return s.Fraction, s.PopulationSize }

// Figures is a Measured's.
func (s *SudaSummary) Figures() map[string]float64 {
	m := map[string]float64{LimitSpecialUniques: float64(s.SpecialUniques), LimitMSUs: float64(s.MSUs), LimitFileScore: s.FileScore}
	if s.DIS != nil {
		m[LimitDIS] = *s.DIS
	}
	return m
}

// Short is a Measured's.
func (s *SudaSummary) Short(entries int) Measured {
	short := *s
	short.Categories = s.Categories[:min(len(s.Categories), entries)]
	return &short
}

// Key is a Measured's.
func (f *FrequencySummary) Key() *KeySummary { return f.KeySummary }

// LeftOut is a Measured's.
func (f *FrequencySummary) LeftOut() int64 { return f.Dropped }

// Counted is a Measured's.
func (f *FrequencySummary) Counted() int64 { return f.Records }

// WithoutKey is a Measured's.
func (f *FrequencySummary) WithoutKey() Measured {
	return &FrequencySummary{Records: f.Records, Dropped: f.Dropped}
}

// Sampled is a Measured's.
func (f *FrequencySummary) Sampled() (fraction, population *float64) { return nil, nil }

// Figures is a Measured's.
func (f *FrequencySummary) Figures() map[string]float64 { return nil }

// Short is a Measured's.
func (f *FrequencySummary) Short(int) Measured { return f }
