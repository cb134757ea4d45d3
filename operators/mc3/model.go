package mc3

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"microrisk/schemas"
)

// A Model is a fitted model of mc3 as it is saved to a file: all that is needed to measure other records of the same population. It
// holds the margins of its cliques, which are counts of the records that it was fitted to.
type Model struct {
	Version        int             `json:"microrisk_model"`
	Variables      []ModelVariable `json:"variables"`
	PriorPrecision float64         `json:"prior_precision"`
	Sigma          *float64        `json:"sigma,omitempty"` // of the effects of cells; nil where none were looked for
	Records        int64           `json:"records"`         // that it was fitted to
	Search         string          `json:"search"`
	Graphs         []ModelGraph    `json:"graphs"`
	Margins        []ModelMargin   `json:"margins"` // of all cliques and separators
}

// A ModelVariable is a key variable and the categories it has in the model.
type ModelVariable struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories"`
	Missing    bool     `json:"missing"` // a missing value is one more category
}

// A ModelGraph is a graph by its edges, pairs of positions of variables.
type ModelGraph struct {
	Edges         [][2]int `json:"edges"`
	LogLikelihood float64  `json:"log_marginal_likelihood"`
	Weight        float64  `json:"weight"`
}

// A ModelMargin has the occupied cells of a margin, ascending.
type ModelMargin struct {
	Variables []int      `json:"variables"` // positions, ascending
	Codes     [][]uint32 `json:"codes"`     // one list a variable: positions of categories, the missing one last
	Counts    []int64    `json:"counts"`
}

// DecodeModel reads a saved model. Whether its numbers agree with each other is for the engine to tell.
func DecodeModel(name string, text []byte) (*Model, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	m := &Model{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s is no model that mc3 saved: %s", name, jsonReason(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is no model that mc3 saved: there is more after its end", name)
	}
	if at := nullIn(text); at >= 0 {
		return nil, fmt.Errorf("%s is no model that mc3 saved: a value of a list is null at byte %d", name, at)
	}
	if m.Version != schemas.Version {
		return nil, fmt.Errorf("%s is no model that mc3 saved: microrisk_model is %d, it must be %d", name, m.Version, schemas.Version)
	}
	return m, nil
}

// nullIn is the place of a null in a list of a JSON text, which a decoder takes for a 0; -1 for none.
func nullIn(text []byte) int64 {
	if !bytes.Contains(text, []byte("null")) {
		return -1
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	within := []json.Delim{'{'} // what is open
	for {
		token, err := d.Token()
		if err != nil {
			return -1
		}
		delim, is := token.(json.Delim)
		switch {
		case is && (delim == '[' || delim == '{'):
			within = append(within, delim)
		case is:
			within = within[:len(within)-1]
		case token == nil && within[len(within)-1] == '[':
			return d.InputOffset() - int64(len("null"))
		}
	}
}

// jsonReason says what is wrong with a JSON text in words without the names of Go types.
func jsonReason(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s cannot be a %s", kind.Field, kind.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// Marshal is the model as it is written: one line a margin.
func (m *Model) Marshal() ([]byte, error) {
	var b bytes.Buffer
	head := *m
	head.Graphs, head.Margins = nil, nil
	text, err := json.Marshal(&head)
	if err != nil {
		return nil, fmt.Errorf("writing the model: %w", err)
	}
	text, _, _ = bytes.Cut(text, []byte(`,"graphs":`))
	b.Write(text)
	if err := writeLines(&b, "graphs", m.Graphs); err != nil {
		return nil, err
	}
	if err := writeLines(&b, "margins", m.Margins); err != nil {
		return nil, err
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

func writeLines[T any](b *bytes.Buffer, name string, list []T) error {
	fmt.Fprintf(b, ",\n%q: [", name)
	for i, x := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(x)
		if err != nil {
			return fmt.Errorf("writing the model: %w", err)
		}
		b.WriteString("\n")
		b.Write(text)
	}
	b.WriteString("]")
	return nil
}
