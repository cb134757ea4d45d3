package link

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"microrisk/engine/linkage"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// policies are those for missing values of the overlap.
var policies = []string{schemas.MissingCategory, schemas.MissingDrop}

const policyAdvice = "is %q; it is category or drop"

// Fields is the field table.
func (s *Spec) Fields() schemas.Table {
	t := schemas.Table{
		What:     "the spec",
		Doc:      "What microrisk link is asked: which records of two samples may be the same person.",
		Required: []string{"a", "b"},
	}
	t.Fields = slices.Concat(s.sampleFields(), s.populationFields(), s.errorFields(), []schemas.Field{
		{Name: "bounds", To: &s.Bounds, Words: Bounds, Unlike: "there are no bounds %q; they are " + strings.Join(Bounds, " or "), Default: "naive",
			Doc: "Bounds on the people of a class. naive: table by table. tight: what samples, tables and the population's size imply together.",
			Flag: &schemas.Flag{
				Name:  "bounds",
				Usage: "bounds on F: naive (table by table) or tight (what samples, tables and the population's size imply together)",
			}},
		{
			Name: "convolve",
			To:   &s.Convolve,
			Doc:  "Published cells that are parts of a class, or sums of several, weigh in the chance too, all splits being equally likely.",
			Flag: &schemas.Flag{
				Name:  "convolve",
				Usage: "published cells that are parts of a class, or sums of several, weigh in the chance too, all splits being equally likely",
			},
		},
		{Name: "prior", To: &s.Prior, Words: Priors, Unlike: "there is no prior %q; it is " + strings.Join(Priors, " or "),
			Doc: "What is taken for known of the people of a class at first. model: what a model of all samples together says, with an effect of each class. " +
				"flat: all numbers are equally likely. Without it the model, but flat where the samples have fewer than 100 records together.",
			Flag: &schemas.Flag{
				Name:  "prior",
				Usage: "what is known of the people of a class at first: model (of all samples together) or flat (all numbers are equally likely; default: model, of 100 records or more)",
			}},
		{
			Name:  "posterior",
			To:    &s.Posterior,
			Range: schemas.Within(0, mostPosterior).Saying("it must be a whole number from 0 to %d, such as %d", mostPosterior, DefaultPosterior),
			Doc: "Numbers of people whose probabilities the column posterior lists for each class, at most, from lower on; 0 for no such column. Without it 20, and " +
				"none in CSV, which has no lists.",
			Flag: &schemas.Flag{
				Name:  "posterior",
				Usage: "list the probabilities of `N` numbers of people of each class at most, from lower on (default: 20; 0: none, as in CSV)",
			},
		},
		{Name: "out", To: &s.Out, File: true, Doc: "File with one row a class that both samples have (.parquet, .arrow or .csv).",
			Flag: &schemas.Flag{
				Name:  "out",
				Short: "o",
				Usage: "`FILE` with one row a class that both samples have (default: links.parquet)",
				Usual: []string{"links.parquet"},
			}},
		{Name: "pairs", To: &s.Pairs, File: true, Doc: "File with one row a candidate pair.",
			Flag: &schemas.Flag{Name: "pairs", Usage: "write every candidate pair to `FILE`"}},
		{Name: "most_pairs", To: &s.MostPairs, Range: schemas.AtLeast(1), Default: int64(DefaultPairs), Doc: "Write no more candidate pairs than this.",
			Flag: &schemas.Flag{Name: "most-pairs", Usage: "write no more than `N` candidate pairs"}},
		{Name: "perturb", To: schemas.Nested(s.Scheme.Fields().Without("secret"))},
		{Name: "model", To: schemas.Nested(s.modelFields())},
	})
	return t
}

// mostPosterior is the most numbers of people whose probabilities are listed.
const mostPosterior = 10_000

// modelFields are those of mc3 that say how models are found: what is made of them is made here.
func (s *Spec) modelFields() schemas.Table {
	t := s.Model.Fields()
	for _, name := range []string{"prefix", "key", "missing", "baselines", "relative_risk", "ordinal", "by", "domains", "fit", "known_tables", "replace", "estimator",
		"posterior_draws", "cell_draws", "anchor", "set_match", "model_in", "model_out"} {
		t = t.Without(name)
	}
	t.What, t.Doc = "the model", "Models of the population, as mc3 finds them, fitted to all samples together."
	return t
}

// lists tells whether the file of matches can have lists.
func (s *Spec) lists() bool { return s.Out != "" && session.KindOf(s.Out) != "csv" }

// sampleFields are those of the samples and of what they have in common. The flags of recodes are read by who reads files.
func (s *Spec) sampleFields() []schemas.Field {
	return []schemas.Field{
		{Name: "a", To: &s.A, Single: true, Repeat: true, File: true, Doc: "Files of the first sample."},
		{Name: "b", To: &s.B, Single: true, Repeat: true, File: true, Doc: "Files of the second sample."},
		{Name: "further", To: &s.Further, File: true, Doc: "More samples of the same population, each a file, glob or folder; bands are their only recodes."},
		{Name: "key", To: &s.Key,
			Flag: &schemas.Flag{Name: "key", Short: "k", Usage: "overlap `VARIABLES`, separated by commas (default: all columns that the samples share, but for those of risk)"}},
		{
			Name:   "missing",
			To:     &s.Missing,
			Words:  policies,
			Unlike: "missing " + policyAdvice,
			Doc:    "A missing value of the overlap, where the key does not say: category (missing matches missing) or drop.",
			Schema: `"default": "category"`,
			Flag: &schemas.Flag{Name: "missing", Set: s.sayMissing,
				Usage: "a missing value of the overlap: category (missing matches missing) or drop (default: category)"},
		},
		{
			Name:   "missing_codes",
			To:     &s.MissingCodes,
			Repeat: true,
			Schema: `"uniqueItems": false`,
			Doc:    "Values that count as missing besides null, where the key does not say.",
			Flag:   &schemas.Flag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas; may be repeated"},
		},
		{Name: "bands", To: (*recode.Config)(&s.Bands).Form(), Doc: "Recodes of both samples and of the population.",
			Flag: &schemas.Flag{Name: "band", Many: true, Usage: "link `COLUMN=WIDTH`, such as AGE=5, in bands; may be repeated"}},
		{Name: "allow_empty", To: &s.AllowEmpty, Doc: "Lets recodes name values that no row has.",
			Flag: &schemas.Flag{Name: "allow-empty", Usage: "let recodes name values that no row has"}},
		released.LevelsField(&s.Levels, "all categories of a variable, `VAR=a|b|c`: tight bounds then allow for no others; may be repeated"),
	}
}

// populationFields are those of what is known of the population.
func (s *Spec) populationFields() []schemas.Field {
	return []schemas.Field{
		{Name: "population_size", To: &s.PopulationSize, Range: schemas.AtLeast(1), Doc: "People of the population.",
			Flag: &schemas.Flag{Name: "population-size", Usage: "people of the population", Set: func(texts []string) error {
				size := schemas.Field{To: &s.PopulationSize, Flag: &schemas.Flag{}, Range: schemas.AtLeast(1)}
				if size.Say(texts) != nil {
					return fmt.Errorf("is %q; it must be a whole number of at least 1", texts[0])
				}
				return nil
			}}},
		{
			Name:   "population",
			To:     &s.Population,
			Single: true,
			Repeat: true,
			File:   true,
			Doc:    "Files of the population, in place of its size: the ranking is compared with the truth.",
			Flag: &schemas.Flag{
				Name:  "population",
				Short: "p",
				Many:  true,
				Usage: "`FILE` of the population, in place of its size: the ranking is compared with the truth",
			},
		},
		{Name: "recode_a", To: (*recode.Config)(&s.RecodeA).Form(), Doc: "Recodes of the first sample, before those of all.",
			Flag: &schemas.Flag{Name: "recode-a", Usage: "`FILE` with recodes of the first sample"}},
		{Name: "recode_b", To: (*recode.Config)(&s.RecodeB).Form(), Doc: "Recodes of the second sample.",
			Flag: &schemas.Flag{Name: "recode-b", Usage: "`FILE` with recodes of the second sample"}},
		{Name: "recode_population", To: (*recode.Config)(&s.RecodeP).Form(), Doc: "Recodes of the population.",
			Flag: &schemas.Flag{Name: "recode-population", Usage: "`FILE` with recodes of the population"}},
		{Name: "tables", To: &s.Tables, Single: true, Repeat: true, File: true, Doc: "Files of published tables of the population, perturbed as perturb says.",
			Flag: &schemas.Flag{Name: "table", Many: true, Usage: "`FILE` of a published table of the population, perturbed by --scheme; may be repeated"}},
		{Name: "exact", To: &s.Exact, Single: true, Repeat: true, File: true, Doc: "Files of published tables that are not perturbed.",
			Flag: &schemas.Flag{Name: "exact", Many: true, Usage: "`FILE` of a published table that is not perturbed; may be repeated"}},
		released.PerturbedField(&s.Perturbed),
		{Name: "sampled", To: &s.Sampled, Single: true, Repeat: true, File: true, Doc: "Files of tables counted from other samples of the population.",
			Flag: &schemas.Flag{Name: "sampled", Many: true, Usage: "`FILE` of a table counted from another sample; may be repeated"}},
	}
}

func (s *Spec) sayMissing(texts []string) error {
	if !slices.Contains(policies, texts[0]) {
		return fmt.Errorf(policyAdvice, texts[0])
	}
	s.Missing = texts[0]
	return nil
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	t := s.Fields()
	c.Perturbation("perturb", &s.Scheme)
	switch {
	case len(s.A) == 0 || len(s.B) == 0:
		c.Add("", "two samples are linked or more: name the files of two (a, b)")
	case len(s.Further) > mostSamples-2:
		c.Add("further", "there are %d samples: at most %d can be linked at once", len(s.Further)+2, mostSamples)
	case s.Population != nil && s.PopulationSize != 0:
		c.Add("population_size", "the file of the population says how large it is: leave the population size out")
	case s.Population == nil && s.PopulationSize < 1:
		c.Add("population_size", "how large is the population? Give its size (%s), or its file (%s)", t.Advice("", "population_size", ""),
			t.Advice("", "population", ""))
	case s.Scheme.Scheme != "" && s.Scheme.Scheme != "none" && len(s.Tables) == 0:
		c.Add("perturb", "a scheme says how published tables were perturbed, and there are none: name them (%s)", t.Advice("", "tables", ""))
	case s.Convolve && len(s.Tables)+len(s.Exact)+len(s.Perturbed) == 0:
		c.Add("convolve", "%s has published tables weigh, and there are none: name them (%s)", t.Advice("", "convolve", ""),
			t.Advice("", "tables", ""))
	case s.RecodeP != nil && s.Population == nil:
		c.Add("recode_population", "there are recodes for a population whose file is not named")
	case s.PopulationSize > linkage.MostPeople:
		c.Add("population_size", "a population of %d is more than can be computed with: at most %d", s.PopulationSize, int64(linkage.MostPeople))
	}
	if s.MostPairs != 0 && s.Pairs == "" {
		c.Add("most_pairs", "%s is of %s, which is not there", t.Advice("", "most_pairs", ""), t.Advice("", "pairs", ""))
	}
	s.checkKey(c)
	s.checkPrior(c)
	s.checkErrors(c)
	for _, r := range []struct {
		name string
		list *[]recode.Column
	}{{"bands", &s.Bands}, {"recode_a", &s.RecodeA}, {"recode_b", &s.RecodeB}, {"recode_population", &s.RecodeP}} {
		if *r.list != nil {
			(*recode.Config)(r.list).Check(c, r.name, nil)
		}
	}
}

// mostSamples is the most samples that are linked at once: each has a letter, and every two of them are compared.
const mostSamples = 10

// checkPrior judges what is said of the prior and of its model.
func (s *Spec) checkPrior(c *schemas.Checker) {
	if s.Posterior != nil && *s.Posterior > 0 {
		switch {
		case s.Out == "":
			c.Add("posterior", "the list of probabilities is a column of the file of matches, which is not there: name it (%s)", s.Fields().Advice("", "out", ""))
		case !s.lists():
			c.Add("posterior", "%s is CSV, which has no lists: take .parquet or .arrow, or leave %s out", s.Out, s.Fields().Advice("", "posterior", ""))
		}
	}
	if s.Prior == PriorFlat {
		if !reflect.DeepEqual(s.Model, mc3.Config{}) {
			c.Add("model", "the flat prior is of no model: leave out how one is found (%s), or the flat prior", strings.Join(s.modelled(), ", "))
		}
		return
	}
	if len(s.Model.PriorPrecision) > 1 {
		c.Add("model.prior_precision", "a link takes one prior precision, or auto")
	}
	spec := &schemas.Spec{Key: s.Key, Sampling: &schemas.Sampling{Fraction: 1}}
	if spec.Key == nil {
		spec.Key = &schemas.Key{Variables: []schemas.KeyVariable{}}
	}
	s.Model.Check(c, "model", spec)
}

// modelled are the settings of the model that are said.
func (s *Spec) modelled() (names []string) {
	for _, f := range s.modelFields().Fields {
		if f.Said() {
			names = append(names, f.Name)
		}
	}
	return names
}

// checkKey judges the overlap and the levels of variables.
func (s *Spec) checkKey(c *schemas.Checker) {
	for i, v := range s.Levels {
		at := fmt.Sprintf("levels[%d]", i)
		switch {
		case len(v.Levels) == 0:
			c.Add(at, "the levels of %s are no category", v.Name)
		case slices.ContainsFunc(s.Levels[:i], func(w schemas.KeyVariable) bool { return w.Name == v.Name }):
			c.Add(at, "the levels of %s are declared twice", v.Name)
		case s.Key != nil && slices.ContainsFunc(s.Key.Variables, func(w schemas.KeyVariable) bool { return w.Name == v.Name && w.Levels != nil }):
			c.Add(at, "the levels of %s are declared in the key too", v.Name)
		}
	}
	if s.Key != nil {
		if err := session.TwoPolicies("linkage", *s.Key); err != nil {
			c.Add("key", "%v", err)
		}
	}
}
