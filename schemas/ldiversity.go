package schemas

import "github.com/goccy/go-yaml/ast"

// LDiversityPrefix starts the names of ldiversity's columns unless the spec says otherwise.
const LDiversityPrefix = "ldiversity"

// Names of ldiversity's columns, between the prefix and the sensitive variable.
const (
	LDiversityDistinct  = "distinct"
	LDiversityEntropy   = "entropy"
	LDiversityRecursive = "recursive"
)

// Defaults of ldiversity.
const (
	DefaultL = 2
	DefaultC = 2.0
)

// An LDiversity tells how diverse sensitive variables are among the records with the same key.
type LDiversity struct {
	Prefix    string        // of the columns; "" means ldiversity
	Key       *Key          // nil means the spec's
	Missing   string        // of the key: category or drop; "" for what the key says
	Sensitive []KeyVariable // Missing, of each: ignore (a missing value is no value; the default) or category
	L         int64         // the summary counts records below it; 0 means DefaultL
	C         float64       // of recursive (c, l)-diversity; 0 means DefaultC
	Replace   bool          // existing columns of the same names are replaced
}

// Least is l.
func (l *LDiversity) Least() int64 {
	if l.L == 0 {
		return DefaultL
	}
	return l.L
}

// Factor is c.
func (l *LDiversity) Factor() float64 {
	if l.C == 0 {
		return DefaultC
	}
	return l.C
}

// ColumnPrefix is what the names of the operator's columns start with.
func (l *LDiversity) ColumnPrefix() string {
	if l.Prefix != "" {
		return l.Prefix
	}
	return LDiversityPrefix
}

// OwnKey is a Measure's.
func (l *LDiversity) OwnKey() *Key { return l.Key }

// MissingPolicy is a Measure's.
func (l *LDiversity) MissingPolicy() string { return l.Missing }

// Figures is a Measure's.
func (l *LDiversity) Figures(*Spec) []string {
	return append([]string{LimitLDiversity}, figuresOfKey...)
}

// Columns is a Measure's.
func (l *LDiversity) Columns(writes bool, _ []string) []ColumnInfo {
	var columns []ColumnInfo
	if writes || l.Key != nil {
		columns = append(columns, ColumnInfo{frequencyColumn(l, writes), Int64, frequencyMeaning})
	}
	for _, s := range l.Sensitive {
		name := func(kind string) string { return Column(Column(l.ColumnPrefix(), kind), s.Name) }
		columns = append(columns,
			ColumnInfo{name(LDiversityDistinct), Int64, "different values of " + s.Name + " among the records with the key"},
			ColumnInfo{name(LDiversityEntropy), Double, "exp of the entropy of " + s.Name + " among them: the class is entropy l-diverse for l up to it; 0 without values"},
			ColumnInfo{name(LDiversityRecursive), Int64, "largest l for which the class is recursive (c, l)-diverse in " + s.Name + "; 0 for none"})
	}
	return columns
}

// An LDiversitySummary is ldiversity's part of the summary.
type LDiversitySummary struct {
	KeySummary *KeySummary        `json:"key,omitempty"`
	Records    int64              `json:"records"` // not dropped
	Dropped    int64              `json:"dropped"` // chosen, and left out for a missing value
	L          int64              `json:"l"`
	C          float64            `json:"c"`
	Sensitive  []SensitiveSummary `json:"sensitive"`
}

// A SensitiveSummary tells of a sensitive variable. Least figures are null without records.
type SensitiveSummary struct {
	Name           string   `json:"name"`
	Missing        int64    `json:"missing"` // records without a value
	Policy         string   `json:"policy"`  // ignore or category
	LeastDistinct  *int64   `json:"least_distinct"`
	LeastEntropy   *float64 `json:"least_entropy"`
	LeastRecursive *int64   `json:"least_recursive"`
	BelowDistinct  int64    `json:"below_distinct"`  // records whose class has fewer than l different values
	BelowEntropy   int64    `json:"below_entropy"`   // whose class is not entropy l-diverse
	BelowRecursive int64    `json:"below_recursive"` // whose class is not recursive (c, l)-diverse
}

// Key is a Measured's.
func (l *LDiversitySummary) Key() *KeySummary { return l.KeySummary }

// LeftOut is a Measured's.
func (l *LDiversitySummary) LeftOut() int64 { return l.Dropped }

// Counted is a Measured's.
func (l *LDiversitySummary) Counted() int64 { return l.Records }

// WithoutKey is a Measured's.
func (l *LDiversitySummary) WithoutKey() Measured {
	alone := *l
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (l *LDiversitySummary) Sampled() (fraction, population *float64) { return nil, nil }

// Figures is a Measured's.
func (l *LDiversitySummary) Figures() map[string]float64 {
	most := 0.0
	for _, s := range l.Sensitive {
		most = max(most, float64(s.BelowDistinct))
	}
	return map[string]float64{LimitLDiversity: most}
}

// Short is a Measured's.
func (l *LDiversitySummary) Short(int) Measured { return l }

func lDiversityFields(l *LDiversity) []field {
	return []field{
		{"prefix", text("prefix", &l.Prefix)},
		{"key", ownKey(&l.Key)},
		{"missing", text("missing", &l.Missing)},
		{"sensitive", variableList("sensitive", &l.Sensitive)},
		{"l", func(d *decoder, n ast.Node, path string) {
			if l.L = d.integer(n, path, "l"); l.L == 0 && !d.failed(path) {
				d.problemAt(path, "l is 0; it must be at least 2")
			}
		}},
		{"c", func(d *decoder, n ast.Node, path string) {
			if l.C = d.number(n, path, "c"); l.C == 0 && !d.failed(path) {
				d.problemAt(path, "c is 0; it must be above 0")
			}
		}},
		{"replace", boolean("replace", &l.Replace)},
	}
}

func lDiversityYAML(l *LDiversity) ordered {
	return fieldsOf("missing", l.Missing, "sensitive", variablesYAML(l.Sensitive), "l", l.L, "c", l.C, "replace", l.Replace)
}

func (v *validator) lDiversity(path string, l *LDiversity, spec *Spec) {
	key := v.measure(path, "ldiversity", l.Prefix, l.Key, l.Missing, spec)
	v.categoryOrDrop(path, "ldiversity", l.Missing, key)
	if len(l.Sensitive) == 0 {
		v.add(path, "ldiversity does not say what is sensitive; add sensitive: with its variables")
	}
	seen := map[string]bool{}
	for i, s := range l.Sensitive {
		switch {
		case s.Name == "":
			v.add(path+".sensitive", "a sensitive variable has no name")
		case seen[s.Name]:
			v.add(path+".sensitive", "sensitive names %s twice", s.Name)
		case s.Missing != "" && s.Missing != MissingIgnore && s.Missing != MissingCategory:
			v.add(path+".sensitive", "a missing value of the sensitive variable %s is %q; it is ignore (no value) or category", s.Name, s.Missing)
		case key != nil && key.has(s.Name):
			v.add(path+".sensitive", "%s is sensitive and in the key: all records of a class have the same value", s.Name)
		}
		seen[l.Sensitive[i].Name] = true
	}
	if l.L < 0 || l.L == 1 {
		v.add(path+".l", "l is %d; it must be at least 2", l.L)
	}
	if l.C < 0 {
		v.add(path+".c", "c is %g; it must be above 0", l.C)
	}
}

// has tells whether a variable is in the key.
func (k *Key) has(name string) bool {
	for _, v := range k.Variables {
		if v.Name == name {
			return true
		}
	}
	return false
}
