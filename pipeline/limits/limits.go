// Package limits has profiles of limits by name: the largest values of figures that are usual for a kind of release, each with its source.
// They are conventions and no law. Those that come with the program are in profiles, and an office has its own beside them. (Policies of tables
// are package profiles.)
//
//	p, err := limits.Load("public-use")
//	spec = p.Beside(spec)
package limits

import (
	"embed"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// Convention is what is said wherever a profile is named.
const Convention = "A profile is a convention, with its sources; it is no law, and meeting it is no proof that nobody can be recognised."

// A Profile is a list of limits.
type Profile struct {
	Version int64
	Name    string
	About   string
	Limits  []Limit
}

// A Limit of a profile.
type Limit struct {
	Limit  string // by schemas.LimitNames
	Max    float64
	Of     string
	Source string // who uses it, or where it is written
}

// Fields is the field table.
func (p *Profile) Fields() schemas.Table {
	return schemas.Table{
		What:     "the profile of limits",
		Doc:      "Limits that are usual for a kind of release, each with its source.",
		Required: []string{"version", "name", "limits"},
		Fields: []schemas.Field{
			{Name: "version", To: &p.Version, Range: schemas.AtLeast(1), Doc: "Version of the profile."},
			{Name: "name", To: &p.Name, Doc: "Its name, one word."},
			{Name: "about", To: &p.About, Doc: "What it is for, in a sentence or two."},
			{Name: "limits", To: schemas.Mappings(&p.Limits, (*Limit).Fields, nil), Doc: "The limits."},
		},
	}
}

// Fields is the field table of a limit.
func (l *Limit) Fields() schemas.Table {
	return schemas.Table{What: "a limit of the profile", Required: []string{"limit", "max", "source"}, Fields: []schemas.Field{
		{Name: "limit", To: &l.Limit, Words: schemas.LimitNames(), Doc: "The figure's name."},
		{Name: "max", To: &l.Max, Range: schemas.AtLeast(0), Doc: "The largest value allowed."},
		{Name: "of", To: &l.Of, Words: []string{schemas.LimitModelled}, Doc: "modelled looks at the records alone that are not dropped."},
		{Name: "source", To: &l.Source, Doc: "Who uses it, or where it is written."},
	}}
}

// largest is the most bytes that a profile may have.
const largest = 1 << 20

// Decode reads a profile. The error has all that is wrong with it, with lines.
func Decode(name string, text []byte) (*Profile, error) {
	p := &Profile{}
	return p, specfile.DecodeNamed(name, "the profile of limits", text, largest, p)
}

// Check tells what the field table cannot.
func (p *Profile) Check(c *schemas.Checker) {
	if strings.TrimSpace(p.Name) == "" || strings.ContainsAny(p.Name, "/\\ \n") {
		c.Add("name", "a name is one word, and is %q", p.Name)
	}
	if len(p.Limits) == 0 {
		c.Add("limits", "a profile without limits allows everything; name one, such as {limit: max_correct_match, max: 0.2, source: our rule of 2024}")
	}
	for i, l := range p.Limits {
		if slices.ContainsFunc(p.Limits[:i], func(other Limit) bool { return other.Limit == l.Limit }) {
			c.Add(fmt.Sprintf("limits[%d]", i), "the limit %s is there twice", l.Limit)
		}
		if strings.TrimSpace(l.Source) == "" {
			c.Add(fmt.Sprintf("limits[%d].source", i), "the limit %s has no source; say who uses it, or where it is written", l.Limit)
		}
	}
}

// All are the profiles that come with the program, by name.
func All() ([]*Profile, error) {
	entries, err := profiles.ReadDir("profiles")
	if err != nil {
		return nil, err
	}
	var list []*Profile
	for _, e := range entries {
		text, err := profiles.ReadFile("profiles/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := Decode(e.Name(), text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Names are those of the profiles that come with the program.
func Names() []string {
	entries, err := profiles.ReadDir("profiles")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// IsFile tells whether a profile is named as a file.
func IsFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// Load is a profile by its name, or of a file. Errors are those for which session.IsSpec is true.
func Load(name string) (*Profile, error) {
	text, err := profiles.ReadFile("profiles/" + name + ".yaml")
	switch {
	case IsFile(name):
		if text, err = session.ReadRegular(name, largest+1); err != nil {
			return nil, session.Wrong(fmt.Errorf("the profile of limits %s cannot be read: %w", name, err))
		}
	case err != nil:
		mean := ""
		if n := schemas.Nearest(name, Names()); n != "" {
			mean = "did you mean " + n + "? "
		}
		return nil, session.Wrong(
			fmt.Errorf("the profile of limits %q is unknown; %sit is one of %s, or a file such as office.yaml", name, mean, strings.Join(Names(), ", ")))
	}
	p, err := Decode(name, text)
	return p, session.Wrong(err)
}

// Called is the name of a profile with its version.
func (p *Profile) Called() string { return fmt.Sprintf("%s %d", p.Name, p.Version) }

// Beside is a spec with the limits of a profile beside its own, which go before them.
func (p *Profile) Beside(spec *schemas.Spec) *schemas.Spec {
	with := *spec
	with.Limits = map[string]schemas.Limit{}
	for _, l := range p.Limits {
		with.Limits[l.Limit] = schemas.Limit{Max: l.Max, Of: l.Of}
	}
	maps.Copy(with.Limits, spec.Limits)
	return &with
}

// Of is the limit of a figure, nil for none.
func (p *Profile) Of(figure string) *Limit {
	if p == nil {
		return nil
	}
	for i := range p.Limits {
		if p.Limits[i].Limit == figure {
			return &p.Limits[i]
		}
	}
	return nil
}

// Measures are the operators that have the figures of a profile, one for each figure, unless one of these is among those that are there.
func (p *Profile) Measures(there []string) []string {
	var list []string
	for _, l := range p.Limits {
		offering := schemas.Offering(l.Limit)
		if len(offering) > 0 && !slices.ContainsFunc(offering, func(name string) bool { return slices.Contains(slices.Concat(there, list), name) }) {
			list = append(list, offering[0])
		}
	}
	return list
}
