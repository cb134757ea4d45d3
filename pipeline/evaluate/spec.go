package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/evaluate"
	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/operators/mc3"
	"microrisk/pipeline/figures"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Kinds of pictures.
var Pictures = []string{"svg", "png"}

// NoPictures in the place of kinds leaves pictures out.
const NoPictures = "none"

// A Spec asks how good risk scores are: a file is taken as the population, samples are drawn from it, and what operators say
// of them is compared with the truth.
type Spec struct {
	// Spec has the population as its source, a key, operators that choose and recode, and those to be judged: suda, mc3, individual,
	// kanonymity and others that are schemas.Scoring. It says nothing of sampling, and has no output.
	Spec        *schemas.Spec
	Fractions   []float64 // sampling fractions, above 0 and below 1
	Repetitions int       // samples of each; 0 means 20
	Bernoulli   bool      // each record, or household, is drawn on its own; otherwise the size of a sample is fixed
	Stratify    string    // column within whose values samples are drawn, "" for none
	Household   string    // column of households that are drawn as a whole, "" for none
	By          []string  // columns whose values tell domains apart; nil for none
	Scores      []string  // columns to judge; nil: all that are known to be scores
	Top         []int64   // numbers of records for precision among the riskiest; nil: 10, 50, 100
	TopClasses  int       // classes of the Bayesian strategy; 0 means 10
	Bins        int       // of calibration; 0 means evaluate.DefaultBins
	Pictures    []string  // kinds of pictures, of Pictures, or NoPictures alone; nil: both
	Out         string    // folder for evaluation.json, plots.parquet and the pictures; "" for none
}

// Fields is the field table. It makes the spec of what is judged if there is none.
func (s *Spec) Fields() schemas.Table {
	if s.Spec == nil {
		s.Spec = &schemas.Spec{}
	}
	t := schemas.Table{
		What:     "the spec",
		Doc:      "What microrisk evaluate is asked: how good risk scores are, judged on samples of a population that is known.",
		Required: []string{"source", "key", "operators", "fractions"},
	}
	t.Fields = slices.Concat(s.Spec.Part("source", "key", "operators", "allow_empty"), s.sampleFields(), []schemas.Field{
		{Name: "scores", To: &s.Scores, Doc: "Columns to judge; without it the scores of the operators.",
			Flag: &schemas.Flag{Name: "scores", Usage: "columns to judge, separated by commas (default: the scores of the measures)"}},
		{Name: "by", To: &s.By, Single: true, Doc: "Columns whose values tell domains apart: what scores are worth for the sample uniques of each.",
			Flag: &schemas.Flag{Name: "by-domain", Usage: "`COLUMNS` whose values tell domains apart, separated by commas: judge scores in each, too"}},
		{Name: "top", To: &s.Top, Single: true, Range: schemas.AtLeast(1), Default: []int64{10, 50, 100},
			Doc:  "Precision is told of so many of the riskiest sample uniques.",
			Flag: &schemas.Flag{Name: "top", Usage: "precision among so many of the riskiest, separated by commas (default: 10,50,100)"}},
		{Name: "top_classes", To: &s.TopClasses, Range: schemas.AtLeast(1), Default: 10, Doc: "Classes that the Bayesian strategy considers.",
			Flag: &schemas.Flag{Name: "top-classes", Usage: "classes that the Bayesian strategy considers (default: 10)"}},
		{Name: "bins", To: &s.Bins, Range: schemas.AtLeast(1), Default: evaluate.DefaultBins, Doc: "Bins of calibration.",
			Flag: &schemas.Flag{Name: "bins", Usage: "bins of calibration (default: 20)"}},
		{Name: "pictures", To: &s.Pictures, Words: append(slices.Clone(Pictures), NoPictures),
			Unlike: "there are no pictures of kind %q; they are " + strings.Join(Pictures, " and ") + ", or " + NoPictures,
			Single: true, Default: Pictures, Doc: "Kinds of pictures, or none.",
			Flag: &schemas.Flag{Name: "pictures", Usage: "kinds of pictures: svg, png, svg,png or none (default: svg,png)"}},
		{Name: "out", To: &s.Out, File: true, Doc: "Folder for the results; without it they are only shown.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "`FOLDER` for the results (default: evaluation)", Usual: []string{"evaluation"}}},
	})
	return t
}

// sampleFields are those of how samples are drawn.
func (s *Spec) sampleFields() []schemas.Field {
	return []schemas.Field{
		{Name: "fractions", To: &s.Fractions, Single: true, What: "the sampling fraction",
			Range: (&schemas.Range{Most: 1, Above: true, Below: true}).Saying("it must be above 0 and below 1: all of a population is no sample"),
			Doc:   "Sampling fractions: records of a sample / those of the population.",
			Flag: &schemas.Flag{
				Name:   "fraction",
				Usage:  "sampling fractions, separated by commas; FROM..TO:STEP for a range, such as 0.05..0.95:0.05",
				Needed: "name the sampling fraction: --fraction 0.01",
				Set: func(texts []string) (err error) {
					s.Fractions, err = fractionsOf(texts)
					return err
				},
			}},
		{Name: "repetitions", To: &s.Repetitions, Range: schemas.AtLeast(1), Default: 20, Doc: "Samples of each fraction.",
			Flag: &schemas.Flag{Name: "repetitions", Usage: "samples of each fraction (default: 20)"}},
		{Name: "bernoulli", To: &s.Bernoulli, Doc: "Each record, or household, is drawn on its own; otherwise the size of a sample is fixed.",
			Flag: &schemas.Flag{Name: "bernoulli", Usage: "each record is drawn on its own; otherwise the size of a sample is fixed"}},
		{Name: "stratify", To: &s.Stratify, Doc: "Column within whose values samples are drawn.",
			Flag: &schemas.Flag{Name: "stratify", Usage: "draw samples within the values of `COLUMN`"}},
		{Name: "household", To: &s.Household, Doc: "Column of households that are drawn as a whole.",
			Flag: &schemas.Flag{Name: "household", Usage: "draw whole households, by `COLUMN`"}},
	}
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if s.Spec.Key == nil {
		c.Add("key", "an evaluation needs key variables")
		return
	}
	if s.Spec.Sampling != nil {
		c.Add("sampling", "an evaluation draws its samples itself: leave sampling out")
	}
	if s.Spec.Limits != nil {
		c.Add("limits", "limits are of one run; an evaluation has many: leave them out")
	}
	sampled := *s.Spec
	sampled.Sampling = &schemas.Sampling{Fraction: 1} // each sample has its own
	c.Rows(&sampled)
	if len(s.Fractions) == 0 {
		c.Add("fractions", "an evaluation needs a sampling fraction, such as 0.01")
	}
	if len(s.Pictures) > 1 && slices.Contains(s.Pictures, NoPictures) {
		c.Add("pictures", "pictures are none, or of the other kinds; choose")
	}
	if s.Stratify != "" && s.Household != "" {
		c.Add("household", "samples are stratified or of whole households; choose one")
	}
	if err := session.TwoPolicies("an evaluation", *s.Spec.Key); err != nil {
		c.Add("key", "%v", err)
	}
	s.checkDomains(c)
	if s.checkOperators(c) {
		s.checkScores(c, s.scores(c))
	}
}

// checkScores refuses what is of chances where no score is one, and of models where there is none.
func (s *Spec) checkScores(c *schemas.Checker, list []scoreColumn) {
	models := func(o schemas.Operator) bool {
		_, is := o.Config.(*mc3.Config)
		return is
	}
	if s.TopClasses != 0 && !slices.ContainsFunc(s.Spec.Operators, models) {
		c.Add("top_classes", "the Bayesian strategy considers classes by a model, and no operator (mc3) has one: leave top_classes out")
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(x scoreColumn) bool { return x.match || x.alone }) {
		return
	}
	if s.Bins != 0 {
		c.Add("bins", "bins are those of calibration, and no score that is judged is a chance: leave bins out")
	}
}

// checkOperators refuses operators that cannot be judged, and tells whether there is one that can.
func (s *Spec) checkOperators(c *schemas.Checker) (judged bool) {
	for i, o := range s.Spec.Operators {
		at := fmt.Sprintf("operators[%d]", i)
		m := o.Measure()
		_, named := o.Config.(schemas.Named)
		_, scoring := o.Config.(schemas.Scoring)
		switch {
		case named && !scoring:
			c.Add(at, "%s has no score of records that the population could confirm: an evaluation judges %s", o.Name(), strings.Join(JudgedNames(), ", "))
		case m == nil:
		case m.OwnKey() != nil:
			c.Add(at, "%s has a key of its own; the truth is known for the key of the spec: leave it out", m.ColumnPrefix())
		case hasFiles(o):
			c.Add(at, "%s reads or saves a model, or writes a file of domains; each sample has a model of its own: leave that out", m.ColumnPrefix())
		case apartFromKey(o, s.Spec.Key):
			c.Add(
				at,
				"%s fits a model of each domain, in which keys are counted, and the truth is known for the key of the spec: put the columns of by into the key",
				m.ColumnPrefix(),
			)
		default:
			judged = true
		}
	}
	if !judged {
		c.Add("operators", "there is nothing to judge: add one of %s", strings.Join(JudgedNames(), ", "))
	}
	return judged
}

// check finds what is wrong before the population is read, and puts the defaults in.
func (s *Spec) check(read []session.Reading, more ...string) error {
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	schemas.Complete(s.Fields())
	if err := figures.Missing(); err != nil && s.Out != "" && !slices.Contains(s.Pictures, NoPictures) {
		return session.Wrong(fmt.Errorf("cannot draw the pictures of an evaluation: %w; --pictures none (in a spec pictures: none) leaves them out", err))
	}
	return s.checkOut(read, more)
}

// checkOut finds a folder, or more files, that cannot be written to.
func (s *Spec) checkOut(read []session.Reading, more []string) error {
	if s.Out == "" && more == nil {
		return nil
	}
	if info, err := os.Stat(s.Out); err == nil && s.Out != "" && !info.IsDir() {
		return session.Wrong(fmt.Errorf("%s is a file; an evaluation is written to a folder", s.Out))
	}
	inputs, err := session.Readings("the population", s.Spec.Source.Path)
	if err != nil {
		return err
	}
	read = slices.Concat(inputs, session.ReadBesides(s.Spec), read)
	if s.Out == "" {
		return session.CheckPaths(read, more)
	}
	writes := append([]string{files.Join(s.Out, evaluationFile), files.Join(s.Out, plotsFile)}, more...)
	if s.By != nil {
		writes = append(writes, files.Join(s.Out, domainsFile))
	}
	for _, kind := range append([]string{"dot"}, s.Pictures...) { // what they are called comes of what they show
		there, err := filepath.Glob(filepath.Join(session.Globbed(s.Out), "*."+kind))
		if err != nil {
			return err
		}
		writes = append(writes, there...)
	}
	return session.CheckPaths(read, writes)
}

// Files of an evaluation besides the pictures.
const (
	evaluationFile = "evaluation.json"
	plotsFile      = "plots.parquet"
	domainsFile    = "domains.parquet" // of by
)

func (s *Spec) design(fraction float64) evaluate.Design {
	return evaluate.Design{Fraction: fraction, Bernoulli: s.Bernoulli}
}

// A scoreColumn is a column that is judged.
type scoreColumn struct {
	name  string
	match bool // it estimates 1/F
	alone bool // it estimates whether F is 1
}

// scores are the columns that are judged, with what they estimate; what is wrong with them is told to c.
func (s *Spec) scores(c *schemas.Checker) []scoreColumn {
	var known []scoreColumn
	var all []string
	for _, o := range s.Spec.Operators {
		m := o.Measure()
		if m == nil {
			continue
		}
		if x, ok := o.Config.(schemas.Scoring); ok {
			for _, score := range x.Scores() {
				known = append(known, scoreColumn{score.Column, score.Match, score.Alone})
			}
		}
		for _, column := range m.Columns(false, nil) {
			if column.Type != schemas.StringSets {
				all = append(all, column.Name)
			}
		}
	}
	if s.Scores == nil {
		if len(known) == 0 {
			c.Add("operators", "the operators have no score to judge: kanonymity needs combinations")
		}
		return known
	}
	var chosen []scoreColumn
	for i, name := range s.Scores {
		at := slices.IndexFunc(known, func(c scoreColumn) bool { return c.name == name })
		switch {
		case at >= 0:
			chosen = append(chosen, known[at])
		case slices.Contains(all, name):
			chosen = append(chosen, scoreColumn{name: name})
		default:
			c.Add(fmt.Sprintf("scores[%d]", i), "no operator writes a score %q; there are %s", name, strings.Join(all, ", "))
		}
	}
	return chosen
}

// JudgedNames are the operators that an evaluation judges.
func JudgedNames() []string {
	var names []string
	for _, k := range schemas.Kinds() {
		if _, scoring := k.New().(schemas.Scoring); scoring {
			names = append(names, k.Name)
		}
	}
	return names
}

// hasFiles tells whether an operator reads or makes files of its own, besides tables that are known of the population.
func hasFiles(o schemas.Operator) bool {
	return slices.ContainsFunc(operators.FilesOf(o.Config), func(f operators.SideFile) bool { return f.Kind != operators.Opened })
}
