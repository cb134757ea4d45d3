package link

import (
	"errors"
	"slices"

	"microrisk/operators/recode"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Bounds on the people of a class that link takes.
var Bounds = []string{"naive", "tight"}

// DefaultPairs is the largest number of candidate pairs that are written unless the spec says otherwise.
const DefaultPairs = 1_000_000

// A Spec asks which records of two samples of one population are the same person.
type Spec struct {
	A, B           []string              // files of the two samples
	Key            *schemas.Key          // the overlap: variables of both; nil: all that both have
	Missing        string                // of the overlap, where Key does not say: category (default) or drop
	MissingCodes   []string              // values that count as missing, where Key does not say
	Levels         []schemas.KeyVariable // variables, of samples or tables, whose categories (Levels) are all there are
	AllowEmpty     bool                  // recodes may name values that no row has
	Bands          []recode.Column       // recodes for both samples and the population
	RecodeA        []recode.Column       // recodes for one of them, before Bands
	RecodeB        []recode.Column
	RecodeP        []recode.Column
	PopulationSize int64                     // N; 0: Population says it
	Population     []string                  // files of the population; none: it is not known
	Tables         []string                  // files of published tables of the population, perturbed by Scheme
	Exact          []string                  // the same, not perturbed
	Sampled        []string                  // files of tables counted from samples of the population
	Scheme         schemas.Perturbation      // of Tables
	Perturbed      []released.PerturbedTable // published tables of the population that were perturbed in ways of their own
	Bounds         string                    // one of Bounds; "" means naive
	Convolve       bool                      // published cells that are parts of classes, or sums of several, weigh too
	Out            string                    // file with one row a class of records in both samples (.parquet, .arrow or .csv)
	Pairs          string                    // file with one row a candidate pair, "" for none
	MostPairs      int64                     // the most candidate pairs that are written; 0 means DefaultPairs
}

// An Outcome is what was found.
type Outcome struct {
	Overlap            []string
	People             int64
	RecordsA, RecordsB int64
	ClassesA, ClassesB int64
	Classes            []LinkedClass        // those in both samples: unique matches by rank, then the others
	Unique             int                  // unique matches
	Pairs              float64              // candidate pairs
	ExpectedPairs      float64              // of them, expected to be one person each
	ExpectedUnique     float64              // of the unique matches
	Unmatched          []released.Unmatched // categories that only one sample has
	Known              bool                 // the population is
	KnownUnique        float64              // sum of 1/F over unique matches
	RankCorrelation    *float64             // Spearman's, of Correct and 1/F over unique matches; nil if there are too few or all are equal
	Warnings           []string
}

// A LinkedClass is a class of the overlap with records in both samples.
type LinkedClass struct {
	Values             []*string // by overlap variable; nil for missing
	RecordsA, RecordsB int64
	Low, High          int64   // bounds on F
	Mean               float64 // E[F]
	Correct            float64 // E[1/F]: chance that a record of A and one of B in the class are one person
	Rank               int64   // among unique matches, equal chances sharing the best; 0 for others
	F                  int64   // people of the population, 0 if it is not known
	FirstA, FirstB     Place   // the records of a unique match, the first ones of others

	classA, classB []int64 // of the samples' tables
}

// Unique tells whether the class is a unique match.
func (c *LinkedClass) Unique() bool { return c.RecordsA == 1 && c.RecordsB == 1 }

// Pairs is the number of candidate pairs.
func (c *LinkedClass) Pairs() float64 { return float64(c.RecordsA) * float64(c.RecordsB) }

// A Place is a row of one of the files of a sample.
type Place struct {
	Input string
	Row   int64 // from 0
}

// check finds what is wrong before anything is read.
func (s *Spec) check(read []session.Reading) error {
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	all := &session.Inputs{}
	for _, list := range slices.Concat([][]string{s.A, s.B, s.Population}, [][]string{s.Tables, s.Exact, s.Sampled, released.PathsOf(s.Perturbed)}) {
		if list == nil {
			continue
		}
		if slices.Contains(list, "-") {
			return session.Wrong(errors.New("samples and tables are files; standard input cannot be linked"))
		}
		in, err := session.Resolve(schemas.Source{Path: list})
		if err != nil {
			return err
		}
		all.Paths = append(all.Paths, in.Paths...)
	}
	if err := all.Check("any"); err != nil {
		return err
	}
	var writes []string
	for _, path := range []string{s.Out, s.Pairs} {
		if path == "" {
			continue
		}
		if err := session.KnownKind(path); err != nil {
			return err
		}
		writes = append(writes, path)
	}
	return session.CheckPaths(append(all.Readings("the input"), read...), writes)
}
