package keymap

import (
	"cmp"
	"math/big"
	"slices"

	"microrisk/engine/keymap"
)

// Keys are the variables of answers that a key can be made of: shared, telling something apart, and not excluded by a review; best first.
func Keys(list []Answer) []Answer {
	var keys []Answer
	for _, a := range list {
		if (a.Status == OK || a.Status == Unreliable && a.Node != nil && a.Node.Size > 1) && a.ReviewRank > 0 {
			keys = append(keys, a)
		}
	}
	slices.SortStableFunc(keys, func(a, b Answer) int { return cmp.Compare(a.ReviewRank, b.ReviewRank) })
	return keys
}

// KeySpace is how many keys they can make together, and in bits; reviews cut sizes.
func KeySpace(keys []Answer) (space *big.Int, bits float64) {
	sizes := make([]int, len(keys))
	for i, a := range keys {
		s := keymap.Sizes{Levels: a.Levels()}
		if a.Review != nil && a.Review.EffectiveLevels != nil {
			s.Cap = *a.Review.EffectiveLevels
		}
		sizes[i], _ = s.Of(a.Node.Size)
	}
	return keymap.KeySpace(sizes)
}

// SharedKeysTable has a row for each set of variables that forms of the match set hold together, each of at least least categories when it is
// harmonized with the target: all variables that these forms share, and no more. Sizes are those of the joint harmonization with all of them.
func (a *Analysis) SharedKeysTable(leastForms, leastCategories int) (*Table, error) {
	held := make([][]int, len(a.Question.Match))
	for v, p := range a.Variables {
		if p.Status == Inconsistent || p.Status == Null {
			continue
		}
		for f, form := range a.Question.Match {
			if x, holds := p.Forms[form.Name]; holds && keymap.Join(p.Target, x).Size() >= leastCategories {
				held[f] = append(held[f], v)
			}
		}
	}
	keys, err := keymap.SharedKeys(held, len(a.Variables), leastForms)
	if err != nil {
		return nil, err
	}
	type row struct {
		variables, codes, forms []string
		space                   *big.Int
		bits                    float64
	}
	rows := make([]row, len(keys))
	for i, k := range keys {
		r := &rows[i]
		for _, f := range k.Forms {
			r.forms = append(r.forms, a.Question.Match[f].Name)
		}
		var sizes []int
		for _, v := range k.Variables {
			p := a.Variables[v]
			joint := p.Target
			for _, name := range r.forms {
				joint = keymap.Join(joint, p.Forms[name])
			}
			r.variables, r.codes = append(r.variables, p.Name), append(r.codes, p.Codes[joint])
			n, _ := keymap.Sizes{Levels: p.Levels()}.Of(joint.Size())
			sizes = append(sizes, n)
		}
		r.space, r.bits = keymap.KeySpace(sizes)
	}
	return &Table{Rows: len(rows), Columns: []Column{
		{Name: "forms", Whole: func(i int) (int64, bool) { return int64(len(rows[i].forms)), true }},
		{Name: "key_space", Text: func(i int) *string { return said(rows[i].space.String()) }, Read: func(i int) string { return CountText(rows[i].space) }},
		{Name: "bits", Number: func(i int) float64 { return rows[i].bits }},
		{Name: "variables", List: func(i int) []string { return rows[i].variables }},
		{Name: "codes", List: func(i int) []string { return rows[i].codes }},
		{Name: "held_by", Hidden: true, List: func(i int) []string { return rows[i].forms }},
	}}, nil
}
