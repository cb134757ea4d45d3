package pipeline

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// summarize makes the summary document, all but how the run went.
func (j *running) summarize(r *operators.Report) (_ *schemas.Summary, err error) {
	s := &schemas.Summary{
		SchemaVersion: schemas.Version,
		Program:       Version(),
		Input:         j.Source.Inputs(),
		Rows:          r.Rows,
		Operators:     map[string]any{},
		Seed:          j.Options.Seed,
		Warnings:      append([]string{}, r.Warnings...),
	}
	for _, w := range j.warnings() {
		s.Warnings = append(s.Warnings, w)
		j.Options.Logger.Warn(w)
	}
	for _, o := range r.Operators {
		s.Operators[o.Name] = o.Summary
	}
	j.liftKey(s)
	j.describeSample(s)
	s.Limits = compare(j.Spec, s, r.Rankings)
	s.Spec, err = j.Spec.JSON()
	return s, err
}

// footer is the metadata of the outputs.
func (j *running) footer(s *schemas.Summary, r *operators.Report) (map[string]string, error) {
	switch j.Spec.Sink.Footer {
	case schemas.FooterNone:
		return map[string]string{schemas.MetadataKey: ""}, nil // not the input's own either
	case schemas.FooterFull:
	default:
		released, err := s.Released(
			schemas.View{
				Rows:     r.Written,
				Several:  len(j.Outputs.Paths) > 1,
				Whole:    r.Written == r.Rows,
				Shown:    j.Chain.Shown(),
				Sampling: j.Spec.Sampling,
				Spec:     j.Spec,
			},
		)
		if err != nil {
			return nil, err
		}
		s = released
	}
	text, err := s.Footer()
	return map[string]string{schemas.MetadataKey: string(text)}, err
}

// warnings are what can be said before any row is read.
func (j *running) warnings() []string {
	var list []string
	inner, _ := session.Unpartitioned(j.Source)
	if w, ok := inner.(session.Warner); ok {
		list = append(list, w.Warnings()...)
	}
	if from := looser(j.Spec); len(from) > 0 {
		list = append(
			list,
			fmt.Sprintf(
				"the figures are of %s as recoded, and the output has what is in the input, which is riskier than they say: to release what was assessed, recode with "+
					"replace: true, and without keep: false",
				strings.Join(from, ", "),
			),
		)
	}
	if s := j.Spec.Sampling; s != nil && s.Weight != "" {
		list = append(
			list,
			fmt.Sprintf(
				"the sampling fraction is the number of records by the sum of the weights %s: the design is taken as ignorable, as if all records had the same chance "+
					"to be drawn",
				s.Weight,
			),
		)
		if s.ZeroWeight == schemas.ZeroDrop {
			list = append(list, "records whose weight is 0 or missing are left out: they are in no table, and their columns are null")
		}
	}
	return list
}

// looser are the columns that the output has as they are in the input, while the figures are of key variables made of them that it has not.
func looser(spec *schemas.Spec) []string {
	if spec.Sink.Path == "" {
		return nil
	}
	looked := map[string]bool{}
	for _, name := range spec.Variables() {
		looked[name] = true
	}
	var from []string
	hidden := map[string]string{} // what columns that are not written are made from
	leaves := func(name string) {
		from = slices.DeleteFunc(from, func(x string) bool { return x == name })
	}
	for _, o := range spec.Operators {
		switch c := o.Config.(type) {
		case *recode.Config:
			for _, r := range *c {
				of := cmp.Or(r.From, r.Name)
				of = cmp.Or(hidden[of], of)
				shown := r.Keep == nil || *r.Keep
				if !shown && !r.Replace {
					hidden[r.Name] = of
				}
				switch {
				case shown && r.Replace:
					leaves(of)
				case looked[r.Name] && !looked[of] && !slices.Contains(from, of) || looked[r.Name] && of == r.Name && !slices.Contains(from, of):
					from = append(from, of)
				}
			}
		case *selection.Config:
			for _, name := range slices.Clone(from) {
				if c.Columns != nil && !slices.Contains(c.Columns, name) {
					leaves(name)
				}
			}
		}
	}
	return from
}

// liftKey moves the description of the pipeline's own key from the first operator that used it to the document.
func (j *running) liftKey(s *schemas.Summary) {
	for _, o := range j.Spec.Operators {
		m := o.Measure()
		if m == nil || m.OwnKey() != nil || m.MissingPolicy() != "" {
			continue
		}
		measured, ok := s.Operators[m.ColumnPrefix()].(schemas.Measured)
		if !ok {
			continue
		}
		if s.Key == nil {
			s.Key = measured.Key()
		}
		if reflect.DeepEqual(s.Key, measured.Key()) { // else it is of other records, those of another stage
			s.Operators[m.ColumnPrefix()] = schemas.WithoutKey(measured)
		}
	}
}

// describeSample says what the spec says of the sample, and what follows from it. A fraction that comes from weights or from the
// population's size is the operators' business, as it depends on the records they count.
func (j *running) describeSample(s *schemas.Summary) {
	sampling := j.Spec.Sampling
	if sampling == nil {
		return
	}
	s.Sampling.Weight = sampling.Weight
	switch {
	case sampling.Fraction > 0:
		f := sampling.Fraction
		s.Sampling.Fraction = &f
	case sampling.PopulationSize > 0:
		n := float64(sampling.PopulationSize)
		s.Sampling.PopulationSize = &n
	}
	for _, o := range j.Spec.Operators { // the first that has used it tells what came of it
		m := o.Measure()
		if m == nil || s.Sampling.Fraction != nil {
			continue
		}
		if sampled, ok := s.Operators[m.ColumnPrefix()].(schemas.Sampled); ok {
			fraction, population := sampled.Sampled()
			s.Sampling.Fraction = fraction
			if s.Sampling.PopulationSize == nil {
				s.Sampling.PopulationSize = population
			}
		}
	}
}

func (j *running) runSummary(start time.Time, spilled int64) *schemas.RunSummary {
	host := ""
	if j.Options.Host {
		host, _ = os.Hostname() // left out where there is none
	}
	return &schemas.RunSummary{
		ElapsedSeconds:  time.Since(start).Seconds(),
		PeakMemoryBytes: PeakMemory(),
		SpilledBytes:    spilled,
		Workers:         j.Options.Workers,
		MemoryLimit:     j.Options.Memory,
		Host:            host,
	}
}

func plainNumber(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		short = v
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}
