package schemas

import _ "embed"

//go:embed evaluation.schema.json
var evaluationSchema []byte

// EvaluationSchema is the JSON Schema (draft 2020-12) of the document that an evaluation of scores writes, evaluation.json.
func EvaluationSchema() []byte { return evaluationSchema }
