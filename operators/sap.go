package operators

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/attribution"
	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/schemas"
)

// SAP annotates each record with the subtraction-attribution probability of the released table that it falls in (package attribution
// says what that is). Records in no table get nulls.
type SAP struct {
	Config    schemas.SAP
	Secret    []byte     // by which cells are perturbed; nil: the run's seed is taken
	Published *Published // the counts that were really published; nil: they are made anew
}

// Bind is an Operator's. The columns must exist and have equality, the scheme's parameters must be sound.
func (s SAP) Bind(in *arrow.Schema) (*Plan, error) {
	b := &sapBound{SAP: s, prefix: s.Config.ColumnPrefix(), by: len(s.Config.By)}
	var err error
	if b.kernel, err = Kernel(&s.Config.Release.Perturbation); err != nil {
		return nil, fmt.Errorf("%s: %w", b.prefix, err)
	}
	b.table = perturb.None()
	if base := s.Config.Release.BaseTable; base == "" || base == "same" {
		b.table = b.kernel
	}
	for _, m := range s.Config.Release.Margins {
		own := b.kernel
		if m.Perturb != nil {
			if own, err = Kernel(m.Perturb); err != nil {
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
				return nil, fmt.Errorf("%s: %s is the name of a column of the file of tables: rename the variable of by, or leave the file out", b.prefix, v.Name)
			}
		}
	}
	key := schemas.Key{Variables: append(append([]schemas.KeyVariable{}, s.Config.By...), s.Config.Cells...)}
	request, err := keyRequest(b.prefix, in, key)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	for _, c := range s.Config.Columns() {
		added := Added{Field: arrow.Field{Name: c.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}}
		if s.Config.Replace && in.HasField(c.Name) {
			added.Replaces = c.Name
		}
		plan.Adds = append(plan.Adds, added)
	}
	return plan, nil
}

// Kernel is a scheme of the spec as a kernel.
func Kernel(p *schemas.Perturbation) (perturb.Kernel, error) {
	switch p.Scheme {
	case "", "none":
		return perturb.None(), nil
	case "conventional":
		return perturb.Conventional(p.Base, perturb.Tie(p.Tie))
	case "random":
		if p.Probability != nil {
			return perturb.RandomFixed(p.Base, *p.Probability)
		}
		return perturb.Random(p.Base)
	case "barnard":
		if p.Probability == nil {
			return nil, fmt.Errorf("barnard has no probability with which a count stays")
		}
		return perturb.Barnard(*p.Probability)
	case "small":
		return perturb.SmallCounts(p.Last, p.Value, p.Base, perturb.Tie(p.Tie))
	case "matrix":
		rows := make([][]perturb.Outcome, len(p.Matrix))
		for i, row := range p.Matrix {
			for _, o := range row {
				rows[i] = append(rows[i], perturb.Outcome{Count: o.Count, P: o.Probability})
			}
		}
		return perturb.Matrix("matrix", rows)
	}
	return nil, fmt.Errorf("there is no scheme %q: it is one of %v", p.Scheme, schemas.Schemes)
}

// sapBound is sap, bound to a schema.
type sapBound struct {
	SAP
	prefix  string
	by      int              // variables that tell the tables apart; the first ones of the request
	kernel  perturb.Kernel   // of what says nothing of its own
	table   perturb.Kernel   // of the tables over all of cells
	margins []perturb.Kernel // of each margin
}

// largeNeed is the number of people from which on it is not worth while to find the chance that all are known for each record.
const largeNeed = 32

// sapFitted has what is found of each class and each area.
type sapFitted struct {
	ByClass
	bound   *sapBound
	area    []int32             // of each class, -1 for none
	need    []int32             // people of whom all must be known for a zero in the class's cell, -1 if there never is one
	large   map[int64][]float64 // of classes with need above largeNeed, the chance that all of them are known, by known
	people  []int64             // N of each area
	sap     [][]float64         // by known, then area
	target  [][]float64         // by known, then class; nil where a release is joint
	cellOf  [][]float64         // by known, then class, where a release is joint; else need tells
	fit     *sapFit             // for the file of tables
	summary *schemas.SAPSummary
}

func (f *sapFitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *sapFitted) RankedBy() string { return f.bound.Config.Columns()[0].Name }

// Rank is a Ranked's.
func (f *sapFitted) Rank(class int64) (float64, int64) {
	if f.area[class] < 0 {
		return 0, 0
	}
	return f.sap[0][f.area[class]], 0
}

// columns are the values of each area and of each class.
func (f *sapFitted) columns() []ClassColumn {
	in := func(c int) bool { return f.area[c] >= 0 }
	var list []ClassColumn
	for _, values := range f.sap {
		list = append(list, ClassColumn{Values: Values(values, nil), At: f.area})
	}
	for k, n := range f.bound.Config.Known {
		values := f.cell(k, n)
		list = append(list, ClassColumn{Values: Values(values, in)})
	}
	if f.bound.Config.Release.Joint() { // its plan has no such columns, whatever is known of them without a record
		return list
	}
	for _, values := range f.target {
		list = append(list, ClassColumn{Values: Values(values, in)})
	}
	return list
}

// cell is for each class the chance that its own cell is known in full and shown empty, with n people known, the k-th of them.
func (f *sapFitted) cell(k int, n int64) []float64 {
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
