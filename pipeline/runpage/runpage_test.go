package runpage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline"
	"microrisk/pipeline/page"
	"microrisk/pipeline/page/pagetest"
	"microrisk/pipeline/runpage"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// people is a file of 240 records: 5 of them are unique by A, B and C, 4 share their key with one other.
func people(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("A,B,C\n")
	for i := range 231 {
		fmt.Fprintf(&b, "%d,%d,x\n", i%11, 0)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "%d,%d,SecretValue%d\n", i, i+3, i)
	}
	for i := range 4 {
		fmt.Fprintf(&b, "%d,%d,y\n", i/2, 9)
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// run runs a spec over the people, with more lines.
func run(t *testing.T, lines string) *pipeline.Outcome {
	t.Helper()
	path := people(t)
	text := "version: 1\nsource: {path: " + path + "}\nkey: {variables: [A, B, C]}\nsampling: {fraction: 0.1}\nsink: {path: " +
		filepath.Join(filepath.Dir(path), "out.csv") + "}\n" + lines
	spec, err := specfile.Decode("spec.yaml", []byte(text))
	require.NoError(t, err)
	o, err := pipeline.Run(context.Background(), spec, session.Options{Spread: true})
	require.NoError(t, err)
	return o
}

const measures = "operators: [suda: {}, mc3: {}, kanonymity: {k: 3}]\n"

// both are a page as HTML and as Markdown.
func both(t *testing.T, o *pipeline.Outcome, reader string, confidential bool) []string {
	t.Helper()
	p := runpage.Of(o, reader, confidential)
	html, err := p.HTML()
	require.NoError(t, err)
	pagetest.HTML(t, html)
	return []string{string(html), string(p.Markdown())}
}

func TestVerdict(t *testing.T) {
	for lines, want := range map[string]string{
		"":                                      "No limit was set",
		"limits: {sample_uniques: 5}\n":         "it is met",
		"limits: {sample_uniques: 5, dis: 1}\n": "all 2 are met",
		"limits: {sample_uniques: 4}\n":         "the limit that was set is not met",
		"limits: {sample_uniques: 4, doubles: 2}\n":               "No: 1 of 2 limits are not met",
		"limits: {sample_uniques: 4, doubles: 1}\n":               "none of the 2 limits is met",
		"limits: {expected_reidentifications: 0.0001}\n":          "not met",
		"profile: public-use\nlimits: {max_correct_match: 1}\n":   "it is met",
		"profile: public-use\n":                                   "not met",
		"profile: scientific-use\nlimits: {sample_uniques: 99}\n": "1 of 2",
	} {
		for _, text := range both(t, run(t, measures+lines), page.Office, false) {
			require.Contains(t, text, want, lines)
			require.NotContains(t, text, "%!")
		}
	}
	o := run(t, measures)
	require.Contains(t, both(t, o, page.Office, false)[0], "--profile scientific-use")
}

func TestRecordsAboveTheLimit(t *testing.T) {
	o := run(t, measures+"limits: {max_correct_match: 0.05}\n")
	want := int64(0)
	for _, r := range o.Rankings {
		for _, b := range r.Spread {
			if r.Column == "mc3_correct_match" && b.Above >= 0.05 {
				want += b.Records
			}
		}
	}
	require.Positive(t, want)
	require.Contains(t, both(t, o, page.Office, false)[0], fmt.Sprintf("%d records are above the limit.", want))
	require.NotContains(t, both(t, o, page.Publication, false)[0], "above the limit")
	require.NotContains(t, both(t, run(t, measures+"limits: {max_correct_match: 0.06}\n"), page.Office, false)[0], "above the limit", "no band ends there")
}

// A verdict is of the file that was written: recodes that it does not have make no file safe.
func TestFinerThanAssessed(t *testing.T) {
	const recodes = "operators: [recode: {B5: {from: B, width: 50%s}}, suda: {key: {variables: [B5]}}]\nlimits: {sample_uniques: 0}\n"
	for _, text := range both(t, run(t, fmt.Sprintf(recodes, ", keep: false")), page.Office, false) {
		require.Contains(t, text, "Not the file that was written")
	}
	o := run(t, "operators: [recode: {B: {width: 50, replace: true}}, suda: {key: {variables: [B]}}]\nlimits: {sample_uniques: 0}\n")
	require.Contains(t, both(t, o, page.Office, false)[0], "Yes, by the one limit")
}

// Every measure has a page, for the office and for publication.
func TestMeasures(t *testing.T) {
	for measure, want := range map[string]string{
		"suda: {threshold: 2}":                                      "Minimal risky sets",
		"suda: {max_size: 2}":                                       "larger sets are not counted",
		"mc3: {relative_risk: true, baselines: true}":               "The file without each variable",
		"kanonymity: {k: 4, combinations: 2}":                       "fewer than 4 records",
		"ldiversity: {sensitive: [C], l: 2, key: {variables: [A]}}": "too few different values",
		"individual: {}":                                            "from the sampling",
		"attribution: {sensitive: [C], key: {variables: [A, B]}}":   "Expected values learnt",
		"sap: {by: [A], cells: [C], known: [2]}":                    "SAP",
		"frequency: {}":                                             "So many rows were read",
		"suda: {by: [C]}":                                           "Riskiest domains",
	} {
		o := run(t, "operators: ["+measure+"]\n")
		for _, text := range append(both(t, o, page.Office, true), both(t, o, page.Office, false)...) {
			require.Contains(t, text, want, measure)
			require.NotContains(t, text, "%!", measure)
		}
		for _, text := range both(t, o, page.Publication, false) {
			require.NotContains(t, text, "%!", measure)
			require.NotContains(t, text, "SecretValue", measure)
		}
	}
}

func TestLimitWithinInterval(t *testing.T) {
	o := run(t, measures)
	figure := o.Summary.Operators["mc3"].(schemas.Judged).Figures()["expected_reidentifications"]
	o = run(t, fmt.Sprintf("%slimits: {expected_reidentifications: %v}\n", measures, figure*1.0001))
	require.Contains(t, both(t, o, page.Office, false)[0], "Not surely")
	require.Empty(t, o.Breaches)
}

func TestValuesOfRecordsAreConfidential(t *testing.T) {
	o := run(t, measures)
	for _, text := range both(t, o, page.Office, true) {
		require.Contains(t, text, "Riskiest records")
		require.Contains(t, text, "SecretValue1")
		require.Contains(t, text, "must not leave the office")
	}
	for _, text := range both(t, o, page.Office, false) {
		require.NotContains(t, text, "Riskiest records")
	}
	for _, text := range both(t, o, page.Publication, true) { // asked for, and still none
		require.NotContains(t, text, "SecretValue")
	}
}

func TestPublicationHasNoSmallCounts(t *testing.T) {
	o := run(t, measures+"limits: {sample_uniques: 6, kanonymity_violations: 8, doubles: 3, dis: 0.9, sample_unique_share: 0.5, max_correct_match: 0.05}\n")
	for _, text := range both(t, o, page.Publication, false) {
		require.NotContains(t, text, "SecretValue")
		require.NotContains(t, text, filepath.Dir(o.Inputs[0]), "no paths")
		require.NotContains(t, text, "sink:")
		require.Contains(t, text, "fewer than 10")
		for _, number := range []string{"5 (2.1 %)", "9 (3.8 %)", "235", "231", ">6<", ">8<", ">3<", "| 6 |", "| 8 |", ">0.9<", "2.1 %", "97.9 %"} {
			require.NotContains(t, text, number)
		}
	}
	// The same page for the office has them.
	require.Contains(t, both(t, o, page.Office, false)[0], "5 (2.1 %)")
}

func TestPageAppearsWithOutputs(t *testing.T) {
	path := people(t)
	dir := filepath.Dir(path)
	text := "version: 1\nsource: {path: " + path + "}\nkey: {variables: [A, B, C]}\noperators: [suda: {}]\nsink: {path: " + filepath.Join(
		dir,
		"out.csv",
	) + "}\n"
	spec, err := specfile.Decode("spec.yaml", []byte(text))
	require.NoError(t, err)
	out := filepath.Join(dir, "report.html")
	beside := pipeline.Beside{Path: out, What: "page", Begins: page.Begins(out), Make: func(o *pipeline.Outcome) ([]byte, error) {
		require.NoFileExists(t, filepath.Join(dir, "out.csv"), "before the outputs")
		return runpage.Of(o, page.Office, false).Render(out)
	}}
	_, err = pipeline.Run(context.Background(), spec, session.Options{}, beside)
	require.NoError(t, err)
	require.FileExists(t, out)
	require.FileExists(t, filepath.Join(dir, "out.csv"))
	first, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(first), "Distribution of risk")
	_, err = pipeline.Run(context.Background(), spec, session.Options{Workers: 3, Batch: 7}, beside2(beside))
	require.NoError(t, err)
	again, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, string(first), string(again), "the same page for any number of workers")

	require.NoError(t, os.WriteFile(out, []byte("no page"), 0o600))
	_, err = pipeline.Run(context.Background(), spec, session.Options{}, beside2(beside))
	require.ErrorContains(t, err, "is no page")
	require.True(t, session.IsSpec(err))
	beside.Path = path
	_, err = pipeline.Run(context.Background(), spec, session.Options{}, beside)
	require.ErrorContains(t, err, "people.csv")

	require.NoError(t, os.Remove(out))
	require.NoError(t, os.Remove(filepath.Join(dir, "out.csv")))
	_, err = pipeline.Run(context.Background(), spec, session.Options{}, pipeline.Beside{Path: out, Make: func(*pipeline.Outcome) ([]byte, error) {
		return nil, fmt.Errorf("no page today")
	}})
	require.ErrorContains(t, err, "no page today")
	require.NoFileExists(t, filepath.Join(dir, "out.csv"), "all or nothing")
	require.NoFileExists(t, out)
}

// beside2 is the file without what looks at the outputs.
func beside2(b pipeline.Beside) pipeline.Beside {
	b.Make = func(o *pipeline.Outcome) ([]byte, error) { return runpage.Of(o, page.Office, false).Render(b.Path) }
	return b
}
