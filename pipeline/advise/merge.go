package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/redesign"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// designs are how many are looked at: the command that is told looks at as many, and finds the same.
const designs = 300

// redesign looks for the cheapest merges, for a while.
func (a *advising) redesign(ctx context.Context, o session.Options) error {
	if len(a.Config.Linked) > 0 || a.Source.Columns != nil && (a.Source.Columns.Status != "" || a.Source.Columns.Lower != "") {
		return nil
	}
	s := redesign.Spec{Source: a.Source, Config: a.Config, Ordered: a.Ordered, Pins: a.Pins, Best: 1, Nodes: new(designs)}
	s.Config.Overrides = ""
	within, cancel := context.WithTimeout(ctx, schemas.Seconds(a.Seconds))
	defer cancel()
	step := Step{Question: "Would merging categories do?", Chosen: "no merge was found that leaves nothing unsafe",
		Because: "a coarser hierarchy, or one variable less, may help nevertheless"}
	found, err := redesign.Run(within, s, o)
	many := new(redesign.TooManyError)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &many):
		step.Chosen, step.Because = "no merges were tried", many.Variable+" has too many categories for that: a hierarchy, or recodes, would help"
	case within.Err() != nil:
		step.Chosen, step.Because = "no merge was found in time", fmt.Sprintf("it would take more than the %v s of --limit", a.Seconds)
	case err != nil:
		return err
	}
	if err == nil && len(found.Redesigns) > 0 {
		best := found.Redesigns[0]
		r := &Redesign{best.Recodes, best.Loss, best.Texts}
		var words []string
		for _, m := range r.Recodes {
			words = append(words, m.Variable+": "+m.All())
		}
		step.Chosen = strings.Join(words, "; ")
		switch why, err := a.merged(ctx, r); {
		case err != nil:
			return err
		case why != nil:
			step.Chosen += ": no"
			step.Because = "it leaves nothing unsafe, and does not do nevertheless: " + why.Error()
		default:
			a.out.Redesign = r
			step.Because = a.mergeable(r)
		}
	}
	a.out.Steps = append(a.out.Steps, step)
	return nil
}

// mergeable says what speaks for a merge.
func (a *advising) mergeable(r *Redesign) string {
	return fmt.Sprintf("it leaves nothing unsafe, and %d of %d categories go, in rows with %s of the records. Merging is the first choice where it makes "+
		"sense: neighbouring ages do (--ordered), children with the elderly do not. Ask those who use the table; what they need, --pin keeps. The last commands "+
		"make it. If it does not make sense, go on", r.Loss.Categories, a.categories(), percent(r.Loss.Contributors, a.out.Records))
}

// merged tries the table with merges: why it does not do, if it does not.
func (a *advising) merged(ctx context.Context, r *Redesign) (why, err error) {
	recodes := make(map[string]tablefile.Recodes)
	for name, text := range r.texts {
		recodes[name] = tablefile.ReadRecodes(name+".grc", text)
	}
	t, err := a.table.Again(ctx, recodes)
	if err != nil {
		return nil, err
	}
	c := a.Config.For("none")
	c.Overrides = ""
	if _, why = protect.Protect(ctx, t, &c, protect.With{}); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return why, nil
}

// folder is where the recodes of what is advised go.
const folder = "recodes"

// merging tells the commands that make the table with its merges: the one that writes these, and the one that takes them.
func (a *advising) merging() {
	if a.out.Redesign == nil || a.Command == nil {
		return
	}
	look := slices.Clone(a.out.Arguments)
	for _, v := range a.Ordered {
		look = append(look, "--ordered", v)
	}
	for _, pin := range a.Pins {
		look = append(look, "--pin", pin)
	}
	take := append(slices.Clone(a.out.Arguments), "--method", "none")
	var names []string
	for _, v := range a.out.Variables {
		if slices.ContainsFunc(a.out.Redesign.Recodes, func(r redesign.Recode) bool { return r.Variable == v.Name }) {
			names = append(names, v.Name)
		}
	}
	files := redesign.FilesOf(folder, 1, names)
	for _, name := range names {
		take = append(take, "--recode", name+"="+files[name])
	}
	a.out.Merging = [][]string{a.Command("redesign", append(look, "--best", "1", "--nodes", fmt.Sprint(designs), "--out", folder))}
	if a.Config.Overrides == "" { // which may be of cells that are merged
		a.out.Merging = append(a.out.Merging, a.Command("protect", take))
	}
}
