package profiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
)

// The policies that come with the program are those of the offices.
func TestAll(t *testing.T) {
	list, err := All()
	require.NoError(t, err)
	got := map[string]string{}
	for _, p := range list {
		require.NotEmpty(t, p.Since, p.Name)
		require.NotEmpty(t, p.About, p.Name)
		c := protect.Config{}
		topic, _ := p.Apply(&c, "")
		require.Empty(t, topic)
		require.Equal(t, p.Called(), c.Profile)
		for i := range c.Rules {
			got[p.Name] += c.Rules[i].String()
		}
		got[p.Name] += ": " + c.Method
		if c.Perturb != nil {
			got[p.Name] += " " + c.Perturb.Text()
		}
	}
	require.Equal(t, map[string]string{
		"isd":         "minimum frequency 5 (unsafe below 5): perturbation isd",
		"abs":         "minimum frequency 3 (unsafe up to 3): abs",
		"census2000":  "minimum frequency 8 (unsafe below 8): perturbation census2000",
		"threshold3":  "minimum frequency 3 (unsafe below 3): optimal",
		"threshold5":  "minimum frequency 5 (unsafe below 5): optimal",
		"threshold10": "minimum frequency 10 (unsafe below 10): optimal",
	}, got)
}

// Sensitive topics, by any of their words and by association (Miller 2005, 5.3; diabetes is none).
func TestTopics(t *testing.T) {
	own := &Profile{Sensitive: Sensitive{Topics: []string{"gambling|betting"}}}
	for text, want := range map[string]string{
		"Suicides by age": "suicide", "deaths from SELF-HARM": "self-harm", "Kaposi's sarcoma": "sexually transmitted", "Korsakoff's syndrome": "alcohol",
		"Conceptions under 16": "pregnancy under 16", "prescriptions of contraceptives": "contraceptive", "drug-related deaths": "drugs",
		"mental-health diagnoses": "mental health", "abortions": "abortion", "STDs": "sexually transmitted", "Diabetes in children": "", "": "", "betting shops": "gambling",
		"aid packages": "",
	} {
		require.Equal(t, want, own.Topic(text), text)
	}
	var none *Profile
	require.Equal(t, "suicide", none.Topic("suicide"))
	require.Empty(t, none.Topic("betting shops"))
}

// Topics make rules stricter, never less strict.
func TestApply(t *testing.T) {
	p, err := Load("isd")
	require.NoError(t, err)
	c := protect.Config{}
	topic, _ := p.Apply(&c, "suicide")
	require.Equal(t, "suicide", topic)
	require.Len(t, c.Rules, 1)
	require.Equal(t, 10, *c.Rules[0].N)
	require.Equal(t, "optimal", c.Method)
	require.Nil(t, c.Perturb) // which the method does not have
	require.Equal(t, "suicide", c.Topic)

	c = protect.Config{Rules: []protect.Rule{{Rule: "min", N: new(20)}, {Rule: "across"}}}
	var none *Profile
	topic, rules := none.Apply(&c, "abortion")
	require.Equal(t, "abortion", topic)
	require.Equal(t, 10, *rules[0].N)
	require.Len(t, c.Rules, 2)
	require.Equal(t, 20, *c.Rules[0].N)

	require.Len(t, Stricter([]protect.Rule{{Rule: "min", N: new(3), Inclusive: true}}, []protect.Rule{{Rule: "min", N: new(4)}}), 1)
	require.Len(t, Stricter([]protect.Rule{{Rule: "min", Range: new(50.0)}}, []protect.Rule{{Rule: "min", N: new(4)}}), 2)
}

// What is wrong with a profile is told with its line, and the nearest word.
func TestRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"version: 1\nname: x\nrules: [{rule: mim, n: 3}]\n":                                        `x.yaml:3:10: rule "mim" is unknown; did you mean min?`,
		"version: 1\nname: x\nrules: [{rule: min}]\nmethod: optimum\n":                             `x.yaml:4:1: method "optimum" is unknown; did you mean optimal?`,
		"version: 1\nname: x\nrules: [{rule: min}]\nmetod: optimal\n":                              `did you mean method?`,
		"version: 1\nname: x\nrules: [{rule: min, k: 3}]\n":                                        "the rule min has no parameter k",
		"version: 1\nname: x\nrules: [{rule: min}]\nmethod: perturbation\n":                        "needs to be told more: perturb: {scheme: isd}",
		"version: 1\nname: x\nrules: [{rule: min}]\nmethod: perturbation\nperturb: {scheme: is}\n": "did you mean isd?",
		"version: 1\nname: x\nrules: [{rule: min}]\nsensitive: {rules: [{rule: p%, n: 3}]}\n":      "the rule p% has no parameter n",
		"version: 1\nname: x\nrules: [{rule: min}]\nsensitive: {topics: ['a||b']}\n":               "there is no word where one should be",
		"version: 1\nname: x\nrules: []\n":                                                         "",
		"version: 0\nname: x\nrules: [{rule: min}]\n":                                              "version",
		"name: x\nrules: [{rule: min}]\n":                                                          "the profile has no version",
		"version: 1\nname: a/b\nrules: [{rule: min}]\n":                                            "a name is one word",
		"version: 1\nname: x\ntable: [a]\nrules: [{rule: min}]\n":                                  "table",
		"[":   "x.yaml",
		"":    "",
		"- 1": "",
	} {
		_, err := Decode("x.yaml", []byte(text))
		require.Error(t, err, text)
		require.ErrorContains(t, err, says)
	}
	for name, says := range map[string]string{"threshold4": "did you mean threshold3?", "iso": "did you mean isd?", "none.yaml": "the profile none.yaml cannot be read"} {
		_, err := Load(name)
		require.ErrorContains(t, err, says)
		require.True(t, session.IsSpec(err))
	}
	path := filepath.Join(t.TempDir(), "office.yaml")
	require.NoError(
		t,
		os.WriteFile(path, []byte("version: 3\nname: office\nsince: 2026-01-01\nrules: [{rule: min, n: 4}, {rule: p%}]\nmargins: none\n"), 0o666),
	)
	p, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, "office 3", p.Called())
	require.Equal(t, "2026-01-01", p.Since)
	require.Equal(t, "none", p.Config.Margins)
	require.Empty(t, p.Config.Method)
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"isd", "threshold3"} {
		text, err := Text(name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := Decode("x.yaml", text); err == nil {
			p.Apply(&protect.Config{}, "suicide")
		}
	})
}
