package sap

import "microrisk/schemas"

// A Summary is sap's part of the summary.
type Summary struct {
	Known                   []int64                   `json:"known"`
	Tables                  int64                     `json:"tables"`
	schemas.MeasuredRecords                           // in a table, and in none for a missing value
	Cells                   int64                     `json:"cells"` // of each table, those that nobody is in included
	By                      []string                  `json:"by"`
	Variables               []schemas.VariableSummary `json:"variables"`
	Scheme                  string                    `json:"scheme"`
	BaseTable               string                    `json:"base_table"`
	Total                   string                    `json:"total"`
	Margins                 []MarginSummary           `json:"margins"`
	Exact                   bool                      `json:"exact"`               // false: SAP was estimated from random orders of the people
	LowerBound              bool                      `json:"lower_bound"`         // the bounds were not sharp: SAP is at least what is said
	HalfWidth               float64                   `json:"greatest_half_width"` // of the 95 % intervals of estimates; 0 if all are exact
	SmallTables             int64                     `json:"small_tables"`        // tables with fewer people than the largest n, but for those that nobody is in
	EmptyTables             int64                     `json:"empty_tables"`        // tables that nobody is in
	Distribution            []Distribution            `json:"distribution"`        // for each n
	SmallestKnown           []SmallestKnown           `json:"smallest_known"`      // how many tables need how many people for the threshold
	NotFound                int64                     `json:"smallest_not_found"`  // tables too large to find the smallest number of people
	Threshold               float64                   `json:"threshold"`
	Riskiest                []TableSummary            `json:"riskiest_tables"` // at most five with people in them, by SAP at the largest n, then at smaller ones
}

// A MarginSummary is a table that is released besides, and its scheme.
type MarginSummary struct {
	Variables []string `json:"variables"`
	Scheme    string   `json:"scheme"`
}

// A TableSummary is one of the riskiest tables.
type TableSummary struct {
	By     []string  `json:"by"` // values of the variables of by
	People int64     `json:"people"`
	SAP    []float64 `json:"sap"` // for each n of known
}

// Greatest is the greatest SAP of a table at the largest n of known.
func (s *Summary) Greatest() float64 {
	greatest, most := 0.0, int64(-1)
	for _, d := range s.Distribution {
		if d.Known > most {
			greatest, most = d.Greatest, d.Known
		}
	}
	return greatest
}

// A Distribution has the numbers of tables in bands of SAP at one n: exactly 0, above 0 to .1, ..., above .9 and below 1, exactly 1.
type Distribution struct {
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

// Figures has the greatest SAP.
func (s *Summary) Figures() map[string]float64 { return map[string]float64{Limit: s.Greatest()} }
