package protect_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/hierarchy"
	"microrisk/operators/protectrecords"
	"microrisk/pipeline"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// asOperator is a spec that makes a release in one run, to made.csv.
func asOperator(s protect.Spec) *schemas.Spec {
	return &schemas.Spec{Source: s.Spec.Source, Key: s.Spec.Key, Sampling: s.Spec.Sampling, Sink: schemas.Sink{Path: "made.csv"},
		Operators: []schemas.Operator{{Config: &protectrecords.Config{Ask: s.Ask}}}}
}

// The operator makes what the verb makes, row by row; a variable that is left out is missing, where the verb has no column.
func TestOperatorMakesTheSame(t *testing.T) {
	for name, change := range map[string]func(s *protect.Spec){
		"recoded":    func(s *protect.Spec) {},
		"records":    func(s *protect.Spec) { s.Suppress, s.Share = protectrecords.SuppressRecords, new(.05) },
		"cells":      func(s *protect.Spec) { s.Suppress = protectrecords.SuppressCells },
		"own":        func(s *protect.Spec) { s.Suppress, s.Fit = protectrecords.SuppressCells, protectrecords.FitOwn },
		"some fixed": func(s *protect.Spec) { require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, "sex=fixed")) },
		"uniques": func(s *protect.Spec) {
			s.Target = protectrecords.Target{}
			require.NoError(t, s.Target.Say("uniques=4"))
		},
		"sensitive":       func(s *protect.Spec) { s.Target = protectrecords.Target{Distinct: 2, Sensitive: "health"} },
		"no small unique": func(s *protect.Spec) { s.Target = protectrecords.Target{MSU: 2} },
		"by models": func(s *protect.Spec) {
			s.Target, s.Spec.Sampling = protectrecords.Target{CorrectMatch: .3}, &schemas.Sampling{Fraction: .1}
		},
		"of one level": func(s *protect.Spec) {
			s.Suppress = protectrecords.SuppressCells
			for _, f := range []string{"age=levels:0..0", "place=levels:0..0", "sex=levels:0..0"} {
				require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, f))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"in.csv": toProtect(3, 500), "places.csv": places})
			s := protection(t, "k=4", protectrecords.SuppressNone)
			change(&s)
			out, err := protect.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Best)
			var made []byte
			for _, workers := range []int{1, 3} {
				summary, err := pipeline.Run(t.Context(), asOperator(s), session.Options{Workers: workers})
				require.NoError(t, err)
				told := summary.Summary.Operators[protectrecords.Name].(*protectrecords.Summary)
				require.Equal(t, out.Best[0].Levels, told.Best[0].Levels)
				require.Equal(t, out.Best[0].Loss, told.Best[0].Loss)
				text, err := os.ReadFile("made.csv")
				require.NoError(t, err)
				require.True(t, made == nil || slices.Equal(made, text))
				made = text
			}
			all := []string{"id", "age", "place", "sex", "health"}
			want, there := rowsOf(t, "release.csv", all...)
			got, _ := rowsOf(t, "made.csv", there...)
			require.Equal(t, want, got)
			whole, columns := rowsOf(t, "made.csv", all...)
			require.Equal(t, all, columns)
			for _, row := range whole {
				for c, column := range columns {
					require.True(t, slices.Contains(there, column) || row[c] == "", "%s is left out", column)
				}
			}
		})
	}
}

// What follows the operator in a spec sees the release; what is in the file's metadata tells nothing of the file before.
func TestOperatorIsFollowed(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": toProtect(5, 400), "places.csv": places})
	require.NoError(t, os.WriteFile("s.yaml", []byte(`
version: 1
source: {path: in.csv}
key: {variables: [age, place, sex]}
operators:
  - protect_records: {safe: {k: 5}, suppress: cells, hierarchies: {age: {widths: [5, 10]}, place: {file: places.csv}}, checks: 300}
  - kanonymity: {k: 5}
limits: {kanonymity_violations: 0, protection_loss: 0.01}
sink: {path: made.parquet}
`), 0o600))
	spec := decoded(t, "s.yaml")
	summary, err := pipeline.Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	require.Len(t, summary.Summary.Limits, 2)
	for _, l := range summary.Summary.Limits {
		require.Equal(t, l.Limit == protectrecords.Limit, l.Breached, l.Limit)
		require.EqualValues(t, 400, l.Records)
	}
	require.Greater(t, summary.Summary.Operators[protectrecords.Name].(*protectrecords.Summary).Best[0].Loss, 0.01)
	text, err := os.ReadFile("made.parquet")
	require.NoError(t, err)
	for _, told := range []string{"suppressed_cells", "recodings", "places.csv", "widths"} {
		require.NotContains(t, string(text), told)
	}
}

// A target that nothing meets leaves no output, and wrong words are found before anything is read.
func TestOperatorRefuses(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": toProtect(5, 40), "places.csv": places, "few.csv": "a0;A;*\n"})
	for want, change := range map[string]func(s *protect.Spec){
		"nothing meets the target: k = 50; the nearest: age": func(s *protect.Spec) { s.Target.K = 50 },
		"say when the release is safe":                       func(s *protect.Spec) { s.Target = protectrecords.Target{} },
		"the target needs the size of the population":        func(s *protect.Spec) { s.Target = protectrecords.Target{PUSU: .1} },
		"is a key variable; what is sensitive":               func(s *protect.Spec) { s.Target = protectrecords.Target{Distinct: 2, Sensitive: "sex"} },
		"the highest level, 1, is below the lowest, 2":       func(s *protect.Spec) { s.Hierarchies[0].Least, s.Hierarchies[0].Most = 2, new(1) },
		"no single cells are suppressed; say so":             func(s *protect.Spec) { s.Hierarchies[0].Cells = new(3) },
		"checks and time both end the search":                func(s *protect.Spec) { s.Time = 7 },
		"region is no key variable":                          func(s *protect.Spec) { s.Hierarchies[1].Variable = "region" },
		"few.csv":                                            func(s *protect.Spec) { s.Hierarchies[1].File = "few.csv" },
		"nowhere.csv":                                        func(s *protect.Spec) { s.Hierarchies[1].File = "nowhere.csv" },
	} {
		s := protection(t, "k=3", protectrecords.SuppressNone)
		change(&s)
		_, err := pipeline.Run(t.Context(), asOperator(s), session.Options{})
		require.ErrorContains(t, err, want)
		require.NoFileExists(t, "made.csv")
	}
}

// No share, no alternatives and no figure of 0 are what they say, and not what is taken where nothing is said.
func TestZeroIsHeld(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": toProtect(3, 500), "places.csv": places})
	for _, suppress := range []string{protectrecords.SuppressRecords, protectrecords.SuppressCells} {
		s := protection(t, "k=4", suppress)
		s.Share, s.Alternatives = new(0.0), new(0)
		for run, find := range map[string]func() (*protectrecords.Outcome, error){
			"verb": func() (*protectrecords.Outcome, error) {
				out, err := protect.Run(t.Context(), s, session.Options{})
				return out.Outcome, err
			},
			"operator": func() (*protectrecords.Outcome, error) {
				out, err := pipeline.Run(t.Context(), asOperator(s), session.Options{})
				return &out.Summary.Operators[protectrecords.Name].(*protectrecords.Summary).Outcome, err
			},
		} {
			out, err := find()
			require.NoError(t, err)
			require.Len(t, out.Best, 1, run)
			require.Zero(t, out.Best[0].Suppressed, run)
			require.Empty(t, out.Best[0].Cells, run)
		}
	}
	for _, figure := range []string{"mean_risk=0", "dis=0", "correct_match=0", "pu_su=0", "pu_su=1.5", "k=1", "k=0", "uniques=-1"} {
		require.ErrorContains(t, new(protectrecords.Target).Say(figure), "it must be", figure)
	}
}

// Where a hidden cell counts as any value, records that a fixed variable tells apart are not safe.
func TestFixedIsNotHiddenByWildcards(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": "age,place,sex\n9,a0,m\n4,a0,m\n2,b0,f\n2,b0,m\n", "places.csv": places})
	s := protection(t, "k=2", protectrecords.SuppressCells)
	s.Fit = protectrecords.FitWildcard
	s.Hierarchies = nil
	require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, "age=fixed"))
	_, err := pipeline.Run(t.Context(), asOperator(s), session.Options{})
	require.ErrorContains(t, err, "nothing meets the target: k = 2")
	require.NoFileExists(t, "made.csv")
	require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, "sex=cells:1"))
	_, err = pipeline.Run(t.Context(), asOperator(s), session.Options{})
	require.ErrorContains(t, err, "not with wildcard")
}
