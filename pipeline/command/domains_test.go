package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Figures of domains go to the terminal, the summary and a file for each measure; the metadata of the output name none of these.
func TestDomains(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex,job", "--fraction", "0.1", "--measures", "suda,mc3,kanonymity", "--by-domain", "region",
		"--domains", "domains.csv", "--model-out", "model.json", "--out", "risk.parquet", "--summary", "s.json")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Equal(t, 3, strings.Count(r.out, "by region"), r.out)
	for measure, column := range map[string]string{"suda": "file_score", "mc3": "pu_su", "kanonymity": "smallest_class"} {
		text, err := os.ReadFile("domains." + measure + ".csv")
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.True(t, strings.HasPrefix(lines[0], "region,records,dropped,sample_uniques,doubles,"), lines[0])
		require.Contains(t, lines[0], column)
		require.Greater(t, len(lines), 2)
	}
	model, err := os.ReadFile("model.json")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(model), `{"microrisk_model":`), "the model is no table")
	text, err := os.ReadFile("s.json")
	require.NoError(t, err)
	var s struct {
		Operators map[string]struct {
			Records int64
			Domains struct {
				Count int64
				Rows  []struct{ Records int64 }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &s))
	for _, measure := range []string{"suda", "mc3", "kanonymity"} {
		sum, o := int64(0), s.Operators[measure]
		for _, row := range o.Domains.Rows {
			sum += row.Records
		}
		require.Equal(t, o.Records, sum, measure)
	}
	out, err := os.ReadFile("risk.parquet")
	require.NoError(t, err)
	require.Contains(t, string(out), `"by":["region"]`)
	require.NotContains(t, string(out), "domains.suda.csv")

	r = microrisk(t, "assess", "people.csv", "--key", "age", "--by-domain", "region,sex", "--domains", "d.csv", "--print-spec")
	require.Contains(t, r.out, "suda: {by: [region, sex], domains: d.csv}")
}

// A model of each domain: columns, the riskiest records and the figures are those of the domains.
func TestDomainFit(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex,job", "--fraction", "0.1", "--measures", "suda,mc3", "--by-domain", "region",
		"--domains", "d.csv", "--domain-fit", "each", "--out", "risk.csv", "--summary", "s.json")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "one a domain, exact search")
	text, err := os.ReadFile("risk.csv")
	require.NoError(t, err)
	require.Contains(t, strings.SplitN(string(text), "\n", 2)[0], "mc3_domain_frequency,mc3_correct_match")
	text, err = os.ReadFile("s.json")
	require.NoError(t, err)
	require.Contains(t, string(text), `"fit": "each"`)
	text, err = os.ReadFile("d.mc3.csv")
	require.NoError(t, err)
	require.Contains(t, string(text), ",pu,cm_um,population_size\n")
	refused(t, map[string]string{
		"assess people.csv --key age --fraction 0.1 --measures mc3 --domain-fit each --out o.csv":                                "add --by-domain REGION",
		"assess people.csv --key age --fraction 0.1 --measures mc3 --domain-fit each --by-domain region --baselines --out o.csv": "baselines is of one model",
	}, ExitFailed, ExitWrong)
}

// What models of attribution are not looked at is refused.
func TestAttributionModels(t *testing.T) {
	folder(t)
	const with = "assess people.csv --key age,sex --measures attribution --sensitive region --out o.csv "
	refused(t, map[string]string{
		with + "--attribution-values model --fraction 1": "--attribution-values model tells of those who are not in the file, which is taken as the whole population: give --fraction",
		with + "--attribution-values model":              "which is taken as the whole population",
		with + "--attribution-values mode":               "mode",
	}, ExitWrong)
	const begin = "version: 1\nsource: {path: people.csv}\nkey: {variables: [age, sex]}\n"
	for config, want := range map[string]string{
		"values: class, model: {search: exact}":          "model says how models are found, and none is fitted here: add values: model",
		"values: model, model: {prior_precision: [1,2]}": "attribution takes one prior precision, or auto",
		"values: model, model: {graph: saturated}":       "graph belongs to search: fixed; add that",
		"values: model, model: {estimator: poisson}":     "estimator",
	} {
		require.NoError(t, os.WriteFile("spec.yaml", []byte(begin+"sampling: {fraction: 0.1}\noperators: [{attribution: {sensitive: region, "+config+"}}]\n"), 0o600))
		refused(t, map[string]string{"validate spec.yaml": want}, ExitFailed, ExitWrong)
	}
	r := microrisk(t, append(strings.Fields(with), "--fraction", "0.1")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "of a record, by models")
}

func TestDomainsRefused(t *testing.T) {
	folder(t)
	refused(t, map[string]string{
		"assess people.csv --key age --by-domain regio --out o.csv":                                                                  `suda: there is no column "regio"; did you mean "region"?`,
		"assess people.csv --key age --domains d.csv --out o.csv":                                                                    "add --by-domain REGION",
		"assess people.csv --key age --by-domain region --domains d.txt --out o.csv":                                                 "cannot tell the format of the file of tables d.txt",
		"assess people.csv --key age --by-domain region --domains people.csv --out o.csv":                                            "people.csv",
		"assess people.csv --key age --by-domain region --domains o.csv --out o.csv":                                                 "o.csv",
		"assess people.csv --key age --fraction 0.5 --measures mc3 --domain-fit each --out o.csv":                                    "--domain-fit each fits a model of each domain, and no columns are named",
		"assess people.csv --key age --fraction 0.5 --measures mc3 --search exact --chains 2 --out o.csv":                            "--chains belongs to --search mc3, and the search is exact",
		"assess people.csv --key age --fraction 0.5 --measures attribution --sensitive region --match mc3_correct_match --out o.csv": `"mc3_correct_match"; the measure mc3 writes it: add that`,
		"assess people.csv --key age --measures frequency --by-domain region --out o.csv":                                            "--by-domain belongs to attribution and individual and kanonymity and ldiversity and mc3 and suda; add one of them to --measures",
		"evaluate people.csv --key age --fraction 0.5 --measures suda --by-domain x --out dir":                                       `there is no column "x"`,
	}, ExitFailed, ExitWrong)
	require.NoError(t, os.WriteFile("spec.yaml", []byte("version: 1\nsource: {path: people.csv}\nkey: {variables: [age]}\noperators:\n"+
		"  - suda: {by: region, domains: d.csv}\n  - kanonymity: {by: region, domains: d.csv}\n"), 0o666))
	r := microrisk(t, "run", "spec.yaml")
	require.NotEqual(t, ExitDone, r.status)
	require.Contains(t, r.err, "d.csv")
	for _, name := range []string{"d.csv", "o.csv"} {
		_, err := os.Stat(name)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// An evaluation tells of domains on the terminal and in a file.
func TestEvaluateByDomain(t *testing.T) {
	folder(t)
	r := microrisk(t, "evaluate", "people.csv", "--key", "age,sex,job", "--fraction", "0.5", "--repetitions", "2", "--by-domain", "region", "--out", "out")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "by region")
	_, err := os.Stat("out/domains.parquet")
	require.NoError(t, err)
}
