package schemas

import "github.com/goccy/go-yaml/ast"

// KAnonymityPrefix starts the names of kanonymity's columns unless the spec says otherwise.
const KAnonymityPrefix = "kanonymity"

// DefaultK is the k of kanonymity unless the spec says otherwise.
const DefaultK = 3

// MostCombinedVariables is the largest number of key variables whose combinations kanonymity counts.
const MostCombinedVariables = 20

// Names of kanonymity's columns, without the prefix.
const (
	KAnonymityViolation  = "violation"
	KAnonymityViolations = "violations"
	KAnonymityMinSize    = "min_size"
)

// A KAnonymity tells which records share their key with fewer than k records, itself included, and on how many combinations of fewer
// key variables that is so.
type KAnonymity struct {
	Prefix       string // of the columns; "" means kanonymity
	Key          *Key   // nil means the spec's
	Missing      string // policy for all variables of the key, "" for what the key says
	K            int64  // 0 means DefaultK
	Combinations int    // combinations of at most this many key variables are looked at; 0: the whole key only
	Force        bool   // search even if it is estimated to take more than an hour
	Replace      bool   // existing columns of the same names are replaced
}

// Least is k.
func (k *KAnonymity) Least() int64 {
	if k.K == 0 {
		return DefaultK
	}
	return k.K
}

// ColumnPrefix is what the names of the operator's columns start with.
func (k *KAnonymity) ColumnPrefix() string {
	if k.Prefix != "" {
		return k.Prefix
	}
	return KAnonymityPrefix
}

// OwnKey is a Measure's.
func (k *KAnonymity) OwnKey() *Key { return k.Key }

// MissingPolicy is a Measure's.
func (k *KAnonymity) MissingPolicy() string { return k.Missing }

// Figures is a Measure's.
func (k *KAnonymity) Figures(*Spec) []string {
	return append([]string{LimitKAnonymity}, figuresOfKey...)
}

// Columns is a Measure's.
func (k *KAnonymity) Columns(writes bool, _ []string) []ColumnInfo {
	var columns []ColumnInfo
	if writes || k.Key != nil {
		columns = append(columns, ColumnInfo{frequencyColumn(k, writes), Int64, frequencyMeaning})
	}
	prefix := k.ColumnPrefix()
	columns = append(columns, ColumnInfo{Column(prefix, KAnonymityViolation), Int32, "1 if fewer than k records have the record's key, 0 otherwise"})
	if k.Combinations > 0 {
		columns = append(columns,
			ColumnInfo{Column(prefix, KAnonymityViolations), Int64, "combinations of key variables, of the sizes looked at, on which fewer than k records agree with the record"},
			ColumnInfo{Column(prefix, KAnonymityMinSize), Int32, "size of the smallest of these; null if there is none"})
	}
	return columns
}

// A KAnonymitySummary is kanonymity's part of the summary.
type KAnonymitySummary struct {
	KeySummary        *KeySummary        `json:"key,omitempty"`
	Records           int64              `json:"records"` // not dropped
	Dropped           int64              `json:"dropped"` // chosen, and left out for a missing value
	K                 int64              `json:"k"`
	Smallest          *int64             `json:"smallest_class"` // null without records
	Violations        int64              `json:"violations"`     // records whose key fewer than k have
	ViolationPercent  float64            `json:"violation_percent"`
	Combinations      int64              `json:"combinations"` // looked at, the whole key or those of a size
	CombinationsSizes []CombinationsSize `json:"sizes,omitempty"`
}

// A CombinationsSize has the records for which a smallest combination that fewer than k share is of this size.
type CombinationsSize struct {
	Size    int   `json:"size"`
	Records int64 `json:"records"`
}

// Key is a Measured's.
func (k *KAnonymitySummary) Key() *KeySummary { return k.KeySummary }

// LeftOut is a Measured's.
func (k *KAnonymitySummary) LeftOut() int64 { return k.Dropped }

// Counted is a Measured's.
func (k *KAnonymitySummary) Counted() int64 { return k.Records }

// WithoutKey is a Measured's.
func (k *KAnonymitySummary) WithoutKey() Measured {
	alone := *k
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (k *KAnonymitySummary) Sampled() (fraction, population *float64) { return nil, nil }

// Figures is a Measured's.
func (k *KAnonymitySummary) Figures() map[string]float64 {
	return map[string]float64{LimitKAnonymity: float64(k.Violations)}
}

// Short is a Measured's.
func (k *KAnonymitySummary) Short(int) Measured { return k }

func kAnonymityFields(k *KAnonymity) []field {
	return []field{
		{"prefix", text("prefix", &k.Prefix)},
		{"key", ownKey(&k.Key)},
		{"missing", text("missing", &k.Missing)},
		{"k", func(d *decoder, n ast.Node, path string) {
			if k.K = d.integer(n, path, "k"); k.K == 0 && !d.failed(path) {
				d.problemAt(path, "k is 0; it must be at least 2")
			}
		}},
		{"combinations", func(d *decoder, n ast.Node, path string) { k.Combinations = int(d.integer(n, path, "combinations")) }},
		{"force", boolean("force", &k.Force)},
		{"replace", boolean("replace", &k.Replace)},
	}
}

func kAnonymityYAML(k *KAnonymity) ordered {
	return fieldsOf("missing", k.Missing, "k", k.K, "combinations", k.Combinations, "force", k.Force, "replace", k.Replace)
}

func (v *validator) kAnonymity(path string, k *KAnonymity, spec *Spec) {
	key := v.measure(path, "kanonymity", k.Prefix, k.Key, k.Missing, spec)
	if k.K != 0 && k.K < 2 || k.K > MaxThreshold {
		v.add(path+".k", "k is %d; it must be at least 2 and at most %d", k.K, MaxThreshold)
	}
	switch {
	case k.Combinations < 0:
		v.add(path+".combinations", "combinations is %d; it must be 0 (the whole key only) or more", k.Combinations)
	case k.Combinations > 0 && key != nil && len(key.Variables) > MostCombinedVariables:
		v.add(path+".combinations", "combinations of %d key variables cannot be counted; at most %d can: take a smaller key for this operator", len(key.Variables), MostCombinedVariables)
	case k.Force && k.Combinations == 0:
		v.add(path+".force", "force is about the search for combinations; without combinations there is none")
	}
}
