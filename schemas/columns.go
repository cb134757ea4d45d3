package schemas

// Frequency is the column with the sample frequency f of a record's key. It is written once for the pipeline's key; an operator
// with a key of its own prefixes it.
const Frequency = "sample_frequency"

// MetadataKey is the key of the summary in a file's own metadata.
const MetadataKey = "microrisk"

// Column is the name of an operator's column: the prefix, an underscore, the name.
func Column(prefix, name string) string { return prefix + "_" + name }

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
	Label, Note string // its name and its meaning in a few words, where a single record is explained; "" for Name and Description
}

// FrequencyColumn is the column with the sample frequency of a measure's key; shared: it is that of the spec's key.
func FrequencyColumn(m Measure, shared bool) ColumnInfo {
	c := ColumnInfo{Name: Frequency, Type: Int64, Description: "f: records of the sample with the same key, this one included"}
	if !shared {
		c.Name = Column(m.ColumnPrefix(), Frequency)
	}
	return c
}

// FrequencyColumns is that column, where a measure writes one: for the spec's key if it is the one to do so, for its own key always.
func FrequencyColumns(m Measure, shared bool) []ColumnInfo {
	if !shared && m.OwnKey() == nil {
		return nil
	}
	return []ColumnInfo{FrequencyColumn(m, shared)}
}
