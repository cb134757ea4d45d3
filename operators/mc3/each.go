package mc3

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Limits of models of domains: how many there may be, how many records a domain should have, and how many domains or warnings are named.
const (
	mostDomains   = 10_000
	smallDomain   = 100
	domainsNamed  = 5
	warningsNamed = 10
)

// requestEach has the weights beside the domains, too.
func (b *bound) requestEach() error {
	if len(b.Config.By) == 0 {
		return fmt.Errorf("%s: a model of each domain is to be fitted, and by names no columns that tell them apart", b.Prefix)
	}
	b.each = true
	table := b.DomainTable()
	b.Plan.Tables[table].Sums = b.Plan.Tables[0].Sums
	return b.DivideBeside(table)
}

// classTable is the place of the table of whose classes the columns are.
func (b *bound) classTable() int {
	if b.each {
		return b.DomainTable()
	}
	return 0
}

// fitEach fits a model to the records of each domain, as if these were a file.
func (b *bound) fitEach(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[b.classTable()]
	sample, err := operators.SampleOf(b.Sampling, tables[0], b.drop)
	if err != nil {
		return nil, err
	}
	if err := b.fits(t, env); err != nil {
		return nil, err
	}
	classes, names, err := b.DomainClasses(ctx, tables, env)
	if err != nil {
		return nil, err
	}
	if len(classes) > mostDomains {
		return nil, fmt.Errorf("%s: there are %d domains, and each would have a model of its own: at most %d can be fitted; take coarser domains, or fit: once",
			b.Prefix, len(classes), mostDomains)
	}
	f := &fitted{bound: b, count: make([]int64, t.Classes())}
	for range b.valueNames() {
		values := make([]float64, t.Classes())
		for i := range values {
			values[i] = math.NaN()
		}
		f.values = append(f.values, values)
	}
	e := &eachDomain{bound: b, env: env, names: names, whole: sample}
	for d := range classes {
		env.Progress("fitting domains", int64(d), int64(len(classes)))
		if err := e.fit(ctx, t, f, d, classes[d]); err != nil {
			return nil, err
		}
	}
	env.Progress("fitting domains", int64(len(classes)), int64(len(classes)))
	e.warn()
	kept := tables[0].Keep(b.drop)
	f.summary = e.summary(f, tables[0], kept)
	f.Columns = f.columnsEach(kept)
	if err := f.divide(ctx, tables, env, e.figures()...); err != nil {
		return nil, err
	}
	return f, errors.Join(tables[0].Err(), t.Err())
}

// valueNames are the columns besides frequencies.
func (b *bound) valueNames() []string {
	names := []string{ColumnCorrectMatch, ColumnPopulationUnique, ColumnExpectedFrequency}
	if b.Config.SetMatch {
		names = append(names, ColumnSetMatch)
	}
	return names
}

// columnsEach are the frequency of the key in the whole file, that in the domain, and the values.
func (f *fitted) columnsEach(kept *contingency.Kept) []operators.ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	list := f.bound.Columns(kept.Counts())
	add := func(values arrow.Array) {
		list = append(list, operators.ClassColumn{Values: values, Table: f.bound.classTable()})
	}
	add(operators.Values(f.count, in))
	for _, values := range f.values {
		add(operators.Values(values, in))
	}
	return list
}

// An eachDomain goes through the domains.
type eachDomain struct {
	bound *bound
	env   operators.Env
	names []string
	whole operators.SampleSize

	models   []*Summary // of each domain
	small    []string   // domains of few records
	order    []string   // what was warned of, once each
	warnings map[string]*domainWarning
}

// A domainWarning was said of some domains.
type domainWarning struct {
	format  string
	args    []any
	domains []string
}

// fit fits the model of a domain, and puts its values where they belong.
func (e *eachDomain) fit(ctx context.Context, t *contingency.Table, f *fitted, domain int, classes []int) error {
	b := e.bound
	variables, whole := make([]int, len(b.Counted.Variables)), make([]bool, len(b.Counted.Variables))
	for v, variable := range b.Counted.Variables {
		variables[v], whole[v] = v, variable.Levels != nil
	}
	part, err := t.Part(ctx, classes, variables, whole)
	if err == nil && part.Classes() != len(classes) {
		err = fmt.Errorf("%d classes became %d", len(classes), part.Classes())
	}
	if err != nil {
		return err
	}
	one := *b
	if b.Sampling.Weight == "" { // of all domains the same part was drawn
		one.Sampling = &schemas.Sampling{Fraction: e.whole.Fraction}
	}
	env := e.env
	env.Progress = func(string, int64, int64) {}
	env.Warn = func(format string, args ...any) { e.note(e.names[domain], format, args) }
	own, err := one.fitTable(ctx, part, env)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return advice.Errorf("of the domain %s: %w", e.names[domain], err)
	}
	for i, class := range classes { // in the order of the key, as those of the part
		f.count[class] = own.count[i]
		for k := range own.values {
			f.values[k][class] = own.values[k][i]
		}
	}
	if n := own.summary.Records; n > 0 && n < smallDomain {
		e.small = append(e.small, e.names[domain])
	}
	m, d := own.summary, own.summary.Diagnostics
	e.models = append(e.models, &Summary{MeasuredKey: m.MeasuredKey, PopulationSize: m.PopulationSize, PU: m.PU, PUSE: m.PUSE, CMUM: m.CMUM, Search: m.Search,
		Diagnostics: Diagnostics{Margins: d.Margins, Graphs: d.Graphs, EmptyCells: d.EmptyCells}})
	return nil
}

// note keeps a warning of a domain.
func (e *eachDomain) note(domain, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	if e.warnings == nil {
		e.warnings = map[string]*domainWarning{}
	}
	w := e.warnings[text]
	if w == nil {
		w = &domainWarning{format: format, args: args}
		e.warnings[text], e.order = w, append(e.order, text)
	}
	w.domains = append(w.domains, domain)
}

// warn tells what was noted, each thing once.
func (e *eachDomain) warn() {
	if len(e.small) > 0 {
		e.env.Warn("%s: fewer than %d records are in %s: a model of so few says little more than the prior; take coarser domains, or fit: once",
			e.bound.Prefix, smallDomain, named(e.small))
	}
	for i, text := range e.order {
		if i == warningsNamed {
			e.env.Warn("%s: %d more warnings of domains are left out", e.bound.Prefix, len(e.order)-i)
			return
		}
		w := e.warnings[text]
		e.env.Warn("of %s: "+w.format, append([]any{named(w.domains)}, w.args...)...)
	}
}

// named names some domains.
func named(domains []string) string {
	n := min(len(domains), domainsNamed)
	text := strings.Join(domains[:n], "; ")
	if more := len(domains) - n; more > 0 {
		text += fmt.Sprintf(" and %d more domains", more)
	}
	return text
}

// figures are those of domains that only a model of their own tells.
func (e *eachDomain) figures() []operators.DomainFigure {
	or := func(of func(m *Summary) *float64) func(domain int) float64 {
		return func(domain int) float64 {
			if x := of(e.models[domain]); x != nil {
				return *x
			}
			return math.NaN()
		}
	}
	return []operators.DomainFigure{
		{Name: "pu", Domain: or(func(m *Summary) *float64 { return m.PU })},
		{Name: "cm_um", Told: "CM|UM", Domain: or(func(m *Summary) *float64 { return m.CMUM })},
		{Name: "population_size", Domain: func(domain int) float64 { return e.models[domain].PopulationSize }},
	}
}

// summary puts the figures of the domains together. Uniques are those of the domains.
func (e *eachDomain) summary(f *fitted, key *contingency.Table, kept *contingency.Kept) *Summary {
	b := e.bound
	m := &Summary{Fit: FitEach, Estimator: b.Config.Estimator, PriorPrecision: b.Config.Precisions()[0], Models: []ModelSummary{},
		EdgeProbabilities: []EdgeProbability{}}
	m.MeasuredKey, m.MeasuredRecords = b.Counted.Kept(key, kept)
	m.PopulationSize, m.Fraction = e.whole.Population, e.whole.Fraction
	var uniqueRecords, doubles int64
	var people, pu, variance, members float64 // members: people with a key that is unique in the sample of their domain
	for _, one := range e.models {
		uniqueRecords, doubles = uniqueRecords+one.KeySummary.SampleUniques, doubles+int64(one.KeySummary.Doubles)
		if one.PU != nil {
			people, pu = people+one.PopulationSize, pu+one.PopulationSize**one.PU
		}
		if one.PUSE != nil {
			variance += one.PopulationSize * one.PopulationSize * *one.PUSE * *one.PUSE
		}
		if one.CMUM != nil && *one.CMUM > 0 {
			members += float64(one.KeySummary.SampleUniques) / *one.CMUM
		}
		m.Search = one.Search
		m.Diagnostics.Margins += one.Diagnostics.Margins
		m.Diagnostics.Graphs += one.Diagnostics.Graphs
		m.Diagnostics.EmptyCells = together(m.Diagnostics.EmptyCells, one.Diagnostics.EmptyCells)
	}
	if m.Fraction > 0 && m.Records > 0 {
		m.DIS = figure(uniques.DIS(m.Fraction, uniqueRecords, float64(doubles)))
	}
	m.PU, m.PUSE, m.CMUM = figure(pu/people), figure(math.Sqrt(variance)/people), figure(float64(uniqueRecords)/members)
	var all, unique, correct float64
	for class, n := range f.count {
		if n == 0 {
			continue
		}
		all += float64(n) * f.values[0][class]
		if n == 1 {
			unique, correct = unique+f.values[1][class], correct+f.values[0][class]
		}
	}
	m.PopulationUnique, m.CorrectMatches, m.Reidentified = &unique, &correct, &all
	m.PUSU, m.CMSU = figure(unique/float64(uniqueRecords)), figure(correct/float64(uniqueRecords))
	m.ReidentifiedPart = figure(100 * all / float64(m.Records))
	s := &summarizer{data: &bayes.Data{Counts: f.count}}
	m.Calibration = s.calibration(&risk.Cells{CorrectMatch: f.values[0], PopulationUnique: f.values[1], ExpectedFrequency: f.values[2]})
	return m
}

// together is how PU was made of several, the least exact of them.
func together(a, b string) string {
	order := []string{"", "summed", "sampled", "scaled"}
	at := func(word string) int {
		for i, w := range order {
			if w == word {
				return i
			}
		}
		return 0
	}
	if at(b) > at(a) {
		return b
	}
	return a
}
