package advise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// manyCells is how many cells the optimal method is advised for.
const manyCells = 2000

// A way is a method with its parameters.
type way struct {
	method    string
	config    protect.Config
	arguments []string
	because   string
}

// choose goes through style, method and form, and tries what it advises.
func (a *advising) choose(ctx context.Context, o session.Options) error {
	if !a.told {
		for i := range a.Config.Rules {
			a.out.Arguments = append(a.out.Arguments, "--rule", ruleWord(&a.Config.Rules[i]))
		}
	}
	a.merging()
	if a.out.Unsafe == 0 {
		if safe, err := a.asItIs(ctx); err != nil || safe {
			a.out.Arguments = append(a.out.Arguments, "--method", "none")
			return err
		}
	}
	style, because := a.style()
	if m := a.Config.Method; m != "" && a.Want == "" && a.Users == "" {
		if style, because = "true", "the policy "+a.Config.Profile+" hides cells"; changes(m) {
			style, because = "complete", "the policy "+a.Config.Profile+" changes values"
		}
	}
	a.out.Steps = append(a.out.Steps, Step{Question: "May values be changed, or only left out?", Chosen: style, Because: because,
		Options: options(styles, style, "true", "true", "complete")})
	list := a.ways(style)
	for i := range list {
		o.Progress("trying methods", int64(i), int64(len(list)))
		passed, err := a.try(ctx, &list[i])
		if err != nil {
			return err
		}
		if !passed {
			continue
		}
		a.out.Arguments = append(a.out.Arguments, list[i].arguments...)
		a.out.Steps = append(a.out.Steps, a.step(&list[i], style), a.lost())
		return nil
	}
	if a.out.Redesign != nil {
		a.out.Arguments = nil
		a.out.Steps = append(a.out.Steps, Step{Question: "How?", Chosen: "merge categories",
			Because: "no method that was tried makes the table safe as it is, and the merges do"})
		return nil
	}
	return fmt.Errorf("no method that was tried makes the table safe: merge categories (table redesign), or leave a variable out; %s was tried last, and %s",
		list[len(list)-1].method, a.out.Tried[len(a.out.Tried)-1].Why)
}

// asItIs tells whether a table without an unsafe cell can go out as it is: what went out before may speak against it.
func (a *advising) asItIs(ctx context.Context) (bool, error) {
	if a.Config.Judge == nil {
		return true, nil
	}
	safe, err := a.try(ctx, &way{method: "none", config: a.Config.For("none")})
	if err == nil && !safe {
		last := &a.out.Steps[len(a.out.Steps)-1]
		last.Because = "by itself it could be published as it is, and with what went out before it cannot"
	}
	return safe, err
}

// style says whether values may be changed.
func (a *advising) style() (style, because string) {
	switch {
	case a.Want != "":
		return a.Want, "you said so"
	case a.Users == "press":
		return "complete", "the press wants a table without gaps"
	case a.Users == "policy":
		return "true", "who decides by it wants true numbers, also if some are missing"
	case a.Users == "modelling":
		return "complete", "models need a table without gaps, that adds up"
	}
	return "true", "nobody said what is wanted, and true values are easiest to explain; ask those who use the table (--users, --want)"
}

// ways are what is tried, one after another: that of a policy first, unless it does not go with what is wanted.
func (a *advising) ways(style string) []way {
	first, second := a.hiding(), a.changing()
	if style == "complete" {
		first, second = second, first
	}
	if a.Config.Method == "" {
		return append(first, second...)
	}
	own := way{method: a.Config.Method, config: a.Config, because: "the policy " + a.Config.Profile + " says so"}
	if a.Want == "" && a.Users == "" || changes(own.method) == (style == "complete") {
		return append([]way{own}, append(first, second...)...)
	}
	return append(first, append([]way{own}, second...)...)
}

// changes tells whether a method publishes values that are not true.
func changes(method string) bool {
	return slices.Contains([]string{"rounding", "perturbation", "adjustment", "multiplicative", "abs"}, method)
}

// hiding are ways to hide cells, the one that fits the table first.
func (a *advising) hiding() []way {
	hierarchies := 0
	for _, v := range a.out.Variables {
		if v.Levels > 1 {
			hierarchies++
		}
	}
	linked := len(a.Config.Linked) > 0
	var names []string
	because := map[string]string{"hypercube": "it is quick for any table"}
	switch {
	case a.out.Cells <= manyCells:
		names = []string{"optimal", "hypercube"}
		because["optimal"] = fmt.Sprintf("the table has %d cells, few enough for the method that hides least", a.out.Cells)
	case len(a.out.Variables) == 2 && hierarchies <= 1 && !linked:
		names = []string{"network", "hypercube"}
		because["network"] = fmt.Sprintf("the table has two variables and %d cells: flows are quick", a.out.Cells)
	case hierarchies > 0 && !linked:
		names = []string{"modular", "hypercube"}
		because["modular"] = fmt.Sprintf("the table has a hierarchy and %d cells: part by part is quick", a.out.Cells)
	default:
		names = []string{"hypercube"}
		because["hypercube"] = fmt.Sprintf("the table has %d cells, too many for slower methods", a.out.Cells)
	}
	var list []way
	said := a.Config.Margins // "grand" unless somebody said otherwise
	for _, margins := range slices.Compact([]string{said, "none"}) {
		for _, name := range names {
			w := way{method: name, config: a.Config.For(name), arguments: []string{"--method", name}, because: because[name]}
			if name == "optimal" {
				w.arguments = append(w.arguments, "--limit", a.patience())
			}
			if w.config.Margins = margins; margins != said {
				w.arguments = append(w.arguments, "--margins", margins)
				w.because += "; totals may have to be hidden too, else a cell could not be protected"
			}
			list = append(list, w)
		}
	}
	return list
}

// changing are ways to change values.
func (a *advising) changing() []way {
	if a.magnitude() {
		return []way{{method: "adjustment", config: a.Config.For("adjustment"), arguments: []string{"--method", "adjustment", "--limit", a.patience()},
			because: "sums stay sums, safe cells hardly change, and every unsafe cell is as far from the truth as its rule asks"}}
	}
	base := a.base()
	w := way{
		method:    "rounding",
		config:    a.Config.For("rounding"),
		arguments: []string{"--method", "rounding", "--base", fmt.Sprint(base), "--limit", a.patience()},
		because:   fmt.Sprintf("controlled rounding to multiples of %d keeps all totals the sums of their parts", base),
	}
	w.config.Base = base
	list := []way{w}
	if !a.Additive && a.Users != "modelling" && a.Config.Weight == "" {
		chance := way{method: "perturbation", config: a.Config.For("perturbation"), because: "rounding by chance is quick, and totals need not add up",
			arguments: []string{"--method", "perturbation", "--scheme", fmt.Sprintf("random:base=%d", base)}}
		chance.config.Perturb = &schemas.Perturbation{Scheme: "random", Base: base}
		list = append(list, chance)
	}
	return append(list, way{method: "adjustment", config: a.Config.For("adjustment"), arguments: []string{"--method", "adjustment", "--limit", a.patience()},
		because: "every unsafe cell moves, and others by the least that makes all add up"})
}

// patience is the limit that is advised: what was enough for a trial, three times.
func (a *advising) patience() string { return fmt.Sprint(3 * a.Seconds) }

// base is one of rounding that goes with the threshold, in units: as many contributors as that, of the usual weight.
func (a *advising) base() int64 {
	n := 3
	for i := range a.Config.Rules {
		if r := &a.Config.Rules[i]; r.Rule == protect.RuleFrequency && r.N != nil {
			n = max(n, *r.N)
		}
	}
	usual := []float64{3, 5, 10}
	least := float64(n)
	if a.Config.Weight != "" {
		t := a.table
		least *= float64(max(t.Values[0], 1)) / float64(max(t.Cells[0].Records, 1))
		usual = nil
		for ten := 1.0; ten < protect.MaxUnits; ten *= 10 {
			usual = append(usual, ten, 2*ten, 5*ten)
		}
	}
	for _, b := range usual {
		if b >= least {
			return int64(max(b, 2))
		}
	}
	return int64(math.Ceil(least))
}

// try protects the table in memory.
func (a *advising) try(ctx context.Context, w *way) (bool, error) {
	c := w.config
	c.Seconds, c.Nodes = &a.Seconds, nil
	t := Trial{Method: w.method}
	err := tables.Check(&c)
	var p *protect.Protected
	if err == nil {
		within, cancel := context.WithTimeout(ctx, schemas.Seconds(2*a.Seconds))
		defer cancel()
		p, err = protect.Protect(within, a.table, &c, a.with)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it took more than %v s", a.Seconds)
	}
	if t.Passed = err == nil; err != nil {
		t.Why = err.Error()
	} else {
		s := p.Summary(a.out.Records)
		a.out.Hidden, a.out.Changed = s.Hidden, s.Rounded
	}
	a.out.Tried = append(a.out.Tried, t)
	return t.Passed, nil
}

// step says what is advised, and what else there is.
func (a *advising) step(w *way, style string) Step {
	names := []string{"redesign", "optimal", "modular", "network", "hypercube", "partial"}
	usual := "optimal"
	if style == "complete" {
		names, usual = []string{"rounding", "perturbation", "adjustment", "multiplicative"}, "rounding"
		if a.magnitude() {
			names, usual = []string{"adjustment", "perturbation", "partial"}, "adjustment"
		}
	}
	if !slices.Contains(names, w.method) {
		names = append(names, w.method)
	}
	if len(a.out.Variables) != 2 && w.method != "network" {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "network" })
	}
	if !slices.ContainsFunc(a.out.Variables, func(v Variable) bool { return v.Levels > 1 }) && w.method != "modular" {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "modular" })
	}
	s := Step{Question: "How?", Chosen: w.method, Because: w.because, Options: options(methods, w.method, usual, names...)}
	if a.Additive && w.method == "perturbation" {
		s.Because += ". Totals may not be the sums of their parts, which you wanted"
	}
	return s
}

// lost says what the method that is advised did to the table.
func (a *advising) lost() Step {
	s := Step{Question: "What is lost?", Because: "table compare measures what is lost by several methods and parameters, with the same flags"}
	switch o := a.out; {
	case o.Hidden > 0 && o.Changed > 0:
		s.Chosen = fmt.Sprintf("%d of %d cells are hidden, and %d changed", o.Hidden, o.Cells, o.Changed)
	case o.Changed > 0:
		s.Chosen = fmt.Sprintf("%d of %d cells are changed", o.Changed, o.Cells)
	default:
		s.Chosen = fmt.Sprintf("%d of %d cells are hidden, %d of them for others", o.Hidden, o.Cells, max(o.Hidden-o.Unsafe, 0))
	}
	return s
}

// ruleWord is a usual rule as the command line has it.
func ruleWord(r *protect.Rule) string {
	if r.N != nil {
		return fmt.Sprintf("%s:n=%d", r.Rule, *r.N)
	}
	return fmt.Sprintf("%s:p=%v", r.Rule, *r.P)
}
