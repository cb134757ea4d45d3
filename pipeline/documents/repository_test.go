package documents_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/documents"
)

// The files of the example repository are as the published JSON Schemas have them.
func TestExampleRepositoryFitsItsSchemas(t *testing.T) {
	folders := map[string]string{"keymap-variable": "variables/*", "keymap-form": "forms/*", "keymap-group": "groups/*", "keymap-scenario": "scenarios/*",
		"keymap-config": "microrisk-keymap.yaml"}
	for _, kind := range documents.Files {
		if kind.Name == "register" {
			continue // it is no part of a repository
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(kind.Schema()))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		require.NoError(t, c.AddResource("x.json", doc))
		schema, err := c.Compile("x.json")
		require.NoError(t, err)
		paths, err := filepath.Glob("../../examples/keymap/" + folders[kind.Name])
		require.NoError(t, err)
		require.NotEmpty(t, paths, kind.Name)
		validate := func(text []byte) error {
			text, err := yaml.YAMLToJSON(text)
			require.NoError(t, err)
			var value any
			require.NoError(t, json.Unmarshal(text, &value))
			return schema.Validate(value)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, validate(text), path)
			require.Error(t, validate(append(text, "\nunknown: 1\n"...)), path)
			require.Error(t, validate([]byte(strings.Replace(string(text), "@1", "@2", 1))), path)
		}
	}
}
