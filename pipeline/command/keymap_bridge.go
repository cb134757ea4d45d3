package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/recode"
	"microrisk/pipeline/keymap"
	"microrisk/pipeline/session"
	"microrisk/schemas/specfile"
)

// bridgeText is a file that a bridge writes.
type bridgeText struct {
	path string
	text []byte
}

// bridge writes the spec and the recodes that flags ask for, all of them or none, and says what can be done with them.
func (c *console) bridge(ctx *cli.Context, e *keymap.Environment, a *keymap.Analysis, answers []keymap.Answer) (string, error) {
	if err := bridgeUsage(ctx, a); err != nil {
		return "", err
	}
	spec, recodeA, recodeB := ctx.String("spec"), ctx.String("recode-a"), ctx.String("recode-b")
	if spec == "" && recodeA == "" && recodeB == "" {
		return "", nil
	}
	o, err := c.options(ctx)
	if err != nil {
		return "", err
	}
	reads, err := readingsOf(ctx)
	if err != nil {
		return "", err
	}
	target, data, dataB := a.Question.Target, ctx.String("data"), ctx.String("data-b")
	var made []bridgeText
	var says []string
	if spec != "" {
		b, err := e.Bridge(ctx.Context, answers, target, data, false, o)
		if err != nil {
			return "", err
		}
		s := b.Spec()
		if err := s.Validate(); err != nil {
			return "", fmt.Errorf("the key cannot be run as it is: %w", err)
		}
		text := []byte(specText(a, b, s.YAML()))
		if len(text) > specfile.MaxSpecSize {
			return "", fmt.Errorf("the key cannot be run as it is: its values take %d bytes of a spec, which has %d at most; "+
				"leave out variables of many values: --variables", len(text), specfile.MaxSpecSize)
		}
		made = append(made, bridgeText{spec, text})
		says = append(says, "the spec of a run: microrisk run "+shellWord(spec))
	}
	recodes, err := bridgePair(ctx.Context, e, answers, []bridgeSide{{target, data, recodeA}, {a.Question.Match[0].Name, dataB, recodeB}}, o)
	if err != nil {
		return "", err
	}
	if made = append(made, recodes...); recodeA != "" && recodeB != "" {
		says = append(says, linkCommandText(answers, recodeA, recodeB, data, dataB))
	}
	if err := c.writeBridge(made, reads, ctx.String("out")); err != nil {
		return "", err
	}
	if ctx.String("format") != "table" || ctx.String("out") != "" {
		return "", nil
	}
	return "\n" + strings.Join(says, "\n") + "\n", nil
}

// writeBridge writes files whose paths are free, and to standard output.
func (c *console) writeBridge(made []bridgeText, reads []session.Reading, out string) error {
	var writes []string
	for _, path := range append([]string{out}, pathsOf(made)...) {
		if path != "" && path != "-" {
			writes = append(writes, path)
		}
	}
	if err := session.CheckPaths(reads, writes); err != nil {
		return err
	}
	for _, f := range made {
		var err error
		if f.path == "-" {
			err = c.print(string(f.text))
		} else {
			err = keymap.WriteText(f.path, f.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pathsOf(made []bridgeText) []string {
	var list []string
	for _, f := range made {
		list = append(list, f.path)
	}
	return list
}

// bridgeUsage refuses flags that do not go together.
func bridgeUsage(ctx *cli.Context, a *keymap.Analysis) error {
	spec, recodes := ctx.String("spec") != "", ctx.String("recode-a") != "" || ctx.String("recode-b") != ""
	prevalences := a.Question.Prevalence
	switch {
	case ctx.String("data") != "" && !spec && !recodes:
		return usage("--data goes with --spec or --recode-a")
	case ctx.String("data-b") != "" && ctx.String("recode-b") == "":
		return usage("--data-b goes with --recode-b")
	case spec && ctx.String("data") == "":
		return usage("--spec needs --data: the file of the target's records, whose columns it recodes")
	case slices.Contains([]string{ctx.String("data"), ctx.String("data-b")}, "-"):
		return usage("--data -: standard input is read once, and the records are needed to write the spec and to run it; name a file")
	case (spec || recodes) && len(prevalences) > 1:
		return usage("a key is made at one prevalence; say which of %s is wanted: --prevalence %s", strings.Join(prevalences, ", "), prevalences[0])
	case ctx.String("recode-a") == "-" || ctx.String("recode-b") == "-":
		return usage("--recode-a and --recode-b name files, which microrisk link reads")
	case recodes && len(a.Question.Match) != 1:
		return usage("--recode-a and --recode-b make two files alike, so that the match set is one form, not %d: --match FORM", len(a.Question.Match))
	}
	return nil
}

// readingsOf are the data that flags name.
func readingsOf(ctx *cli.Context) ([]session.Reading, error) {
	var all []session.Reading
	for _, flag := range []string{"data", "data-b"} {
		if path := ctx.String(flag); path != "" {
			list, err := session.Readings("the data", []string{path})
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	return all, nil
}

// A bridgeSide is one of two files that are made alike.
type bridgeSide struct{ form, data, out string }

// bridgePair are the files of recodes that make two data files alike.
func bridgePair(ctx context.Context, e *keymap.Environment, answers []keymap.Answer, sides []bridgeSide, o session.Options) ([]bridgeText, error) {
	var made []bridgeText
	for _, side := range sides {
		if side.out == "" {
			continue
		}
		b, err := e.Bridge(ctx, answers, side.form, side.data, true, o)
		if err != nil {
			return nil, err
		}
		head := fmt.Sprintf(
			"# Columns of the data of %q as they can be compared: recodes for microrisk link --allow-empty,\n"+
				"# since a category may have no record, or below recode: in a spec with allow_empty: true.\n",
			side.form,
		)
		made = append(made, bridgeText{side.out, append([]byte(head), recode.ColumnsYAML(b.Recodes())...)})
	}
	return made, nil
}

// specText is a spec below what it was made of.
func specText(a *keymap.Analysis, b *keymap.Bridge, spec []byte) string {
	var s strings.Builder
	fmt.Fprintf(&s, "# The key by which records of %q can be compared with those of %s of the match set, at prevalence %s:\n",
		a.Question.Target, formsOf(a.All), a.Question.Prevalence[0])
	for _, v := range b.Versions {
		fmt.Fprintf(&s, "#   %s is %q of %q, %s\n", v.Key.Name, v.Column, v.Answer.Name, v.Answer.Code)
	}
	s.WriteString("# Say below sampling how the records were drawn, such as {fraction: 0.01}, for the chance of a correct match.\n")
	s.Write(spec)
	return s.String()
}

// linkCommandText is the command that links two files by their recodes.
func linkCommandText(answers []keymap.Answer, recodeA, recodeB, dataA, dataB string) string {
	named := func(path, instead string) string {
		if path == "" {
			return instead
		}
		return shellWord(path)
	}
	var key []string
	for _, a := range keymap.Keys(answers) {
		key = append(key, shellWord(keymap.KeyColumn(a.Name)))
	}
	return fmt.Sprintf(
		"the attack: microrisk link %s %s --key %s --recode-a %s --recode-b %s --allow-empty --population-size N",
		named(dataA, "A"),
		named(dataB, "B"),
		strings.Join(key, ","),
		shellWord(recodeA),
		shellWord(recodeB),
	)
}
