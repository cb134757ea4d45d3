package evaluate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/evaluate"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Defaults of an EvaluateSpec.
const (
	DefaultRepetitions = 20
	DefaultTopClasses  = 10
)

// A Spec asks how good risk scores are: a file is taken as the population, samples are drawn from it, and what operators say
// of them is compared with the truth.
type Spec struct {
	// Spec has the population as its source, a key, operators that choose and recode, and those to be judged: suda, mc3, individual,
	// kanonymity. It says nothing of sampling, and has no output.
	Spec        *schemas.Spec
	Fractions   []float64 // sampling fractions, above 0 and below 1
	Repetitions int       // samples of each; 0 means DefaultRepetitions
	Bernoulli   bool      // each record, or household, is drawn on its own; otherwise the size of a sample is fixed
	Stratify    string    // column within whose values samples are drawn, "" for none
	Household   string    // column of households that are drawn as a whole, "" for none
	Scores      []string  // columns to judge; nil: all that are known to be scores
	Top         []int     // numbers of records for precision among the riskiest; nil: 10, 50, 100
	TopClasses  int       // classes of the Bayesian strategy; 0 means DefaultTopClasses
	Bins        int       // of calibration; 0 means evaluate.DefaultBins
	Out         string    // folder for evaluation.json, plots.parquet and the figures
	Pictures    []string  // kinds of pictures: svg, png; nil: both
}

// check finds what is wrong before anything is read.
func (s *Spec) check(read []session.Reading) error {
	switch {
	case s.Spec.Key == nil:
		return session.Wrong(errors.New("an evaluation needs key variables"))
	case s.Spec.Sampling != nil:
		return session.Wrong(errors.New("an evaluation draws its samples itself: leave sampling out"))
	case s.Spec.Limits != nil:
		return session.Wrong(errors.New("limits are of one run; an evaluation has many: leave them out"))
	case len(s.Fractions) == 0:
		return session.Wrong(errors.New("an evaluation needs a sampling fraction, such as 0.01"))
	case s.Repetitions < 0:
		return session.Wrong(fmt.Errorf("%d repetitions cannot be drawn; take at least 1", s.Repetitions))
	case s.Stratify != "" && s.Household != "":
		return session.Wrong(errors.New("samples are stratified or of whole households; choose one"))
	case s.TopClasses < 0:
		return session.Wrong(fmt.Errorf("the Bayesian strategy cannot consider %d classes", s.TopClasses))
	case s.Bins < 0:
		return session.Wrong(fmt.Errorf("%d bins cannot be made; take at least 1", s.Bins))
	}
	for i, f := range s.Fractions {
		if !(f > 0 && f < 1) {
			return session.Wrong(fmt.Errorf("the sampling fraction %v is not above 0 and below 1: all of a population is no sample", f))
		}
		if slices.Contains(s.Fractions[:i], f) {
			return session.Wrong(fmt.Errorf("the sampling fraction %v is there twice", f))
		}
	}
	for _, m := range s.Top {
		if m < 1 {
			return session.Wrong(fmt.Errorf("precision among the top %d has no meaning; take at least 1", m))
		}
	}
	for _, p := range s.Pictures {
		if p != "svg" && p != "png" {
			return session.Wrong(fmt.Errorf("there are no pictures of kind %q; they are svg and png", p))
		}
	}
	if err := session.TwoPolicies("an evaluation", *s.Spec.Key); err != nil {
		return err
	}
	if err := s.checkOperators(); err != nil {
		return err
	}
	return s.checkOut(read)
}

// checkOperators refuses operators that cannot be judged.
func (s *Spec) checkOperators() error {
	judged := 0
	for _, o := range s.Spec.Operators {
		m := o.Measure()
		_, named := o.Config.(schemas.Named)
		_, scoring := o.Config.(schemas.Scoring)
		switch {
		case named && !scoring:
			return session.Wrong(fmt.Errorf("%s has no score of records that the population could confirm: an evaluation judges %s", o.Name(), judgedNames()))
		case m == nil:
		case m.OwnKey() != nil:
			return session.Wrong(fmt.Errorf("%s has a key of its own; the truth is known for the key of the spec: leave it out", m.ColumnPrefix()))
		case hasFiles(o):
			return session.Wrong(fmt.Errorf("%s reads or saves a model; each sample has a model of its own: leave that out", m.ColumnPrefix()))
		default:
			judged++
		}
	}
	if judged == 0 {
		return session.Wrong(fmt.Errorf("there is nothing to judge: add one of %s", judgedNames()))
	}
	return nil
}

// checkOut finds a folder that cannot be written to.
func (s *Spec) checkOut(read []session.Reading) error {
	if s.Out == "" {
		return nil
	}
	if info, err := os.Stat(s.Out); err == nil && !info.IsDir() {
		return session.Wrong(fmt.Errorf("%s is a file; an evaluation is written to a folder", s.Out))
	}
	inputs, err := session.Readings("the population", s.Spec.Source.Path)
	if err != nil {
		return err
	}
	writes := []string{filepath.Join(s.Out, evaluationFile), filepath.Join(s.Out, plotsFile)}
	for _, kind := range s.pictureKinds() { // what they are called comes of what they show
		there, err := filepath.Glob(filepath.Join(session.Globbed(s.Out), "*."+kind))
		if err != nil {
			return err
		}
		writes = append(writes, there...)
	}
	return session.CheckPaths(append(inputs, read...), writes)
}

// Files of an evaluation besides the pictures.
const (
	evaluationFile = "evaluation.json"
	plotsFile      = "plots.parquet"
)

// pictureKinds are the kinds of pictures that are drawn.
func (s *Spec) pictureKinds() []string {
	if s.Pictures == nil {
		return []string{"svg", "png"}
	}
	return s.Pictures
}

func (s *Spec) repetitions() int {
	if s.Repetitions == 0 {
		return DefaultRepetitions
	}
	return s.Repetitions
}

func (s *Spec) design(fraction float64) evaluate.Design {
	return evaluate.Design{Fraction: fraction, Bernoulli: s.Bernoulli}
}

// A scoreColumn is a column that is judged.
type scoreColumn struct {
	name  string
	match bool // it estimates 1/F
	alone bool // it estimates whether F is 1
}

// scores are the columns that are judged, with what they estimate.
func (s *Spec) scores() ([]scoreColumn, error) {
	var known []scoreColumn
	var all []string
	for _, o := range s.Spec.Operators {
		m := o.Measure()
		if m == nil {
			continue
		}
		if x, ok := o.Config.(schemas.Scoring); ok {
			for _, c := range x.Scores() {
				known = append(known, scoreColumn{c.Column, c.Match, c.Alone})
			}
		}
		for _, c := range m.Columns(false, nil) {
			if c.Type != schemas.StringSets {
				all = append(all, c.Name)
			}
		}
	}
	if s.Scores == nil {
		if len(known) == 0 {
			return nil, session.Wrong(errors.New("the operators have no score to judge: kanonymity needs combinations"))
		}
		return known, nil
	}
	var chosen []scoreColumn
	for i, name := range s.Scores {
		at := slices.IndexFunc(known, func(c scoreColumn) bool { return c.name == name })
		switch {
		case slices.Contains(s.Scores[:i], name):
			return nil, session.Wrong(fmt.Errorf("the score %s is named twice", name))
		case at >= 0:
			chosen = append(chosen, known[at])
		case slices.Contains(all, name):
			chosen = append(chosen, scoreColumn{name: name})
		default:
			return nil, session.Wrong(fmt.Errorf("no operator writes a score %q; there are %s", name, strings.Join(all, ", ")))
		}
	}
	return chosen, nil
}

// judgedNames are the operators that an evaluation judges.
func judgedNames() string {
	var names []string
	for _, k := range schemas.Kinds() {
		if _, scoring := k.New().(schemas.Scoring); scoring {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// hasFiles tells whether an operator reads or makes files of its own.
func hasFiles(o schemas.Operator) bool {
	f, ok := o.Config.(operators.Filing)
	return ok && len(f.Files()) > 0
}
