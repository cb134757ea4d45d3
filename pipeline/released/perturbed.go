package released

import (
	"errors"
	"fmt"
	"strings"

	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A PerturbedTable is a file of a published table that was perturbed in a way of its own.
type PerturbedTable struct {
	Path   string
	Scheme schemas.Perturbation
}

// Kernel of the table, whose scheme has been judged by its field.
func (p *PerturbedTable) Kernel() (perturb.Kernel, error) {
	k, err := operators.Kernel(&p.Scheme)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("%s: %w", p.Path, err))
	}
	return k, nil
}

// PathsOf are the files of tables perturbed in ways of their own.
func PathsOf(list []PerturbedTable) (paths []string) {
	for _, p := range list {
		paths = append(paths, p.Path)
	}
	return paths
}

// PerturbedField is the field of tables perturbed in ways of their own.
func PerturbedField(to *[]PerturbedTable) schemas.Field {
	return schemas.Field{Name: "perturbed", To: schemas.Mappings(to, (*PerturbedTable).fields, checkPerturbed),
		Doc: "Published tables that were perturbed in ways of their own.",
		Flag: &schemas.Flag{Name: "perturbed", Many: true, Set: func(texts []string) error { return sayPerturbed(to, texts) },
			Usage: "published `TABLE` with a scheme of its own, FILE=SCHEME:base=3:tie=up (also probability, last, value); may be repeated"}}
}

func (p *PerturbedTable) fields() schemas.Table {
	t := p.Scheme.Fields().Without("secret")
	t.What, t.Doc, t.Required = "a perturbed table", "A file, and how its counts are perturbed.", []string{"path"}
	t.Fields = append([]schemas.Field{{Name: "path", To: &p.Path, File: true, Doc: "File of the table."}}, t.Fields...)
	return t
}

// checkPerturbed names the file of the scheme that is wrong.
func checkPerturbed(c *schemas.Checker, path string, p *PerturbedTable) {
	var wrong *schemas.SpecError
	if errors.As(p.Scheme.Check(), &wrong) {
		for _, x := range wrong.Problems {
			c.Add(path+"."+strings.TrimPrefix(x.Path, "."), "%s: %v", p.Path, x.Message)
		}
	}
}

// sayPerturbed reads FILE=SCHEME, and NAME=VALUE behind colons.
func sayPerturbed(to *[]PerturbedTable, texts []string) error {
	*to = nil
	for _, text := range texts {
		path, p, err := schemas.SchemeBehind("FILE", text)
		if err != nil {
			return err
		}
		*to = append(*to, PerturbedTable{Path: path, Scheme: *p})
	}
	return nil
}
