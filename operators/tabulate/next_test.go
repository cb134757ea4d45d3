package tabulate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// The command that leads on makes the table again: where flags cannot say what comes before it, there is none.
func TestNext(t *testing.T) {
	half := 0.5
	least := "16"
	table := &tabulate.Config{
		Cells: []schemas.KeyVariable{{Name: "A,B", MissingCodes: []string{"", "x"}}, {Name: "C"}}, Missing: "drop", Margins: true, Path: "t.csv",
		Perturb: &schemas.Perturbation{Scheme: "random", Base: 3, Probability: &half},
	}
	chosen := schemas.Operator{Config: &selection.Config{Rows: []selection.Condition{{Column: "D", Values: []string{"a,b", "c"}}, {Column: "E", Min: &least}}}}
	recoded := schemas.Operator{Config: &recode.Config{{Name: "C", Width: 5, Replace: true}}}
	for want, spec := range map[string]*schemas.Spec{
		`microrisk assess f.csv --measures sap --by "A,B" --cells C --missing-codes  --missing-codes x --missing drop` +
			` --select D="a,b",c --select E=16.. --total same --scheme random --base 3 --probability 0.5 --published t.csv`: {
			Source: schemas.Source{Path: []string{"f.csv"}}, Operators: []schemas.Operator{chosen, {Config: table}}},
		"":  {Source: schemas.Source{Path: []string{"f.csv"}}, Operators: []schemas.Operator{chosen, recoded, {Config: table}}},
		" ": {Source: schemas.Source{Path: []string{"-"}}, Operators: []schemas.Operator{{Config: table}}},
	} {
		_, command := table.Next(spec)
		assert.Equal(t, strings.TrimSpace(want), strings.Join(command, " "))
	}
}
