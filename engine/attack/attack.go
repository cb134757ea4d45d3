// Package attack tells what an intruder achieves who matches the records of a released sample to people, and what the search costs.
//
// A class has f records of the sample and F people of the population with the same key. The intruder considers some of the
// classes, and goes one of two ways: from a record of the sample to the population, or from a person to the sample.
//
//	u := attack.Uniques(classes)
//	for _, s := range attack.Strategies(2) {
//		fmt.Println(s.Number, s.Result(classes).Correct)
//	}
//
// Sources: Smith 2011, chapters 5 and 7; Skinner & Elliot 2002.
package attack

import "fmt"

// A Class is an equivalence class of the key. No class of a sample has more records than the population has people.
type Class struct {
	Sample     int64 // f: records of the sample
	Population int64 // F: people
}

// A Direction is where the intruder starts.
type Direction string

// The directions.
const (
	SampleToPopulation Direction = "sample to population" // a record is drawn, and people are searched for one who fits
	PopulationToSample Direction = "population to sample" // a person is drawn, until one is in a considered class
)

// A Result is what an attack achieves. All figures are 0 where no class qualifies.
type Result struct {
	Classes int64   // classes considered
	Correct float64 // Pr(correct match)
	// Expected number of people who are looked at, drawn with and without replacement.
	CostWith, CostWithout float64
	// Correct divided by cost.
	EfficiencyWith, EfficiencyWithout float64
}

// sums are what the figures are made of, over the classes considered.
type sums struct {
	classes         int64   // P
	sampled         int64   // classes with f > 0
	records, people int64   // f, F
	match, after    float64 // f/F, f/(1+F)
}

func (s *sums) add(c Class) {
	s.classes++
	s.records += c.Sample
	s.people += c.Population
	if c.Sample > 0 {
		s.sampled++
		s.match += float64(c.Sample) / float64(c.Population)
		s.after += float64(c.Sample) / (1 + float64(c.Population))
	}
}

// result is the table of Smith 2011, section 5.3; n are all people of the population.
func (s *sums) result(d Direction, n int64) Result {
	r := Result{Classes: s.classes}
	all := float64(n)
	if d == PopulationToSample {
		if s.people == 0 {
			return r
		}
		people := float64(s.people)
		r.Correct = float64(s.sampled) / people // an empty class of the sample has nobody to be matched with
		r.CostWith, r.CostWithout = all/people, (all+1)/(1+people)
	} else {
		if s.records == 0 {
			return r
		}
		records := float64(s.records)
		r.Correct = s.match / records
		r.CostWith, r.CostWithout = all*s.match/records, (all+1)*s.after/records
	}
	r.EfficiencyWith, r.EfficiencyWithout = ratio(r.Correct, r.CostWith), ratio(r.Correct, r.CostWithout)
	return r
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Attack is what comes of considering the classes for which consider is true, all of them if it is nil. classes are all of the
// population's, those without a record in the sample too.
func Attack(classes []Class, d Direction, consider func(i int) bool) Result {
	var s sums
	var n int64
	for i, c := range classes {
		n += c.Population
		if consider == nil || consider(i) {
			s.add(c)
		}
	}
	return s.result(d, n)
}

// A Strategy says which classes are considered, by f alone, and where the intruder starts.
type Strategy struct {
	Number    int // 1 to 7, as Smith 2011 numbers them
	Direction Direction
	Considers string // "all", "sampled", "sample uniques" or "f = r"
	Name      string // its name in the literature, "" for none
	frequency int64  // f of the classes; all is any, sampled is more than 0
}

const (
	anyFrequency     = -1
	sampledFrequency = 0
)

// Strategies are the seven; r is the f that strategies 6 and 7 consider, at least 1.
func Strategies(r int64) []Strategy {
	several := fmt.Sprintf("f = %d", r)
	return []Strategy{
		{1, SampleToPopulation, "all", "", anyFrequency},
		{2, PopulationToSample, "all", "", anyFrequency},
		{3, PopulationToSample, "sampled", "", sampledFrequency},
		{4, SampleToPopulation, "sample uniques", "CM|SU", 1},
		{5, PopulationToSample, "sample uniques", "CM|UM", 1},
		{6, SampleToPopulation, several, "", r},
		{7, PopulationToSample, several, "", r},
	}
}

// Qualifies tells whether the strategy considers a class with f records.
func (s Strategy) Qualifies(f int64) bool {
	switch s.frequency {
	case anyFrequency:
		return true
	case sampledFrequency:
		return f > 0
	}
	return f == s.frequency
}

// Result is what the strategy achieves.
func (s Strategy) Result(classes []Class) Result {
	return Attack(classes, s.Direction, func(i int) bool { return s.Qualifies(classes[i].Sample) })
}

// A File has the file-level measures of disclosure risk, known from the population. Those with nothing below them are 0.
type File struct {
	People            int64   `json:"people"`
	Records           int64   `json:"records"`
	PopulationClasses int64   `json:"population_classes"`
	SampleClasses     int64   `json:"sample_classes"`
	PopulationUniques int64   `json:"population_uniques"`
	SampleUniques     int64   `json:"sample_uniques"`
	UniqueInBoth      int64   `json:"unique_in_both"`    // sample uniques that are population unique
	PU                float64 `json:"pu"`                // share of people who are population unique
	PUSU              float64 `json:"pu_su"`             // PU|SU: share of sample uniques that are population unique
	CMUM              float64 `json:"cm_um"`             // CM|UM: sample uniques by the people in their classes
	CMSU              float64 `json:"cm_su"`             // CM|SU: mean of 1/F over sample uniques
	CorrectMatches    float64 `json:"correct_matches"`   // sum of 1/F over sample uniques
	Reidentifications float64 `json:"reidentifications"` // sum of f/F over all classes of the sample
}

// Measure gives the file-level measures of classes.
func Measure(classes []Class) File {
	var f File
	var unique sums
	for _, c := range classes {
		f.People += c.Population
		f.Records += c.Sample
		if c.Population > 0 {
			f.PopulationClasses++
		}
		if c.Population == 1 {
			f.PopulationUniques++
		}
		if c.Sample == 0 {
			continue
		}
		f.SampleClasses++
		f.Reidentifications += float64(c.Sample) / float64(c.Population)
		if c.Sample == 1 {
			unique.add(c)
			if c.Population == 1 {
				f.UniqueInBoth++
			}
		}
	}
	f.SampleUniques, f.CorrectMatches = unique.records, unique.match
	f.PU = ratio(float64(f.PopulationUniques), float64(f.People))
	f.PUSU = ratio(float64(f.UniqueInBoth), float64(f.SampleUniques))
	f.CMUM = ratio(float64(f.SampleUniques), float64(unique.people))
	f.CMSU = ratio(f.CorrectMatches, float64(f.SampleUniques))
	return f
}
