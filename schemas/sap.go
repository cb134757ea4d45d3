package schemas

import "fmt"

// SAPPrefix starts the names of sap's columns unless the spec says otherwise.
const SAPPrefix = "sap"

// Names of sap's columns, between the prefix and the number of people known.
const (
	SAPCell   = "cell"
	SAPTarget = "target"
)

// A SAP finds for each released table how likely it is that somebody who knows n of its people can subtract them and learn that a
// combination is empty. It needs no key: there is one table for each combination of By, over the variables Cells.
type SAP struct {
	Prefix     string              // of the columns; "" means sap
	By         []KeyVariable       // columns whose values tell the tables apart; none means one table
	Cells      []KeyVariable       // variables of the tables; Missing is not looked at
	Missing    string              // of Cells: category (default) or drop; a record without a value of By is in no table
	Release    Release             // how the tables are published
	Known      []int64             // numbers of people known
	Impossible []map[string]string // combinations of some of Cells that cannot occur: their zeros tell nothing
	Threshold  *float64            // the smallest n whose SAP is at least this is found for each table; nil means 0.5
	Tables     string              // file with one row a table, "" for none
	Replace    bool                // existing columns of the same names are replaced
}

// A Release says how counts are published.
type Release struct {
	Perturbation
	BaseTable string   // how the table over all of cells is published, one of Totals; "" means same
	Total     string   // one of Totals; "" means none
	Margins   []Margin // further tables released
	Published string   // file with the counts really published; "" means that they are made anew
}

// A Margin is a table over some of the cells' variables that is released too.
type Margin struct {
	Variables []string
	Perturb   *Perturbation // nil: perturbed as the table is; its secret is the release's
}

// Joint tells whether what is known comes of several tables together, or of a table that is not published as it is perturbed.
func (r *Release) Joint() bool {
	return len(r.Margins) > 0 || r.BaseTable != "" && r.BaseTable != "same"
}

// Random tells whether a count that is published is left to chance.
func (r *Release) Random() bool {
	random := r.Perturbation.Random()
	for _, m := range r.Margins {
		random = random || m.Perturb != nil && m.Perturb.Random()
	}
	return random
}

// A Perturbation is a scheme by which counts are perturbed, with its parameters.
type Perturbation struct {
	Scheme      string      // one of Schemes; "" means none
	Base        int64       // of conventional, random and small
	Tie         string      // of an even base: up, down or even
	Probability *float64    // of random: that of the nearest multiple (nil: unbiased); of barnard: that a count stays
	Last        int64       // of small: counts from 1 to Last become Value
	Value       int64       // of small
	Matrix      [][]Outcome // of matrix: by the true count, the last row for all larger ones too
	Secret      string      // file with the secret by which cells are perturbed; "" means that none is kept
}

// MaxCount is the largest count that can be published: whole numbers up to it are exact in floating point.
const MaxCount = 1 << 53

// An Outcome is a count that is published with a probability.
type Outcome struct {
	Count       int64
	Probability float64
}

// Words of sap.
var (
	Schemes = []string{"none", "conventional", "random", "barnard", "small", "matrix"}
	Ties    = []string{"up", "down", "even"}
	Totals  = []string{"same", "exact", "none"}
	// CountColumns are the names that a column of counts has in files of tables: no variable of a table has one of them.
	CountColumns = []string{"published", "value", "count"}
)

// Random tells whether the scheme leaves a count to chance.
func (p *Perturbation) Random() bool {
	return p.Scheme == "random" || p.Scheme == "barnard" || p.Scheme == "matrix"
}

// ColumnPrefix is what the names of the operator's columns start with.
func (s *SAP) ColumnPrefix() string {
	if s.Prefix != "" {
		return s.Prefix
	}
	return SAPPrefix
}

// Columns are those that sap writes, in order; of several tables together there is no target.
func (s *SAP) Columns() []ColumnInfo {
	var columns []ColumnInfo
	for _, kind := range []struct{ name, meaning string }{
		{"", "SAP(n) of the released table that the record falls in, n = %d: chance that a zero is recovered by who knows n of its people"},
		{SAPCell, "chance that the record's own cell is known in full and shown empty, n = %d"},
		{SAPTarget, "chance that some cell is shown empty by who knows n = %d of the table's other people"},
	} {
		if kind.name == SAPTarget && s.Release.Joint() {
			continue // it is known of single tables only
		}
		for _, n := range s.Known {
			columns = append(columns, ColumnInfo{s.column(kind.name, n), Double, fmt.Sprintf(kind.meaning, n)})
		}
	}
	return columns
}

// TableColumns are the columns of the file of tables after those of By, in order.
func (s *SAP) TableColumns() []string {
	columns := []string{"people", "cells"}
	for _, n := range s.Known {
		columns = append(columns, fmt.Sprintf("sap_%d", n))
	}
	for _, n := range s.Known {
		columns = append(columns, fmt.Sprintf("expected_zeros_%d", n))
	}
	return append(columns, "smallest_known")
}

func (s *SAP) column(kind string, n int64) string {
	name := fmt.Sprint(n)
	if kind != "" {
		name = kind + "_" + name
	}
	return Column(s.ColumnPrefix(), name)
}

// A SAPSummary is sap's part of the summary.
type SAPSummary struct {
	Known         []int64           `json:"known"`
	Tables        int64             `json:"tables"`
	Records       int64             `json:"records"` // in a table
	Dropped       int64             `json:"dropped"` // in no table, for a missing value
	Cells         int64             `json:"cells"`   // of each table, those that nobody is in included
	By            []string          `json:"by"`
	Variables     []VariableSummary `json:"variables"`
	Scheme        string            `json:"scheme"`
	BaseTable     string            `json:"base_table"`
	Total         string            `json:"total"`
	Margins       []SAPMargin       `json:"margins"`
	Exact         bool              `json:"exact"`               // false: SAP was estimated from random orders of the people
	LowerBound    bool              `json:"lower_bound"`         // the bounds were not sharp: SAP is at least what is said
	HalfWidth     float64           `json:"greatest_half_width"` // of the 95 % intervals of estimates; 0 if all are exact
	SmallTables   int64             `json:"small_tables"`        // tables with fewer people than the largest n, but for those that nobody is in
	EmptyTables   int64             `json:"empty_tables"`        // tables that nobody is in
	Distribution  []SAPDistribution `json:"distribution"`        // for each n
	SmallestKnown []SmallestKnown   `json:"smallest_known"`      // how many tables need how many people for the threshold
	NotFound      int64             `json:"smallest_not_found"`  // tables too large to find the smallest number of people
	Threshold     float64           `json:"threshold"`
	Riskiest      []SAPTable        `json:"riskiest_tables"` // at most five with people in them, by SAP at the largest n, then at smaller ones
}

// A SAPMargin is a table that is released besides, and its scheme.
type SAPMargin struct {
	Variables []string `json:"variables"`
	Scheme    string   `json:"scheme"`
}

// A SAPTable is one of the riskiest tables.
type SAPTable struct {
	By     []string  `json:"by"` // values of the variables of by
	People int64     `json:"people"`
	SAP    []float64 `json:"sap"` // for each n of known
}

// Greatest is the greatest SAP of a table at the largest n of known.
func (s *SAPSummary) Greatest() float64 {
	greatest, most := 0.0, int64(-1)
	for _, d := range s.Distribution {
		if d.Known > most {
			greatest, most = d.Greatest, d.Known
		}
	}
	return greatest
}

// A SAPDistribution has the numbers of tables in bands of SAP at one n: exactly 0, above 0 to .1, ..., above .9 and below 1, exactly 1.
type SAPDistribution struct {
	Known    int64   `json:"known"`
	Zero     int64   `json:"zero"`
	Bands    []int64 `json:"bands"` // ten
	One      int64   `json:"one"`
	Mean     float64 `json:"mean"`
	Greatest float64 `json:"greatest"`
}

// SmallestKnown counts the tables whose SAP comes to the threshold with this number of people known; null: never.
type SmallestKnown struct {
	Known  *int64 `json:"known"`
	Tables int64  `json:"tables"`
}
