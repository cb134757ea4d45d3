// Package report holds what operators tell people at the end of a run, as plain data: tables of cells, lines and notes. Who shows them
// knows how wide a line is, and which limits the figures were compared with.
package report

import "microrisk/schemas"

// A Reporting config tells what its operator found. document is its part of the summary.
type Reporting interface {
	schemas.Named
	Report(s *schemas.Spec, document any) Section
}

// A Section is what one operator tells.
type Section struct {
	Place int // sections are in the order of their places, then of the spec: one of the constants below, or a number between them
	Parts []Part
}

// Places of sections.
const (
	Searched = 0   // what a search found
	Modelled = 10  // models of the population
	Classes  = 20  // figures of equivalence classes
	Tables   = 30  // released tables
	End      = 100 // after all others: files of their own
)

// A Part is a table, a line, or a note: one of Rows, Label and Note is set.
type Part struct {
	Apart bool     // an empty line comes before it
	Rows  [][]Cell // a table; the last cell of a row may be a remark
	// Label stands before Texts on a line, whole. Texts are joined by semicolons; where they do not fit on the line, all but the first go
	// to the next one. Words follow below, on as many lines as they take.
	Label string
	Texts []string
	Words []string
	Note  string // a sentence under a table
}

// A Cell of a table; numbers stand to the right, text to the left.
type Cell struct {
	Text  string
	Right bool
	Limit string // the figure of the row may have this limit, which is told before Text
}

// Left is a cell of text.
func Left(text string) Cell { return Cell{Text: Printable(text)} }

// Right is a cell of a number.
func Right(text string) Cell { return Cell{Text: text, Right: true} }

// Limited is a remark on a figure that limits are set for.
func Limited(limit, text string) Cell { return Cell{Text: Printable(text), Limit: limit} }

// Row is a row of a table: a name, a figure and a remark.
func Row(name, figure string, remark Cell) []Cell { return []Cell{Left(name), Right(figure), remark} }

// A Leading config knows the command that leads on from what its operator made.
type Leading interface {
	schemas.Config
	// Next is what the command tells, and the words of its command line; none if flags cannot say what was made.
	Next(s *schemas.Spec) (tells string, command []string)
}

// A Sayable config prepares rows in a way that flags can say.
type Sayable interface {
	schemas.Config
	Args() []string
}

// A Heading config has a say in the first table of a report, which has the counts of the key: that of the highest Rank is asked.
type Heading interface {
	schemas.Named
	Head(s *schemas.Spec, document any) *Head
}

// A Head is what an operator says in the first table.
type Head struct {
	Rank    int
	Records int64                      // that it counted
	Counted []Cell                     // a row on them, which stands where they are not all rows
	Of      int64                      // records of which parts are taken; 0 for the rows
	Key     *schemas.KeySummary        // that it counted; nil for the document's
	Unique  func(uniques int64) []Cell // a row after that of the sample uniques; nil for none
	Rows    [][]Cell                   // rows at the end
}
