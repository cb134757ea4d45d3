package schemas

import (
	"maps"
	"math"
	"slices"
	"strings"

	"microrisk/schemas/advice"
)

// Names of the limits of a key, which all measures have.
const (
	LimitClasses           = "classes"
	LimitSampleUniques     = "sample_uniques"
	LimitSampleUniqueShare = "sample_unique_share"
	LimitDoubles           = "doubles"
)

// keyFigures are those that all measures have.
var keyFigures = []Figure{
	{Name: LimitClasses, Doc: "Distinct keys."},
	{Name: LimitSampleUniques, Doc: "Records with a key of their own."},
	{Name: LimitSampleUniqueShare, Doc: "Those as a part of the records counted, 0 to 1."},
	{Name: LimitDoubles, Doc: "Records with frequency 2, halved."},
}

// LimitReidentifications is the limit of correct matches expected among all records, which several operators have.
const LimitReidentifications = "expected_reidentifications"

// KeyFigures are the names of the figures of a key.
func KeyFigures() []string {
	names := make([]string, len(keyFigures))
	for i, f := range keyFigures {
		names[i] = f.Name
	}
	return names
}

// Figures are all figures that limits can be set for: those of a key, then those of the operators. A run breaches a limit when the figure
// is above it.
func Figures() []Figure {
	list := slices.Clone(keyFigures)
	for _, k := range kinds {
		for _, f := range k.Limits {
			if !slices.ContainsFunc(list, func(other Figure) bool { return other.Name == f.Name }) {
				list = append(list, f)
			}
		}
	}
	return list
}

// LimitNames are the names of the figures that limits can be set for.
func LimitNames() []string {
	var names []string
	for _, f := range Figures() {
		names = append(names, f.Name)
	}
	return names
}

// Offers tells whether operators of a kind may have a figure.
func (k *Kind) Offers(figure string) bool {
	if slices.ContainsFunc(k.Limits, func(f Figure) bool { return f.Name == figure }) {
		return true
	}
	_, measure := k.New().(Measure)
	return measure && slices.Contains(KeyFigures(), figure)
}

// Offering are the names of the operators that have a figure.
func Offering(figure string) []string {
	var names []string
	for _, k := range kinds {
		if k.Offers(figure) {
			names = append(names, k.Name)
		}
	}
	return names
}

// figures are those that the operators of a spec have.
func (s *Spec) figures() map[string]bool {
	has := map[string]bool{}
	for _, o := range s.Operators {
		for _, name := range o.Figures(s) {
			has[name] = true
		}
	}
	return has
}

// Figures are the names of the figures that an operator of a spec has: its own, then those of its key.
func (o Operator) Figures(s *Spec) []string {
	k := kindOf(o.Config)
	if k == nil {
		return nil
	}
	var names []string
	lacking, may := o.Config.(Lacking)
	for _, f := range k.Limits {
		if !may || lacking.Lacks(f.Name, s) == nil {
			names = append(names, f.Name)
		}
	}
	if o.Measure() != nil {
		names = append(names, KeyFigures()...)
	}
	return names
}

// limits refuses limits of figures that the run would not have: a gate that is never closed is worse than none.
func (c *Checker) limits(s *Spec) {
	has, all := s.figures(), Figures()
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		path := "limits." + name
		value := s.Limits[name].Max
		c.OneOf(path+".of", "records of a limit", s.Limits[name].Of, []string{LimitModelled})
		at := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
		switch {
		case at < 0:
			c.Add(path, "limit %q is unknown; %s", name, oneOfAdvice(name, LimitNames()))
		case math.IsNaN(value) || value < 0:
			c.Add(path, "the limit %s is %v; it must be 0 or more", name, value)
		case len(s.Operators) > 0 && !has[name]:
			c.Add(path, "%v", s.noFigure(name))
		case all[at].Ranked && s.Sink.Path == "":
			c.Add(path, "the limit %s is compared while records are written; add a sink", name)
		}
	}
}

// noFigure tells why no operator of a spec has a figure.
func (s *Spec) noFigure(name string) error {
	for _, o := range s.Operators {
		if l, ok := o.Config.(Lacking); ok {
			if why := l.Lacks(name, s); why != nil {
				return why
			}
		}
	}
	list := Offering(name)
	add := list[0]
	if len(list) > 1 {
		add = "one of them"
	}
	return advice.Errorf(
		"the limit %s is compared with a figure of %s; add %s to %s",
		name,
		oneOfWords(list),
		add,
		advice.Advice{Spec: "operators", Flags: "--measures"},
	)
}

// oneOfWords lists words: a, b or c.
func oneOfWords(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
