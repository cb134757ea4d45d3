package protect

import (
	"context"
	"fmt"
	"os"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/operators/protectrecords"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Run finds the recodings at the least loss after which the file is safe, writes the spec that makes the best one and the release itself where it is
// asked to, and judges that again from the file. Errors about what was asked are those for which session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	schemas.Complete(s.Fields())
	if err := schemas.CheckDocument(&s); err != nil {
		return nil, err
	}
	if err := s.checkOut(o); err != nil {
		return nil, err
	}
	o.Sweep(s.Out, s.Release, s.JSON)
	c, err := s.count(ctx, o)
	if err != nil {
		return nil, err
	}
	texts, err := s.hierarchyTexts()
	if err != nil {
		return nil, err
	}
	p := &protecting{Spec: &s, counted: c, options: o}
	if p.Search, err = s.Ask.New(c.table, s.Spec.Key.Variables, c.types, texts); err != nil {
		return nil, err
	}
	p.Sampling, p.Expectation, p.Workers, p.Progress = s.Spec.Sampling, c.model, o.Workers, o.Progress
	over := func() {}
	if o.Enough != nil {
		p.Enough, over = o.Enough()
		defer over()
	}
	out := &Outcome{Version: 1, Input: s.Spec.Source.Path, Implied: []Implied{}}
	rule, err := p.Rule(1)
	if err != nil {
		return nil, err
	}
	if out.Outcome, err = p.FindBy(ctx, rule); err != nil {
		return nil, err
	}
	if p.Frontier() {
		if out.Frontier, err = p.FrontierOf(ctx, rule); err != nil {
			return nil, err
		}
	}
	over() // what follows ends by the context alone
	p.Enough = nil
	out.Warnings = append(out.Warnings, c.warnings...)
	return out, p.finish(ctx, out)
}

// checkOut finds outputs that cannot be written.
func (s *Spec) checkOut(o session.Options) error {
	read, err := session.Readings("the input", s.Spec.Source.Path)
	if err != nil {
		return err
	}
	for _, f := range s.Hierarchies.Files() {
		read = append(read, session.Reading{What: "the hierarchy", Path: f})
	}
	var writes []string
	for _, path := range append([]string{s.Out, s.Release, s.JSON}, o.Writes...) {
		if path != "" {
			writes = append(writes, path)
		}
	}
	return session.CheckPaths(slices.Concat(read, o.Reads), writes)
}

// hierarchyTexts are those of the files of hierarchies.
func (s *Spec) hierarchyTexts() (map[string][]byte, error) {
	texts := map[string][]byte{}
	for i := range s.Hierarchies {
		h := &s.Hierarchies[i]
		if h.File == "" {
			continue
		}
		text, err := os.ReadFile(h.File)
		if err != nil {
			return nil, session.Wrong(fmt.Errorf("the hierarchy of %s: %w", h.Variable, err))
		}
		texts[h.File] = text
	}
	return texts, nil
}

// A protecting is a search for what makes a file safe, and the making of it.
type protecting struct {
	Spec *Spec
	*counted
	*protectrecords.Search
	options session.Options

	released *contingency.Table // of the key variables that stay; nil for none
}
