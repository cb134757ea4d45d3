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

// inFlags puts what a message says of the spec into the words of flags, for who typed flags.
var inFlags = strings.NewReplacer(
	"add sampling with fraction, population_size or weight", "add --fraction, --population-size or --weight",
	"give sampling (fraction, population_size or weight)", "give --fraction, --population-size or --weight",
	"give sampling (weight, fraction or population_size)", "give --weight, --fraction or --population-size",
	"say how the records were drawn (sampling)", "say how the records were drawn (--fraction, --population-size or --weight)",
	"add sampling: {weight: COLUMN}, or its fraction or the population_size", "add --weight COLUMN, or --fraction or --population-size",
	"or say source: {format: ...}", "or say --format parquet, arrow or csv",
	", or say sink: {format: ...}", "",
	"allow it (allow_empty: true in a spec, --allow-empty)", "allow it with --allow-empty",
	"band them with recode (width or cuts)", "band them, such as --band COLUMN=5",
	"missing: category or missing: drop", "category or drop, by --NAME-missing (such as --mc3-missing) or by --missing",
	"(missing: category)", "(--missing category)",
	"allow more (memory)", "allow more (--memory)",
	" to operators", " to --measures",
	"replace: true", "--replace",
	"max_size", "--max-size",
	"leave such records out by a range (select), or say weight: {column: ", "leave such records out by a range (--select), or say --zero-weight drop, with the weight ",
	", zero: drop}", "",
	"choose another prefix or name, or say --replace", "choose another prefix, or say --replace",
)

// flagError is an error of a run that flags describe.
type flagError struct{ error }

func (e flagError) Error() string { return inFlags.Replace(e.error.Error()) }
func (e flagError) Unwrap() error { return e.error }

// ofFlags words an error for who typed flags.
func ofFlags(err error) error {
	var limit *limitError
	if err == nil || errors.As(err, &limit) || isUsage(err) {
		return err
	}
	return flagError{err}
}

// unknownFlag says what was probably meant by a flag that there is not.
func unknownFlag(command *cli.Command, name string, known []string) error {
	if to := meant[name]; slices.Contains(known, to) {
		return usage("there is no flag --%s; did you mean --%s?", name, to)
	}
	if n := schemas.Nearest(name, known); n != "" {
		return usage("there is no flag --%s; did you mean --%s?", name, n)
	}
	of := ""
	if command != nil {
		of = command.Name + " "
	}
	return usage("there is no flag --%s; microrisk %s--help lists them", name, of)
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
	lists := append(ctx.StringSlice("key"), stray...)
	return usage("there is no file %s; key variables are separated by commas: --key %s", strings.Join(stray, ", "), strings.Join(lists, ","))
}

// specOrData refuses a data file where a spec is wanted.
func specOrData(command, name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".gz":
		return usage("%s takes a spec, and %s is data: microrisk assess %s --key AGE,SEX,... measures it, and makes a spec with --print-spec", command, name, name)
	}
	return nil
}
