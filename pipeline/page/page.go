// Package page has pages that people decide by: a title, what is said at the top, a verdict, and sections of sentences, figures, tables and
// pictures. A page is one file without scripts that needs nothing from elsewhere, as HTML for browsers and printers, or as Markdown for logs.
//
//	p := &page.Page{Title: "May this be released?", For: page.Office}
//	p.Add("Figures", page.Text("All of them are exact."), page.Block{Table: &page.Table{...}})
//	text, err := p.Render("report.html")
//
// It knows nothing of what pages are about: whoever has an outcome makes the page of it.
package page

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/schemas"
)

// Whom a page is for.
const (
	Office      = "office"      // everything
	Publication = "publication" // no values of records, no small counts
)

// Readers are the words for them.
var Readers = []string{Office, Publication}

// Endings are those of the files that pages are written to.
var Endings = []string{".html", ".htm", ".md"}

// A Page is what is shown.
type Page struct {
	Title    string
	About    string   // a sentence below the title
	For      string   // one of Readers
	Marks    []string // what must be known before anything is read
	Verdict  *Verdict // nil for none
	Sections []Section
	Footer   string
}

// States of a verdict, a limit or a figure.
const (
	Met   = "met"
	Unmet = "unmet"
	Open  = "open" // nothing can be said, or not surely
)

// A Verdict answers the question of the page.
type Verdict struct {
	State  string // one of the states
	Answer string // in a sentence
	Blocks []Block
}

// A Section is a part of a page with a heading.
type Section struct {
	Heading string
	Blocks  []Block
}

// A Block is one of its fields.
type Block struct {
	Heading string // within the section
	Text    string
	Note    string // in small letters
	List    []string
	Figures []Figure
	Table   *Table
	Picture *Picture
	Terms   [][2]string // what words mean
	Code    string
}

// A Figure is a number with a plain sentence, and how sure it is.
type Figure struct {
	Name, Value, Says, Sure string
	State                   string // of its limit; "" for none
}

// A Table has a caption, and a row of headings.
type Table struct {
	Caption string
	Head    []Cell
	Rows    [][]Cell
}

// A Cell of a table.
type Cell struct {
	Text   string
	Number bool     // it stands to the right
	Bar    *float64 // it is a bar of this length, from 0 to 1, in place of text
	State  string   // of what it tells; "" for none
}

// A Picture is drawn; its text says what is to be seen, for who cannot see it too.
type Picture struct {
	Title, Text string
	Drawing     func(id string) string // SVG, whose own identifiers begin with id
}

// Text is a block of a sentence or more.
func Text(format string, args ...any) Block { return Block{Text: said(format, args)} }

// Note is a block in small letters.
func Note(format string, args ...any) Block { return Block{Note: said(format, args)} }

func said(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Left is a cell of text.
func Left(text string) Cell { return Cell{Text: text} }

// Right is a cell of a number.
func Right(text string) Cell { return Cell{Text: text, Number: true} }

// Bar is a cell with a bar.
func Bar(share float64) Cell { return Cell{Bar: &share} }

// Add adds a section, unless it has nothing to say.
func (p *Page) Add(heading string, blocks ...Block) {
	if len(blocks) > 0 {
		p.Sections = append(p.Sections, Section{heading, blocks})
	}
}

// Render is the page as the ending of a file says.
func (p *Page) Render(path string) ([]byte, error) {
	if IsMarkdown(path) {
		return p.Markdown(), nil
	}
	return p.HTML()
}

// IsMarkdown tells whether a file is one of Markdown.
func IsMarkdown(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") }

// Begins is how a page begins that is written to a file: a file that begins otherwise is none, and keeps its place.
func Begins(path string) string {
	if IsMarkdown(path) {
		return "# "
	}
	return doctype
}

// CheckPath tells what is wrong with the name of a page's file.
func CheckPath(path string) error {
	if !slices.Contains(Endings, strings.ToLower(filepath.Ext(path))) {
		return fmt.Errorf("a page is written as HTML or Markdown, and %s is neither; its name must end with .html or .md", path)
	}
	return nil
}

// CheckReader tells what is wrong with whom a page is for.
func CheckReader(reader string) error {
	if slices.Contains(Readers, reader) {
		return nil
	}
	mean := ""
	if n := schemas.Nearest(reader, Readers); n != "" {
		mean = "; did you mean " + n + "?"
	}
	return fmt.Errorf("%q is nobody whom a page is for%s (it is %s)", reader, mean, strings.Join(Readers, " or "))
}
