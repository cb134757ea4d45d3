package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/profiles"
)

// A Standing is how a release stands to what was asked of it, and to what went out before.
type Standing struct {
	What string
	Met  bool
	Why  string
}

func (j *judge) say(what string, met bool, why string) {
	j.Standings = append(j.Standings, Standing{what, met, why})
}

// compare refuses a table that went out before in another way, and tells of cells that another table publishes otherwise.
func (j *judge) compare(releases []audit.Release) {
	for i := 1; i < len(releases); i++ {
		other := releases[i]
		entry := j.tables[slices.IndexFunc(j.tables, func(e earlier) bool { return e.made == other.Audit })].Entry
		t := j.Together[0]
		cells, differ := t.Shared(0, i)
		switch {
		case t.Same(0, i):
			j.again(other, differ)
		case differ > 0:
			j.say("the same cells as in "+other.Name, false, fmt.Sprintf("%s of the %s that both have differ%s: whoever has both can compare them",
				report.Count(int64(differ)), report.Plural(int64(cells), "cell", "cells"), singular(differ)))
		}
		one, before := j.own.Secret, entry.Secret
		if j.Audit.How().Chance && other.How().Chance && one != "" && before != "" && one != before {
			j.say("the same secret as for "+other.Name, false, fmt.Sprintf("it is made with %s, and %s with %s: the same people get other noise, of which "+
				"whoever has both can take the mean", one, other.Name, before))
		}
	}
}

func singular(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

// again judges a table that went out before.
func (j *judge) again(before audit.Release, differ int) {
	one, other := j.Audit.How(), before.How()
	if words(one) != words(other) && (differ > 0 || one.Changes() || other.Changes()) {
		j.Refused = append(
			j.Refused,
			fmt.Sprintf("the same table went out as %s by the method %s, and is to go out by %s: whoever has both knows more than either "+
				"tells; publish it as it was", before.Name, words(other), words(one)),
		)
		return
	}
	if differ > 0 {
		j.Refused = append(
			j.Refused,
			fmt.Sprintf("the same table went out as %s, and %s differ%s from it: whoever has both can compare them; publish it as it was",
				before.Name, report.Plural(int64(differ), "cell", "cells"), singular(differ)),
		)
		return
	}
	j.say("it went out before, as "+before.Name, true, "all cells are published as they were")
}

// words are a way's method and scheme.
func words(w *protect.Way) string { return strings.TrimSpace(w.Method + " " + w.Scheme) }

// stand tells how the table stands to what was asked of it.
func (j *judge) stand() {
	a, own := j.Audit, j.own
	j.topic(cmp.Or(own.Topic, a.Topic))
	if own.Complete {
		j.say("all cells are needed", a.Hidden == 0, report.Plural(int64(a.Hidden), "cell is hidden", "cells are hidden"))
	}
	if own.True {
		j.say("true values are needed", a.Changed == 0, report.Plural(int64(a.Changed), "value is changed", "values are changed"))
	}
	if own.Additive {
		off := a.Unbalanced()
		j.say("totals must add up", off == 0, report.Plural(int64(off), "published total does not", "published totals do not"))
	}
	for _, cell := range own.Keep {
		shown, why := keeps(a, cell)
		j.say("to be shown: "+cell, shown, why)
	}
}

// topic refuses a table about a sensitive topic whose rules are too weak.
func (j *judge) topic(about string) {
	topic := j.register.sensitive(about)
	if topic == "" {
		return
	}
	least, n := int64(profiles.LeastSensitive), 0
	if j.register.Sensitive != nil {
		least = int64(*j.register.Sensitive)
	}
	t := j.Audit.Table
	for cell, c := range t.Cells {
		if c.Contributors > 0 && c.Contributors < least && (t.Status == nil || !detection.StatusOf(t.Status[cell]).Primary()) {
			n++
		}
	}
	why := fmt.Sprintf("%s is sensitive, and every cell of fewer than %d contributors is taken for unsafe", topic, least)
	if n > 0 {
		why = fmt.Sprintf("%s is sensitive: cells of fewer than %d contributors are unsafe, and the rules of the table do not find %d of them", topic, least, n)
		j.Refused = append(j.Refused, why+fmt.Sprintf("; protect it by a stricter rule (--rule min:n=%d)", least))
	}
	j.say("sensitive topic", n == 0, why)
}

// keeps tells whether a cell is published.
func keeps(a *audit.Audit, text string) (bool, string) {
	g := a.Table.Grid
	nodes := make([]int32, len(g.Trees))
	for part := range strings.SplitSeq(text, ",") {
		name, code, _ := strings.Cut(part, "=")
		v := slices.IndexFunc(g.Trees, func(t *tabular.Tree) bool { return t.Name == strings.TrimSpace(name) })
		if v < 0 {
			return false, fmt.Sprintf("the table has no variable %s", name)
		}
		if code = strings.TrimSpace(code); code == a.Total {
			continue
		}
		n := g.Trees[v].Find(tabular.Of(code))
		if n < 0 {
			return false, fmt.Sprintf("%s has no category %s", name, code)
		}
		nodes[v] = int32(n)
	}
	switch cell := g.Find(nodes); {
	case cell < 0:
		return true, "nobody is in it"
	case a.Hides(cell):
		return false, "it is hidden"
	}
	return true, "it is published"
}
