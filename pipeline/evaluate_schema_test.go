package pipeline

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The document of an evaluation is as the published schema says, which describes everything in it and nothing else.
func TestEvaluationFitsItsSchema(t *testing.T) {
	published, err := os.ReadFile("../schemas/evaluation.schema.json")
	require.NoError(t, err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("evaluation.json", schema))
	compiled, err := c.Compile("evaluation.json")
	require.NoError(t, err)
	for name, population := range map[string]string{
		"people":     populationText(drawPopulation(300)),
		"no uniques": "A,B,C,R,H\n" + strings.Repeat("a,b,c,r,1\n", 20),
	} {
		inFolder(t, map[string]string{"p.csv": population})
		s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{}}, schemas.Operator{Config: &individual.Config{}})
		s.Out, s.By = "out", []string{"R"}
		_, err := evaluate.Run(t.Context(), s, session.Options{})
		require.NoError(t, err, name)
		text, err := os.ReadFile("out/evaluation.json")
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(document), name)
		var strange map[string]any
		require.NoError(t, json.Unmarshal(text, &strange))
		strange["surprise"] = 1
		require.Error(t, compiled.Validate(strange))
	}
}
