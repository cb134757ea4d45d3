package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/schemas"
)

// fieldFlags are the flags of field tables. A flag that several tables have is there once.
func fieldFlags(tables ...schemas.Table) []cli.Flag {
	var flags []cli.Flag
	seen := map[string]bool{}
	for _, t := range tables {
		for _, f := range t.Flags() {
			if seen[f.Flag.Name] {
				continue
			}
			seen[f.Flag.Name] = true
			var short []string
			if f.Flag.Short != "" {
				short = []string{f.Flag.Short}
			}
			switch {
			case f.Switch():
				flags = append(flags, &cli.BoolFlag{Name: f.Flag.Name, Aliases: short, Usage: f.Flag.Usage})
			case f.List():
				flags = append(flags, &cli.StringSliceFlag{Name: f.Flag.Name, Aliases: short, Usage: f.Flag.Usage})
			default:
				flags = append(flags, &cli.StringFlag{Name: f.Flag.Name, Aliases: short, Usage: f.Flag.Usage})
			}
		}
	}
	return flags
}

// sayFields puts what flags say into the fields of a table. Flags that the command does not have say nothing.
func sayFields(ctx *cli.Context, t schemas.Table) error {
	has := flagNames(ctx.Command.Flags)
	for _, f := range t.Flags() {
		if !slices.Contains(has, f.Flag.Name) || f.Flag.When != nil && !f.Flag.When() {
			continue
		}
		texts, err := textsOf(ctx, f)
		if err != nil {
			return err
		}
		if len(texts) == 0 && ctx.String("spec") == "" {
			texts = f.Flag.Usual
		}
		switch {
		case len(texts) == 0 && f.Flag.Needed != "" && !f.Said():
			return usage("%s", f.Flag.Needed)
		case len(texts) == 0:
			continue
		}
		var own *ownError
		switch err := f.Say(texts); {
		case errors.As(err, &own):
			return own.error
		case err != nil:
			return usage("--%s %v", f.Flag.Name, err)
		}
	}
	return nil
}

// An ownError is what is wrong with a flag that this package reads: it names the flag, or the file that the flag names.
type ownError struct{ error }

// ownFlag lets set read the texts of a field's flag.
func ownFlag(t schemas.Table, field string, set func(texts []string) error) {
	t.Field(field).Flag.Set = func(texts []string) error {
		if err := set(texts); err != nil {
			return &ownError{err}
		}
		return nil
	}
}

// textsOf are the texts of a field's flag, none if it is not given or empty.
func textsOf(ctx *cli.Context, f schemas.Field) ([]string, error) {
	name := f.Flag.Name
	switch {
	case f.Switch():
		if !ctx.Bool(name) {
			return nil, nil
		}
		return []string{"true"}, nil
	case f.Flag.Many:
		return ctx.StringSlice(name), nil
	case f.List():
		return words(name, ctx.StringSlice(name))
	case ctx.String(name) == "" && !(ctx.IsSet(name) && f.Flag.Usual != nil):
		return nil, nil
	}
	return []string{ctx.String(name)}, nil
}

// measureKinds are the operators that assess knows: those that make columns of risk.
func measureKinds() []*schemas.Kind {
	return slices.DeleteFunc(schemas.Kinds(), func(k *schemas.Kind) bool {
		_, writes := k.New().(schemas.Writer)
		return !writes
	})
}

func measureNames() []string {
	var names []string
	for _, k := range measureKinds() {
		names = append(names, k.Name)
	}
	return names
}

// measureFlags are those of the measures, one after the other.
func measureFlags() []cli.Flag {
	var tables []schemas.Table
	for _, k := range measureKinds() {
		tables = append(tables, k.New().Fields())
	}
	return fieldFlags(tables...)
}

// measureUsage tells the measures in a few words each.
func measureUsage() string {
	var list []string
	for _, k := range measureKinds() {
		text := k.Name
		if k.Brief != "" {
			text += " (" + k.Brief + ")"
		}
		list = append(list, text)
	}
	return "measures of risk, separated by commas: " + strings.Join(list, ", ") + " (default: suda)"
}

// keyless tells whether none of the measures counts a key.
func keyless(measures []string) bool {
	return !slices.ContainsFunc(measures, func(name string) bool {
		k := schemas.KindNamed(name)
		if k == nil {
			return true
		}
		_, keyed := k.New().(schemas.Measure)
		return keyed
	})
}
