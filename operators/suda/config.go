package suda

import (
	"cmp"
	"errors"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "suda"

// Names of its columns, without the prefix.
const (
	ColumnScore      = "score"
	ColumnIS         = "is"
	ColumnDISIS      = "dis_is"
	ColumnMSUCount   = "msu_count"
	ColumnMSUMinSize = "msu_min_size"
	ColumnMSUs       = "msus"
	ColumnShare      = "share" // followed by the variable: share_AGE
)

// Names of its limits.
const (
	LimitSpecialUniques = "special_uniques"
	LimitMSUs           = "msus"
	LimitDIS            = "dis"
	LimitMaxScore       = "max_score"
	LimitFileScore      = "file_score"
)

// MaxDISISVariables is the most key variables for which DIS-IS is defined: its exponent is positive up to there.
const MaxDISISVariables = 27

// Definitions of the score.
const (
	ScoreLattice        = "lattice"
	ScoreLatticeLimited = "lattice-limited"
	ScoreFactorial      = "factorial"
	ScoreElliotLimited  = "elliot-limited"
)

// Scores are the words for them.
var Scores = []string{ScoreLattice, ScoreLatticeLimited, ScoreFactorial, ScoreElliotLimited}

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	Score         string // one of Scores; "" means lattice
	MaxSize       int    // largest minimal sample unique looked for; 0 for no limit
	Threshold     int64  // 0 means 1
	Contributions bool   // each key variable's share of the record's score is a column
	MSUs          bool   // the minimal sample uniques themselves are one
	Force         bool   // search even if it is estimated to take more than an hour
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: c.WithDomains(Name, []schemas.Field{
		{Name: "score", To: &c.Score, Words: Scores, Default: ScoreLattice,
			Doc: "Weight of a minimal sample unique of size s among K key variables. lattice: (2^(K-s)-1)/C(K,s). lattice-limited: the same lattice up to max_size " +
				"only. factorial: (K-s)!. elliot-limited: the product of K-i for i from s to max_size.",
			Flag: &schemas.Flag{
				Name:  "score",
				Usage: "definition of the SUDA score: lattice, lattice-limited, factorial or elliot-limited (default: lattice)",
			}},
		{Name: "max_size", To: &c.MaxSize, Range: schemas.AtLeast(0).Saying("it must be 0 (full depth) or more"), Schema: `"default": 0`,
			Doc:  "Largest minimal sample unique looked for; 0 for all.",
			Flag: &schemas.Flag{Name: "max-size", Usage: "look for minimal sample uniques of at most `N` variables; 0 for all"}},
		{Name: "threshold", To: &c.Threshold, Default: int64(1), Range: schemas.Within(1, schemas.MaxThreshold),
			Doc:  "Keys shared by at most this many records are unsafe. There is no DIS above 1.",
			Flag: &schemas.Flag{Name: "threshold", Usage: "records whose key at most `K` records share are unsafe (default: 1)"}},
		{Name: "contributions", To: &c.Contributions, Doc: "Add each key variable's share of the record's score.",
			Flag: &schemas.Flag{Name: "contributions", Aside: true, Usage: "add suda_share_VARIABLE: each key variable's share of the score, percent"}},
		{Name: "msus", To: &c.MSUs, Doc: "Add the minimal sample uniques themselves.",
			Flag: &schemas.Flag{Name: "msus", Aside: true, Usage: "add suda_msus: the minimal sample uniques themselves"}},
		{Name: "force", To: &c.Force, Doc: "Search even if it is estimated to take more than an hour.",
			Flag: &schemas.Flag{Name: "force", Usage: "search even if it is estimated to take more than an hour"}},
	})}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	key := s.KeyOf(c)
	if key != nil && len(key.Variables) > MaxDISISVariables && len(key.Variables) <= schemas.MaxKeyVariables && s.Sampling != nil && c.Threshold <= 1 {
		k.Add(path, "DIS-IS is defined for up to %d key variables and the key has %d; take fewer, or leave sampling out", MaxDISISVariables, len(key.Variables))
	}
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Weighs is a Weighing operator's.
func (c *Config) Weighs() bool { return true }

// Lacks is a Lacking operator's: DIS needs the sampling, and a threshold of 1.
func (c *Config) Lacks(figure string, s *schemas.Spec) error {
	switch {
	case figure != LimitDIS || s.Sampling != nil && c.Threshold <= 1:
		return nil
	case s.Sampling != nil:
		return errors.New("there is no DIS with a threshold above 1 to compare the limit with; leave the limit or the threshold out")
	}
	return advice.Errorf("there is no DIS to compare the limit with; say how the records were drawn (%s)",
		advice.Advice{Spec: "sampling", Flags: "--fraction, --population-size or --weight"})
}

// ShareColumn is the name of the column with a variable's share of the records' score.
func ShareColumn(prefix, variable string) string {
	return schemas.Column(prefix, ColumnShare) + "_" + variable
}

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, variables []string) []schemas.ColumnInfo {
	prefix := c.ColumnPrefix()
	columns := schemas.FrequencyColumns(c, frequency)
	add := func(name string, t schemas.ColumnType, meaning string) {
		columns = append(columns, schemas.ColumnInfo{Name: name, Type: t, Description: meaning})
	}
	add(schemas.Column(prefix, ColumnScore), schemas.Double, "SUDA score, summed over the record's minimal sample uniques; 0 if it has none")
	add(schemas.Column(prefix, ColumnIS), schemas.Double, "intermediate SUDA metric: sum of (K-s)! over the record's minimal sample uniques; 0 if it has none")
	add(schemas.Column(prefix, ColumnDISIS), schemas.Double, "DIS-IS estimate of Pr(correct match given unique match); null without a minimal sample unique")
	dis := &columns[len(columns)-1]
	dis.Label, dis.Note = "DIS-IS", "chance that a unique match is correct"
	add(schemas.Column(prefix, ColumnMSUCount), schemas.Int32, "number of minimal sample uniques of the record")
	add(schemas.Column(prefix, ColumnMSUMinSize), schemas.Int32, "size of the record's smallest minimal sample unique; null if it has none")
	if c.MSUs {
		add(schemas.Column(prefix, ColumnMSUs), schemas.StringSets, "minimal sample uniques as names of key variables, by size, then in key order")
	}
	if c.Contributions {
		for _, v := range variables {
			add(ShareColumn(prefix, v), schemas.Double, "share of "+v+" in the record's score, percent; null where the score is 0")
		}
	}
	return columns
}

// Scores is a Scoring operator's.
func (c *Config) Scores() []schemas.Score {
	name := func(of string) string { return schemas.Column(c.ColumnPrefix(), of) }
	list := []schemas.Score{{Column: name(ColumnScore)}}
	if c.Threshold <= 1 {
		list = append(list, schemas.Score{Column: name(ColumnDISIS), Match: true})
	}
	return list
}
