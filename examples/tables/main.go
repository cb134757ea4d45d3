// Tables compares the methods that make tables safe, on five tables: what each hides, what that costs, how long it takes, and whether the
// result passes the audit. README.md beside it has what came of it.
//
//	go run ./examples/tables
//	go run ./examples/tables -health health.csv
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "microrisk/operators/builtin"
	"microrisk/operators/protect"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

func main() {
	data := flag.String("data", filepath.Join("examples", "data"), "folder of the sample data")
	limit := flag.Float64("limit", 60, "seconds of a search")
	made := flag.String("health", "", "write the made-up table of a health office to this file, and do nothing else")
	flag.Parse()
	if *made != "" {
		if err := os.WriteFile(*made, []byte(healthTable(1)), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := run(context.Background(), *data, *limit, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A table to be protected; Base is that of rounding, 0 for none.
type table struct {
	name, source string
	config       protect.Config
	base         int64
}

// few and dominated are the rules of tables of counts and of amounts.
var (
	few       = []protect.Rule{{Rule: "min"}}
	dominated = []protect.Rule{{Rule: "min"}, {Rule: "p%"}}
)

func list(data, folder string) []table {
	cps, silc := filepath.Join(data, "cps1988.parquet"), filepath.Join(data, "eusilc_synth.parquet")
	by := func(names ...string) (list []schemas.KeyVariable) {
		for _, n := range names {
			list = append(list, schemas.KeyVariable{Name: n})
		}
		return list
	}
	return []table{
		{"men by education and region", cps, protect.Config{Table: by("education", "region"), Rules: few}, 3},
		{"men by education, ethnicity and region", cps, protect.Config{Table: by("education", "ethnicity", "region"), Rules: few}, 3},
		{"wages by education and region", cps, protect.Config{Table: by("education", "region"), Rules: dominated, Response: "wage", Decimals: 2}, 0},
		{"people by region, status and sex, households not to be disclosed", silc,
			protect.Config{Table: by("db040", "pl030", "rb090"), Rules: few, Contributor: "db030"}, 3},
		{"made-up turnover by activity (three levels) and size", filepath.Join(folder, "turnover.csv"), protect.Config{Table: by("activity", "size"),
			Rules: dominated, Response: "turnover", Contributor: "holding", Hierarchies: map[string]string{"activity": filepath.Join(folder, "activities.hrc")}}, 0},
	}
}

// makeUp writes records of 6,000 enterprises of 4,000 holdings, whose turnover is by Pareto's law, and the hierarchy of their activities.
func makeUp(folder string) error {
	r := rand.New(rand.NewPCG(1988, 1))
	var codes []string
	var tree strings.Builder
	for section := range 6 {
		fmt.Fprintf(&tree, "%c\n", 'A'+section)
		for division := range 2 + section%3 {
			fmt.Fprintf(&tree, "@%c%d\n", 'A'+section, division)
			for class := range 3 + (section+division)%4 {
				code := fmt.Sprintf("%c%d.%d", 'A'+section, division, class)
				codes = append(codes, code)
				fmt.Fprintf(&tree, "@@%s\n", code)
			}
		}
	}
	text := "activity,size,holding,turnover\n"
	for range 6_000 {
		code := codes[int(float64(len(codes))*math.Pow(r.Float64(), 2))]
		size := int(5 * math.Pow(r.Float64(), 2))
		text += fmt.Sprintf("%s,size %d,h%d,%.0f\n", code, size+1, r.IntN(4_000), 20*math.Pow(4, float64(size))*math.Pow(1-r.Float64(), -1/1.3))
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, "turnover.csv"), []byte(text), 0o666),
		os.WriteFile(filepath.Join(folder, "activities.hrc"), []byte(tree.String()), 0o666))
}

// methods are those that are compared.
var methods = []string{"optimal", "modular", "hypercube", "network", "rounding"}

// by is how a method makes the table safe, and whether it can.
func (t *table) by(method string, limit float64, folder string) (c protect.Config, can bool) {
	c = t.config
	c.Base, c.Seconds = t.base, &limit
	c.Out, c.Inside = filepath.Join(folder, "public.csv"), filepath.Join(folder, "internal")
	switch method {
	case "rounding":
		can = t.base > 0
	case "network":
		can = len(c.Table) == 2
	default:
		can = true
	}
	return c.For(method), can
}

func run(ctx context.Context, data string, limit float64, out io.Writer) error {
	folder, err := os.MkdirTemp("", "tables")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := makeUp(folder); err != nil {
		return err
	}
	fmt.Fprintln(out, "| table | method | cells | unsafe | hidden or changed | cost | no cheaper than | seconds | audit |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, t := range list(data, folder) {
		for _, method := range methods {
			c, can := t.by(method, limit, folder)
			if !can {
				continue
			}
			row, err := try(ctx, t.source, &c)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, method, err)
			}
			fmt.Fprintf(out, "| %s | %s | %s |\n", t.name, method, row)
			t.name = ""
		}
	}
	return nil
}

// try protects a table, and audits the files of it.
func try(ctx context.Context, source string, c *protect.Config) (string, error) {
	start := time.Now()
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: c}}}
	o, err := pipeline.Run(ctx, spec, session.Options{})
	if err != nil {
		return "", err
	}
	seconds := time.Since(start).Seconds()
	s := o.Summary.Operators[c.ColumnPrefix()].(*protect.Summary)
	a, err := tables.RunAudit(ctx, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	if err != nil {
		return "", err
	}
	verdict := "pass"
	if failed := len(a.Report.Failed()); failed > 0 {
		verdict = fmt.Sprintf("%d cells fail", failed)
	}
	value := func(units int64) string {
		return fmt.Sprintf("%.*f", c.Decimals, float64(units)/math.Pow10(int(c.Decimals)))
	}
	bound := ""
	switch {
	case s.Proven:
		bound = value(s.Cost)
	case c.Method == "optimal":
		bound = value(s.Bound)
	}
	return fmt.Sprintf("%d | %d | %d | %s | %s | %.2f | %s", s.Cells, s.Unsafe, s.Hidden+s.Rounded, value(s.Cost), bound, seconds, verdict), nil
}
