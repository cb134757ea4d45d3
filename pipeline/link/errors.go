package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"microrisk/engine/linkage"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Learn is the word for error rates that the pairs of records tell.
const Learn = "learn"

// DefaultDiffer is in how many variables the pairs that are compared may differ unless the spec says otherwise.
const DefaultDiffer = 2

// Found is what was found of errors of values.
type Found struct {
	linkage.Errors
	Learnt bool
}

// errorFields are those of errors of values.
func (s *Spec) errorFields() []schemas.Field {
	return []schemas.Field{
		divergence.Field(&s.Errors, "the two values of a person differ in a variable with a probability, `VAR=RATE`, such as AGE=0.05; may be repeated"),
		{Name: "error_rates", To: &s.ErrorRates, Words: []string{Learn}, Unlike: "error rates are not %q; they are learnt (" + Learn + "), or given",
			Doc: "learn: the probabilities that the two values of a person differ are learnt from pairs of records that agree on all but a few variables.",
			Flag: &schemas.Flag{
				Name:  "errors",
				Usage: "learn: from pairs of records that agree on all but a few variables, with which probability the two values of a person differ",
			}},
		{Name: "differ", To: &s.Differ, Range: schemas.Within(1, 3).Saying("it must be from 1 to 3, such as %d", DefaultDiffer),
			Doc: "In how many variables the pairs that tell of errors may differ. Without it 2, or one less than there are variables.",
			Flag: &schemas.Flag{
				Name:  "differ",
				Usage: "pairs that tell of errors agree on all but `N` variables at most (default: 2)",
			}},
	}
}

// diverges tells whether values may differ.
func (s *Spec) diverges() bool { return len(s.Errors) > 0 || s.ErrorRates != "" }

// checkErrors refuses what errors cannot be with.
func (s *Spec) checkErrors(c *schemas.Checker) {
	var names []string
	if s.Key != nil {
		names = schemas.VariableNames(s.Key.Variables)
	}
	divergence.Check(c, s.Errors, names)
	t := s.Fields()
	given, learnt, at := t.Advice("", "errors", ""), t.Saying("error_rates", Learn), "errors"
	if len(s.Errors) == 0 {
		at = "error_rates"
	}
	switch {
	case !s.diverges() && s.Differ != 0:
		c.Add("differ", "%s says which pairs tell of errors, and none are asked for: give rates (%s), or have them learnt (%s)", t.Advice("", "differ", ""),
			given, learnt)
	case !s.diverges():
	case len(s.Errors) > 0 && s.ErrorRates != "":
		c.Add("error_rates", "error rates are given (%s) or learnt (%s): leave one of the two out", given, learnt)
	case len(s.Further) > 0:
		c.Add(at, "errors are of two samples, and there are %d: link them two by two", 2+len(s.Further))
	case s.Prior == PriorFlat:
		c.Add(at, "errors of values need the model of the population: leave the flat prior out")
	case s.Population != nil:
		c.Add(at, "the file of the population tells 1/F, which is not the chance of records with errors: say how large the population is (%s)",
			t.Advice("", "population_size", ""))
	case len(s.Tables)+len(s.Exact)+len(s.Perturbed)+len(s.Sampled) > 0:
		c.Add(at, "published tables have the values without errors: leave them or the errors out")
	case s.Bounds == "tight":
		c.Add(at, "tight bounds take values to be right: take naive ones")
	}
}

// learn finds the rates of errors, given or learnt, and the chances of pairs that differ.
func (l *linking) learn(ctx context.Context, classes map[string]*class, common float64, fractions []float64) (*Found, error) {
	names := schemas.VariableNames(l.overlap.Variables)
	rates := make([]float64, len(names))
	for v := range rates {
		if l.ErrorRates == Learn {
			rates[v] = math.NaN()
		}
	}
	for _, r := range l.Errors {
		v := slices.Index(names, r.Name)
		if v < 0 {
			return nil, session.Wrong(fmt.Errorf("an error rate is of a variable of the overlap (%s), and there is no %q", strings.Join(names, ", "), r.Name))
		}
		rates[v] = *r.Rate
	}
	differ := min(DefaultDiffer, len(names)-1)
	if l.Differ > 0 {
		differ = l.Differ
	}
	switch {
	case differ >= len(names) && l.Differ > 0:
		return nil, session.Wrong(advice.Errorf("pairs that differ in %d variables agree on nothing, of %d: take a smaller number (%s)", differ, len(names),
			l.Fields().Advice("", "differ", "")))
	case differ == 0 && l.ErrorRates == Learn:
		return nil, session.Wrong(
			errors.New("error rates are learnt from pairs that agree on other variables, and there is one alone: link by more, or give its rate"),
		)
	}
	var list []linkage.Class
	for _, c := range classes {
		if !c.dropped {
			list = append(list, linkage.Class{Codes: c.codes, Records: [2]int64{c.records[0], c.records[1]}})
		}
	}
	l.options.Progress("comparing pairs", 0, 1)
	patterns, err := linkage.Patterns(ctx, list, differ)
	if err != nil {
		return nil, err
	}
	f, g := fractions[0], fractions[1]
	found, err := linkage.Learn(patterns, rates, common, 2*f*g/(f*f+g*g))
	var unknown *linkage.UnknownRateError
	switch {
	case errors.As(err, &unknown):
		return nil, advice.Errorf("the pairs of records do not tell the error rate of %s: too many of those that nearly agree are different people; "+
			"link by more variables, or give the rates (%s)", names[unknown.Variable], l.Fields().Advice("", "errors", ""))
	case err != nil:
		return nil, err
	}
	return &Found{*found, l.ErrorRates == Learn}, nil
}
