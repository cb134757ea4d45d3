// Models compares scores of risk on a sample of a file whose truth is known: the file is taken as the population, a simple random
// sample is drawn from it, and each sample unique is scored by SUDA, by DIS-IS and by mc3 with each of its searches. The table that
// it prints (Markdown) tells how far each search ends from the best model, how far its edge probabilities are from the exact ones,
// how well each score finds the population uniques, and what it predicts against what is true.
//
//	go run ./examples/models
//	go run ./examples/models --population census.parquet --key age,sex,education --fraction 0.01,0.05 --seed 1
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/parquetfile"
)

func main() {
	log.SetFlags(0)
	population := flag.String("population", "examples/data/cps1988.parquet", "Parquet file taken as the population")
	key := flag.String("key", "education,experience,ethnicity,smsa,region,parttime", "key variables, separated by commas")
	fractions := flag.String("fraction", "0.05", "sampling fractions, separated by commas")
	seed := flag.Uint64("seed", 1, "seed of the sample and of the searches")
	iterations := flag.Int("iterations", 1_000_000, "proposals of each Markov chain")
	flag.Parse()
	ctx := context.Background()
	t, err := count(ctx, *population, strings.Split(*key, ","))
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range strings.Split(*fractions, ",") {
		fraction, err := strconv.ParseFloat(text, 64)
		if err != nil || !(fraction > 0 && fraction < 1) {
			log.Fatalf("the fraction %q is no number between 0 and 1", text)
		}
		s, err := draw(t, fraction, *seed)
		if err != nil {
			log.Fatal(err)
		}
		rows, err := s.compare(ctx, *seed, *iterations)
		if err != nil {
			log.Fatal(err)
		}
		s.print(os.Stdout, rows)
	}
}

// A tableOnly is an operator that adds no column: it keeps the contingency table of its key.
type tableOnly struct {
	key   []string
	table *contingency.Table
}

func (o *tableOnly) Bind(in *arrow.Schema) (*operators.Plan, error) {
	var r contingency.Request
	for _, name := range o.key {
		if !in.HasField(name) {
			return nil, fmt.Errorf("there is no column %q", name)
		}
		r.Keys = append(r.Keys, contingency.Key{Name: name})
	}
	return &operators.Plan{Tables: []contingency.Request{r}, Fit: func(_ context.Context, t []*contingency.Table, _ operators.Env) (operators.Fitted, error) {
		o.table = t[0]
		return &operators.ByClass{}, nil
	}}, nil
}

// count makes the contingency table of a file.
func count(ctx context.Context, path string, key []string) (*contingency.Table, error) {
	source, err := parquetfile.Open(ctx, []string{path}, parquetfile.Options{})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	o := &tableOnly{key: key}
	chain, err := operators.NewChain(source.Schema(), o)
	if err != nil {
		return nil, err
	}
	if _, err := chain.Run(ctx, source, nil, operators.Options{}); err != nil {
		return nil, err
	}
	return o.table, nil
}

// A sample of a population, as the classes of both tables.
type sample struct {
	fraction   float64
	population int64
	table      *contingency.Table
	truth      []int64 // population frequency F of each class of the sample
	uniques    []int   // classes with f = 1
	populated  int64   // population uniques, in the sample or not
}

// draw takes a simple random sample without replacement.
func draw(t *contingency.Table, fraction float64, seed uint64) (*sample, error) {
	var people []int32 // the class of each
	s := &sample{fraction: fraction, population: t.Records()}
	for i := range t.Classes() {
		for range t.Count(i) {
			people = append(people, int32(i))
		}
		if t.Count(i) == 1 {
			s.populated++
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	n := int(fraction*float64(len(people)) + 0.5)
	for i := range n {
		j := i + rng.IntN(len(people)-i)
		people[i], people[j] = people[j], people[i]
	}
	drawn := people[:n]
	slices.Sort(drawn)
	codes := make([][]uint32, len(t.Variables))
	var counts []int64
	for i := 0; i < n; {
		end := i
		for end < n && drawn[end] == drawn[i] {
			end++
		}
		for v := range codes {
			codes[v] = append(codes[v], t.Code(int(drawn[i]), v))
		}
		if end-i == 1 {
			s.uniques = append(s.uniques, len(counts))
		}
		counts = append(counts, int64(end-i))
		s.truth = append(s.truth, t.Count(int(drawn[i])))
		i = end
	}
	var err error
	s.table, err = contingency.New(observed(t, codes), codes, counts)
	return s, err
}

// observed leaves out the categories that the sample does not have, as whoever holds only the sample would.
func observed(t *contingency.Table, codes [][]uint32) []contingency.Variable {
	var list []contingency.Variable
	for v, variable := range t.Variables {
		seen := make([]bool, len(variable.Categories)+1)
		for _, c := range codes[v] {
			seen[c] = true
		}
		to := make([]uint32, len(seen))
		kept := contingency.Variable{Name: variable.Name}
		for c, name := range variable.Categories {
			if seen[c] {
				to[c] = uint32(len(kept.Categories))
				kept.Categories = append(kept.Categories, name)
			}
		}
		to[len(variable.Categories)] = kept.Missing()
		for i, c := range codes[v] {
			codes[v][i] = to[c]
		}
		list = append(list, kept)
	}
	return list
}
