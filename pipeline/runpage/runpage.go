// Package runpage makes the page of a run: may the file be released, by which figures, and what would have to change.
//
//	p := runpage.Of(outcome, page.Office, false)
//	text, err := p.Render("report.html")
package runpage

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// A maker makes the page of an outcome.
type maker struct {
	*pipeline.Outcome
	masks
	confidential bool // values of records are shown
}

// Of is the page of a run. confidential lets it show values of records, which no page for publication does.
func Of(o *pipeline.Outcome, reader string, confidential bool) *page.Page {
	if p := tabled(o, reader); p != nil {
		return p
	}
	m := &maker{Outcome: o, masks: newMasks(o.Summary, reader == page.Publication), confidential: confidential && reader != page.Publication}
	p := &page.Page{
		Title:  "Disclosure risk of " + m.name(),
		About:  m.about(),
		For:    reader,
		Marks:  m.marks(),
		Footer: "Made by " + o.Summary.Program + ". The same input, spec and seed give the same page.",
	}
	p.Verdict = m.verdict()
	p.Add("The figures", m.figures()...)
	p.Add("What to mind", m.warnings()...)
	p.Add("Distribution of risk", m.distribution()...)
	p.Add("Riskiest variables and categories", m.riskiest()...)
	p.Add("Sizes of minimal sample uniques", m.sizes()...)
	p.Add("Riskiest domains", m.domains()...)
	p.Add("What to change", m.changes()...)
	p.Add("Riskiest records", m.records()...)
	p.Add("All figures", m.all()...)
	p.Add("Settings, version and spec", m.settings()...)
	p.Add("Glossary", m.glossary())
	return p
}

// name is what the input is called.
func (m *maker) name() string {
	switch {
	case len(m.Inputs) == 1 && m.Inputs[0] == "-":
		return "standard input"
	case len(m.Inputs) == 1:
		return report.Printable(filepath.Base(m.Inputs[0]))
	}
	return report.Plural(int64(len(m.Inputs)), "file", "files")
}

func (m *maker) about() string {
	text := "Whether this file of microdata may be released, by which figures, and what would have to change."
	if m.public {
		text = "What is known of the risk that somebody in this file of microdata is recognised."
	}
	if k := m.key(); k != nil {
		text += " The question is put for who knows " + listed(names(k)) + " of people."
	}
	return text
}

// key is the key of the run, or of the first operator that has one of its own.
func (m *maker) key() *schemas.KeySummary {
	if m.Summary.Key != nil {
		return m.Summary.Key
	}
	for _, o := range m.measured() {
		if k := o.key(); k != nil {
			return k
		}
	}
	return nil
}

func names(k *schemas.KeySummary) []string {
	var list []string
	for _, v := range k.Variables {
		list = append(list, report.Printable(v.Name))
	}
	return list
}

// listed is a list in a sentence.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// marks are what must be known first.
func (m *maker) marks() []string {
	switch {
	case m.confidential:
		return []string{"Confidential: this page has values of single records. It must not leave the office."}
	case m.public:
		return []string{fmt.Sprintf("For publication with the file: no values of records, no counts below %d.", fewest)}
	}
	return []string{"For the office: this page has small counts and categories, and no values of single records. Do not publish it."}
}

// A measuredPart is what an operator found.
type measuredPart struct {
	name, prefix string
	kind         *schemas.Kind
	part         schemas.Judged
	config       schemas.Config
}

// key is one of its own; nil where it is the document's, or where it counts none.
func (p *measuredPart) key() *schemas.KeySummary {
	if m, ok := p.part.(schemas.Measured); ok {
		return m.Key()
	}
	return nil
}

// measured are the parts of the operators that measure, in the order of the spec.
func (m *maker) measured() []measuredPart {
	var list []measuredPart
	for _, o := range m.Spec.Operators {
		n, ok := o.Config.(schemas.Named)
		if !ok {
			continue
		}
		if part, ok := m.Summary.Operators[n.ColumnPrefix()].(schemas.Judged); ok {
			list = append(list, measuredPart{o.Name(), n.ColumnPrefix(), schemas.KindNamed(o.Name()), part, o.Config})
		}
	}
	return list
}

// scored is the first suda's part; nil for none.
func (m *maker) scored() *suda.Summary {
	for _, o := range m.measured() {
		if s, ok := o.part.(*suda.Summary); ok {
			return s
		}
	}
	return nil
}

// warnings are those of the run.
func (m *maker) warnings() []page.Block {
	if len(m.Summary.Warnings) == 0 || m.public {
		return nil
	}
	return []page.Block{{List: m.Summary.Warnings}}
}

// glossary has the words of the page.
func (m *maker) glossary() page.Block {
	wanted := []string{"CM|SU, CM|UM", "DIS", "key", "key variable", "limit", "minimal sample unique (MSU)", "population unique", "re-identification", "record",
		"risk", "fraction", "sample unique", "score", "special unique", "unique match", "correct match", "doubles", "intruder", "model", "missing", "class"}
	var terms [][2]string
	for _, w := range schemas.Glossary() {
		if slices.Contains(wanted, w[0]) {
			terms = append(terms, w)
		}
	}
	return page.Block{Terms: terms}
}
