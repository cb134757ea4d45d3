package repository

import (
	"fmt"

	"microrisk/engine/keymap"
)

// addCodes puts the codes that categorizations get into the files of their variables, so that they never change.
func (c *Change) addCodes(become *Repository) error {
	changed := false
	for _, v := range become.Variables {
		given, err := become.GivenCodes(v)
		if err != nil || become.graphs[v.Name] == nil {
			continue // it is a finding
		}
		observed, first := become.observed(v)
		codes := become.graphs[v.Name].Codes(given, observed, nil)
		fresh := false
		for _, p := range observed {
			if _, has := given[codes[p]]; !has && p != keymap.Any {
				if v.Codes == nil {
					v.Codes = make(map[string][]string)
				}
				v.Codes[codes[p]] = first[p]
				fresh = true
			}
		}
		if !fresh {
			continue
		}
		changed = true
		f := become.files[object{Variables, v.Name}]
		text := c.texts[f.path]
		if text == nil {
			text = f.text
		}
		if c.texts[f.path], err = amended(f.path, text, v); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	_, err := c.judged(c.texts)
	return err
}

// observed are the categorizations of a variable in the order of their first form by name, and the categories that it has there.
func (r *Repository) observed(v *Variable) ([]keymap.Partition, map[keymap.Partition][]string) {
	var list []keymap.Partition
	first := make(map[keymap.Partition][]string)
	for _, f := range r.Forms {
		x, holds := f.Instance(v.Name)
		if !holds {
			continue
		}
		p, err := r.graphs[v.Name].Partition(x.Categories)
		if _, seen := first[p]; err != nil || seen {
			continue
		}
		first[p] = x.Categories
		list = append(list, p)
	}
	return list, first
}

// GivenCodes are those in the file of a variable.
func (r *Repository) GivenCodes(v *Variable) (map[string]keymap.Partition, error) {
	given := make(map[string]keymap.Partition, len(v.Codes))
	if r.graphs[v.Name] == nil {
		return given, nil
	}
	for code, categories := range v.Codes {
		p, err := r.graphs[v.Name].Partition(categories)
		if err != nil {
			return nil, fmt.Errorf("variable %q: code %s: %w", v.Name, code, err)
		}
		given[code] = p
	}
	return given, nil
}
