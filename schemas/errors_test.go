package schemas_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

func TestInputError(t *testing.T) {
	group := schemas.Location{File: "a.parquet", Unit: "row group", Number: 3}
	name, empty := "age", ""
	for want, err := range map[string]error{
		"a.parquet, row group 3: EOF":                &schemas.InputError{Location: group, Err: io.EOF},
		`a.parquet, row group 3, column "age": EOF`:  schemas.InColumn(group, name, io.EOF),
		`a.csv, column "": EOF`:                      schemas.InColumn(schemas.Location{File: "a.csv"}, empty, io.EOF),
		"cannot read a.csv: EOF":                     &schemas.InputError{Doing: "cannot read", Location: schemas.Location{File: "a.csv"}, Err: io.EOF},
		`a.csv: line 7, column "age": EOF`:           &schemas.InputError{Location: schemas.Location{File: "a.csv"}, Err: schemas.InColumn(schemas.Location{Unit: "line", Number: 7}, name, io.EOF)},
		`a.arrow, record batch 0: column "age": EOF`: &schemas.InputError{Location: schemas.Location{File: "a.arrow", Unit: "record batch"}, Err: schemas.InColumn(schemas.Location{}, name, io.EOF)},
		`a.parquet, row group 3: row 5: the weight "w" is 0: EOF`: &schemas.InputError{Location: group, Err: &schemas.InputError{
			Location: schemas.Location{Unit: "row", Number: 5}, Err: schemas.OfColumn("w", fmt.Errorf("the weight %q is 0: %w", "w", io.EOF))}},
		`a.parquet, row group 3: row 5: EOF`: &schemas.InputError{Location: group, Err: &schemas.InputError{Location: schemas.Location{Unit: "row", Number: 5}, Err: io.EOF}},
	} {
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, io.EOF)
	}
	err := &schemas.InputError{Location: group, Err: advice.Errorf("say %s", advice.Advice{Spec: "replace: true", Flags: "--replace"})}
	require.Equal(t, "a.parquet, row group 3: say --replace", advice.Say(err, advice.OfFlags))
}

func TestContradiction(t *testing.T) {
	err := schemas.Contradiction("levels", "sex", "the value %q is not among the levels: %w", "x", io.EOF)
	require.EqualError(t, err, `the value "x" is not among the levels: EOF`)
	require.ErrorIs(t, err, io.EOF)
	var c *schemas.ContradictionError
	require.True(t, errors.As(err, &c))
	require.Equal(t, "sex", c.Column)
}
