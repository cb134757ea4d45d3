package schemas

import (
	"slices"
	"strconv"
)

// A Perturbation is a scheme by which counts are perturbed, with its parameters.
type Perturbation struct {
	Scheme       string      // one of Schemes; "" means none
	Base         int64       // of conventional, random and small
	Tie          string      // of an even base: up, down or even
	Probability  *float64    // of random: that of the nearest multiple (nil: unbiased); of barnard: that a count stays
	Last         int64       // of small: counts from 1 to Last become Value
	Value        int64       // of small
	Matrix       [][]Outcome // of matrix: by the true count, the last row for all larger ones too
	SD           *float64    // of normal: the standard deviation; of proportional noise the largest
	Proportional *float64    // of normal: the standard deviation as a share of the count
	Reach        *float64    // of normal, in standard deviations; nil: UsualReach
	Negative     string      // of normal: what becomes of a count that would be negative, one of Negatives; "": refuse
	Change       *float64    // of isd: that a small count changes; nil: UsualChange
	Reading      string      // of isd, one of Readings; "": A
	Secret       string      // file with the secret by which cells are perturbed; "" means that none is kept
	People                   // whose noise it is
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
	Schemes   = []string{"none", "conventional", "random", "barnard", "small", "matrix", "noise", "normal", "isd", "census2000"}
	Ties      = []string{"up", "down", "even"}
	Negatives = []string{"refuse", "truncate", "reflect"}
	Readings  = []string{"A", "B"}
	// CountColumns are the names that a column of counts has in files of tables: no variable of a table has one of them.
	CountColumns = []string{"published", "value", "count"}
)

// What is meant where a scheme does not say it.
const (
	UsualReach  = 4.0
	UsualChange = 0.2
)

// chances are the schemes that leave a count to chance.
var chances = []string{"random", "barnard", "matrix", "noise", "normal", "isd"}

// SymbolColumn is the column beside values of a table that says why one is not published: no variable of a table has its name.
const SymbolColumn = "symbol"

// LowerColumn and UpperColumn are those of the interval that a value is known to be in.
const (
	LowerColumn = "lower"
	UpperColumn = "upper"
)

// Random tells whether the scheme leaves a count to chance.
func (p *Perturbation) Random() bool { return slices.Contains(chances, p.Scheme) }

// Fields is the field table of a perturbation.
func (p *Perturbation) Fields() Table {
	return Table{Doc: "How counts are perturbed.", Fields: slices.Concat([]Field{
		{Name: "scheme", To: &p.Scheme, Words: Schemes, Schema: `"default": "none"`,
			Doc: "none: as it is. conventional: to the nearest multiple of base. random: to a multiple above or below, by chance. barnard: up or down by one, by " +
				"chance. small: counts from 1 to last become value, others are rounded. matrix: by a table of probabilities. noise: -1, 0 or 1 is added, equally " +
				"likely. normal: noise of a normal law. isd: counts from 1 to 4 change by one, by chance, but never to 0 or 5. census2000: 1 to 7 become 4, " +
				"others the nearest multiple of 5. All but matrix leave 0 as it is.",
			Flag: &Flag{Name: "scheme", Usage: "how counts are perturbed: " + oneOfWords(Schemes) + " (default: none)"}},
	}, p.roundingFields(), p.noiseFields(), []Field{
		{Name: "secret", To: &p.Secret, Doc: "File with the secret by which cells are perturbed, the same wherever it is used.", Schema: `"minLength": 1`,
			Flag: &Flag{Name: "secret", Usage: "`FILE` with the secret by which cells are perturbed, the same wherever it is used"}},
	})}
}

func (p *Perturbation) roundingFields() []Field {
	return []Field{
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
	}
}

func (p *Perturbation) noiseFields() []Field {
	return []Field{
		{Name: "sd", To: &p.SD, Range: Positive(), Doc: "normal: standard deviation of the noise; of proportional noise the largest.",
			Flag: &Flag{Name: "sd", Usage: "normal: standard deviation of the noise; of proportional noise the largest"}},
		{Name: "proportional", To: &p.Proportional, Range: Positive(), Doc: "normal: standard deviation as a share of the count, up to sd.",
			Flag: &Flag{Name: "proportional", Usage: "normal: standard deviation as a share of the count, up to --sd"}},
		{Name: "reach", To: &p.Reach, Range: Within(1, 8), Schema: `"default": 4`, Doc: "normal: how many standard deviations the noise goes.",
			Flag: &Flag{Name: "reach", Usage: "normal: how many standard deviations the noise goes (default: 4)"}},
		{Name: "negative", To: &p.Negative, Words: Negatives, Schema: `"default": "refuse"`,
			Doc: "normal: what becomes of a count that noise would make negative: there must be none, or it becomes 0, or its size.",
			Flag: &Flag{Name: "negative",
				Usage: "normal: what becomes of a count that noise would make negative: refuse (there must be none), truncate (0) or reflect (default: refuse)"}},
		{Name: "change", To: &p.Change, Range: Within(0, 1).Saying("it must be from 0 to 1"), Schema: `"default": 0.2`,
			Doc:  "isd: probability that a small count changes.",
			Flag: &Flag{Name: "change", Usage: "isd: probability that a small count changes (default: 0.2)"}},
		{Name: "reading", To: &p.Reading, Words: Readings, Schema: `"default": "A"`,
			Doc: "isd: counts of 2 and 3 change with that probability, half of it to each side (A), or each side weighs as much as the change of a 1 (B).",
			Flag: &Flag{
				Name:  "reading",
				Usage: "isd: 2 and 3 change with half that probability to each side (A), or each side weighs as much (B) (default: A)",
			}},
	}
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
