package schemas

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// MaxKeyVariables is the most key variables a key can have.
const MaxKeyVariables = 64

// MaxDISISVariables is the most key variables for which DIS-IS is defined: its exponent is positive up to there.
const MaxDISISVariables = 27

// MaxThreshold is the highest threshold that can be searched for.
const MaxThreshold = 1<<31 - 2

// Known words of the spec.
var (
	Formats         = []string{"parquet", "arrow", "csv"}
	Compressions    = []string{"zstd", "snappy", "gzip", "none"}
	MissingPolicies = []string{MissingCategory, MissingWildcard, MissingIgnore, MissingDrop}
	Footers         = []string{FooterRelease, FooterFull, FooterNone}
	Scores          = []string{ScoreLattice, ScoreLatticeLimited, ScoreFactorial, ScoreElliotLimited}
)

// Names of limits. A run breaches a limit when the figure is above it.
const (
	LimitClasses           = "classes"             // distinct keys
	LimitSampleUniques     = "sample_uniques"      // records with f = 1
	LimitSampleUniqueShare = "sample_unique_share" // those as a part of the records counted, 0 to 1
	LimitDoubles           = "doubles"             // records with f = 2, halved
	LimitSpecialUniques    = "special_uniques"     // sample uniques with a minimal sample unique smaller than the key
	LimitMSUs              = "msus"                // minimal sample uniques of all records
	LimitDIS               = "dis"                 // Pr(correct match given unique match), 0 to 1
	LimitMaxScore          = "max_score"           // highest score of a record
	LimitFileScore         = "file_score"          // sum of the scores of all records
	LimitPU                = "pu"                  // share of the population that is population unique, 0 to 1
	LimitPUSU              = "pu_su"               // share of the sample uniques that are population unique, 0 to 1
	LimitCMUM              = "cm_um"               // Pr(correct match given unique match) by the model (theta), 0 to 1
	LimitCMSU              = "cm_su"               // Pr(correct match given sample unique), 0 to 1
	LimitPopulationUniques = "expected_population_uniques"
	LimitCorrectMatches    = "expected_correct_matches"   // among the sample uniques
	LimitReidentifications = "expected_reidentifications" // among all records
	LimitSAP               = "sap"                        // greatest SAP of a released table at the largest n of known, 0 to 1
	LimitKAnonymity        = "kanonymity_violations"      // records whose key fewer than k have
	LimitLDiversity        = "ldiversity_violations"      // records whose class has fewer than l values of a sensitive variable
)

// LimitNames are the figures that limits can be set for.
var LimitNames = []string{LimitClasses, LimitSampleUniques, LimitSampleUniqueShare, LimitDoubles, LimitSpecialUniques,
	LimitMSUs, LimitDIS, LimitMaxScore, LimitFileScore, LimitPU, LimitPUSU, LimitCMUM, LimitCMSU, LimitPopulationUniques,
	LimitCorrectMatches, LimitReidentifications, LimitKAnonymity, LimitLDiversity, LimitSAP}

// Validate finds what is wrong with a spec without reading data. The error is a *SpecError with all that is wrong.
func (s *Spec) Validate() error {
	return asError("", s.problems(func(string) bool { return false }))
}

// A validator collects problems; values that could not be decoded are not judged.
type validator struct {
	problems []Problem
	skip     func(path string) bool
}

func (v *validator) add(path, format string, args ...any) {
	if !v.skip(path) {
		v.problems = append(v.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// oneOf is a problem unless the value is unset or known.
func (v *validator) oneOf(path, what, value string, known []string) {
	if value != "" && !slices.Contains(known, value) {
		v.add(path, "%s %q is unknown; %s", what, value, oneOfAdvice(value, known))
	}
}

func oneOfAdvice(value string, known []string) string {
	list := "it is one of " + strings.Join(known, ", ")
	if n := Nearest(value, known); n != "" {
		return fmt.Sprintf("did you mean %s? (%s)", n, list)
	}
	return list
}

func (s *Spec) problems(failed func(path string) bool) []Problem {
	v := &validator{skip: failed}
	v.source(&s.Source)
	if s.Sampling != nil {
		v.sampling(s.Sampling)
	}
	if s.Key != nil {
		v.key("key", s.Key)
	}
	v.operators(s)
	v.levels(s)
	v.sink(s)
	v.limits(s)
	return v.problems
}

// offering are the operators that have a figure.
func offering(limit string, s *Spec) []string {
	if limit == LimitSAP {
		return []string{"sap"}
	}
	with := *s
	if with.Sampling == nil {
		with.Sampling = &Sampling{}
	}
	var names []string
	for _, o := range []Operator{{Suda: &Suda{}}, {Frequency: &FrequencyOperator{}}, {MC3: &MC3{}}, {KAnonymity: &KAnonymity{}}, {LDiversity: &LDiversity{}}, {Individual: &Individual{}}} {
		if slices.Contains(o.Measure().Figures(&with), limit) {
			names = append(names, o.Name())
		}
	}
	return names
}

// limits refuses limits of figures that the run would not have: a gate that is never closed is worse than none.
func (v *validator) limits(s *Spec) {
	has := map[string]bool{}
	searched := false
	for _, o := range s.Operators {
		searched = searched || o.Suda != nil
		has[LimitSAP] = has[LimitSAP] || o.SAP != nil
		if m := o.Measure(); m != nil {
			for _, name := range m.Figures(s) {
				has[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		path := "limits." + name
		value := s.Limits[name].Max
		v.oneOf(path+".of", "records of a limit", s.Limits[name].Of, []string{LimitModelled})
		switch {
		case !slices.Contains(LimitNames, name):
			v.add(path, "limit %q is unknown; %s", name, oneOfAdvice(name, LimitNames))
		case math.IsNaN(value) || value < 0:
			v.add(path, "the limit %s is %v; it must be 0 or more", name, value)
		case name == LimitDIS && searched && !has[name]:
			if s.Sampling != nil {
				v.add(path, "there is no DIS with a threshold above 1 to compare the limit with; leave the limit or the threshold out")
				continue
			}
			v.add(path, "there is no DIS to compare the limit with; say how the records were drawn (sampling)")
		case len(s.Operators) > 0 && !has[name]:
			list := offering(name, s)
			of, add := oneOfWords(list), list[0]
			if len(list) > 1 {
				add = "one of them"
			}
			v.add(path, "the limit %s is compared with a figure of %s; add %s to operators", name, of, add)
		case name == LimitMaxScore && s.Sink.Path == "":
			v.add(path, "the limit %s is compared while records are written; add a sink", name)
		}
	}
}

func (v *validator) source(s *Source) {
	switch {
	case len(s.Path) == 0 && s.Table == "":
		v.add("source", "there is no source; say what to read: source: {path: FILE}")
	case len(s.Path) > 0 && s.Table != "":
		v.add("source.table", "source has a path and a table; it is read from one of them")
	case s.Table != "" && s.Count == "":
		v.add("source.table", "source.table has no count; name the column that says how many records a row stands for: count: N")
	case s.Table == "" && s.Count != "":
		v.add("source.count", "source.count belongs to a contingency table; name the file with table: instead of path:")
	}
	if s.Table != "" && len(s.Path) == 0 {
		v.path("source.table", s.Table)
	}
	seen := map[string]bool{}
	for i, p := range s.Path {
		at := fmt.Sprintf("source.path[%d]", i)
		switch {
		case p == "":
			v.add(at, "a path is empty; name a file, a folder or a pattern")
		case p == "-" && len(s.Path) > 1:
			v.add(at, "standard input cannot be read together with files; read it alone")
		case seen[p]:
			v.add(at, "%s is named twice; each input is read once", p)
		default:
			v.path(at, p)
		}
		seen[p] = true
	}
	v.oneOf("source.format", "format", s.Format, Formats)
	if len([]rune(s.Delimiter)) > 1 {
		v.add("source.delimiter", "the delimiter %q has more than one character; it must be one, such as \";\"", s.Delimiter)
	}
}

var remote = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+)://`)

// path refuses what looks like a path and is no local file.
func (v *validator) path(at, p string) {
	if m := remote.FindStringSubmatch(p); m != nil {
		v.add(at, "%s: paths of kind %s:// are not read or written; copy the data to a local file", p, m[1])
	}
}

func (v *validator) sampling(s *Sampling) {
	set := 0
	if s.Fraction != 0 {
		set++
		if !(s.Fraction > 0 && s.Fraction <= 1) {
			v.add("sampling.fraction", "%s", fraction(s.Fraction))
		}
	}
	if s.PopulationSize != 0 {
		set++
		if s.PopulationSize < 0 {
			v.add("sampling.population_size", "%s", populationSize(s.PopulationSize))
		}
	}
	if s.Weight != "" {
		set++
	}
	switch {
	case s.ZeroWeight != "" && s.Weight == "":
		v.add("sampling.weight", "the weight has no column")
	case s.ZeroWeight != "" && s.ZeroWeight != ZeroDrop:
		v.add("sampling.weight.zero", "zero is %q; it is drop, or left out", s.ZeroWeight)
	}
	if set != 1 {
		v.add("sampling", "sampling says %s; give one of fraction, population_size and weight", [...]string{"nothing", "", "two things", "three things"}[set])
	}
}

func (v *validator) key(path string, k *Key) {
	if len(k.Variables) == 0 {
		v.add(path, "the key has no variables; name the columns by which a record could be recognised")
	}
	if len(k.Variables) > MaxKeyVariables {
		v.add(path+".variables", "the key has %d variables; at most %d can be counted", len(k.Variables), MaxKeyVariables)
	}
	seen := map[string]bool{}
	for i, x := range k.Variables {
		at := fmt.Sprintf("%s.variables[%d]", path, i)
		if seen[x.Name] { // a column may have the empty name
			v.add(at, "key variable %s is named twice; each counts once", x.Name)
		}
		seen[x.Name] = true
		v.oneOf(at+".missing", "missing policy", x.Missing, MissingPolicies)
		v.twice(at+".missing_codes", x.MissingCodes)
		v.twice(at+".levels", x.Levels)
		if x.Levels != nil && len(x.Levels) == 0 {
			v.add(at+".levels", "levels of %s is empty; list its categories, or leave levels out to take those observed", x.Name)
		}
		codes := x.MissingCodes
		if codes == nil {
			codes = k.MissingCodes
		}
		for j, l := range x.Levels {
			if slices.Contains(codes, l) {
				v.add(fmt.Sprintf("%s.levels[%d]", at, j), "level %q of %s is also a missing code; it is one or the other", l, x.Name)
			}
		}
	}
	v.oneOf(path+".missing", "missing policy", k.Missing, MissingPolicies)
	v.twice(path+".missing_codes", k.MissingCodes)
}

// twice is a problem if a list has a value twice.
func (v *validator) twice(path string, list []string) {
	seen := map[string]bool{}
	for i, x := range list {
		if seen[x] {
			v.add(fmt.Sprintf("%s[%d]", path, i), "%q is listed twice", x)
		}
		seen[x] = true
	}
}

func (v *validator) sink(s *Spec) {
	v.path("sink.path", s.Sink.Path)
	v.path("summary", s.Summary)
	v.oneOf("sink.format", "format", s.Sink.Format, Formats)
	v.oneOf("sink.footer", "footer", s.Sink.Footer, Footers)
	v.oneOf("sink.compression", "compression", s.Sink.Compression, Compressions)
	if s.Sink.Path == "-" && s.Summary == "-" {
		v.add("summary", "the output and the summary cannot both go to standard output; write one of them to a file")
	}
	if s.Sink.Path != "" && s.Sink.Path == s.Summary && s.Summary != "-" {
		v.add("summary", "the summary has the output's path %s; give it another name", s.Summary)
	}
}
