// Package risk makes measures of disclosure risk from models of the population: for each cell the probability of a correct match
// E[1/F] and of population uniqueness P(F = 1), and the file-level measures that follow from them.
//
//	law, err := risk.NewLaw(ctx, data, 1, result.Models, 0)
//	cells, err := law.Cells(ctx, data, risk.Options{Unsampled: 99 * float64(data.Records)})
//
// Sources: Forster & Webb 2007; Smith 2011, chapter 7; Skinner & Elliot 2002.
package risk

import (
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// An Estimator of cell measures.
type Estimator string

// The estimators.
const (
	Gamma      Estimator = "gamma"      // a gamma matched to mean and variance of the posterior of pi (Forster & Webb 2007)
	Poisson    Estimator = "poisson"    // maximum-likelihood proportions (Smith 2011)
	Exact      Estimator = "exact"      // the posterior of pi itself, a product of betas, to 1e-10
	MonteCarlo Estimator = "montecarlo" // draws of clique tables from their hyper-Dirichlet laws
)

// A Law is the posterior law of the cell probabilities pi under weighted models. It needs the data it was made from no more. It is
// immutable and safe for concurrent use.
type Law struct {
	Levels    []int
	Records   int64 // n of the data that it was fitted to
	Precision float64
	Models    []bayes.Model
	Margins   []Margin // those of all cliques and separators of the models, ascending by Variables
}

// A Margin holds the counts of the occupied cells of a margin, in ascending lexicographic order of their codes.
type Margin struct {
	Variables graph.Set
	Codes     [][]uint32 // Codes[j][i]: code of cell i on the j-th variable of the set
	Counts    []int64
}

// Options of measures.
type Options struct {
	Estimator Estimator // "" means Gamma
	Unsampled float64   // u = N - n, at least 0, of the sample that is measured
	SetMatch  bool      // also Cells.SetMatch
	Draws     int       // of MonteCarlo, at least 1; 0 means 1,000
	PUDraws   int       // cells drawn for PU when the table is large, at least 1; 0 means 20,000
	Seed      uint64
	Workers   int // the result does not depend on it
	// Adjusted says that the measures of cells are not the law's own, of which nothing is known for empty cells: PU is then the population uniques
	// of the sample over the sampling fraction, as each is drawn with that probability, and CM|UM is n1 over the sum of E[F].
	Adjusted bool
	Progress func(done, total int64)
}

// Cells are measures of each occupied cell of a sample, averaged over the models.
type Cells struct {
	CorrectMatch      []float64 // E[1/F], in (0, 1/f]
	PopulationUnique  []float64 // P(F = 1): P(F - f = 0) if f = 1, 0 if f > 1
	ExpectedFrequency []float64 // E[F] = f + u E[pi]
	SetMatch          []float64 // the thesis' printed formula, E of 1/C(F, f); nil unless asked
	SD                *SDs      // of MonteCarlo, else nil

	drawn *masses // of MonteCarlo
}

// SDs are posterior standard deviations of the file-level sums.
type SDs struct{ PopulationUniques, CorrectMatches, Reidentifications float64 }

// Drawn is what draws say of an estimate.
type Drawn struct {
	SE        float64 // standard error of the estimate
	Low, High float64 // 95 % of the posterior of pi lie between
}

// A File has the file-level measures. PUSU, CMUM and CMSU are NaN where there is no sample unique, PU where there is nobody.
type File struct {
	SampleUniques     int64
	PU                float64 // share of the population that is population unique
	PUSE              float64 // its standard error, 0 when the empty cells were summed
	PUSU              float64 // PU|SU: share of sample uniques that are population unique
	CMUM              float64 // CM|UM, theta: n1 / sum of F over sample uniques
	CMUMDrawn         *Drawn  // of MonteCarlo and Exact: what the draws say of CMUM, else nil
	CMSU              float64 // CM|SU: mean of 1/F over sample uniques
	PopulationUniques float64 // tau1: expected number of population uniques among the sample uniques
	CorrectMatches    float64 // tau2: sum of E[1/F] over sample uniques
	Reidentifications float64 // sum over all records of E[1/F]
	EmptyCells        string  // how PU over the empty cells was made: Summed, Sampled or Scaled
}

// A Relative is the risk with all variables in relation to the risk without one, or with two of its categories merged, or with one
// suppressed. Where no sample unique survives Theta is NaN and Tau2 is 1; both are NaN where there was none, or nothing to merge with.
type Relative struct {
	Theta  float64 // theta(all) / theta(after)
	Tau2   float64 // 1 - tau2(after) / tau2(all)
	Unique int64   // sample uniques that survive
}
