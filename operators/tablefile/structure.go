package tablefile

import (
	"bytes"
	"encoding/json"
	"fmt"

	"microrisk/engine/tabular"
)

// StructureKey is the key of a structure in the metadata of a Parquet file of a table.
const StructureKey = "microrisk_table"

// KindCells is the kind of a table with the true values of all its cells.
const KindCells = "cells"

// A Structure is what the metadata of a file of a table say of it. What can be published has a version alone.
type Structure struct {
	Version   int        `json:"version"`
	Kind      string     `json:"kind,omitempty"`
	Variables []Variable `json:"variables,omitempty"`
	Response  string     `json:"response,omitempty"`
	Decimals  int        `json:"decimals,omitempty"`
}

// A Variable of a structure, with the parents of its codes; there are none where codes are told apart by their paths.
type Variable struct {
	Name    string  `json:"name"`
	Total   string  `json:"total"`
	Parents Parents `json:"parents,omitempty"`
}

// Parents are codes with their parents, in an order; an object in JSON.
type Parents [][2]string

// MarshalJSON is a json.Marshaler's.
func (p Parents) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, pair := range p {
		if i > 0 {
			text = append(text, ',')
		}
		for k, s := range pair {
			quoted, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			if text = append(text, quoted...); k == 0 {
				text = append(text, ':')
			}
		}
	}
	return append(text, '}'), nil
}

// UnmarshalJSON is a json.Unmarshaler's.
func (p *Parents) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("parents are no object of codes")
	}
	for d.More() {
		code, err := d.Token()
		if err != nil {
			return err
		}
		pair := [2]string{code.(string)}
		if err := d.Decode(&pair[1]); err != nil {
			return err
		}
		*p = append(*p, pair)
	}
	return nil
}

// StructureOf is that of a table of some variables.
func StructureOf(kind string, trees []*tabular.Tree, total, response string, decimals int) *Structure {
	s := &Structure{Version: 1, Kind: kind, Response: response, Decimals: decimals}
	for _, t := range trees {
		v := Variable{Name: t.Name, Total: total}
		for code, at := range t.Places() {
			if code.Kind == tabular.Value && len(at) > 1 {
				t = tabular.NewTree(t.Name)
				break
			}
		}
		for _, n := range t.Nodes[1:] {
			if n.Code.Kind != tabular.Value {
				continue
			}
			parent := total
			if n.Parent > 0 {
				parent = t.Nodes[n.Parent].Code.Label
			}
			v.Parents = append(v.Parents, [2]string{n.Code.Label, parent})
		}
		s.Variables = append(s.Variables, v)
	}
	return s
}

// ReadStructure reads the structure in the metadata of a file; nil if there is none that says more than its version.
func ReadStructure(name, text string) (*Structure, error) {
	if text == "" {
		return nil, nil
	}
	s := &Structure{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("%s: its %s cannot be read: %w", name, StructureKey, err)
	}
	if s.Version != 1 {
		return nil, fmt.Errorf("%s: its %s is of version %d, and 1 is known", name, StructureKey, s.Version)
	}
	if s.Kind == "" {
		return nil, nil
	}
	for _, v := range s.Variables {
		if v.Name == "" || v.Total != s.Variables[0].Total {
			return nil, fmt.Errorf("%s: its %s has variables without a name, or several names of totals", name, StructureKey)
		}
	}
	if s.Decimals < 0 || s.Decimals > 9 {
		return nil, fmt.Errorf("%s: its %s has %d decimals; there are 0 to 9", name, StructureKey, s.Decimals)
	}
	return s, nil
}

// Tree is that of a variable of the structure; nil if the structure does not have it, or does not have its codes.
func (s *Structure) Tree(name, variable string) (*tabular.Tree, error) {
	if s == nil {
		return nil, nil
	}
	for _, v := range s.Variables {
		if v.Name != variable || len(v.Parents) == 0 {
			continue
		}
		r := &rows{header: []string{"code", "parent"}}
		for _, pair := range v.Parents {
			r.list = append(r.list, pair[:])
		}
		return treeOfParents(name+", its "+StructureKey, r, 0, 1, variable, v.Total)
	}
	return nil, nil
}
