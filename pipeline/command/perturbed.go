package command

import (
	"microrisk/pipeline/released"
	"microrisk/schemas"
)

// perturbedOf reads tables with schemes of their own: FILE=SCHEME, and NAME=VALUE behind colons.
func perturbedOf(list []string) (tables []released.PerturbedTable, err error) {
	for _, text := range list {
		path, p, err := schemas.SchemeBehind("FILE", text)
		if err != nil {
			return nil, usage("--perturbed %v", err)
		}
		tables = append(tables, released.PerturbedTable{Path: path, Scheme: *p})
	}
	return tables, nil
}
