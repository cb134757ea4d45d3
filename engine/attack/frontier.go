package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A Ranking is what the Bayesian strategy orders classes by.
type Ranking string

// The rankings.
const (
	ByMatch    Ranking = "match"    // the greatest estimated Pr(correct match) of a record, E[1/F], first
	ByExpected Ranking = "expected" // the fewest expected people, E[F], first
)

// An Estimate is what a model of the population says of the classes of a sample, when the population is not known.
type Estimate struct {
	People   float64   // N
	Sample   []int64   // f, at least 1, by class
	Match    []float64 // E[1/F]
	After    []float64 // E[1/(1+F)]
	Expected []float64 // E[F]
	// Together is what the model says of several classes at once: of the first at[k] classes of order, for each k; at ascends.
	Together func(ctx context.Context, order, at []int) ([]Sum, error)

	errors float64   // probability that a person is taken to be of another class; see WithErrors
	first  []float64 // with errors: E[1/F'], of those who have the key of a record
}

// A Sum is what a model says of the people in several classes.
type Sum struct {
	Match float64 // E[1/sum of F]
	After float64 // E[1/(1 + sum of F)]
}

// Order ranks the classes; equal ones stay in the order of the classes.
func (e *Estimate) Order(by Ranking) []int {
	order := make([]int, len(e.Sample))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if by == ByMatch {
			return cmp.Compare(e.Match[b], e.Match[a])
		}
		return cmp.Compare(e.Expected[a], e.Expected[b])
	})
	return order
}

// A Point of the frontier is an attack on the first classes of a ranking.
type Point struct {
	Classes int
	People  float64 // sum of E[F]
	// What is estimated, from person to sample and from sample to person.
	PopulationToSample, SampleToPopulation Result
}

// Frontier is the risk-cost frontier of the Bayesian strategy: what is estimated for the first at[k] classes of order (from Order),
// for each k. at must ascend, from 1 to the number of classes at most. (Smith 2011, section 7.4.)
func (e *Estimate) Frontier(ctx context.Context, order, at []int) ([]Point, error) {
	if len(at) == 0 {
		return nil, nil
	}
	if at[0] < 1 || at[len(at)-1] > len(order) || !slices.IsSorted(at) {
		return nil, fmt.Errorf("numbers of classes must ascend from 1 to %d", len(order))
	}
	sums, err := e.Together(ctx, order, at)
	if err != nil {
		return nil, err
	}
	points := make([]Point, len(at))
	var records int64
	var people, match, first, after float64
	done := 0
	for k, m := range at {
		for _, i := range order[done:m] {
			f := float64(e.Sample[i])
			records += e.Sample[i]
			people += e.Expected[i]
			match += f * e.Match[i]
			if e.first != nil {
				first += f * e.first[i]
			}
			after += f * e.After[i]
		}
		done = m
		if e.first == nil {
			first = match
		}
		points[k] = Point{Classes: m, People: people,
			PopulationToSample: e.result(int64(m), (1-e.errors)*float64(m)*sums[k].Match, e.People*sums[k].Match, (e.People+1)*sums[k].After),
			SampleToPopulation: e.result(int64(m), match/float64(records), e.People*first/float64(records), (e.People+1)*after/float64(records)),
		}
	}
	return points, nil
}

func (e *Estimate) result(classes int64, correct, with, without float64) Result {
	return Result{Classes: classes, Correct: correct, CostWith: with, CostWithout: without,
		EfficiencyWith: ratio(correct, with), EfficiencyWithout: ratio(correct, without)}
}

// Affordable is how many classes, the fewest expected people first (order by ByExpected), an intruder considers who accepts to look
// at cost people, drawn with replacement, from person to sample: as many as it takes until N / sum of E[F] is no more than cost; all,
// if no number of them does. (Smith 2011, Figure 44.)
func (e *Estimate) Affordable(order []int, cost float64) int {
	people := 0.0
	for m, i := range order {
		people += e.Expected[i]
		if people*cost >= e.People {
			return m + 1
		}
	}
	return len(order)
}

// Strategy is what is estimated for one of the seven strategies. The second is known: who considers all classes takes the first
// person, and has one of the sample's classes.
func (e *Estimate) Strategy(ctx context.Context, s Strategy) (Result, error) {
	if s.frequency == anyFrequency && s.Direction == PopulationToSample {
		return e.result(int64(len(e.Sample)), (1-e.errors)*float64(len(e.Sample))/e.People, 1, 1), nil
	}
	var order []int
	for i, f := range e.Sample {
		if s.Qualifies(f) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return Result{}, nil
	}
	points, err := e.Frontier(ctx, order, []int{len(order)})
	if err != nil {
		return Result{}, err
	}
	if s.Direction == PopulationToSample {
		return points[0].PopulationToSample, nil
	}
	return points[0].SampleToPopulation, nil
}

// Steps are numbers of classes to look at a frontier by: 1, 2, 5, 10, 20, 50, ... and all.
func Steps(classes int) []int {
	var at []int
	for ten := 1; ten < classes; ten *= 10 {
		for _, by := range []int{1, 2, 5} {
			if m := by * ten; m < classes {
				at = append(at, m)
			}
		}
	}
	if classes > 0 {
		at = append(at, classes)
	}
	return at
}
