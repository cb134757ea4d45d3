package documents_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/documents"
	"microrisk/pipeline/profiles"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// The files of the example repository are as the published JSON Schemas have them.
func TestExampleRepositoryFitsItsSchemas(t *testing.T) {
	folders := map[string]string{"keymap-variable": "variables/*", "keymap-form": "forms/*", "keymap-group": "groups/*", "keymap-scenario": "scenarios/*",
		"keymap-config": "microrisk-keymap.yaml"}
	for _, kind := range documents.Files {
		if folders[kind.Name] == "" {
			continue // it is no part of a repository
		}
		schema := compile(t, kind)
		paths, err := filepath.Glob("../../examples/keymap/" + folders[kind.Name])
		require.NoError(t, err)
		require.NotEmpty(t, paths, kind.Name)
		validate := func(text []byte) error { return validate(t, schema, text) }
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, validate(text), path)
			require.Error(t, validate(append(text, "\nunknown: 1\n"...)), path)
			require.Error(t, validate([]byte(strings.Replace(string(text), "@1", "@2", 1))), path)
		}
	}
}

// compile is the published JSON Schema of a kind of files.
func compile(t *testing.T, kind schemas.Verb) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(kind.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("x.json", doc))
	schema, err := c.Compile("x.json")
	require.NoError(t, err)
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	text, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return schema.Validate(value)
}

func kindOf(t *testing.T, name string) *jsonschema.Schema {
	at := slices.IndexFunc(documents.Files, func(v schemas.Verb) bool { return v.Name == name })
	require.GreaterOrEqual(t, at, 0)
	return compile(t, documents.Files[at])
}

// Policies that come with the program are as the published JSON Schema has them, and what the program refuses is not.
func TestPoliciesFitTheirSchema(t *testing.T) {
	schema := kindOf(t, "profile")
	list, err := profiles.All()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, p := range list {
		text, err := profiles.Text(p.Name)
		require.NoError(t, err)
		require.NoError(t, validate(t, schema, text), p.Name)
		for _, wrong := range []string{string(text) + "unknown: 1\n", strings.Replace(string(text), "name:", "title:", 1), strings.Replace(string(text), "version: 1", "version: 0", 1),
			strings.Replace(string(text), "{rule: min", "{rule: fewest", 1), strings.Replace(string(text), "method: ", "method: un", 1)} {
			require.NotEqual(t, string(text), wrong)
			require.Error(t, validate(t, schema, []byte(wrong)), wrong)
			_, err := profiles.Decode("x.yaml", []byte(wrong))
			require.Error(t, err, wrong)
		}
		second := strings.Replace(string(text), "version: 1", "version: 2", 1) // it is the policy's own
		require.NoError(t, validate(t, schema, []byte(second)))
		_, err = profiles.Decode("x.yaml", []byte(second))
		require.NoError(t, err)
	}
}

// The register of the reference is as its published JSON Schema has it.
func TestRegisterFitsItsSchema(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(readme), "    version: 1\n    parts: parts.csv")
	require.True(t, found)
	text, _, _ = strings.Cut("version: 1\nparts: parts.csv"+text, "\n\n")
	text = strings.ReplaceAll(text, "\n    ", "\n")
	schema := kindOf(t, "register")
	require.NoError(t, validate(t, schema, []byte(text)))
	require.Error(t, validate(t, schema, []byte(text+"\nunknown: 1\n")))
	require.Error(t, validate(t, schema, []byte(strings.Replace(text, "name:", "title:", 1))))
	path := t.TempDir() + "/register.yaml"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	r, err := tables.ReadRegister(path)
	require.NoError(t, err)
	require.Len(t, r.Releases, 3)
}
