package command

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/schemas"
)

// arrange puts a command line in the order that the flags' library wants: the program's flags, the command, its flags, and then
// what is no flag. So flags can follow files, and the program's flags can follow the command. Commands and flags that are not
// known are errors with the nearest known one.
func arrange(app *cli.App, args []string) ([]string, error) {
	var global, local, rest []string
	var command *cli.Command
	var names []string // of the command, and of those that it is among
	for i := 1; i < len(args); i++ {
		arg := args[i]
		if command == nil && arg == "--version" {
			arg = "version"
		}
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
			continue
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			if command == nil {
				found, err := findCommand(app, arg)
				if err != nil {
					return nil, err
				}
				if found == nil { // help
					return append(args[:1:1], append(global, args[i:]...)...), nil
				}
				command, names = found, append(names, found.Name)
				continue
			}
			if len(command.Subcommands) > 0 && len(rest) == 0 {
				found, err := findAmong(command.Subcommands, arg)
				if err != nil {
					return nil, err
				}
				command, names = found, append(names, found.Name)
				continue
			}
			rest = append(rest, arg)
			continue
		}
		name, _, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag, isGlobal, err := findFlag(app, command, name)
		if err != nil {
			return nil, err
		}
		if flag == cli.HelpFlag && command != nil { // wherever it stands
			return append(append(args[:1:1], names...), "--help"), nil
		}
		taken := []string{arg}
		if !valued && takesValue(flag) {
			if i+1 == len(args) {
				return nil, usage("the flag --%s needs a value", name)
			}
			i++
			// Joined, so that a value that begins with a dash is not taken for a flag.
			taken = []string{arg + "=" + args[i]}
		}
		if isGlobal {
			global = append(global, taken...)
		} else {
			local = append(local, taken...)
		}
	}
	out := append(args[:1:1], global...)
	if command == nil {
		return append(out, local...), nil
	}
	out = append(append(out, names...), local...)
	if len(command.Subcommands) > 0 { // it has no arguments, and shows what there is
		return out, nil
	}
	return append(append(out, "--"), rest...), nil
}

// Verb is the command that a command line names, "" if it names none. Flags may stand before it.
func Verb(args []string) string {
	app := (&console{}).app()
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		if args[i] == "-" || !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
		name, _, valued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if flag, _, err := findFlag(app, nil, name); err == nil && !valued && takesValue(flag) {
			i++
		}
	}
	return ""
}

// findCommand is nil for the command help, which the library has.
func findCommand(app *cli.App, name string) (*cli.Command, error) {
	if name == "help" || name == "h" {
		return nil, nil
	}
	return findAmong(app.Commands, name)
}

func findAmong(commands []*cli.Command, name string) (*cli.Command, error) {
	var known []string
	for _, c := range commands {
		if c.HasName(name) {
			return c, nil
		}
		if !c.Hidden {
			known = append(known, c.Name)
		}
	}
	if n := schemas.Nearest(name, known); n != "" {
		return nil, usage("there is no command %q; did you mean %s?", name, n)
	}
	return nil, usage("there is no command %q; the commands are %s", name, strings.Join(known, ", "))
}

// findFlag looks in the command's flags, then in the program's.
func findFlag(app *cli.App, command *cli.Command, name string) (flag cli.Flag, global bool, err error) {
	var known []string
	look := func(flags []cli.Flag) cli.Flag {
		for _, f := range flags {
			for _, n := range f.Names() {
				if n == name {
					return f
				}
				if v, ok := f.(cli.VisibleFlag); len(n) > 1 && ok && v.IsVisible() {
					known = append(known, n)
				}
			}
		}
		return nil
	}
	if name == "help" || name == "h" {
		return cli.HelpFlag, command == nil, nil
	}
	if command != nil {
		if f := look(command.Flags); f != nil {
			return f, false, nil
		}
	}
	if f := look(app.Flags); f != nil {
		return f, true, nil
	}
	return nil, false, unknownFlag(app, command, name, known)
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// parseSize reads a size such as 512MiB, 4G (binary), 4GB (decimal) or a number of bytes.
func parseSize(text string) (int64, error) {
	at := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if at < 0 {
		at = len(text)
	}
	n, err := strconv.ParseFloat(text[:at], 64)
	unit, ok := sizeUnits[strings.ToLower(strings.TrimSpace(text[at:]))]
	if err != nil || !ok || !(n*unit >= 1) || n*unit > 1<<62 {
		return 0, usage("%q is no size; write a number of bytes, or one with a unit such as 512MiB or 4GB", text)
	}
	return int64(n * unit), nil
}
