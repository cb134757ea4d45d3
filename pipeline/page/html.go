package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"unicode"
)

const doctype = "<!DOCTYPE html>\n"

//go:embed page.html.tmpl
var source string

var shown = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"says":  func(state string) string { return stateWords[state] },
		"bar":   bar,
		"drawn": drawn,
	}).Parse(source))
})

// stateWords are what states are called; colour alone tells nothing.
var stateWords = map[string]string{Met: "met", Unmet: "NOT MET", Open: "open"}

// A shownSection is one with its identifier.
type shownSection struct {
	ID string
	Section
}

// A shownPage is a page with identifiers.
type shownPage struct {
	*Page
	Parts []shownSection
}

// HTML is the page as a file for browsers.
func (p *Page) HTML() ([]byte, error) {
	s := &shownPage{Page: p}
	taken := map[string]bool{"verdict": true, "top": true}
	for _, x := range p.Sections {
		id := identifier(x.Heading)
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("%s-%d", identifier(x.Heading), n)
		}
		taken[id] = true
		s.Parts = append(s.Parts, shownSection{id, x})
	}
	var b bytes.Buffer
	if err := shown().Execute(&b, s); err != nil {
		return nil, fmt.Errorf("making the page: %w", err)
	}
	return b.Bytes(), nil
}

// identifier is a heading as an identifier.
func identifier(heading string) string {
	words := strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "part"
	}
	return strings.Join(words, "-")
}

// bar is a bar of a length from 0 to 1. It prints where backgrounds do not.
func bar(share float64) template.HTML {
	width := 100 * min(max(share, 0), 1)
	if share > 0 {
		width = max(width, 0.5) // what is there is seen
	}
	return template.HTML(fmt.Sprintf(
		`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="%.2f" height="10"/></svg>`, width))
}

// drawn is the picture.
func drawn(p *Picture, section string, block int) template.HTML {
	return template.HTML(p.Drawing(fmt.Sprintf("%s-%d", section, block)))
}
