package sap

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/attribution"
	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, Brief: "attribution from released tables", New: func() schemas.Config { return &Config{} },
		Doc: "Finds how likely somebody who knows n people of a released table can subtract them and learn that a combination is empty " +
			"(subtraction-attribution probability).",
		Limits: []schemas.Figure{{Name: Limit, Doc: "Greatest SAP of a released table at the largest n of known, 0 to 1."}}})
}

// Operators is an operators.Config's.
func (s *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *s, Secret: with.Files.Secrets[s.Release.Secret], Published: with.Files.Counts[s.published().Key()]}}
}

// Files is a Filing config's.
func (s *Config) Files() []operators.SideFile {
	var list []operators.SideFile
	if s.Release.Secret != "" {
		list = append(list, operators.SideFile{Path: s.Release.Secret, What: "the secret", Kind: operators.Secret})
	}
	if s.Release.Published != "" {
		list = append(list, s.published())
	}
	if s.Tables != "" {
		list = append(list, operators.SideFile{Path: s.Tables, What: "the file of tables", Kind: operators.MadeTable})
	}
	return list
}

func (s *Config) published() operators.SideFile {
	return operators.SideFile{Path: s.Release.Published, What: "the file of published counts", Kind: operators.Counts,
		Variables: append(schemas.VariableNames(s.By), schemas.VariableNames(s.Cells)...)}
}

// An Operator annotates each record with the subtraction-attribution probability of the released table that it falls in (package attribution
// says what that is). Records in no table get nulls.
type Operator struct {
	Config    Config
	Secret    []byte               // by which cells are perturbed; nil: the run's seed is taken
	Published *operators.Published // the counts that were really published; nil: they are made anew
}

// Bind is an Operator's. The columns must exist and have equality, the scheme's parameters must be sound.
func (s Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	b := &bound{Operator: s, prefix: s.Config.ColumnPrefix(), by: len(s.Config.By)}
	if err := schemas.Settle(b.prefix, b.Config.Fields()); err != nil {
		return nil, err
	}
	var err error
	if b.kernel, err = operators.Kernel(&s.Config.Release.Perturbation); err != nil {
		return nil, fmt.Errorf("%s: %w", b.prefix, err)
	}
	b.table = perturb.None()
	if base := s.Config.Release.BaseTable; base == "" || base == "same" {
		b.table = b.kernel
	}
	for _, m := range s.Config.Release.Margins {
		own := b.kernel
		if m.Perturb != nil {
			if own, err = operators.Kernel(m.Perturb); err != nil {
				return nil, fmt.Errorf("%s: the margin %v: %w", b.prefix, m.Variables, err)
			}
		}
		b.margins = append(b.margins, own)
	}
	if len(s.Config.Cells) == 0 || len(s.Config.Known) == 0 {
		return nil, fmt.Errorf("%s: it needs variables of the tables (cells) and numbers of people known (known)", b.prefix)
	}
	if s.Config.Tables != "" {
		for _, v := range s.Config.By {
			if slices.Contains(s.Config.TableColumns(), v.Name) {
				return nil, fmt.Errorf(
					"%s: %s is the name of a column of the file of tables: rename the variable of by, or leave the file out",
					b.prefix,
					v.Name,
				)
			}
		}
	}
	b.key = operators.Key{Who: b.prefix, Policy: cmp.Or(s.Config.Missing, schemas.MissingCategory),
		Key: schemas.Key{Variables: slices.Concat(s.Config.By, s.Config.Cells)}}
	request, err := b.key.Request(in)
	if err != nil {
		return nil, err
	}
	plan := &operators.Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	operators.AddColumns(plan, in, b.Config.Columns(false, nil), b.Config.Replace)
	return plan, nil
}

// bound is sap, bound to a schema.
type bound struct {
	Operator
	prefix  string
	key     operators.Key    // the variables of the request
	by      int              // variables that tell the tables apart; the first ones of the request
	kernel  perturb.Kernel   // of what says nothing of its own
	table   perturb.Kernel   // of the tables over all of cells
	margins []perturb.Kernel // of each margin
}

// largeNeed is the number of people from which on it is not worth while to find the chance that all are known for each record.
const largeNeed = 32

// fitted has what is found of each class and each area.
type fitted struct {
	operators.ByClass
	bound   *bound
	area    []int32             // of each class, -1 for none
	need    []int32             // people of whom all must be known for a zero in the class's cell, -1 if there never is one
	large   map[int64][]float64 // of classes with need above largeNeed, the chance that all of them are known, by known
	people  []int64             // N of each area
	sap     [][]float64         // by known, then area
	target  [][]float64         // by known, then class; nil where a release is joint
	cellOf  [][]float64         // by known, then class, where a release is joint; else need tells
	fit     *fit                // for the file of tables
	summary *Summary
}

func (f *fitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *fitted) RankedBy() string { return f.bound.Config.Columns(false, nil)[0].Name }

// Rank is a Ranked's.
func (f *fitted) Rank(class int64) (float64, int64) {
	if f.area[class] < 0 {
		return 0, 0
	}
	return f.sap[0][f.area[class]], 0
}

// columns are the values of each area and of each class.
func (f *fitted) columns() []operators.ClassColumn {
	in := func(c int) bool { return f.area[c] >= 0 }
	var list []operators.ClassColumn
	for _, values := range f.sap {
		list = append(list, operators.ClassColumn{Values: operators.Values(values, nil), At: f.area})
	}
	for k, n := range f.bound.Config.Known {
		values := f.cell(k, n)
		list = append(list, operators.ClassColumn{Values: operators.Values(values, in)})
	}
	if f.bound.Config.Release.Joint() { // its plan has no such columns, whatever is known of them without a record
		return list
	}
	for _, values := range f.target {
		list = append(list, operators.ClassColumn{Values: operators.Values(values, in)})
	}
	return list
}

// cell is for each class the chance that its own cell is known in full and shown empty, with n people known, the k-th of them.
func (f *fitted) cell(k int, n int64) []float64 {
	if f.cellOf != nil {
		return f.cellOf[k]
	}
	values := make([]float64, len(f.area))
	for c, a := range f.area {
		switch {
		case a < 0 || f.need[c] < 0:
		case f.need[c] > largeNeed:
			values[c] = f.large[int64(c)][k]
		default:
			all := f.people[a]
			values[c] = attribution.AllKnown(int64(f.need[c]), min(n, all), all)
		}
	}
	return values
}
