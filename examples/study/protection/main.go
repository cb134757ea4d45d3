// Protection compares ways to make samples safe on a population that is known: coarser categories, hidden cells, both. For each it tells what is
// lost, the re-identifications that models expect of the release, and how many there are in truth.
//
//	go run ./examples/study/protection
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"microrisk/operators/hierarchy"
	"microrisk/operators/mc3"
	"microrisk/operators/protectrecords"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

type study struct {
	data, key   string
	hierarchies []string
	fraction    float64
	k           int64
	samples     int
}

func main() {
	s := study{}
	flag.StringVar(&s.data, "data", filepath.Join("examples", "data", "eusilc_synth.parquet"), "the population")
	flag.StringVar(&s.key, "key", "db040,hsize,age,rb090,pb220a,pl030", "key variables")
	flag.Func("hierarchy", "how a variable can be made coarser, as protect takes it; may be repeated", func(text string) error {
		s.hierarchies = append(s.hierarchies, text)
		return nil
	})
	flag.Float64Var(&s.fraction, "fraction", 0.1, "sampling fraction")
	flag.Int64Var(&s.k, "k", 3, "records that share each key")
	flag.IntVar(&s.samples, "samples", 5, "samples that are drawn")
	flag.Parse()
	if s.hierarchies == nil {
		s.hierarchies = []string{"age=5,10,20", "hsize=top:6,5,4"}
	}
	if err := s.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A way makes a sample safe.
type way struct{ name, suppress, fit, levels string }

var ways = []way{
	{"as it is", "", "", ""},
	{"coarser categories alone", protectrecords.SuppressNone, "", ""},
	{"hidden cells alone", protectrecords.SuppressCells, protectrecords.FitClass, "levels:0..0"},
	{"  by the weaker --fit own", protectrecords.SuppressCells, protectrecords.FitOwn, "levels:0..0"},
	{"both", protectrecords.SuppressCells, protectrecords.FitClass, ""},
	{"coarser, hidden records", protectrecords.SuppressRecords, "", ""},
}

// figures of a release, summed over samples.
type figures struct {
	samples                       int
	loss, coarser, hidden         float64
	model, truth, unique, correct float64
}

func (s *study) run(ctx context.Context) error {
	people, err := s.population(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "protection")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	sums := make([]figures, len(ways))
	size := 0
	for seed := range s.samples {
		sample := people.draw(s.fraction, uint64(seed))
		if size, err = sample.write(filepath.Join(folder, "sample.csv")); err != nil {
			return err
		}
		for i, w := range ways {
			if err := s.add(ctx, folder, w, people, sample, &sums[i]); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	fmt.Printf("%d people, samples of %d, k = %d\n\n%-26s %8s %9s %8s %9s %9s %9s %9s\n", people.size(), size, s.k, "means of samples", "loss", "coarser",
		"hidden", "expected", "true", "one fits", "correct")
	for i, w := range ways {
		f := &sums[i]
		n := float64(max(1, f.samples))
		fmt.Printf("%-26s %8.4f %9.0f %8.0f %9.1f %9.1f %9.0f %9.1f", w.name, f.loss/n, f.coarser/n, f.hidden/n, f.model/n, f.truth/n, f.unique/n, f.correct/n)
		if f.samples < s.samples {
			fmt.Printf("  (%d of %d samples could be made safe)", f.samples, s.samples)
		}
		fmt.Println()
	}
	return nil
}

// add protects a sample in one way, and judges the release by models and by the truth.
func (s *study) add(ctx context.Context, folder string, w way, people, sample *classes, f *figures) error {
	released := filepath.Join(folder, "sample.csv")
	levels := make([]int, len(people.names)) // -1: left out
	if w.suppress != "" {
		released = filepath.Join(folder, "release.csv")
		out, err := s.protect(ctx, folder, w, released)
		if err != nil || len(out.Best) == 0 {
			return err
		}
		f.loss += out.Best[0].Loss
		for v, l := range out.Best[0].Levels {
			if levels[v] = l.Level; l.Words == "left out" {
				levels[v] = -1
			}
			f.coarser += float64(out.Cost.Variables[v].Coarser)
			f.hidden += float64(out.Cost.Variables[v].Hidden)
		}
	}
	f.samples++
	release, err := tableOf(ctx, released, kept(people.names, levels))
	if err != nil {
		return err
	}
	x, err := s.expected(ctx, released, release.names)
	if err != nil {
		return err
	}
	groups, err := s.groups(people, levels)
	if err != nil {
		return err
	}
	t := judge(release, people.recoded(groups, levels), sample.recoded(groups, levels))
	f.model, f.truth, f.unique, f.correct = f.model+x, f.truth+t.matches, f.unique+float64(t.unique), f.correct+float64(t.correct)
	return nil
}

func (s *study) list(w way) (hierarchy.List, error) {
	var list hierarchy.List
	for _, text := range s.hierarchies {
		if err := hierarchy.ParseFlag(&list, text); err != nil {
			return nil, err
		}
	}
	for _, name := range strings.Split(s.key, ",") {
		if w.levels != "" {
			if err := hierarchy.ParseFlag(&list, name+"="+w.levels); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

func (s *study) protect(ctx context.Context, folder string, w way, released string) (*protect.Outcome, error) {
	list, err := s.list(w)
	if err != nil {
		return nil, err
	}
	return protect.Run(ctx, protect.Spec{
		Spec: &schemas.Spec{Source: schemas.Source{Path: []string{filepath.Join(folder, "sample.csv")}}, Key: keyOf(strings.Split(s.key, ","))},
		Ask:  protectrecords.Ask{Hierarchies: list, Target: protectrecords.Target{K: s.k}, Suppress: w.suppress, Fit: w.fit, Checks: 2000}, Out: released,
	}, session.Options{})
}

func keyOf(names []string) *schemas.Key {
	key := &schemas.Key{}
	for _, name := range names {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: name})
	}
	return key
}

// expected are the re-identifications that models of a file expect, a hidden cell being a category.
func (s *study) expected(ctx context.Context, path string, names []string) (float64, error) {
	if len(names) == 0 {
		return 0, nil
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{path}}, Key: keyOf(names), Sampling: &schemas.Sampling{Fraction: s.fraction},
		Operators: []schemas.Operator{{Config: &mc3.Config{}}}}
	j, err := session.OpenToLook(ctx, spec, session.Options{}.WithDefaults())
	if err != nil {
		return 0, err
	}
	defer j.Source.Close()
	if j.Chain, err = j.Bind(true, session.OperatorsOf(spec, &session.Companions{})...); err != nil {
		return 0, err
	}
	report, err := j.Chain.Run(ctx, j.Source, nil, j.ChainOptions())
	if err != nil {
		return 0, err
	}
	m := report.Operators[len(report.Operators)-1].Summary.(*mc3.Summary)
	if m.Reidentified == nil {
		return 0, nil
	}
	return *m.Reidentified, nil
}
