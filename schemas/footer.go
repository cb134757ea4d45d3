package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// footerEntries is how much of a list goes into a file's metadata.
const footerEntries = 20

// Footer is the document as it is put into an output's metadata: on one line, without Run, each list cut to its first 20 entries.
func (s *Summary) Footer() ([]byte, error) {
	bare := *s
	bare.Run = nil
	bare.Operators = maps.Clone(s.Operators)
	for name, o := range bare.Operators {
		if m, ok := o.(Measured); ok {
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
