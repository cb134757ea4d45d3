package tables_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// The four finest cells are hidden, and x people of n1 and m may be 1 to 5: so that 5 of n1 and f, and 7 of n2 and m, are as many as there can
// be. Before, who knows the one person of n1 and m, 1 in 6, sees that nobody else is there.
func TestAttributionBeforeAndAfter(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "ready.csv")
	require.NoError(t, os.WriteFile(source, []byte("region,sex,n\nn1,f,5\nn1,m,1\nn2,f,4\nn2,m,7\n"), 0o666))
	protected := func(method string, s protect.SAP) (*protect.Summary, string) {
		inside := filepath.Join(folder, method+s.Area)
		c := &protect.Config{Table: variables("region", "sex"), Rules: []protect.Rule{{Rule: "min", N: new(2)}}, Method: method, Margins: "all", SAP: s,
			Out: filepath.Join(folder, "public.csv"), Inside: inside}
		*c = c.For(method) // margins are looked at by one of them
		made, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
		require.NoError(t, err)
		require.FileExists(t, filepath.Join(inside, "sap.parquet"))
		text, err := json.Marshal(made)
		require.NoError(t, err)
		require.NotContains(t, string(text), "before") // a summary can be published
		return made, inside
	}
	made, inside := protected("optimal", protect.SAP{Area: "region", Known: []int64{5, 1}})
	require.Len(t, made.SAP, 2)
	require.InDelta(t, 1./12, made.SAP[0].MeanBefore, 1e-12) // n1 and 0 of n2
	require.Zero(t, made.SAP[0].MeanAfter)
	require.Empty(t, made.SAP[0].Riskiest)
	require.InDelta(t, (1+7./462)/2, made.SAP[1].MeanBefore, 1e-12) // all 4 of n2 and f: C(7,1) of C(11,5)
	require.InDelta(t, 1./12, made.SAP[1].MeanAfter, 1e-12)         // the 5 of n1 and f
	require.InDelta(t, 1./6, made.SAP[1].MostAfter, 1e-12)
	require.Equal(t, "n1", made.SAP[1].Riskiest)
	text, err := os.ReadFile(filepath.Join(inside, "log.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"sap_area": "region"`)
	require.Equal(t, []string{"region", "people", "hidden", "sap_1_before", "sap_1_after", "sap_5_before", "sap_5_after"}, columnsOf(t, filepath.Join(inside,
		"sap.parquet")))

	made, _ = protected("rounding", protect.SAP{Known: []int64{1}}) // 6, 0, 3 and 9 at base 3: 1 is one of 0 to 2
	require.Len(t, made.SAP, 1)
	require.InDelta(t, 1./17, made.SAP[0].MeanBefore, 1e-12)
	require.Zero(t, made.SAP[0].MeanAfter)
}

// columnsOf are the names of a file's columns.
func columnsOf(t *testing.T, path string) []string {
	in, err := session.OpenPaths(background, []string{path}, session.Options{}.WithDefaults())
	require.NoError(t, err)
	defer in.Close()
	var names []string
	for _, f := range in.Schema().Fields() {
		names = append(names, f.Name)
	}
	return names
}
