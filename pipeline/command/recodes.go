package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/recode"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// recodesOf are the recodes of --band and --recode: they take a variable's place for what is counted, and leave the file's own column as
// it is.
func recodesOf(ctx *cli.Context, key *schemas.Key) ([]recode.Column, error) {
	counted, err := countedBy(ctx, key)
	if err != nil {
		return nil, err
	}
	recodes, err := bandsOf(ctx.StringSlice("band"), counted)
	if err != nil {
		return nil, err
	}
	for _, text := range ctx.StringSlice("recode") {
		var list []recode.Column
		name, file := strings.CutPrefix(text, "@")
		if file {
			list, err = recodesIn(name)
		} else {
			var r recode.Column
			r, err = recodeOf(text)
			list = []recode.Column{r}
		}
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if err := known("recode", r.Name, counted, recodes); err != nil {
				if file {
					return nil, usage("%v: leave it out of %s, or add it to --key", err, name)
				}
				return nil, err
			}
			recodes = append(recodes, r)
		}
	}
	return recodes, nil
}

// countedBy are the variables that the flags count: those of the key, and of tables.
func countedBy(ctx *cli.Context, key *schemas.Key) ([]string, error) {
	var names []string
	if key != nil {
		for _, v := range key.Variables {
			names = append(names, v.Name)
		}
	}
	for _, flag := range []string{"by", "cells", "sensitive"} {
		if !slices.Contains(flagNames(ctx.Command.Flags), flag) {
			continue
		}
		more, err := words(flag, ctx.StringSlice(flag))
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// known refuses to recode what is not counted, and what is recoded already.
func known(flag, column string, counted []string, recodes []recode.Column) error {
	switch {
	case len(counted) == 0:
		return usage("--%s %s: recodes are of key variables; there is no --key", flag, column)
	case !slices.Contains(counted, column):
		return usage("--%s %s: %s is not in the key", flag, column, column)
	case slices.ContainsFunc(recodes, func(r recode.Column) bool { return r.Name == column }):
		return usage("--%s %s: %s is recoded already", flag, column, column)
	}
	return nil
}

// bandsOf are the recodes of --band.
func bandsOf(list, counted []string) ([]recode.Column, error) {
	var recodes []recode.Column
	for _, text := range list {
		column, width, ok := strings.Cut(text, "=")
		w, err := strconv.ParseFloat(width, 64)
		switch {
		case !ok || column == "" || err != nil:
			return nil, usage("--band %q is no band; write the column and the width, such as AGE=5", text)
		case !(w > 0):
			return nil, usage("--band %s: the width is %v; it must be above 0", text, w)
		}
		if err := known("band", column, counted, recodes); err != nil {
			return nil, err
		}
		recodes = append(recodes, inKey(recode.Column{Name: column, Width: w}))
	}
	return recodes, nil
}

// inKey lets a recode feed the key alone.
func inKey(r recode.Column) recode.Column {
	keep := false
	if r.From == "" || r.From == r.Name {
		r.Replace = true
	}
	if r.Keep == nil {
		r.Keep = &keep
	}
	return r
}

// decodeRecodes reads recodes by themselves.
func decodeRecodes(name string, text []byte) ([]recode.Column, error) {
	root, err := specfile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return recode.DecodeColumns(name, root)
}

// recodesIn are the recodes of a file.
func recodesIn(name string) ([]recode.Column, error) {
	text, err := readNamed("recodes", name)
	if err != nil {
		return nil, err
	}
	list, err := decodeRecodes(name, text)
	for i, r := range list {
		if !r.Replace && r.Keep == nil { // else the file says what becomes of the column
			list[i] = inKey(r)
		}
	}
	return list, err
}

const recodeForms = "write such as REGION:north=01|02,south=*, AGE:cuts=18,30,65, AGE:width=5,top=85 or POSTCODE:truncate=3"

// recodeOf reads COLUMN:NEW=OLD|OLD,NEW=* or COLUMN:SETTING=NUMBER,... The column's name may have colons: the last one before the first
// equals sign counts.
func recodeOf(text string) (recode.Column, error) {
	var r recode.Column
	before, _, _ := strings.Cut(text, "=")
	at := strings.LastIndexByte(before, ':')
	if at <= 0 {
		return r, usage("--recode %q is no recode; %s", text, recodeForms)
	}
	r.Name = text[:at]
	entries, err := words("recode", []string{text[at+1:]})
	if err != nil {
		return r, err
	}
	setting := map[string]func(v float64){
		"cuts": func(v float64) { r.Cuts = append(r.Cuts, v) }, "width": func(v float64) { r.Width = v }, "origin": func(v float64) { r.Origin = v },
		"bottom": func(v float64) { r.Bottom = &v }, "top": func(v float64) { r.Top = &v }, "truncate": func(v float64) { r.Truncate = int(v) },
	}
	first, _, _ := strings.Cut(entries[0], "=")
	if setting[first] == nil {
		err = mapOf(&r, text, entries)
		return inKey(r), err
	}
	said := map[string]bool{}
	last := ""
	for _, e := range entries {
		name, value, named := strings.Cut(e, "=")
		if !named && last == "cuts" { // one more of them
			name, value = last, e
		} else if said[name] {
			return r, usage("--recode %q says %s twice", text, name)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if setting[name] == nil || err != nil || name == "truncate" && (v != float64(int(v)) || v < 1) || name == "width" && !(v > 0) {
			return r, usage("--recode %q: %q is no setting of a band; %s", text, e, recodeForms)
		}
		setting[name](v)
		said[name], last = true, name
	}
	return inKey(r), nil
}

// mapOf reads the categories of a recode: each new one with the old ones that become it; an empty new one makes them missing.
func mapOf(r *recode.Column, text string, entries []string) error {
	r.Map = map[string]string{}
	for _, e := range entries {
		category, list, ok := strings.Cut(e, "=")
		if !ok {
			return usage("--recode %q: %q has no equals sign; %s", text, e, recodeForms)
		}
		for old := range strings.SplitSeq(list, "|") {
			if old == "*" {
				if r.Other != nil {
					return usage("--recode %q says twice what all other values become", text)
				}
				r.Other = &category
				continue
			}
			if was, twice := r.Map[old]; twice {
				return usage("--recode %q: %q becomes both %q and %q", text, old, was, category)
			}
			r.Map[old] = category
		}
	}
	return nil
}
