package protect_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
	"microrisk/operators/hierarchy"
	"microrisk/operators/kanonymity"
	"microrisk/operators/recode"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"

	"microrisk/operators/protectrecords"
)

// Tables that are merged are those that suda and kanonymity count in the recoded file, at random nodes.
func TestMergedTablesAreThoseOfTheFile(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": toProtect(5, 400), "places.csv": places})
	rows, _ := rowsOf(t, "in.csv", "age", "place", "sex")
	names := []string{"age", "place", "sex"}
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.BinaryTypes.String}
	var flags hierarchy.List
	for _, f := range []string{"age=5,10,20", "place=places.csv"} {
		require.NoError(t, hierarchy.ParseFlag(&flags, f))
	}
	var hierarchies []*hierarchy.Hierarchy
	var variables []recoding.Variable
	codes := make([][]uint32, 3)
	for v, name := range names {
		var categories []string
		missing := false
		for _, r := range rows {
			if r[v] == "" {
				missing = true
			} else if !slices.Contains(categories, r[v]) {
				categories = append(categories, r[v])
			}
		}
		for _, r := range rows {
			code := slices.Index(categories, r[v])
			if code < 0 {
				code = len(categories)
			}
			codes[v] = append(codes[v], uint32(code))
		}
		h, err := hierarchy.Of(flags.Of(name), name, types[v], categories, missing, []byte(places))
		require.NoError(t, err)
		hierarchies = append(hierarchies, h)
		variables = append(variables, recoding.Variable{Name: name, Levels: h.Levels, Weight: 1, Most: len(h.Levels) - 1})
	}
	l, err := recoding.New(variables, codes, slices.Repeat([]int64{1}, len(rows)))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		n := make(recoding.Node, 3)
		var made recode.Config
		key := &schemas.Key{}
		for v := range n {
			n[v] = uint8(r.IntN(len(variables[v].Levels)))
			column, left := hierarchies[v].Recode(int(n[v]))
			if column != nil {
				made = append(made, *column)
			}
			if !left {
				key.Variables = append(key.Variables, schemas.KeyVariable{Name: names[v]})
			}
		}
		if len(key.Variables) == 0 {
			continue
		}
		o, err := l.Outcome(n, recoding.K(3).Safe)
		require.NoError(t, err)
		all, err := l.Outcome(n, nil)
		require.NoError(t, err)
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{"in.csv"}}, Key: key, Sink: schemas.Sink{Path: "out.csv"}}
		if made != nil {
			spec.Operators = append(spec.Operators, schemas.Operator{Config: &made})
		}
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &kanonymity.Config{K: 3}}, schemas.Operator{Config: &suda.Config{}})
		out, err := pipeline.Run(t.Context(), spec, session.Options{})
		require.NoError(t, err)
		require.EqualValues(t, out.Summary.Key.Classes, all.Classes, n)
		require.EqualValues(t, out.Summary.Key.SampleUniques, all.Uniques, n)
		require.EqualValues(t, out.Summary.Operators["kanonymity"].(*kanonymity.Summary).Violations, o.Suppressed, n)
		require.NoError(t, os.Remove("out.csv"))
	}
}

// The same for any number of workers.
func TestProtectIsTheSame(t *testing.T) {
	for _, suppress := range []string{protectrecords.SuppressNone, protectrecords.SuppressCells, protectrecords.SuppressRecords} {
		var first []string
		for _, workers := range []int{1, 8} {
			inFolder(t, map[string]string{"in.csv": toProtect(8, 600), "places.csv": places})
			_, err := protect.Run(t.Context(), protection(t, "k=3", suppress), session.Options{Workers: workers})
			require.NoError(t, err)
			var made []string
			for _, name := range []string{"release.csv", "release.yaml", "release.json"} {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				made = append(made, strings.ReplaceAll(string(text), "\r", ""))
			}
			if first == nil {
				first = made
			}
			require.Equal(t, first, made, suppress)
		}
	}
}
