package command

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/schemas"
)

// meant are flags that people try, and those that they mean.
var meant = map[string]string{
	"output": "out", "outfile": "out", "output-file": "out", "to": "out", "population": "population-size", "pop": "population-size", "n": "population-size",
	"keys": "key", "vars": "key", "variables": "key", "quasi-identifiers": "key", "qi": "key", "filter": "select", "where": "select", "rows": "select",
	"weight-column": "weight", "sampling-weight": "weight", "sampling-fraction": "fraction", "pi": "fraction", "na": "missing-codes", "na-values": "missing-codes",
	"operators": "measures", "threads": "workers", "jobs": "workers", "sep": "delimiter", "verbose": "log-format", "dry-run": "print-spec", "k": "anonymity", "l": "diversity",
}

// unknownFlag says what was probably meant by a flag that there is not.
func unknownFlag(app *cli.App, command *cli.Command, name string, known []string) error {
	if to := meant[name]; slices.Contains(known, to) {
		return usage("there is no flag --%s; did you mean --%s?", name, to)
	}
	if n := schemas.Nearest(name, known); n != "" {
		return usage("there is no flag --%s; did you mean --%s?", name, n)
	}
	return usage("there is no flag --%s; microrisk %s--help lists them", name, pathOf(app.Commands, command))
}

// pathOf is a command's name after those of its families, each with a space; "" for none.
func pathOf(list []*cli.Command, command *cli.Command) string {
	for _, c := range list {
		if c == command {
			return c.Name + " "
		}
		if below := pathOf(c.Subcommands, command); below != "" {
			return c.Name + " " + below
		}
	}
	return ""
}

// strayWords finds arguments that are no files and look like key variables: --key A B C.
func strayWords(ctx *cli.Context, files []string) error {
	var stray []string
	for _, f := range files {
		_, err := os.Stat(f)
		if f != "-" && errors.Is(err, os.ErrNotExist) && filepath.Ext(f) == "" && !strings.ContainsAny(f, `*?[/\`) {
			stray = append(stray, f)
		}
	}
	if len(stray) == 0 || len(stray) == len(files) || !ctx.IsSet("key") {
		return nil
	}
	for _, flag := range []string{"limit", "select", "band"} { // such as --limit NAME VALUE
		for _, said := range ctx.StringSlice(flag) {
			if !strings.Contains(said, "=") {
				return usage("--%s %s: write %s=VALUE, without a space", flag, said, said)
			}
		}
	}
	lists := append(ctx.StringSlice("key"), stray...)
	return usage("there is no file %s; key variables are separated by commas: --key %s", strings.Join(stray, ", "), strings.Join(lists, ","))
}

// specOrData refuses a data file where a spec is wanted.
func specOrData(command, name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".gz":
		return usage(
			"%s takes a spec, and %s is data: microrisk assess %s --key AGE,SEX,... measures it, and makes a spec with --print-spec",
			command,
			name,
			name,
		)
	}
	return nil
}
