package advise

import (
	"encoding/json"

	"microrisk/pipeline/redesign"
)

// Warning is what every output says.
const Warning = "Nothing of this may be published: it has true figures, rules and parameters. Talk with those who use the table about what it has to " +
	"show, and not about the test."

// An Outcome is advice.
type Outcome struct {
	Version   int        `json:"version"`
	Warning   string     `json:"warning"`
	Source    string     `json:"source"`
	Type      string     `json:"type"` // frequency or magnitude
	Records   int64      `json:"records"`
	Cells     int        `json:"cells"` // that are not empty, totals among them
	Unsafe    int        `json:"unsafe"`
	Examples  []string   `json:"examples,omitempty"` // unsafe cells
	Variables []Variable `json:"variables"`
	Steps     []Step     `json:"steps"`
	Redesign  *Redesign  `json:"redesign,omitempty"` // the cheapest that leaves nothing unsafe
	Tried     []Trial    `json:"tried"`
	Hidden    int        `json:"hidden"`    // by the method that is advised
	Changed   int        `json:"changed"`   // by it
	Arguments []string   `json:"arguments"` // of table protect, besides those that say what the table is
	Command   []string   `json:"command,omitempty"`
	Merging   [][]string `json:"merging,omitempty"` // commands that make the table with the merges of the redesign, one after the other
}

// A Variable of the table.
type Variable struct {
	Name       string `json:"name"`
	Categories int    `json:"categories"`
	Levels     int    `json:"levels"` // of its hierarchy
}

// A Step is a question, with what is advised and what else there is.
type Step struct {
	Question string   `json:"question"`
	Chosen   string   `json:"chosen"`
	Because  string   `json:"because"`
	Options  []Option `json:"options,omitempty"`
}

// An Option is one of the answers.
type Option struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	Good    string `json:"good"`
	Bad     string `json:"bad"`
	Usual   string `json:"usual,omitempty"` // parameters that are usual
	Default bool   `json:"default,omitempty"`
	Chosen  bool   `json:"chosen,omitempty"`
}

// A Redesign is the cheapest that was found.
type Redesign struct {
	Recodes []redesign.Recode `json:"recodes"`
	Loss    redesign.Loss     `json:"loss"`

	texts map[string][]byte
}

// A Trial is a method that was tried on the table.
type Trial struct {
	Method string `json:"method"`
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"` // it did not
}

// Part is an operators.Parted's.
func (o *Outcome) Part(string) any { return o }

// Document is a Documented's.
func (o *Outcome) Document() ([]byte, error) {
	text, err := json.MarshalIndent(o, "", "  ")
	return append(text, '\n'), err
}
