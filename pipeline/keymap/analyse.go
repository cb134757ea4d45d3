package keymap

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
)

// A Question is what is asked of an environment: by which variables can records of the target be compared with those of forms?
type Question struct {
	Target     string             // form
	Match      []*repository.Form // the match set, by name
	Prevalence []string           // decimal texts; nil for 0
	Variables  []string           // of the target; nil for all
	Base       string             // one of repository.Bases; "" for that of the repository
	AllPairs   bool               // all forms that contradict one another, not the first two only
	Continuous bool               // areas are integrals over prevalence
}

// Statuses of a variable.
const (
	OK           = "ok"
	Null         = "null"         // not enough forms hold it, or none
	Trivial      = "trivial"      // they share one category, which tells nothing apart
	Inconsistent = "inconsistent" // categorizations contradict one another
	Unreliable   = "unreliable"   // they do, and were merged
)

// An Analysis answers a question: each variable of the target at all thresholds.
type Analysis struct {
	Question  Question
	All       int // forms of the match set
	Variables []*Profile
}

// A Profile is a variable of the target beside the match set.
type Profile struct {
	*Variable
	Status        string // OK, Inconsistent, Unreliable, or Null if no form holds it
	Contradiction []keymap.Inconsistency
	Target        keymap.Partition
	Nodes         []keymap.Node // best first
	Runs          []keymap.Run
	Present       int      // forms of the match set that hold it
	All           int      // forms that a prevalence is a share of
	Area          *big.Rat // under sizes against prevalence
	Capped        bool     // a size in it was assumed
	Reviewed      *big.Rat // the area with the levels of the review; 0 if that excludes the variable
	Rank          int      // by Area, from 1
	ReviewRank    int      // by Reviewed; 0 for a variable that is excluded
	match         []string // forms that hold it, by name
}

// Ask computes an analysis.
func (e *Environment) Ask(ctx context.Context, q Question) (*Analysis, error) {
	target := e.Form(q.Target)
	if target == nil {
		return nil, session.Wrong(e.Unknown(repository.Forms, q.Target))
	}
	for _, name := range q.Variables {
		if _, holds := target.Instance(name); !holds {
			return nil, session.Wrong(fmt.Errorf("form %q has no variable %q", q.Target, name))
		}
	}
	if q.Base == "" {
		q.Base = cmp.Or(e.Config.DefaultBase, repository.Bases[0])
	}
	if q.Prevalence == nil {
		q.Prevalence = []string{"0"}
	}
	names := q.Variables
	if names == nil {
		for _, x := range target.Variables {
			names = append(names, x.Variable)
		}
		slices.Sort(names)
	}
	a := &Analysis{Question: q, All: len(q.Match), Variables: make([]*Profile, len(names))}
	err := e.each(ctx, names, func(ctx context.Context, i int, v *Variable) (err error) {
		a.Variables[i], err = e.profile(ctx, q, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	rank(a.Variables, func(p *Profile) *big.Rat { return p.Area }, func(p *Profile, n int) { p.Rank = n })
	rank(a.Variables, func(p *Profile) *big.Rat { return p.Reviewed }, func(p *Profile, n int) {
		if p.Review == nil || !p.Review.Exclude {
			p.ReviewRank = n
		}
	})
	return a, nil
}

func rank(list []*Profile, by func(*Profile) *big.Rat, set func(*Profile, int)) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Profile) int { return cmp.Or(by(b).Cmp(by(a)), cmp.Compare(a.Name, b.Name)) })
	for i, p := range list {
		set(p, i+1)
	}
}

func (e *Environment) profile(ctx context.Context, q Question, v *Variable) (*Profile, error) {
	p := &Profile{Variable: v, Status: OK, Area: new(big.Rat), Reviewed: new(big.Rat), All: len(q.Match)}
	instances := []keymap.Instance{}
	wrong := false
	for _, name := range append([]string{q.Target}, names(q.Match)...) {
		x, holds := e.Form(name).Instance(v.Name)
		if !holds {
			continue
		}
		instances = append(instances, keymap.Instance{Form: name, Categories: x.Categories})
		wrong = wrong || v.Wrong[name] != nil
		if len(instances) > 1 || name != q.Target {
			p.match = append(p.match, name)
		}
	}
	p.Present = len(p.match)
	if q.Base == "present" {
		p.All = p.Present
	}
	if wrong {
		p.Contradiction = v.Graph.Inconsistencies(instances, q.AllPairs)
		p.Status = Unreliable
		if !e.Lenient {
			p.Status = Inconsistent
			return p, nil
		}
	}
	if p.Present == 0 {
		p.Status = Null
		return p, nil
	}
	p.Target = v.Forms[q.Target]
	query := keymap.Query{Variable: v.Name, Target: p.Target, Observed: func(x keymap.Partition) bool { return v.observed[x] }, Limits: e.Limits}
	count := make(map[keymap.Partition]int)
	for _, name := range p.match {
		count[v.Forms[name]]++
	}
	for _, x := range v.Observed {
		query.Match = append(query.Match, keymap.Observation{Partition: x, Forms: count[x]})
	}
	var err error
	if p.Nodes, err = query.Nodes(ctx); err != nil {
		return nil, err
	}
	p.Runs = keymap.Profile(p.Nodes)
	area := keymap.Area
	if q.Continuous {
		area = keymap.Continuous
	}
	sizes := keymap.Sizes{Levels: v.Levels()}
	p.Area, p.Capped = area(p.Nodes, p.Runs, p.All, sizes)
	p.Reviewed = p.Area
	if r := v.Review; r != nil {
		if r.EffectiveLevels != nil {
			sizes.Cap = *r.EffectiveLevels
			p.Reviewed, _ = area(p.Nodes, p.Runs, p.All, sizes)
		}
		if r.Exclude {
			p.Reviewed = new(big.Rat)
		}
	}
	return p, nil
}

func names(forms []*repository.Form) []string {
	list := make([]string, len(forms))
	for i, f := range forms {
		list[i] = f.Name
	}
	return list
}

// An Answer is what a profile says at one prevalence.
type Answer struct {
	*Profile
	Prevalence string
	Status     string // one of the statuses
	Required   int    // forms that must hold the variable: N
	Node       *keymap.Node
	Code       string
	Candidates []string // codes of the maximal answers, best first
	CoMaximal  []string // codes of those that have as many categories as the best
}

// At answers a prevalence.
func (p *Profile) At(prevalence *big.Rat) Answer {
	n, q := keymap.Required(p.All, prevalence)
	a := Answer{Profile: p, Status: p.Status, Required: n}
	if p.Status == Inconsistent || p.Status == Null {
		return a
	}
	best := keymap.Best(p.Nodes, n)
	if !keymap.Enough(p.Present, q) || best < 0 {
		a.Status = Null
		return a
	}
	a.Node = &p.Nodes[best]
	a.Code = p.Codes[a.Node.Partition]
	for _, c := range keymap.Candidates(p.Nodes, n) {
		code := p.Codes[p.Nodes[c].Partition]
		a.Candidates = append(a.Candidates, code)
		if p.Nodes[c].Size == a.Node.Size {
			a.CoMaximal = append(a.CoMaximal, code)
		}
	}
	if a.Status == OK && a.Node.Size == 1 {
		a.Status = Trivial
	}
	return a
}

// Supporters are the match forms that harmonize to the answer, by name.
func (a Answer) Supporters() []string {
	if a.Node == nil {
		return nil
	}
	forms := make([]keymap.Partition, len(a.match))
	for i, name := range a.match {
		forms[i] = a.Forms[name]
	}
	var list []string
	for i, does := range keymap.Supporters(a.Target, a.Node.Partition, forms) {
		if does {
			list = append(list, a.match[i])
		}
	}
	return list
}
