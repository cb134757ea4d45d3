package link

import (
	"errors"
	"slices"

	"microrisk/engine/linkage"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Bounds on the people of a class that link takes.
var Bounds = []string{"naive", "tight"}

// DefaultPairs is the largest number of candidate pairs that are written unless the spec says otherwise.
const DefaultPairs = 1_000_000

// Priors are what is taken for known of the people of a class before samples and tables are looked at.
var Priors = []string{PriorModel, PriorFlat}

const (
	PriorModel = "model" // what a model of all samples together says
	PriorFlat  = "flat"  // all numbers are equally likely
)

// DefaultPosterior is how many numbers of people have their probabilities listed for each class, at most.
const DefaultPosterior = 20

// A Spec asks which records of several samples of one population are the same person.
type Spec struct {
	A, B           []string              // files of the two samples
	Further        []string              // more samples, each a file, glob or folder
	Prior          string                // one of Priors; "": the model where there are records enough for one
	Model          mc3.Config            // how it is fitted
	Posterior      *int                  // numbers of people whose probabilities are listed for each class, at most; nil: DefaultPosterior, in CSV none
	Key            *schemas.Key          // the overlap: variables of all; nil: all that all have
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
	Errors         []divergence.Rate         // with which probability the values of a person in two samples differ
	ErrorRates     string                    // Learn: they are learnt; "": they are given, or there are none
	Differ         int                       // in how many variables pairs may differ that tell of errors; 0: DefaultDiffer
	Bounds         string                    // one of Bounds; "" means naive
	Convolve       bool                      // published cells that are parts of classes, or sums of several, weigh too
	Out            string                    // file with one row a class of records in both samples (.parquet, .arrow or .csv)
	Pairs          string                    // file with one row a candidate pair, "" for none
	MostPairs      int64                     // the most candidate pairs that are written; 0 means DefaultPairs
}

// An Outcome is what was found.
type Outcome struct {
	Overlap         []string
	People          int64
	Samples         []Sample
	Classes         []LinkedClass        // those in two samples or more: unique matches by rank, then the others
	Unique          int                  // classes that are unique matches
	Links           []Linked             // pairs of samples: of the first with all others, of the second with those behind it, ...
	Total           Linked               // of all pairs
	Prior           string               // one of Priors
	Flat            string               // why the prior is flat where nothing was said of it, "" where it is not
	Errors          *Found               // nil where none were asked for
	Model           *Fit                 // nil where the prior is flat
	Unmatched       []released.Unmatched // categories that only the first or only another sample has
	Known           bool                 // the population is
	RankCorrelation *float64             // Spearman's, of Correct and 1/F over unique matches; nil if there are too few or all are equal
	Warnings        []string
}

// A Sample is how much a sample has.
type Sample struct{ Records, Classes int64 }

// A Linked is what two samples have in common.
type Linked struct {
	First, Second  int // samples, from 0
	Pairs          float64
	ExpectedPairs  float64   // of the candidate pairs, expected to be one person each
	Unique         int       // unique matches
	ExpectedUnique float64   // of them, expected to be right
	Interval       *Interval // of the number of right ones; nil where nothing tells
	Doubles        *Interval // what pairs within the samples say of that number, without a model; nil where they do not
	KnownUnique    float64   // sum of 1/F over unique matches
}

// An Interval is between which values a number lies with a probability of 95 %, and its standard error.
type Interval struct{ Value, SE, Lower, Upper float64 }

// A Fit is what is taken of the population.
type Fit struct {
	Graphs  int     // models that are averaged over
	Sigma   float64 // of the effects of cells
	SE      float64 // NaN where it is not known
	Unknown string  // why nothing is known of effects, "" where something is
}

// A LinkedClass is a class of the overlap with records in two samples or more.
type LinkedClass struct {
	Values    []*string // by overlap variable; nil for missing
	Records   []int64   // by sample
	Low, High int64     // bounds on F
	Mean      float64   // E[F]
	Correct   float64   // E[1/F]: chance that records of two samples in the class are one person
	Posterior []float64 // probability that F is Low, Low + 1, ...
	Rank      int64     // among unique matches, equal chances sharing the best; 0 for others
	F         int64     // people of the population, 0 if it is not known
	First     []Place   // the record of a unique match, the first one of others, by sample

	class *class
}

// Unique tells whether two samples have one record each of the class.
func (c *LinkedClass) Unique() bool { return linkage.Uniques(c.Records) > 0 }

// Pairs is the number of candidate pairs.
func (c *LinkedClass) Pairs() float64 { return linkage.Pairs(c.Records) }

// A Place is a row of one of the files of a sample.
type Place struct {
	Input string
	Row   int64 // from 0
}

// samplePaths are the files of each sample.
func (s *Spec) samplePaths() (list [][]string) {
	for _, f := range s.files() {
		list = append(list, f.files)
	}
	return list
}

// check finds what is wrong before anything is read.
func (s *Spec) check(read []session.Reading) error {
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	all := &session.Inputs{}
	for _, list := range slices.Concat(s.samplePaths(), [][]string{s.Population, s.Tables, s.Exact, s.Sampled, released.PathsOf(s.Perturbed)}) {
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
