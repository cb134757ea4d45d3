package documents_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/documents"
	"microrisk/schemas"
)

// The published files are what the field tables and the operators' documents make: go generate ./pipeline/documents writes them.
func TestPublishedFilesAreMade(t *testing.T) {
	readme, err := os.ReadFile("../../schemas/README.md")
	require.NoError(t, err)
	files := map[string][]byte{
		"spec.schema.json":    schemas.SpecSchema(),
		"summary.schema.json": schemas.SummarySchema(),
		"README.md":           schemas.WithReference(readme, documents.Verbs, documents.Files),
	}
	for _, v := range slices.Concat(documents.Verbs, documents.Files) {
		files[v.File()] = v.Schema()
	}
	for name, made := range files {
		published, err := os.ReadFile("../../schemas/" + name)
		require.NoError(t, err)
		assert.Equal(t, string(published), string(made), "%s: go generate ./pipeline/documents", name)
	}
}
