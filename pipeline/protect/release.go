package protect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/protectrecords"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/operators/suppress"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// tightenings is how often limits of the model are tightened where models fitted to the release miss them.
const tightenings = 4

// refitted begins the warning of that.
const refitted = "models fitted to the release expect more re-identifications"

// finish writes what is asked for. Where models that are fitted to the release expect more than the target allows, the search is done again with
// tighter limits.
func (p *protecting) finish(ctx context.Context, out *Outcome) error {
	if len(out.Best) == 0 {
		return p.document(ctx, out)
	}
	if p.Spec.Release == "" && p.Spec.Out == "" {
		return p.close(ctx, out)
	}
	scale := 1.0
	for range tightenings {
		if err := p.write(ctx, out); err != nil {
			return err
		}
		if p.Spec.Out == "" || out.Released.Met || out.Released.Refitted == nil || p.Target.Expected == "" {
			break
		}
		most := p.most()
		if *out.Released.Refitted <= most {
			break
		}
		scale *= most / *out.Released.Refitted * 0.98
		rule, err := p.Rule(scale)
		if err != nil {
			return err
		}
		again, err := p.FindBy(ctx, rule)
		if err != nil {
			return err
		}
		if len(again.Best) == 0 {
			break
		}
		again.Warnings = append(
			slices.DeleteFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, refitted) }),
			fmt.Sprintf("%s than those of the file, merged: the search was done again for %.4g in place of %.4g", refitted, most*scale, most),
		)
		out.Outcome = again
	}
	return p.close(ctx, out)
}

// close tells what the release lost and what gives it back, and writes the figures.
func (p *protecting) close(ctx context.Context, out *Outcome) (err error) {
	if out.Released != nil {
		if out.Cost, err = p.cost(ctx, &out.Best[0]); err != nil {
			return err
		}
	}
	if err := p.imply(ctx, out); err != nil {
		return err
	}
	return p.document(ctx, out)
}

// most is the target of expected re-identifications as a number.
func (p *protecting) most() float64 {
	number, share, _ := p.Target.ExpectedAt()
	if share > 0 {
		return share * p.Before.Reidentifications
	}
	return number
}

// document writes the figures.
func (p *protecting) document(ctx context.Context, out *Outcome) error {
	if p.Spec.JSON == "" {
		return nil
	}
	return session.WriteParts(
		ctx,
		[]operators.SideFile{{Path: p.Spec.JSON, What: "the document", Kind: operators.MadeDocument, Begins: "{\n", Part: p.Spec.JSON}},
		only{out},
		p.options,
		p.Spec.Spec.Source.Path,
	)
}

// only is a Parted of one document.
type only struct{ o operators.Documented }

// Part is a Parted's.
func (d only) Part(string) any { return d.o }

// Document is a Documented's.
func (o *Outcome) Document() ([]byte, error) {
	var b strings.Builder
	_, err := o.WriteTo(&b)
	return []byte(b.String()), err
}

// a text is a document as it is.
type text []byte

// Document is a Documented's.
func (t text) Document() ([]byte, error) { return t, nil }

// hiddenFile is where the table of hidden cells goes.
func (p *protecting) hiddenFile() string {
	path := p.Spec.Release
	if path == "" {
		path = p.Spec.Out
	}
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".hidden.parquet"
}

// write makes the release by its spec, and judges it.
func (p *protecting) write(ctx context.Context, out *Outcome) error {
	best := &out.Best[0]
	spec := &schemas.Spec{Source: p.Spec.Spec.Source, Operators: slices.Clone(p.Spec.Spec.Operators), AllowEmpty: p.Spec.Spec.AllowEmpty}
	var columns recode.Config
	var left []string
	for v, level := range best.Node {
		r, leave := p.Levels[v].Recode(int(level))
		if leave {
			left = append(left, p.Levels[v].Variable)
		} else if r != nil {
			columns = append(columns, *r)
		}
	}
	if columns != nil {
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &columns})
	}
	hidden, err := p.Hiding(ctx, best)
	if err != nil {
		return err
	}
	if hidden != nil {
		file := p.hiddenFile()
		if err := session.WriteRecord(ctx, file, hidden, p.options, p.Spec.Spec.Source.Path); err != nil {
			return err
		}
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &suppress.Config{Table: file}})
	}
	var columnNames []string
	for _, f := range p.schema.Fields() {
		columnNames = append(columnNames, f.Name)
	}
	if left = append(left, p.Spec.Drop...); left != nil {
		stay := slices.DeleteFunc(slices.Clone(columnNames), func(name string) bool { return slices.Contains(left, name) })
		if len(stay) == 0 {
			return session.Wrong(errors.New("all columns of the file would be left out: nothing is released"))
		}
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &selection.Config{Columns: stay}})
	}
	if len(spec.Operators) == 0 { // nothing changes
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &selection.Config{Columns: columnNames}})
	}
	spec.Sink.Path = p.Spec.Out
	if p.Spec.Out == "" {
		spec.Sink.Path = "release" + extension(p.Spec.Spec.Source.Path)
	}
	if p.Spec.Release != "" {
		list := []operators.SideFile{{Path: p.Spec.Release, What: "the spec", Kind: operators.MadeDocument, Begins: "version: 1\n", Part: p.Spec.Release}}
		if err := session.WriteParts(ctx, list, only{text(spec.YAML())}, p.options, p.Spec.Spec.Source.Path); err != nil {
			return err
		}
		out.Release = p.Spec.Release
	}
	if p.Spec.Out == "" {
		return nil
	}
	o := p.options
	o.Reads = nil
	if _, err := pipeline.Run(ctx, spec, o); err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	out.Released, err = p.judge(ctx, best, left)
	return err
}

func extension(paths []string) string {
	if len(paths) > 0 {
		if e := filepath.Ext(paths[0]); e != "" {
			return e
		}
	}
	return ".parquet"
}

// judge counts the release anew.
func (p *protecting) judge(ctx context.Context, best *protectrecords.Release, left []string) (*Released, error) {
	out := &Released{Path: p.Spec.Out, Met: true}
	key := schemas.Key{}
	for _, v := range p.Spec.Spec.Key.Variables {
		if !slices.Contains(left, v.Name) {
			key.Variables = append(key.Variables, schemas.KeyVariable{Name: v.Name})
		}
	}
	out.Records = p.Lattice.Records
	if p.released = nil; len(key.Variables) == 0 {
		out.Classes = 1
		return out, nil
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{p.Spec.Out}}, Key: &key, Sampling: p.Spec.Spec.Sampling}
	if p.Target.Sensitive != "" {
		spec.Key = &schemas.Key{Variables: append(slices.Clone(key.Variables), schemas.KeyVariable{Name: p.Target.Sensitive})}
	}
	t, err := session.CountKey(ctx, "release", spec, p.options)
	if err != nil {
		return nil, err
	}
	out.Records, p.released = t.Records(), t
	for _, n := range classesOf(t, len(key.Variables)) {
		out.Classes++
		if n.records == 1 {
			out.SampleUniques++
		}
		if p.Target.K > 0 && n.records < p.Target.K {
			out.Below += n.records
		}
		if p.Target.Distinct > 0 && int64(len(n.values)) < p.Target.Distinct {
			out.miss(fmt.Sprintf("distinct l = %d", p.Target.Distinct))
		}
	}
	if out.Below > best.Suppressed && (p.Suppress != protectrecords.SuppressCells || cmp.Or(p.Fit, protectrecords.FitClass) == protectrecords.FitClass) {
		out.miss(fmt.Sprintf("k = %d", p.Target.K))
	}
	if p.Target.Uniques != nil && float64(out.SampleUniques) > *p.Target.Uniques {
		out.miss(fmt.Sprintf("uniques = %g", *p.Target.Uniques))
	}
	if !p.Target.Modelled() {
		return out, nil
	}
	return out, p.refit(ctx, out, key)
}

func (r *Released) miss(what string) {
	if r.Met = false; !slices.Contains(r.Missed, what) {
		r.Missed = append(r.Missed, what)
	}
}

// A classOf is a class of the release, with its sensitive values.
type classOf struct {
	records int64
	values  map[uint32]bool
}

// classesOf are the classes by the first variables of a table.
func classesOf(t *contingency.Table, variables int) map[string]*classOf {
	out := map[string]*classOf{}
	codes := make([][]uint32, len(t.Variables))
	for v := range codes {
		codes[v] = make([]uint32, t.Classes())
		t.Codes(v, 0, codes[v])
	}
	for i := range t.Classes() {
		key := ""
		for v := range variables {
			key += fmt.Sprint(codes[v][i], " ")
		}
		c := out[key]
		if c == nil {
			c = &classOf{values: map[uint32]bool{}}
			out[key] = c
		}
		c.records += t.Count(i)
		if variables < len(codes) {
			c.values[codes[variables][i]] = true
		}
	}
	return out
}

// refit fits models to the release.
func (p *protecting) refit(ctx context.Context, out *Released, key schemas.Key) error {
	model := p.Model
	model.Replace = true
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{p.Spec.Out}}, Key: &key, Sampling: p.Spec.Spec.Sampling,
		Operators: []schemas.Operator{{Config: &model}}}
	j, err := session.OpenToLook(ctx, spec, p.options)
	if err != nil {
		return err
	}
	defer j.Source.Close()
	if j.Chain, err = j.Bind(true, session.OperatorsOf(spec, &session.Companions{})...); err != nil {
		return err
	}
	report, err := j.Chain.Run(ctx, j.Source, nil, j.ChainOptions())
	if err != nil {
		return session.InRole("release", err)
	}
	last := report.Operators[len(report.Operators)-1]
	m := last.Summary.(*mc3.Summary)
	out.Refitted, out.RefittedPUSU = m.Reidentified, m.PUSU
	if e := last.Fitted.(mc3.Expecting).Expectation(); e != nil && len(e.Cells.CorrectMatch) > 0 {
		most := slices.Max(e.Cells.CorrectMatch)
		out.Greatest = &most
	}
	if p.Target.Expected != "" && out.Refitted != nil && *out.Refitted > p.most() {
		out.miss("expected = " + p.Target.Expected)
	}
	if p.Target.PUSU > 0 && out.RefittedPUSU != nil && *out.RefittedPUSU > p.Target.PUSU {
		out.miss(fmt.Sprintf("pu_su = %g", p.Target.PUSU))
	}
	if p.Target.CorrectMatch > 0 && out.Greatest != nil && *out.Greatest > p.Target.CorrectMatch {
		out.miss(fmt.Sprintf("correct_match = %g", p.Target.CorrectMatch))
	}
	return nil
}
