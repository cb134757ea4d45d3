// Package schemas has the words of microrisk: the spec that describes a run, the key, every column written, and the summary
// document. It holds plain types, and behaviour only to validate.
package schemas

// Version of the spec and of the summary.
const Version = 1

// A Spec describes a run: where the rows come from, what is done to them, where they go.
type Spec struct {
	Source    Source
	Sampling  *Sampling // nil when nothing is said of the sample
	Key       *Key      // the key of all operators that have none of their own
	Operators []Operator
	Sink      Sink
	Summary   string           // path of the summary document, "" for none, "-" for standard output
	Limits    map[string]Limit // by LimitNames
	// Profile is a profile of limits, by its name or of a file: limits beside those above, which go before them. Who runs the spec reads it.
	Profile string
	// ID is the column that names the riskiest records on the terminal, "" for none. Its values are in no summary and no metadata.
	ID string
	// AllowEmpty lets select, map and levels name values that no row has, and a selection choose no row.
	AllowEmpty bool
}

// A Limit is the largest value that a figure may have. A figure of no records breaches it, and so does one of a part of the records that
// were asked about (missing values drop the others), unless Of is modelled.
type Limit struct {
	Max float64
	Of  string // "" for all records that were asked about; LimitModelled for those that are not dropped
}

// LimitModelled lets a limit look at the records that are not dropped alone.
const LimitModelled = "modelled"

// A Source says what is read. Either Path or Table is set.
type Source struct {
	Path      []string          // files, globs, folders; "-" for an Arrow IPC stream on standard input
	Table     string            // a contingency table, with the column Count
	Count     string            // the column of Table that says how many records a row stands for
	Format    string            // parquet, arrow or csv; "" goes by the name's ending
	Types     map[string]string // of CSV columns, by name; the others are inferred
	Delimiter string            // of CSV, "" for that which is found
}

// A Sink says where the annotated rows go.
type Sink struct {
	Path        string // a file, or a folder when there are several inputs; "-" for an Arrow IPC stream on standard output; "" for none
	Format      string // parquet, arrow or csv; "" goes by the name's ending, or the source's kind
	Compression string // of new column chunks: zstd (default), snappy, gzip, none
	Footer      string // one of Footers: what of the summary goes into a Parquet file's metadata; "" means release
}

// Sampling says how the records were drawn from their population: just one of the three is set.
type Sampling struct {
	Fraction       float64 // in (0, 1]; 0 when unset
	PopulationSize int64   // of the population of the records asked about (chosen, and not dropped), at least their number; 0 when unset
	Weight         string  // column of sampling weights: the fraction is n / (sum of weights)
	ZeroWeight     string  // what a weight of 0 or null means: "" an error, or ZeroDrop
}

// ZeroDrop leaves out records whose weight is 0 or null: they get nulls and are in no table.
const ZeroDrop = "drop"

// Missing-value policies.
const (
	MissingCategory = "category"
	MissingWildcard = "wildcard"
	MissingIgnore   = "ignore"
	MissingDrop     = "drop"
)

// A Key lists the key variables.
type Key struct {
	Variables    []KeyVariable
	Missing      string   // policy of the variables that do not say; "" means category
	MissingCodes []string // values that count as missing besides null, for the variables that do not say
}

// A KeyVariable is one of the columns by which a record could be recognised.
type KeyVariable struct {
	Name         string
	Missing      string   // "" means the key's
	MissingCodes []string // nil means the key's
	Levels       []string // the categories it can take; nil means those observed
}

// An Operator of the spec.
type Operator struct{ Config Config }
