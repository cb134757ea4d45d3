package schemas

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Perturbation is a scheme by which counts are perturbed, with its parameters.
type Perturbation struct {
	Scheme      string      // one of Schemes; "" means none
	Base        int64       // of conventional, random and small
	Tie         string      // of an even base: up, down or even
	Probability *float64    // of random: that of the nearest multiple (nil: unbiased); of barnard: that a count stays
	Last        int64       // of small: counts from 1 to Last become Value
	Value       int64       // of small
	Matrix      [][]Outcome // of matrix: by the true count, the last row for all larger ones too
	Secret      string      // file with the secret by which cells are perturbed; "" means that none is kept
}

// MaxCount is the largest count that can be published: whole numbers up to it are exact in floating point.
const MaxCount = 1 << 53

// An Outcome is a count that is published with a probability.
type Outcome struct {
	Count       int64
	Probability float64
}

// Words of perturbations and of files of tables.
var (
	Schemes = []string{"none", "conventional", "random", "barnard", "small", "matrix"}
	Ties    = []string{"up", "down", "even"}
	// CountColumns are the names that a column of counts has in files of tables: no variable of a table has one of them.
	CountColumns = []string{"published", "value", "count"}
)

// SymbolColumn is the column beside values of a table that says why one is not published: no variable of a table has its name.
const SymbolColumn = "symbol"

// Random tells whether the scheme leaves a count to chance.
func (p *Perturbation) Random() bool {
	return p.Scheme == "random" || p.Scheme == "barnard" || p.Scheme == "matrix"
}

// Fields is the field table of a perturbation.
func (p *Perturbation) Fields() Table {
	return Table{Doc: "How counts are perturbed.", Fields: []Field{
		{Name: "scheme", To: &p.Scheme, Words: Schemes, Schema: `"default": "none"`,
			Doc: "none: as it is. conventional: to the nearest multiple of base. random: to a multiple above or below, by chance. barnard: up or down by one, by " +
				"chance. small: counts from 1 to last become value, others are rounded. matrix: by a table of probabilities.",
			Flag: &Flag{Name: "scheme", Usage: "how counts are perturbed: none, conventional, random, barnard, small or matrix (default: none)"}},
		{
			Name:  "base",
			To:    &p.Base,
			Range: AtLeast(1).Saying("rounding needs a base from 2, such as 3 or 5"),
			Doc:   "Base of rounding (small: 1 leaves larger counts as they are).",
			Flag:  &Flag{Name: "base", Usage: "base of rounding (conventional, random, small)"},
		},
		{Name: "tie", To: &p.Tie, Words: Ties, Doc: "What the middle of two multiples of an even base becomes.",
			Flag: &Flag{Name: "tie", Usage: "what the middle of two multiples of an even base becomes: up, down or even"}},
		{Name: "probability", To: &p.Probability, Range: Within(0, 1).Saying("it must be from 0 to 1"),
			Doc:  "random: of the nearest multiple; without it rounding is unbiased. barnard: that a count stays.",
			Flag: &Flag{Name: "probability", Usage: "random: of the nearest multiple (default: unbiased); barnard: that a count stays"}},
		{Name: "last", To: smallForm{wholeForm[int64]{&p.Last, false}}, Doc: "Largest small count.", Schema: `"minimum": 1`,
			Flag: &Flag{Name: "last", Usage: "small: counts from 1 to `N` become --value", Set: small(&p.Last, 1)}},
		{Name: "value", To: smallForm{wholeForm[int64]{&p.Value, false}}, Doc: "What small counts become.", Schema: `"minimum": 0`,
			Flag: &Flag{Name: "value", Usage: "small: what small counts become", Set: small(&p.Value, 0)}},
		{
			Name: "matrix",
			To:   matrixForm{&p.Matrix},
			Doc:  "One mapping a true count, from 0: published count to probability; the last one holds for larger counts by its differences.",
			Flag: &Flag{
				Name:  "matrix",
				Usage: "matrix: what the counts 0, 1, 2, ... become, `COUNT:PROBABILITY,...` each, separated by semicolons, such as '0:1; 0:0.5,2:0.5'; the last is that of all larger counts",
				Set:   p.sayMatrix,
			},
		},
		{Name: "secret", To: &p.Secret, Doc: "File with the secret by which cells are perturbed, the same wherever it is used.", Schema: `"minLength": 1`,
			Flag: &Flag{Name: "secret", Usage: "`FILE` with the secret by which cells are perturbed, the same wherever it is used"}},
	}}
}

// smallForm is that of last and value, which are judged together.
type smallForm struct{ wholeForm[int64] }

func (smallForm) Check(*Checker, string, *Field) {}

// matrixForm is that of rows of probabilities.
type matrixForm struct{ to *[][]Outcome }

func (m matrixForm) Read(d *Decoder, n *Node, path string, f *Field) {
	*m.to = [][]Outcome{}
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) {
		row := []Outcome{}
		d.Entries(item, at, "a row of the matrix", func(count string, value *Node, at string) {
			row = append(row, Outcome{d.Count(count, at), d.Number(value, at, "the probability of "+count)})
		})
		*m.to = append(*m.to, row)
	})
}

func (m matrixForm) Write(*Field) (any, bool) {
	var rows []any
	for _, row := range *m.to {
		r := Ordered{}
		for _, x := range row {
			r = append(r, Member{strconv.FormatInt(x.Count, 10), x.Probability})
		}
		rows = append(rows, r)
	}
	return rows, rows != nil
}

func (m matrixForm) Schema(*Field) Ordered {
	return RawSchema(
		`"type": "array", "minItems": 1, "items": {"type": "object", "propertyNames": {"pattern": "^[0-9]+$"}, "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}`,
	)
}

func (m matrixForm) Check(*Checker, string, *Field) {}

// Check tells all that is wrong with a scheme that stands in no spec; the error is a *SpecError.
func (p *Perturbation) Check() error {
	c := &Checker{}
	c.Table("", p.Fields())
	c.Perturbation("", p)
	return AsError("", c.problems)
}

// Perturbation judges a scheme as a whole; its field table is judged apart.
func (c *Checker) Perturbation(path string, p *Perturbation) {
	rounds := p.Scheme == "conventional" || p.Scheme == "random" || p.Scheme == "small"
	belongs := func(set bool, field string, to ...string) {
		if set && !slices.Contains(to, p.Scheme) && (p.Scheme == "" || slices.Contains(Schemes, p.Scheme)) {
			c.Add(path+"."+field, "%s belongs to scheme %s", field, oneOfWords(to))
		}
	}
	belongs(p.Base != 0, "base", "conventional", "random", "small")
	belongs(p.Tie != "", "tie", "conventional", "small")
	belongs(p.Probability != nil, "probability", "random", "barnard")
	belongs(p.Last != 0, "last", "small")
	belongs(p.Value != 0, "value", "small")
	belongs(p.Matrix != nil, "matrix", "matrix")
	belongs(p.Secret != "", "secret", "random", "barnard", "matrix")
	least := int64(2)
	if p.Scheme == "small" {
		least = 1
	}
	switch {
	case rounds && p.Base >= 0 && p.Base < least:
		c.Add(path+".base", "base is %d; %s rounding needs a base from %d, such as 3 or 5", p.Base, p.Scheme, least)
	case rounds && p.Scheme != "random" && p.Base%2 == 0 && p.Tie == "":
		c.Add(path+".tie", "the base %d is even; say what a count in the middle of two multiples becomes: tie: up, down or even", p.Base)
	case rounds && p.Base%2 == 1 && p.Tie != "":
		c.Add(path+".tie", "the base %d is odd, there is no tie; leave tie out", p.Base)
	}
	if p.Scheme == "small" && (p.Last < 1 || p.Value < 0) {
		c.Add(path+".last", "small counts are those from 1 to last, which become value; last is %d, value is %d", p.Last, p.Value)
	}
	if p.Scheme == "barnard" && p.Probability == nil {
		c.Add(path, "barnard has no probability; say with which one a count stays: probability: 0.6")
	}
	if q := p.Probability; q != nil && p.Scheme == "random" && *q == 0 {
		c.Add(path+".probability", "probability is %v; it must be from 0 to 1", *q)
	}
	if p.Scheme == "matrix" && len(p.Matrix) == 0 {
		c.Add(path, "matrix has no rows; list one a true count, from 0, such as matrix: [{0: 1}, {0: 0.5, 2: 0.5}]")
	}
	for i, row := range p.Matrix {
		sum := 0.0
		for _, o := range row {
			if o.Count < 0 || o.Count > MaxCount {
				c.Add(fmt.Sprintf("%s.matrix[%d]", path, i), "%d is published as %d; counts are from 0 to %d", i, o.Count, int64(MaxCount))
			}
			if !(o.Probability >= 0 && o.Probability <= 1) {
				c.Add(
					fmt.Sprintf("%s.matrix[%d]", path, i),
					"the probability that %d is published as %d is %v; it must be from 0 to 1",
					i,
					o.Count,
					o.Probability,
				)
			}
			sum += o.Probability
		}
		if math.Abs(sum-1) > 1e-9 {
			c.Add(fmt.Sprintf("%s.matrix[%d]", path, i), "the probabilities of the true count %d sum to %v; they must sum to 1", i, sum)
		}
	}
}
