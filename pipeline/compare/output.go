package compare

import (
	"encoding/json"

	"microrisk/operators"
)

// Parts of an outcome, as files have them.
const (
	partRows = "rows"
	partOver = "views"
	partJSON = "json"
	partPage = "page"
)

// files are what is written.
func (s *Spec) files() []operators.SideFile {
	var list []operators.SideFile
	for _, f := range []operators.SideFile{
		{Path: s.Out, What: "the table of runs", Kind: operators.MadeTable, Part: partRows},
		{Path: s.Over, What: "the views", Kind: operators.MadeTable, Part: partOver},
		{Path: s.JSON, What: "the document", Kind: operators.MadeDocument, Part: partJSON, Begins: "{\n"},
		{Path: s.Page, What: "the page", Kind: operators.MadeDocument, Part: partPage, Begins: "<!DOCTYPE html>\n"},
	} {
		if f.Path != "" {
			list = append(list, f)
		}
	}
	return list
}

// Warning is what every output of a comparison says.
const Warning = "Nothing of this may be published: it has true figures, rules and parameters."

// Part is an operators.Parted's.
func (o *Outcome) Part(name string) any {
	switch name {
	case partRows:
		return rows(o.Rows)
	case partOver:
		return views(o.Views())
	case partPage:
		return page{o}
	}
	return document{o}
}

// document is the outcome as JSON.
type document struct{ *Outcome }

// Document is a Documented's.
func (d document) Document() ([]byte, error) {
	text, err := json.MarshalIndent(struct {
		Version int    `json:"version"`
		Warning string `json:"warning"`
		*Outcome
		Views []*View `json:"views,omitempty"`
	}{1, Warning, d.Outcome, d.Views()}, "", "  ")
	return append(text, '\n'), err
}
