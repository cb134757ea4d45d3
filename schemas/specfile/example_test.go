package specfile_test

import (
	"fmt"

	"microrisk/schemas/specfile"
)

// All that is wrong is told at once, each with its place.
func ExampleDecode() {
	_, err := specfile.Decode("census.yaml", []byte(`
version: 1
source: {path: census.parquet}
sampling: {fraction: 2}
key: {variables: [AGE, AGE], missing: dropp}
sinc: {path: risk.parquet}
`))
	fmt.Println(err)
	// Output:
	// census.yaml:1:1: there are no operators; say what to do, for example: operators: [suda]
	// census.yaml:4:12: the sampling fraction is 2; it must be above 0 and at most 1
	// census.yaml:5:24: key variable AGE is named twice; each counts once
	// census.yaml:5:30: missing policy "dropp" is unknown; did you mean drop? (it is one of category, wildcard, ignore, drop)
	// census.yaml:6:1: the spec has no field "sinc"; did you mean sink?
}
