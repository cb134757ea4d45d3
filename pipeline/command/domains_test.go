package command

import (
	"encoding/json"
	"fmt"
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
		with + "--attribution-values model --fraction 1": "--attribution-values model tells of " +
			"those who are not in the file, which is taken as the whole population: give --fraction",
		with + "--attribution-values model": "which is taken as the whole population",
		with + "--attribution-values mode":  "mode",
	}, ExitWrong)
	const begin = "version: 1\nsource: {path: people.csv}\nkey: {variables: [age, sex]}\n"
	for config, want := range map[string]string{
		"values: class, model: {search: exact}":          "model says how models are found, and none is fitted here: add values: model",
		"values: model, model: {prior_precision: [1,2]}": "attribution takes one prior precision, or auto",
		"values: model, model: {graph: saturated}":       "graph belongs to search: fixed; add that",
		"values: model, model: {estimator: poisson}":     "estimator",
	} {
		require.NoError(
			t,
			os.WriteFile("spec.yaml", []byte(begin+"sampling: {fraction: 0.1}\noperators: [{attribution: {sensitive: region, "+config+"}}]\n"), 0o600),
		)
		refused(t, map[string]string{"validate spec.yaml": want}, ExitFailed, ExitWrong)
	}
	r := microrisk(t, append(strings.Fields(with), "--fraction", "0.1")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "of a record, by models")
}

// The spec that flags print of a file annotated before runs, and takes the prefixes that the flags would.
func TestPrintedSpecOfOlder(t *testing.T) {
	folder(t)
	first := []string{"assess", "people.csv", "--key", "age,sex", "--fraction", "0.1", "--measures", "suda,mc3", "--out", "once.csv"}
	require.Equal(t, ExitDone, microrisk(t, first...).status)
	second := []string{"assess", "once.csv", "--key", "age,sex", "--fraction", "0.1", "--measures", "suda,mc3", "--out"}
	r := microrisk(t, append(second, "flags.csv")...)
	require.Equal(t, ExitDone, r.status, r.err)
	r = microrisk(t, append(second, "spec.csv", "--print-spec")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "prefix: suda2")
	require.NoError(t, os.WriteFile("spec.yaml", []byte(r.out), 0o600))
	r = microrisk(t, "run", "spec.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	of := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, of("flags.csv"), of("spec.csv"))
}

// Of no records there is no DIS.
func TestNoDISOfNoRecords(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex", "--fraction", "0.1", "--measures", "suda,mc3", "--select", "part=nobody", "--allow-empty",
		"--limit", "dis=0.5", "--out", "o.csv", "--summary", "s.json")
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.out, "of no records")
	text, err := os.ReadFile("s.json")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), `"dis": null`))
}

// Many columns are not linked by unless they are named.
func TestLinkByManyColumns(t *testing.T) {
	folder(t)
	for name, n := range map[string]int{"few": 10, "many": 11, "most": 21} {
		var names, values []string
		for i := range n {
			names, values = append(names, fmt.Sprintf("V%d", i)), append(values, "1")
		}
		text := strings.Join(names, ",") + "\n" + strings.Join(values, ",") + "\n"
		for _, sample := range []string{"a", "b"} {
			require.NoError(t, os.WriteFile(name+sample+".csv", []byte(text), 0o600))
		}
		r := microrisk(t, "link", name+"a.csv", name+"b.csv", "--population-size", "10")
		switch n {
		case 10:
			require.Equal(t, ExitDone, r.status, r.err)
			require.NotContains(t, r.out+r.err, "linked by all")
		case 11:
			require.Equal(t, ExitDone, r.status, r.err)
			require.Contains(t, r.err, "linked by all 11 columns that the samples share: name those that tell who a person is (--key)")
		default:
			require.Equal(t, ExitWrong, r.status)
			require.Contains(t, r.err, "the samples share 21 columns, and models of so many take long: name those that tell who a person is (--key)")
			r = microrisk(t, "link", name+"a.csv", name+"b.csv", "--population-size", "10", "--key", strings.Join(names, ","))
			require.Equal(t, ExitDone, r.status, r.err)
		}
	}
}

func TestDomainsRefused(t *testing.T) {
	folder(t)
	refused(t, map[string]string{
		"assess people.csv --key age --by-domain regio --out o.csv": `suda: there is no column ` +
			`"regio"; did you mean "region"?`,
		"assess people.csv --key age --domains d.csv --out o.csv": "add --by-domain REGION",
		"assess people.csv --key age --by-domain region --domains d.txt --out o.csv": "cannot tell the format of the file of " +
			"tables d.txt",
		"assess people.csv --key age --by-domain region --domains people.csv --out o.csv": "people.csv",
		"assess people.csv --key age --by-domain region --domains o.csv --out o.csv":      "o.csv",
		"assess people.csv --key age --fraction 0.5 --measures mc3 --domain-fit each --out o.csv": "--domain-fit each fits a model of each " +
			"domain, and no columns are named",
		"assess people.csv --key age --fraction 0.5 --measures mc3 --search exact --chains 2 --out o.csv": "--chains belongs to --search mc3, and " +
			"the search is exact",
		"assess people.csv --key age --fraction 0.5 --measures attribution --sensitive region --match mc3_correct_match --out o.csv": `"mc3_correct_match"; the ` +
			`measure mc3 writes it: add that`,
		"assess people.csv --key age --measures frequency --by-domain region --out o.csv": "--by-domain belongs to attribution and " +
			"individual and kanonymity and ldiversity and mc3 and suda; add one of them to --measures",
		"evaluate people.csv --key age --fraction 0.5 --measures suda --by-domain x --out dir": `there is no column "x"`,
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
