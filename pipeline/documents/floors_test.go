package documents_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Imports point down: schemas knows no other floor, engine only schemas, operators these two, and pipeline all three. The tests of
// specs stand on the operators that a spec names.
func TestImportsPointDown(t *testing.T) {
	floors := []string{"schemas", "engine", "operators", "pipeline"}
	check := func(format string, testsOf string) {
		for _, line := range goList(t, format) {
			words := strings.Fields(line)
			highest := slices.Index(floors, floor(words[0]))
			if words[0] == testsOf {
				highest = slices.Index(floors, "operators")
			}
			for _, imported := range words[1:] {
				if highest >= 0 && strings.HasPrefix(imported, "microrisk/") {
					assert.Contains(t, floors[:highest+1], floor(imported), "%s imports %s", words[0], imported)
				}
			}
		}
	}
	check(`{{.ImportPath}} {{join .Imports " "}}`, "")
	check(`{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "microrisk/schemas/specfile")
}

// The engine computes on plain values, operators and schemas are free of files and flags, and nobody uses Arrow's own Parquet.
func TestForeignImports(t *testing.T) {
	no := func(pkg, imported string) bool {
		is := func(paths ...string) bool {
			for _, path := range paths {
				if imported == path || strings.HasPrefix(imported, path+"/") {
					return true
				}
			}
			return false
		}
		const arrow = "github.com/apache/arrow"
		switch {
		case strings.HasPrefix(imported, arrow) && slices.Contains(strings.Split(imported, "/"), "parquet"):
			return true
		case floor(pkg) == "engine":
			return is(arrow, "github.com/parquet-go/parquet-go", "github.com/urfave", "flag", "github.com/goccy/go-yaml", "go.yaml.in/yaml")
		case pkg == "microrisk/operators" || pkg == "microrisk/schemas":
			return is("github.com/parquet-go/parquet-go", "github.com/urfave", "flag", "gonum.org", "github.com/goccy/go-yaml", "go.yaml.in/yaml")
		}
		return false
	}
	for _, line := range goList(t, `{{.ImportPath}} {{join .Imports " "}}`) {
		words := strings.Fields(line)
		for _, imported := range words[1:] {
			assert.False(t, no(words[0], imported), "%s imports %s", words[0], imported)
		}
	}
}

func goList(t *testing.T, format string) []string {
	c := exec.Command("go", "list", "-f", format, "./...")
	c.Dir = "../.."
	out, err := c.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// floor of a package of this module, empty for others.
func floor(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, "microrisk/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
