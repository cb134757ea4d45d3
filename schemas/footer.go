package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// footerEntries is how much of a list goes into a file's metadata.
const footerEntries = 20

// What of the summary goes into the metadata of an output.
const (
	FooterRelease = "release" // what is true of the rows and columns of the output alone
	FooterFull    = "full"    // all of it: for files that stay inside
	FooterNone    = "none"
)

// A View is what an output has of what was measured.
type View struct {
	Rows     int64           // of the output
	Several  bool            // there are several outputs, which may be released apart: none tells of the others
	Whole    bool            // all rows of the input are in it
	Shown    map[string]bool // by operator: all key variables that it counts can be read in the output
	Sampling *Sampling       // as the spec states it
	Spec     *Spec           // as it was run
}

// Released is the document for those who get the output: it has no category, count or record of what is not in it, no path and no host.
func (s *Summary) Released(r View) (*Summary, error) {
	out := &Summary{SchemaVersion: s.SchemaVersion, Input: []string{}, Rows: r.Rows, Operators: map[string]any{}, Seed: s.Seed, Warnings: []string{}}
	if r.Several {
		out.Rows, r.Whole = unsaid, false
	} else {
		for _, name := range s.Input {
			out.Input = append(out.Input, filepath.Base(name))
		}
	}
	if r.Sampling != nil && r.Sampling.Fraction > 0 {
		out.Sampling.Fraction = &r.Sampling.Fraction
	}
	if !r.Whole {
		return out, nil
	}
	out.Sampling = s.Sampling
	all := true
	for name, o := range s.Operators {
		if all = all && r.Shown[name]; !r.Shown[name] {
			continue
		}
		if p, ok := o.(PrivateDocument); ok {
			if o = p.Public(); o == nil {
				continue
			}
		}
		out.Operators[name] = o
	}
	if !all {
		return out, nil
	}
	out.Key, out.Limits = s.Key, s.Limits
	var err error
	out.Spec, err = r.Spec.released().JSON()
	return out, err
}

// A PrivateDocument is a part of the summary with what those who get the output do not get: Public is the rest, nil for
// nothing.
type PrivateDocument interface{ Public() any }

// unsaid stands for a number of rows that the metadata do not tell.
const unsaid = -1

// released is a spec without paths, and without what makes other files.
func (s *Spec) released() *Spec {
	bare := &Spec{Sampling: s.Sampling, Key: s.Key, AllowEmpty: s.AllowEmpty}
	for _, o := range s.Operators {
		if p, ok := o.Config.(Private); ok {
			if o.Config = p.Public(); o.Config == nil {
				continue
			}
		}
		bare.Operators = append(bare.Operators, o.WithoutDomainFile())
	}
	return bare
}

// Footer is the document as it is put into an output's metadata: on one line, without Program and Run, each list cut to its first 20 entries but for those
// of the spec.
func (s *Summary) Footer() ([]byte, error) {
	bare := *s
	bare.Run, bare.Program, bare.Spec = nil, "", nil
	bare.Operators = maps.Clone(s.Operators)
	for name, o := range bare.Operators {
		if m, ok := o.(Lengthy); ok {
			bare.Operators[name] = m.Short(footerEntries) // what can be very long is cut before it becomes text
		}
	}
	whole, err := json.Marshal(&bare)
	if err != nil {
		return nil, fmt.Errorf("writing the summary for the output's metadata: %w", err)
	}
	var b bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(whole))
	d.UseNumber()
	if err := cutLists(&b, d, true); err != nil {
		return nil, fmt.Errorf("writing the summary for the output's metadata: %w", err)
	}
	if s.Rows == unsaid {
		text := bytes.Replace(b.Bytes(), []byte(`"rows":-1,`), nil, 1)
		b = *bytes.NewBuffer(slices.Clone(text))
	}
	if s.Spec != nil { // whole: it can be run again
		b.Truncate(b.Len() - 1)
		b.WriteString(`,"spec":`)
		b.Write(s.Spec)
		b.WriteByte('}')
	}
	return b.Bytes(), nil
}

// cutLists copies one JSON value, with the first entries of its lists; nothing is written if it is not kept.
func cutLists(b *bytes.Buffer, d *json.Decoder, keep bool) error {
	put := func(s string) {
		if keep {
			b.WriteString(s)
		}
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		text, err := json.Marshal(token)
		put(string(text))
		return err
	}
	put(open.String())
	for i := 0; d.More(); i++ {
		within := keep && (open == '{' || i < footerEntries)
		if i > 0 && within {
			put(",")
		}
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			text, err := json.Marshal(name)
			if err != nil {
				return err
			}
			put(string(text) + ":")
		}
		if err := cutLists(b, d, within); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err == nil {
		put(end.(json.Delim).String())
	}
	return err
}
