package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// BesideOlder is the spec as a run that lets columns of earlier ones be (KeepOlder) takes it; as it is where the input cannot be looked at.
func BesideOlder(ctx context.Context, spec *schemas.Spec, options Options) *schemas.Spec {
	j := &Job{Spec: spec, Options: options.WithDefaults()}
	in, err := Resolve(spec.Source)
	if err != nil || in.Stdin {
		return spec
	}
	if j.Source, err = Open(ctx, spec.Source, in, j.Options); err != nil {
		return spec
	}
	defer j.Source.Close()
	return j.besideOlder(spec)
}

// besideOlder is the spec with prefixes by which no new column has the name of one that the source has: those of an earlier run stay as they
// are. The second suda is suda2, the second mc3 mc3_2, and so on; where the sample frequency of the spec's key is there already, each operator of that key
// writes
// its own with its prefix before it.
func (j *Job) besideOlder(spec *schemas.Spec) *schemas.Spec {
	taken := map[string]bool{}
	for _, f := range j.Source.Schema().Fields() {
		taken[f.Name] = true
	}
	out := *spec
	out.Operators = slices.Clone(spec.Operators)
	moved := taken[schemas.Frequency] && spec.FrequencyWriter() >= 0
	used := map[string]bool{}
	for _, o := range spec.Operators {
		if w := o.Writer(); w != nil {
			used[w.ColumnPrefix()] = true
		}
	}
	for i, o := range spec.Operators {
		w := o.Writer()
		if w == nil {
			continue
		}
		if _, _, replace := w.Common(); *replace {
			continue
		}
		prefix := w.ColumnPrefix()
		m := o.Measure()
		own := moved && m != nil && m.OwnKey() == nil
		if own {
			o = o.WithKey(spec.Key)
		}
		next, numbered := prefix, prefix
		if last := prefix[len(prefix)-1]; last >= '0' && last <= '9' {
			numbered += "_" // mc3_2
		}
		for n := 2; clashes(o, next, spec.Key, taken) || next != prefix && used[next]; n++ {
			next = fmt.Sprintf("%s%d", numbered, n)
		}
		if next == prefix && !own {
			continue
		}
		used[next] = true
		out.Operators[i] = o.WithPrefix(next)
		if next != prefix {
			advice.Log(
				j.Options.Logger,
				slog.LevelInfo,
				advice.Textf("the input has columns of %s already: the new ones begin with %s (say %s to replace them)", prefix, next,
					advice.Advice{Spec: "replace: true", Flags: "--replace"}),
			)
		}
	}
	return &out
}

// clashes tells whether an operator's columns would have names that are taken.
func clashes(o schemas.Operator, prefix string, key *schemas.Key, taken map[string]bool) bool {
	o = o.WithPrefix(prefix)
	if m := o.Measure(); m != nil && m.OwnKey() != nil {
		key = m.OwnKey()
	}
	var names []string
	if key != nil {
		for _, v := range key.Variables {
			names = append(names, v.Name)
		}
	}
	return slices.ContainsFunc(o.Writer().Columns(false, names), func(c schemas.ColumnInfo) bool { return taken[c.Name] })
}
