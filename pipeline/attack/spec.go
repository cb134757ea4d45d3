package attack

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/attack"
	"microrisk/operators/mc3"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Rankings of the Bayesian strategy.
var Rankings = []string{string(attack.ByMatch), string(attack.ByExpected)}

// A Spec asks what an intruder achieves who matches a sample to people.
type Spec struct {
	// Sample has the sample as its source, a key, and operators that choose and recode; its sampling says how large the population
	// is, unless Population does.
	Sample     *schemas.Spec
	Population []string          // files of the whole population, of the same columns; none: it is not known
	Model      mc3.Config        // of the population
	KnownOnly  bool              // no model is fitted; Population must be there
	Frequency  int64             // f of the classes of strategies 6 and 7; 0 means 2
	Ranking    string            // of the Bayesian strategy, one of Rankings; "" means match
	Cost       float64           // people that an intruder accepts to look at; 0 for any number
	Classes    []string          // files with the key's columns, a row for each class that is also considered by itself; none: no such attack
	Errors     []divergence.Rate // with which probability the intruder's values differ; of other key variables they never do
	Out        string            // file with one row an attack (.parquet, .arrow or .csv), "" for none
}

// Fields is the field table. It makes the sample's spec if there is none.
func (s *Spec) Fields() schemas.Table {
	if s.Sample == nil {
		s.Sample = &schemas.Spec{}
	}
	t := schemas.Table{
		What:     "the spec",
		Doc:      "What microrisk attack is asked: what an intruder achieves who matches a sample to people, and what the search costs.",
		Required: []string{"source", "key"},
	}
	t.Fields = slices.Concat(s.Sample.Part("source", "sampling", "key", "operators", "allow_empty"), []schemas.Field{
		{
			Name:   "population",
			To:     &s.Population,
			Single: true,
			Repeat: true,
			File:   true,
			Doc:    "Files of the whole population, with the columns of the key coded alike; without it sampling says how large it is.",
			Flag: &schemas.Flag{
				Name:  "population",
				Short: "p",
				Many:  true,
				Usage: "`FILE` of the whole population, with the columns of the key coded alike; may be repeated",
			},
		},
		{
			Name:    "frequency",
			To:      &s.Frequency,
			Range:   schemas.AtLeast(1),
			Default: int64(2),
			Doc:     "Strategies 6 and 7 consider the classes with so many records in the sample.",
			Flag:    &schemas.Flag{Name: "frequency", Usage: "strategies 6 and 7 consider the classes with `R` records in the sample"},
		},
		{
			Name:    "ranking",
			To:      &s.Ranking,
			Words:   Rankings,
			Unlike:  "there is no ranking %q; it is " + strings.Join(Rankings, " or "),
			Default: string(attack.ByMatch),
			Doc:     "What the Bayesian strategy ranks classes by. match: the estimated chance of a correct match. expected: the fewest expected people.",
			Flag: &schemas.Flag{
				Name:  "ranking",
				Usage: "what the Bayesian strategy ranks classes by: match (the estimated chance of a correct match) or expected (the fewest expected people)",
			},
		},
		{
			Name:  "cost",
			To:    &s.Cost,
			Range: schemas.AtLeast(1).Saying("it must be at least 1 person"),
			Doc:   "Consider also as many classes, fewest expected people first, as bring the estimated cost down to so many people.",
			Flag: &schemas.Flag{
				Name:  "cost",
				Usage: "also consider as many classes, fewest expected people first, as bring the estimated cost down to `C` people",
			},
		},
		{
			Name:   "classes",
			To:     &s.Classes,
			Single: true,
			Repeat: true,
			File:   true,
			Doc:    "Files of classes that are attacked too, a row each with the columns of the key.",
			Flag: &schemas.Flag{
				Name:  "classes",
				Many:  true,
				Usage: "also attack the classes that `FILE` lists, a row each with the columns of the key; may be repeated",
			},
		},
		divergence.Field(
			&s.Errors,
			"the intruder's value of a key variable differs from the file's with a probability, `VAR=RATE`, such as AGE=0.05; may be repeated",
		),
		{Name: "known_only", To: &s.KnownOnly, Doc: "Fit no model: what is known from the population only.",
			Flag: &schemas.Flag{Name: "known-only", Usage: "fit no model: what is known from --population only"}},
		{Name: "out", To: &s.Out, File: true, Doc: "File for all figures (.parquet, .arrow or .csv).",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write all figures to `FILE` (.parquet, .arrow or .csv)"}},
		{Name: "model", To: schemas.Nested(s.modelFields())},
	})
	return t
}

// modelFields are those of mc3 that say how a model is fitted; the others are of its columns and of its summary.
func (s *Spec) modelFields() schemas.Table {
	t := s.Model.Fields()
	for _, name := range []string{"prefix", "key", "missing", "baselines", "relative_risk", "ordinal", "by", "domains", "fit", "known_tables", "replace"} {
		t = t.Without(name)
	}
	t.What, t.Doc = "the model", "Models of the population, as mc3 fits them."
	return t
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if s.Sample.Key == nil {
		c.Add("key", "an attack needs key variables")
		return
	}
	c.Rows(s.Sample)
	if err := session.TwoPolicies("an attack", *s.Sample.Key); err != nil {
		c.Add("key", "%v", err)
		return
	}
	divergence.Check(c, s.Errors, schemas.VariableNames(s.Sample.Key.Variables))
	for i, o := range s.Sample.Operators {
		if _, named := o.Config.(schemas.Named); named {
			c.Add(fmt.Sprintf("operators[%d]", i), "an attack chooses and recodes rows, and fits its model itself: leave %s out", o.Name())
		}
	}
	switch {
	case s.Population == nil && s.Sample.Sampling == nil:
		c.Add("sampling", "nothing is said of the population: name its file (%s), or say how large it is (%s)",
			s.Fields().Advice("", "population", ""),
			advice.Advice{Spec: "fraction, population_size or weight", Flags: "--fraction, --population-size or --weight"})
	case s.Population != nil && s.Sample.Sampling != nil:
		c.Add("sampling", "the file of the population says how large it is: leave the sampling fraction, population size and weight out")
	case slices.Contains(s.Population, "-") && slices.Contains(s.Sample.Source.Path, "-"):
		c.Add("population", "the sample and the population cannot both be standard input, which can only be read once")
	case s.KnownOnly && s.Population == nil:
		c.Add("known_only", "without a model and without the population there is nothing to tell: name the population's file")
	case s.Cost != 0 && s.KnownOnly:
		c.Add("cost", "a cost chooses classes by what a model expects: fit one")
	}
	if s.KnownOnly {
		return
	}
	spec := *s.Sample
	if spec.Sampling == nil { // the population's file says how large it is
		spec.Sampling = &schemas.Sampling{Fraction: 1}
	}
	s.Model.Check(c, "model", &spec)
}
