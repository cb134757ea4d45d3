package keymap

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	engine "microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
)

func example(t testing.TB, lenient bool) *Environment {
	t.Helper()
	r, err := repository.Open("../../examples/keymap")
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	return New(r, lenient, engine.Limits{})
}

func ask(t testing.TB, e *Environment, q Question) *Analysis {
	t.Helper()
	a, err := e.Ask(context.Background(), q)
	require.NoError(t, err)
	return a
}

// The answers of the example, by hand: seven forms are matched, so that one must hold a variable at 0.25, and four at 0.6.
func TestExample(t *testing.T) {
	e := example(t, false)
	s := e.Scenario("Commercial data")
	a := ask(t, e, Question{Target: s.Target, Match: e.MatchSet(s), Prevalence: []string{"0.25", "0.6"}})
	require.Equal(t, 7, a.All)
	answers, err := a.Answers()
	require.NoError(t, err)
	got := make(map[string]string)
	for _, x := range answers {
		got[x.Prevalence+" "+x.Name] = x.Status + " " + x.Code
	}
	require.Equal(t, map[string]string{
		"0.25 Age": "ok C0.001", "0.25 Region": "ok C9.001", "0.25 Sex": "ok C2.001", "0.25 Household size": "ok C5.001",
		"0.25 Citizenship": "ok C3.001", "0.25 Economic status": "ok C6.001",
		// Three banks and agencies have dates of birth, and the insurer's bands are the finest.
		"0.6 Age": "ok C7.001", "0.6 Region": "ok C9.001", "0.6 Sex": "ok C2.001", "0.6 Household size": "null ",
		"0.6 Citizenship": "null ", "0.6 Economic status": "null ",
	}, got)
	space, bits := KeySpace(Keys(answers[:6]))
	require.EqualValues(t, 100*9*6*5*2*3, space.Int64())
	require.InDelta(t, 17.3056, bits, 1e-4)
}

// Each answer is that of the method by its definition: the largest harmonization of the target with N forms that hold the variable.
func TestAnswersAreBest(t *testing.T) {
	e := example(t, false)
	s := e.Scenario("Commercial data")
	match := e.MatchSet(s)
	a := ask(t, e, Question{Target: s.Target, Match: match})
	for _, p := range a.Variables {
		var has []engine.Partition
		for _, f := range match {
			if x, holds := p.Forms[f.Name]; holds {
				has = append(has, x)
			}
		}
		best := make([]int, len(has)+1)
		for set := 1; set < 1<<len(has); set++ {
			joint, n := p.Target, 0
			for i, x := range has {
				if set>>i&1 == 1 {
					joint, n = engine.Join(joint, x), n+1
				}
			}
			best[n] = max(best[n], joint.Size())
		}
		for _, run := range p.Runs {
			for n := run.From; n <= run.To; n++ {
				assert.Equal(t, best[n], p.Nodes[run.Node].Size, "%s at %d", p.Name, n)
			}
		}
	}
}

func TestReportNeedsNothingElse(t *testing.T) {
	e := example(t, false)
	s := e.Scenario("Commercial data")
	a := ask(t, e, Question{Target: s.Target, Match: e.MatchSet(s), Prevalence: []string{"0", "0.5"}})
	page, err := e.Report(context.Background(), s, a)
	require.NoError(t, err)
	again, err := e.Report(context.Background(), s, a)
	require.NoError(t, err)
	require.Equal(t, page, again)
	for _, outside := range []string{"<script", "<link", "src=", "@import", "url("} {
		require.NotContains(t, string(page), outside)
	}
	for _, text := range []string{"Commercial data", "Economic status", "C9.001", "How to read this", "Job agency"} {
		require.Contains(t, string(page), text)
	}
}

func TestGraphsAreXML(t *testing.T) {
	e := example(t, false)
	for _, v := range e.Repository.Variables {
		x, err := e.Variable(context.Background(), v.Name)
		require.NoError(t, err)
		partition, err := e.PartitionGraph(x, "Income survey")
		require.NoError(t, err)
		codes, err := x.HarmonizationGraph(context.Background(), "")
		require.NoError(t, err)
		for _, svg := range []string{partition.SVG(), codes.SVG()} {
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else {
					require.NoError(t, err)
				}
			}
		}
		require.Len(t, codes.Nodes, len(x.Closure))
	}
}

func TestStrictAndLenientReadings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "microrisk-keymap.yaml", "schema: microrisk/keymap/config@1\n")
	write(
		t,
		dir,
		"variables/sex.yaml",
		"schema: microrisk/keymap/variable@1\nname: Sex\nnodes: [{id: f}, {id: m}, {id: x}, {id: not-f}]\nedges: [[not-f, m], [not-f, x]]\n",
	)
	write(t, dir, "forms/a.yaml", "schema: microrisk/keymap/form@1\nname: A\nvariables: {Sex: {categories: [f, m, x]}}\n")
	write(t, dir, "forms/b.yaml", "schema: microrisk/keymap/form@1\nname: B\nvariables: {Sex: {categories: [f, m]}}\n")
	write(t, dir, "forms/c.yaml", "schema: microrisk/keymap/form@1\nname: C\nvariables: {Sex: {categories: [f, m, not-f]}}\n")
	r, err := repository.Open(dir)
	require.NoError(t, err)
	require.Len(t, r.Findings, 2)
	require.NoError(t, r.Usable())
	q := Question{Target: "A", Match: r.Forms[1:], AllPairs: true}
	strict := ask(t, New(r, false, engine.Limits{}), q).Variables[0]
	require.Equal(t, Inconsistent, strict.Status)
	require.Equal(t, "categories of C overlap at m", strict.Contradiction[0].String())
	require.Len(t, strict.Contradiction, 3)
	lenient := ask(t, New(r, true, engine.Limits{}), q).Variables[0]
	require.Equal(t, Unreliable, lenient.Status)
	require.Equal(t, []engine.Run{{Node: 0, From: 1, To: 1}, {Node: 1, From: 2, To: 2}}, lenient.Runs)
}

func TestExportIsWhole(t *testing.T) {
	e := example(t, false)
	text, err := e.Export(context.Background())
	require.NoError(t, err)
	var all struct {
		Forms, Variables, Groups, Scenarios []any
		Harmonizations                      []struct {
			Variable string
			Codes    []struct{ Code string }
		}
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader(text)).Decode(&all))
	require.Len(t, all.Forms, 9)
	require.Len(t, all.Harmonizations, len(all.Variables))
}
