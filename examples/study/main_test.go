package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStudy(t *testing.T) {
	out := filepath.Join(t.TempDir(), "study")
	require.NoError(t, run(t.Context(), filepath.Join("..", "data", "eusilc_synth.parquet"), out, 1))
	for _, name := range []string{"evaluation.json", "logit-rank-0.1.svg", "calibration-match-0.1.svg", "calibration-unique-0.1.svg", "strategies/strategies.svg"} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}
