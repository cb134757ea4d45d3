package released

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A MergedCategory is a published category that stands for several others of its variable.
type MergedCategory struct {
	Variable, Name string
	Members        []string
}

// CheckMerged refuses merged categories of variables that no table has, and those that merge themselves.
func (t *Tables) CheckMerged() error {
	for i, m := range t.Merged {
		if t.Find(m.Variable) < 0 {
			return session.Wrong(fmt.Errorf("merged categories are declared of %s, which no table has", m.Variable))
		}
		for _, other := range t.Merged {
			if other.Variable == m.Variable && slices.Contains(m.Members, other.Name) {
				return session.Wrong(
					fmt.Errorf("the merged category %s of %s has the merged category %s in it: name what that merges", m.Name, m.Variable, other.Name),
				)
			}
		}
		if slices.ContainsFunc(t.Merged[:i], func(o MergedCategory) bool { return o.Variable == m.Variable && o.Name == m.Name }) {
			return session.Wrong(fmt.Errorf("the merged category %s of %s is declared twice", m.Name, m.Variable))
		}
	}
	return nil
}

// MergedField is the field of merged categories.
func MergedField(to *[]MergedCategory) schemas.Field {
	return schemas.Field{Name: "merged", To: schemas.Mappings(to, (*MergedCategory).fields, nil), Doc: "Published categories that stand for several others.",
		Flag: &schemas.Flag{Name: "merged", Many: true, Set: func(texts []string) error { return sayMerged(to, texts) },
			Usage: "a published category that merges others, `VAR:NAME=a|b|c`; may be repeated"}}
}

func (m *MergedCategory) fields() schemas.Table {
	return schemas.Table{What: "a merged category", Required: []string{"variable", "name", "members"}, Fields: []schemas.Field{
		{Name: "variable", To: &m.Variable, Doc: "Variable that has it."},
		{Name: "name", To: &m.Name, Doc: "What the tables call it."},
		{Name: "members", To: &m.Members, Repeat: true, Doc: "The categories that it stands for.", Schema: `"minItems": 1`},
	}}
}

// sayMerged reads VARIABLE:NAME=a|b|c.
func sayMerged(to *[]MergedCategory, texts []string) error {
	*to = nil
	for _, text := range texts {
		place, members, ok := strings.Cut(text, "=")
		variable, name, named := strings.Cut(place, ":")
		if !ok || !named || variable == "" || name == "" || members == "" {
			return fmt.Errorf("is %q; it is VARIABLE:NAME=a|b|c", text)
		}
		*to = append(*to, MergedCategory{Variable: variable, Name: name, Members: strings.Split(members, "|")})
	}
	return nil
}
