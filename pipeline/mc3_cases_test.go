package pipeline

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A riskCase is a case of engine/bayes/risk: one graph, with measures that were computed elsewhere.
type riskCase struct {
	Variables []struct {
		Name   string
		Levels []*string
	}
	PopulationSize int64 `json:"population_size"`
	Graph          [][2]string
	Precision      string `json:"total_prior_precision"`
}

type expectedRisk struct {
	N1    int64 `json:"n1"`
	DIS   value `json:"dis_theta"`
	Smith []struct {
		Cell     []*string
		Match    value `json:"pr_correct_match"`
		Printed  value `json:"pr_correct_match_as_printed"`
		Expected value `json:"expected_F"`
	}
	ForsterWebb struct {
		Cells []struct {
			Cell   []*string
			F      int64
			Mean   value
			Unique value `json:"p_population_unique"`
			Match  value `json:"e_inv_F"`
		}
		CMSU  value `json:"e_cm_su"`
		PU    value `json:"e_pu"`
		PUSU  value `json:"e_pu_su"`
		Theta value `json:"e_theta"`
	} `json:"forster_webb"`
}

// A value is a number, alone or beside its exact fraction; null is 0.
type value float64

func (v *value) UnmarshalJSON(b []byte) error {
	var both struct{ Value float64 }
	if json.Unmarshal(b, &both) == nil && strings.HasPrefix(string(b), "{") {
		*v = value(both.Value)
		return nil
	}
	return json.Unmarshal(b, (*float64)(v))
}

func cellName(cell []*string) string {
	var parts []string
	for _, c := range cell {
		if c == nil {
			parts = append(parts, "")
		} else {
			parts = append(parts, *c)
		}
	}
	return strings.Join(parts, "|")
}

// spec asks for the case's graph with an estimator, from data.csv to out.csv.
func (c *riskCase) spec(t *testing.T, estimator string) *schemas.Spec {
	precision, err := strconv.ParseFloat(c.Precision, 64)
	require.NoError(t, err)
	key := &schemas.Key{}
	graph := ""
	for _, v := range c.Variables {
		k := schemas.KeyVariable{Name: v.Name}
		for _, level := range v.Levels {
			if level != nil {
				k.Levels = append(k.Levels, *level)
			}
		}
		key.Variables = append(key.Variables, k)
	}
	for _, e := range c.Graph {
		graph += "[" + e[0] + " " + e[1] + "]"
	}
	types := map[string]string{}
	for _, v := range c.Variables {
		types[v.Name] = "string"
	}
	if graph == "" {
		graph = mc3.GraphIndependence
	}
	return &schemas.Spec{
		Source:   schemas.Source{Path: []string{"data.csv"}, Types: types},
		Sampling: &schemas.Sampling{PopulationSize: c.PopulationSize},
		Key:      key,
		Operators: []schemas.Operator{
			{
				Config: &mc3.Config{
					Search:         "fixed",
					Graph:          graph,
					Estimator:      estimator,
					Effects:        mc3.EffectsNone,
					PriorPrecision: []float64{precision},
					SetMatch:       estimator == "poisson",
				},
			},
		},
		Sink: schemas.Sink{Path: "out.csv"},
	}
}

// output has the last columns of each row of out.csv by its key.
func output(t *testing.T, keys int) (header []string, byKey map[string][]string) {
	f, err := os.Open("out.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	byKey = map[string][]string{}
	for _, row := range rows[1:] {
		name := strings.Join(row[:keys], "|")
		if before, ok := byKey[name]; ok {
			require.Equal(t, before, row[keys:], "rows with one key have the same values")
		}
		byKey[name] = row[keys:]
	}
	return rows[0][keys:], byKey
}

func TestMC3Cases(t *testing.T) {
	paths, err := filepath.Glob("../engine/bayes/risk/testdata/cases/*/expected.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			var c riskCase
			var want expectedRisk
			require.NoError(t, json.Unmarshal([]byte(read(t, path)), &want))
			require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(filepath.Dir(path), "params.json"))), &c))
			inFolder(t, map[string]string{"data.csv": read(t, filepath.Join(filepath.Dir(path), "data.csv"))})
			near := func(want value, text, what string) {
				got, err := strconv.ParseFloat(text, 64)
				require.NoError(t, err)
				require.InEpsilon(t, 1+float64(want), 1+got, 1e-9, what)
				if want > 0 {
					require.InEpsilon(t, float64(want), got, 1e-8, what)
				}
			}
			_, err := Run(t.Context(), c.spec(t, "poisson"), session.Options{})
			require.NoError(t, err)
			header, rows := output(t, len(c.Variables))
			require.Equal(t, []string{"sample_frequency", "mc3_correct_match", "mc3_population_unique", "mc3_expected_frequency", "mc3_set_match"}, header)
			require.Len(t, rows, len(want.Smith))
			for _, cell := range want.Smith {
				name := cellName(cell.Cell)
				near(cell.Match, rows[name][1], name)
				near(cell.Expected, rows[name][3], name)
				near(cell.Printed, rows[name][4], name)
			}
			o, err := Run(t.Context(), c.spec(t, "gamma"), session.Options{})
			require.NoError(t, err)
			_, rows = output(t, len(c.Variables))
			for _, cell := range want.ForsterWebb.Cells {
				if name := cellName(cell.Cell); cell.F > 0 {
					near(cell.Match, rows[name][1], name)
					near(cell.Unique, rows[name][2], name)
					near(value(float64(cell.F)+float64(c.PopulationSize-o.Summary.Rows)*float64(cell.Mean)), rows[name][3], name)
				}
			}
			s := o.Summary.Operators["mc3"].(*mc3.Summary)
			require.EqualValues(t, want.N1, o.Summary.Key.SampleUniques)
			for what, pair := range map[string]struct {
				want value
				got  *float64
			}{"dis": {want.DIS, s.DIS}, "pu": {want.ForsterWebb.PU, s.PU}, "pu_su": {want.ForsterWebb.PUSU, s.PUSU}, "cm_su": {want.ForsterWebb.CMSU, s.CMSU}, "cm_um": {want.ForsterWebb.Theta, s.CMUM}} {
				if pair.got == nil {
					require.Zero(t, want.N1, "%s is null with sample uniques", what)
					continue
				}
				require.InDelta(t, float64(pair.want), *pair.got, 1e-9, what)
			}
		})
	}
}

// The graphs' cases: all decomposable graphs, their marginal likelihoods and edge probabilities.
func TestMC3GraphCases(t *testing.T) {
	paths, err := filepath.Glob("../engine/bayes/search/testdata/graphs-*/expected.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			var c riskCase
			var want struct {
				Graphs []struct {
					Edges         [][2]string
					LogLikelihood float64 `json:"log_marginal_likelihood"`
					Posterior     float64
				}
				Edges []struct {
					Edge        [2]string
					Probability float64
				} `json:"edge_inclusion"`
			}
			var policy struct {
				Missing string `json:"missing_policy"`
			}
			require.NoError(t, json.Unmarshal([]byte(read(t, path)), &want))
			params := []byte(read(t, filepath.Join(filepath.Dir(path), "params.json")))
			require.NoError(t, json.Unmarshal(params, &c))
			require.NoError(t, json.Unmarshal(params, &policy))
			inFolder(t, map[string]string{"data.csv": read(t, filepath.Join(filepath.Dir(path), "data.csv"))})
			c.PopulationSize = 1_000_000
			spec := c.spec(t, "gamma")
			spec.Operators[0].Config.(*mc3.Config).Search, spec.Operators[0].Config.(*mc3.Config).Graph, spec.Operators[0].Config.(*mc3.Config).Missing = "exact", "", policy.Missing
			o, err := Run(t.Context(), spec, session.Options{})
			require.NoError(t, err)
			s := o.Summary.Operators["mc3"].(*mc3.Summary)
			require.EqualValues(t, len(want.Graphs), s.Diagnostics.Graphs)
			for _, g := range want.Graphs {
				at := slices.IndexFunc(s.Models, func(m mc3.ModelSummary) bool { return sameEdges(m.Edges, g.Edges) })
				if g.Posterior < 1e-6 {
					continue // such models are dropped
				}
				require.GreaterOrEqual(t, at, 0)
				require.InDelta(t, g.LogLikelihood, s.Models[at].LogLikelihood, 1e-7)
				require.InDelta(t, g.Posterior, s.Models[at].Weight*(1-s.DroppedWeight), 1e-10)
			}
			for _, e := range want.Edges {
				at := slices.IndexFunc(s.EdgeProbabilities, func(p mc3.EdgeProbability) bool { return sameEdges([][2]string{p.Edge}, [][2]string{e.Edge}) })
				require.InDelta(t, e.Probability, s.EdgeProbabilities[at].Probability, 1e-9)
			}
		})
	}
}

func sameEdges(a, b [][2]string) bool {
	names := func(list [][2]string) []string {
		var out []string
		for _, e := range list {
			out = append(out, min(e[0], e[1])+"|"+max(e[0], e[1]))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(names(a), names(b))
}
