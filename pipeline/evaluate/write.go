package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/scratch"
	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/pipeline/session"
)

// write writes the evaluation to its folder: all files, or none.
func (e *Evaluation) write(ctx context.Context, s *Spec, o session.Options) error {
	tidy, err := session.MakeFolders([]string{files.Join(s.Out, evaluationFile)})
	if err != nil {
		return err
	}
	defer tidy()
	var written []files.Output
	defer func() {
		for _, f := range written {
			f.Abort()
		}
	}()
	create := func(name string) (files.Output, error) {
		f, err := files.Create(ctx, files.Join(s.Out, name), e.Input...)
		if err == nil {
			written = append(written, f)
		}
		return f, err
	}
	put := func(name string, text []byte) error {
		f, err := create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name(), scratch.Reason(err))
		}
		return nil
	}
	document, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	if err := put(evaluationFile, append(document, '\n')); err != nil {
		return err
	}
	for _, p := range e.pictures() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.network != nil {
			if err := put(p.name+".dot", []byte(p.network.DOT())); err != nil {
				return err
			}
			if slices.Contains(s.Pictures, "svg") {
				if err := put(p.name+".svg", []byte(p.network.SVG())); err != nil {
					return err
				}
			}
			continue
		}
		for _, kind := range s.Pictures {
			if kind == NoPictures {
				continue
			}
			draw := p.figure.SVG
			if kind == "png" {
				draw = p.figure.PNG
			}
			text, err := draw()
			if err != nil {
				return fmt.Errorf("drawing %s: %w", p.name, err)
			}
			if err := put(p.name+"."+kind, text); err != nil {
				return err
			}
		}
	}
	plots, err := create(plotsFile)
	if err != nil {
		return err
	}
	if err := session.WriteRecordTo(ctx, files.Held(plots), plotTable{e}, o); err != nil {
		return err
	}
	if s.By != nil {
		domains, err := create(domainsFile)
		if err != nil {
			return err
		}
		if err := session.WriteRecordTo(ctx, files.Held(domains), domainTable{e}, o); err != nil {
			return err
		}
	}
	return files.Commit(written...)
}

// mostDrawn is the largest number of sampling fractions of which each has figures of its own.
const mostDrawn = 5

// pictures are all figures, with the names of their files. Of many fractions there is the comparison of strategies only.
func (e *Evaluation) pictures() []picture {
	var all []picture
	for _, p := range e.plots {
		if len(e.plots) > mostDrawn {
			break
		}
		percent := strconv.FormatFloat(100*p.fraction, 'g', 9, 64)
		whole, first := "%d key variables, %d samples of %s %%", "%d key variables, the first of %d samples of %s %%"
		for _, one := range p.pictures(fmt.Sprintf(whole, len(e.Key), e.Repetitions, percent), fmt.Sprintf(first, len(e.Key), e.Repetitions, percent)) {
			one.name = fileName(fmt.Sprintf("%s-%g", one.name, p.fraction))
			all = append(all, one)
		}
	}
	if names := e.strategyNames(); len(e.Fractions) > 2 {
		strategies, costs := e.strategyPictures(names)
		strategies.Subtitle = fmt.Sprintf("%d key variables, %d samples of each fraction", len(e.Key), e.Repetitions)
		all = append(all, picture{name: "strategies", figure: strategies}, picture{name: "costs", figure: costs})
	}
	return all
}

// fileName takes out of a name what file systems do not like.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
}

// strategyNames are the names of the strategies, in their order.
func (e *Evaluation) strategyNames() []string {
	var names []string
	for _, f := range e.Fractions {
		for _, s := range f.Strategies {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// plotTable has the data of the plots: a row for each point.
type plotTable struct{ e *Evaluation }

type plotRow struct {
	figure          string
	fraction        float64
	name            string
	x, y, low, high float64 // NaN: none
	n               int64   // records or samples; 0: not said
}

// Tables is operators.Tabled's.
func (t plotTable) Tables(mem memory.Allocator) arrow.Record {
	var rows []plotRow
	nan := math.NaN()
	for _, p := range t.e.plots {
		for _, s := range p.scores {
			for i, x := range s.points {
				rows = append(rows, plotRow{"logit-rank", p.fraction, s.name, x, s.fit[i], nan, nan, int64(s.fits[i])})
			}
			if s.samples > 0 {
				for i, y := range s.truePositive {
					rows = append(rows, plotRow{"roc", p.fraction, s.name, float64(i) / gridPoints, y, nan, nan, int64(s.samples)})
				}
			}
			if s.scatter != nil {
				for k, line := range s.scatter.Lines {
					for i, x := range line.X {
						rows = append(rows, plotRow{[]string{"match", "match-smooth"}[k], p.fraction, s.name, x, line.Y[i], nan, nan, 0})
					}
				}
			}
			for _, b := range s.bins {
				name := "calibration-match"
				if s.alone {
					name = "calibration-unique"
				}
				rows = append(rows, plotRow{name, p.fraction, s.name, b.Estimate, b.Observed, b.Observed - 1.96*b.SE, b.Observed + 1.96*b.SE, int64(b.Count)})
			}
		}
	}
	for _, p := range t.e.plots {
		for _, h := range p.halves {
			for _, b := range h.bins {
				rows = append(rows, plotRow{"calibration-halves", p.fraction, h.operator, b.Estimate, b.Observed, b.Observed - 1.96*b.SE,
					b.Observed + 1.96*b.SE, int64(b.Count)})
			}
		}
		for _, m := range p.models {
			if m.figure == nil {
				continue
			}
			for _, l := range m.figure.Lines {
				for i, x := range l.X {
					rows = append(rows, plotRow{m.name, p.fraction, l.Name, x, l.Y[i], nan, nan, 0})
				}
			}
		}
	}
	for _, name := range t.e.strategyNames() {
		for _, c := range t.e.strategies[name] {
			if !math.IsNaN(c.cost) {
				rows = append(rows, plotRow{"costs", c.fraction, name, c.cost, c.Mean, nan, nan, int64(c.N)})
			}
			rows = append(rows, plotRow{"strategies", c.fraction, name, c.fraction, c.Mean, c.Mean - 1.96*c.SE, c.Mean + 1.96*c.SE, int64(c.N)})
		}
	}
	c := &operators.Columns{Mem: mem, Rows: len(rows)}
	c.TextsOrNull("figure", func(i int) *string { return &rows[i].figure })
	c.Numbers("sampling_fraction", func(i int) float64 { return rows[i].fraction })
	c.TextsOrNull("name", func(i int) *string { return &rows[i].name })
	c.NumbersOrNull("x", func(i int) float64 { return rows[i].x })
	c.NumbersOrNull("y", func(i int) float64 { return rows[i].y })
	c.NumbersOrNull("low", func(i int) float64 { return rows[i].low })
	c.NumbersOrNull("high", func(i int) float64 { return rows[i].high })
	c.WholesOrNull("n", func(i int) (int64, bool) { return rows[i].n, rows[i].n > 0 })
	return c.Record()
}
