package suda

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A host that imports this operator links what it needs, and no other operator, numerical library, YAML, Parquet or command line.
func TestLinksNoMoreThanItNeeds(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		for _, not := range []string{"gonum.org/", "yaml", "parquet-go", "/parquet", "urfave/cli", "microrisk/pipeline"} {
			require.NotContains(t, path, not)
		}
		if other, ok := strings.CutPrefix(path, "microrisk/operators/"); ok {
			require.Contains(t, []string{"suda", "report"}, other)
		}
	}
}
