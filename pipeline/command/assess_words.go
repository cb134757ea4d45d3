package command

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/pipeline/limits"
	"microrisk/schemas"
	"microrisk/schemas/pattern"
)

// keySpec makes the part of a spec that assess, inspect and explain have in common.
func keySpec(ctx *cli.Context) (*schemas.Spec, error) {
	files := ctx.Args().Slice()
	if len(files) == 0 {
		return nil, usage("name a file to read: microrisk %s FILE ...", ctx.Command.Name)
	}
	return keySpecOf(ctx, files)
}

// keySpecOf is keySpec for these files.
func keySpecOf(ctx *cli.Context, files []string) (*schemas.Spec, error) {
	if err := strayWords(ctx, files); err != nil {
		return nil, err
	}
	if err := idleDelimiter(ctx, files); err != nil {
		return nil, err
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: files, Delimiter: delimiterOf(ctx), Format: ctx.String("format")}}
	names, err := words("key", ctx.StringSlice("key"))
	if err != nil {
		return nil, err
	}
	codes, err := words("missing-codes", ctx.StringSlice("missing-codes"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if ctx.Command.Name == "inspect" || ctx.Command.Name == "assess" && needsNoKey(ctx) {
			return spec, prepareRows(ctx, spec)
		}
		_ = prepareRows(ctx, spec) // what can be said of the rows; the key is what is wrong first
		return spec, usage("name the key variables, the columns by which a record could be recognised: --key AGE,SEX,...")
	}
	spec.Key = &schemas.Key{Missing: ctx.String("missing"), MissingCodes: codes}
	for _, name := range names {
		spec.Key.Variables = append(spec.Key.Variables, schemas.KeyVariable{Name: name})
	}
	return spec, prepareRows(ctx, spec)
}

// prepareRows adds the operators of --band, --recode and --select.
func prepareRows(ctx *cli.Context, spec *schemas.Spec) error {
	spec.AllowEmpty = ctx.Bool("allow-empty")
	if slices.Contains(flagNames(ctx.Command.Flags), "band") { // others have recodes of their own, or none
		recodes, err := recodesOf(ctx, spec.Key)
		if err != nil {
			return err
		}
		if recodes != nil {
			spec.Operators = append(spec.Operators, schemas.Operator{Config: (*recode.Config)(&recodes)})
		}
	}
	var rows []selection.Condition
	for _, text := range ctx.StringSlice("select") {
		condition, err := conditionOf(text)
		if err != nil {
			return err
		}
		rows = append(rows, condition)
	}
	if rows == nil {
		if spec.AllowEmpty && len(spec.Operators) == 0 {
			return usage("--allow-empty lets --select, and recodes, name values that no row has; there are none: leave it out")
		}
		return nil
	}
	// Rows are chosen by the values of the file, before they are recoded.
	choose := schemas.Operator{Config: &selection.Config{Rows: rows}}
	spec.Operators = append([]schemas.Operator{choose}, spec.Operators...)
	return nil
}

// words splits lists at their commas; what stands in double quotes is one word.
func words(flag string, lists []string) ([]string, error) {
	var all []string
	for _, list := range lists {
		if list == "" && flag == "missing-codes" {
			all = append(all, "")
			continue
		}
		r := csv.NewReader(strings.NewReader(list))
		fields, err := r.Read()
		if err != nil || len(fields) == 0 {
			return nil, usage("--%s %q is no list of names separated by commas", flag, list)
		}
		for _, f := range fields {
			if f == "" && !emptyName().MatchString(list) && (flag == "key" || flag == "values") {
				return nil, usage("--%s %q has an empty name between its commas", flag, list)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// emptyName is the name of a column without a name in a list: "" between its commas.
var emptyName = pattern.New(`(^|,)""(,|$)`)

// conditionOf reads COLUMN=VALUE,VALUE or COLUMN=LEAST..LARGEST, either end of which may be left out.
func conditionOf(text string) (selection.Condition, error) {
	column, value, ok := strings.Cut(text, "=")
	c := selection.Condition{Column: column}
	if !ok || column == "" {
		return c, usage("--select %q is no condition; write part=train, STATE=CA,NV or AGE=16..64", text)
	}
	if least, largest, isRange := strings.Cut(value, ".."); isRange {
		if least != "" {
			c.Min = &least
		}
		if largest != "" {
			c.Max = &largest
		}
		if c.Min == nil && c.Max == nil {
			return c, usage("--select %q has a range without ends; write %s=16.., %s=..64 or %s=16..64", text, column, column, column)
		}
		return c, nil
	}
	values, err := words("select", []string{value})
	if value == "" {
		values, err = []string{""}, nil
	}
	c.Values = values
	return c, err
}

func samplingOf(ctx *cli.Context) (*schemas.Sampling, error) {
	var s schemas.Sampling
	given := 0
	if text := ctx.String("fraction"); ctx.IsSet("fraction") {
		given++
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return nil, usage("--fraction is %q; it must be a number above 0 and at most 1%s", text, schemas.Unpercent(text))
		}
		s.Fraction = v
	}
	if text := ctx.String("population-size"); ctx.IsSet("population-size") {
		given++
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 1 {
			return nil, usage("--population-size is %q; it must be a whole number, at least the number of records", text)
		}
		s.PopulationSize = v
	}
	if ctx.IsSet("weight") {
		given++
		s.Weight = ctx.String("weight")
		if s.Weight == "" {
			return nil, usage("--weight is empty; name the column of sampling weights")
		}
		if s.ZeroWeight = ctx.String("zero-weight"); s.ZeroWeight != "" && s.ZeroWeight != schemas.ZeroDrop {
			return nil, usage("--zero-weight is %q; it is drop, or left out", s.ZeroWeight)
		}
	}
	if ctx.IsSet("zero-weight") && s.Weight == "" {
		return nil, usage("--zero-weight is of --weight, which is not there")
	}
	switch given {
	case 0:
		return nil, nil
	case 1:
		return &s, nil
	}
	return nil, usage("give one of --fraction, --population-size and --weight")
}

func measuresOf(ctx *cli.Context, profile *limits.Profile) ([]string, error) {
	names, err := words("measures", ctx.StringSlice("measures"))
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		switch {
		case schemas.Planned(name) != "":
			return nil, usage("--measures: %s", schemas.Planned(name))
		case !slices.Contains(measureNames(), name):
			return nil, usage("--measures: there is no measure %q; there are %s", name, strings.Join(measureNames(), ", "))
		case slices.Contains(names[:i], name):
			return nil, usage("--measures names %s twice", name)
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	names = []string{"suda"}
	if profile != nil { // what its limits are for is measured
		names = append(names, profile.Measures(names)...)
	}
	return names, nil
}

func limitsOf(list []string) (map[string]schemas.Limit, error) {
	var limits map[string]schemas.Limit
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		value, of, _ := strings.Cut(value, ":")
		v, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || of != "" && of != schemas.LimitModelled {
			return nil, usage(
				"--limit %q is no limit; write a name and a number, such as sample_uniques=1000, or pu_su=0.1:modelled for the records alone that are not dropped",
				text,
			)
		}
		if limits == nil {
			limits = map[string]schemas.Limit{}
		}
		if _, twice := limits[name]; twice {
			return nil, usage("--limit %s is given twice", name)
		}
		limits[name] = schemas.Limit{Max: v, Of: of}
	}
	return limits, nil
}

// defaultOutput names the output after the only input.
func defaultOutput(inputs []string) (string, error) {
	if len(inputs) != 1 || strings.ContainsAny(inputs[0], "*?[") {
		return "", usage("several inputs need an output: --out FOLDER for one file an input, or --out FILE for one of all if their columns are identical")
	}
	if inputs[0] == "-" {
		return "-", nil
	}
	name := filepath.Base(inputs[0])
	ending := filepath.Ext(name)
	if strings.EqualFold(ending, ".gz") { // .csv.gz
		ending = filepath.Ext(strings.TrimSuffix(name, ending)) + ending
	}
	if ending == "" {
		return "", usage("%s is read as a folder; name where the output goes: --out", inputs[0])
	}
	return strings.TrimSuffix(name, ending) + ".risk" + ending, nil
}
