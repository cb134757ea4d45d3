package documents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		schema := schemaOf(t, kind)
		paths, err := filepath.Glob("../../examples/keymap/" + folders[kind.Name])
		require.NoError(t, err)
		require.NotEmpty(t, paths, kind.Name)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, valid(t, schema, text), path)
			require.Error(t, valid(t, schema, append(text, "\nunknown: 1\n"...)), path)
			require.Error(t, valid(t, schema, []byte(strings.Replace(string(text), "@1", "@2", 1))), path)
		}
	}
}

func kindOf(t *testing.T, name string) *jsonschema.Schema {
	at := slices.IndexFunc(documents.Files, func(v schemas.Verb) bool { return v.Name == name })
	require.GreaterOrEqual(t, at, 0)
	return schemaOf(t, documents.Files[at])
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
		require.NoError(t, valid(t, schema, text), p.Name)
		for _, wrong := range []string{string(text) + "unknown: 1\n", strings.Replace(string(text), "name:", "title:", 1), strings.Replace(string(text), "version: 1", "version: 0", 1),
			strings.Replace(string(text), "{rule: min", "{rule: fewest", 1), strings.Replace(string(text), "method: ", "method: un", 1)} {
			require.NotEqual(t, string(text), wrong)
			require.Error(t, valid(t, schema, []byte(wrong)), wrong)
			_, err := profiles.Decode("x.yaml", []byte(wrong))
			require.Error(t, err, wrong)
		}
		second := strings.Replace(string(text), "version: 1", "version: 2", 1) // it is the policy's own
		require.NoError(t, valid(t, schema, []byte(second)))
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
	require.NoError(t, valid(t, schema, []byte(text)))
	require.Error(t, valid(t, schema, []byte(text+"\nunknown: 1\n")))
	require.Error(t, valid(t, schema, []byte(strings.Replace(text, "name:", "title:", 1))))
	path := t.TempDir() + "/register.yaml"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	r, err := tables.ReadRegister(path)
	require.NoError(t, err)
	require.Len(t, r.Releases, 3)
}
