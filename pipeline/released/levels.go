package released

import (
	"fmt"
	"strings"

	"microrisk/schemas"
)

// LevelsField is the field of declared categories; usage is that of its flag.
func LevelsField(to *[]schemas.KeyVariable, usage string) schemas.Field {
	return schemas.Field{Name: "levels", To: schemas.Mappings(to, levelsOf, nil), Doc: "All categories of variables, each with its name and its levels.",
		Flag: &schemas.Flag{Name: "levels", Many: true, Usage: usage, Set: func(texts []string) error { return sayLevels(to, texts) }}}
}

func levelsOf(v *schemas.KeyVariable) schemas.Table {
	return schemas.Table{What: "a variable with levels", Required: []string{"name", "levels"}, Fields: []schemas.Field{
		{Name: "name", To: &v.Name, Doc: "Name of the variable.", Schema: `"type": ["string", "number", "boolean"]`},
		{Name: "levels", To: &v.Levels, Repeat: true, Doc: "All its categories."},
	}}
}

// sayLevels reads declared categories, VARIABLE=a|b|c.
func sayLevels(to *[]schemas.KeyVariable, texts []string) error {
	*to = nil
	for _, text := range texts {
		name, categories, ok := strings.Cut(text, "=")
		if !ok || name == "" || categories == "" {
			return fmt.Errorf("is %q; it is VARIABLE=a|b|c", text)
		}
		*to = append(*to, schemas.KeyVariable{Name: name, Levels: strings.Split(categories, "|")})
	}
	return nil
}
