package schemas

// Frequency is the column with the sample frequency f of a record's key. It is written once for the pipeline's key; an operator
// with a key of its own prefixes it.
const Frequency = "sample_frequency"

// SudaPrefix starts the names of suda's columns unless the spec says otherwise.
const SudaPrefix = "suda"

// Names of suda's columns, without the prefix.
const (
	SudaScore      = "score"
	SudaIS         = "is"
	SudaDISIS      = "dis_is"
	SudaMSUCount   = "msu_count"
	SudaMSUMinSize = "msu_min_size"
	SudaMSUs       = "msus"
	SudaShare      = "share" // followed by the variable: share_AGE
)

// MetadataKey is the key of the summary in a file's own metadata.
const MetadataKey = "microrisk"

// FrequencyPrefix names the operator frequency unless the spec says otherwise.
const FrequencyPrefix = "frequency"

// Column is the name of an operator's column: the prefix, an underscore, the name.
func Column(prefix, name string) string { return prefix + "_" + name }

// ShareColumn is the name of the column with a variable's share of the records' score.
func ShareColumn(prefix, variable string) string {
	return Column(prefix, SudaShare) + "_" + variable
}

// A ColumnType is the type of a column that microrisk writes.
type ColumnType string

// The types of columns.
const (
	Int64      ColumnType = "int64"
	Int32      ColumnType = "int32"
	Double     ColumnType = "double"
	StringSets ColumnType = "list<list<string>>"
)

// A ColumnInfo is a column as it is written.
type ColumnInfo struct {
	Name        string
	Type        ColumnType
	Description string
}

// frequencyMeaning describes the column with the sample frequency.
const frequencyMeaning = "f: records of the sample with the same key, this one included"

// Columns is a Measure's.
func (s *Suda) Columns(writes bool, variables []string) []ColumnInfo {
	prefix := s.ColumnPrefix()
	var columns []ColumnInfo
	if writes || s.Key != nil {
		columns = append(columns, ColumnInfo{frequencyColumn(s, writes), Int64, frequencyMeaning})
	}
	columns = append(columns,
		ColumnInfo{Column(prefix, SudaScore), Double, "SUDA score, summed over the record's minimal sample uniques; 0 if it has none"},
		ColumnInfo{Column(prefix, SudaIS), Double, "intermediate SUDA metric: sum of (K-s)! over the record's minimal sample uniques; 0 if it has none"},
		ColumnInfo{Column(prefix, SudaDISIS), Double, "DIS-IS estimate of Pr(correct match given unique match); null without a minimal sample unique"},
		ColumnInfo{Column(prefix, SudaMSUCount), Int32, "number of minimal sample uniques of the record"},
		ColumnInfo{Column(prefix, SudaMSUMinSize), Int32, "size of the record's smallest minimal sample unique; null if it has none"},
	)
	if s.MSUs {
		columns = append(columns, ColumnInfo{Column(prefix, SudaMSUs), StringSets,
			"minimal sample uniques as names of key variables, by size, then in key order"})
	}
	if s.Contributions {
		for _, v := range variables {
			columns = append(columns, ColumnInfo{ShareColumn(prefix, v), Double,
				"share of " + v + " in the record's score, percent; null where the score is 0"})
		}
	}
	return columns
}

// ColumnPrefix names the operator in the summary, and its column if that is not the pipeline's sample_frequency.
func (f *FrequencyOperator) ColumnPrefix() string {
	if f.Prefix != "" {
		return f.Prefix
	}
	return FrequencyPrefix
}

// ColumnPrefix is what the names of the operator's columns start with.
func (s *Suda) ColumnPrefix() string {
	if s.Prefix != "" {
		return s.Prefix
	}
	return SudaPrefix
}
