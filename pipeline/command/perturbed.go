package command

import (
	"microrisk/pipeline"
	"microrisk/schemas"
)

// perturbedOf reads tables with schemes of their own: FILE=SCHEME, and NAME=VALUE behind colons.
func perturbedOf(list []string) (tables []pipeline.PerturbedTable, err error) {
	for _, text := range list {
		path, p, err := schemas.SchemeBehind("FILE", text)
		if err != nil {
			return nil, usage("--perturbed %v", err)
		}
		tables = append(tables, pipeline.PerturbedTable{Path: path, Scheme: *p})
	}
	return tables, nil
}
