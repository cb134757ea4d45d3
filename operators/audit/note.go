package audit

import (
	"slices"
	"strings"

	"microrisk/operators/protect"
)

// How is how the published values were made, as far as it is known: by hand where nobody says it.
func (a *Audit) How() *protect.Way { return a.way }

// roundingSchemes of perturbation publish multiples of a number.
var roundingSchemes = []string{"conventional", "random", "census2000"}

// Note is what those who get the table are told of it, in plain words, without a rule or a parameter.
func (a *Audit) Note() string {
	var text []string
	say := func(lines ...string) { text = append(text, lines...) }
	const safe = "so that nobody can be recognised in the table and nothing can be learnt about anybody."
	zero := false // what is not listed may have been changed
	switch w := a.way; {
	case w.Method == "abs":
		say("Values are rounded, totals too, "+safe, "Each is rounded by itself, so that totals may differ a little from the sums of their parts.")
		zero = true
	case w.Method == "rounding", w.Changes() && slices.Contains(roundingSchemes, w.Scheme):
		say("All values are rounded, totals too, " + safe)
		say(a.totals("They are rounded together: totals are the sums of their parts.", "Each is rounded by itself"))
		zero = true
	case w.Method == "adjustment":
		say("Some values are changed, by no more than is needed, "+safe, a.totals("Totals are the sums of their parts.", "Some totals are changed too"))
		zero = true
	case w.Changes():
		say(
			"Values are changed a little, by chance, "+safe,
			"Small values are less exact than large ones, in proportion; do not draw conclusions from small differences.",
		)
		say(a.totals("Totals are the sums of what is published of their parts.", "Each total is changed by itself"))
		zero = true
	case a.Hidden == 0:
		say("All values are true and shown.")
	}
	if a.Hidden > 0 {
		say(a.gaps(safe, zero)...)
	}
	switch {
	case zero:
		say("A combination that is not listed has nobody in it, or its value became 0.")
	case a.Response != "":
		say("A combination that is not listed is empty.")
	default:
		say("A combination that is not listed has nobody in it.")
	}
	return strings.Join(text, " ") + "\n"
}

// gaps says why cells are not shown.
func (a *Audit) gaps(safe string, changed bool) (text []string) {
	intervals := a.low != nil
	switch {
	case intervals && a.way.Method == "partial":
		text = append(text, "In the place of some values stands a range that the true value is in, "+safe)
	case intervals:
		text = append(text, "Some values are not shown (x), "+safe, "Beside each stands the range that it is in.")
	default:
		text = append(text, "Some values are not shown (x), "+safe)
	}
	if !changed {
		text = append(text, "Some of them are not sensitive themselves: they are not shown because others could be worked out from them.",
			"All values that are shown are true, and totals include what is not shown.")
	}
	return text
}

// totals says how totals stand to their parts.
func (a *Audit) totals(sums, alone string) string {
	if a.Unbalanced() == 0 {
		return sums
	}
	return alone + ", so that totals may differ a little from the sums of their parts."
}
