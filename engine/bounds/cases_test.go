package bounds

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
)

type caseParams struct {
	Variables []struct {
		Name   string
		Levels []string
	}
	Margins []struct {
		File      string
		Variables []string
		Kind      string
		Scheme    struct {
			Type string
			Base int64
		}
	}
}

type caseCells []struct {
	ShuttleLow  int64  `json:"shuttle_lower"`
	ShuttleHigh int64  `json:"shuttle_upper"`
	SharpLow    int64  `json:"sharp_lower"`
	SharpHigh   int64  `json:"sharp_upper"`
	FrechetLow  *int64 `json:"frechet_lower"`
	FrechetHigh *int64 `json:"frechet_upper"`
}

func readJSON(t *testing.T, path string, to any) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, to))
}

// readRelease reads the release of a case.
func readRelease(t *testing.T, dir string) *Release {
	var params caseParams
	readJSON(t, filepath.Join(dir, "params.json"), &params)
	r := &Release{}
	for _, v := range params.Variables {
		r.Levels, r.Names = append(r.Levels, len(v.Levels)), append(r.Names, v.Name)
	}
	for _, p := range params.Margins {
		f, err := os.Open(filepath.Join(dir, p.File))
		require.NoError(t, err)
		rows, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		require.NoError(t, f.Close())
		var variables []int
		for _, v := range p.Variables {
			variables = append(variables, slices.Index(r.Names, v))
		}
		var first, last []int64
		for _, row := range rows[1:] {
			for k := range variables { // rows are in the order of levels
				require.Contains(t, params.Variables[variables[k]].Levels, row[k])
			}
			low, err := strconv.ParseInt(row[len(variables)], 10, 64)
			require.NoError(t, err)
			high, err := strconv.ParseInt(row[len(row)-1], 10, 64)
			require.NoError(t, err)
			first, last = append(first, low), append(last, high)
		}
		m := Margin{Name: p.File, Variables: variables, Low: first, High: last}
		if p.Kind == "rounded" {
			k, err := perturb.Conventional(p.Scheme.Base, "")
			require.NoError(t, err)
			m, err = publishedBy(p.File, variables, first, k)
			require.NoError(t, err)
		}
		r.Margins = append(r.Margins, m)
	}
	return r
}

// The cases of testdata: shuttle with all recodings, sharp bounds, closed formulas, numbers of tables.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/expected.json")
	require.NoError(t, err)
	require.Len(t, paths, 5)
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			var want struct {
				Feasible     bool
				Tables       int64 `json:"feasible_tables"`
				Inconsistent bool  `json:"shuttle_detects_inconsistency"`
				Cells        caseCells
			}
			readJSON(t, path, &want)
			r := readRelease(t, filepath.Dir(path))
			ctx := context.Background()
			n, all, err := count(ctx, r, 0)
			require.NoError(t, err)
			require.True(t, all)
			require.Equal(t, want.Tables, n)
			basic, err := Shuttle(ctx, r, Options{})
			require.Equal(t, want.Inconsistent, err != nil)
			if err != nil {
				return
			}
			require.True(t, basic.Recodings)
			require.True(t, basic.Final)
			tight, err := Shuttle(ctx, r, Options{Tight: true})
			require.NoError(t, err)
			require.True(t, tight.Sharp)
			sharp, err := Sharp(ctx, r, Options{})
			require.NoError(t, err)
			require.True(t, sharp.Sharp)
			low, high, ok := Frechet(context.Background(), r)
			for i, c := range want.Cells {
				require.Equal(t, [2]int64{c.ShuttleLow, c.ShuttleHigh}, [2]int64{basic.Low[i], basic.High[i]})
				require.Equal(t, [2]int64{c.SharpLow, c.SharpHigh}, [2]int64{tight.Low[i], tight.High[i]})
				require.Equal(t, [2]int64{c.SharpLow, c.SharpHigh}, [2]int64{sharp.Low[i], sharp.High[i]})
				if c.FrechetLow != nil {
					require.True(t, ok)
					require.Equal(t, [2]int64{*c.FrechetLow, *c.FrechetHigh}, [2]int64{low[i], high[i]})
				}
			}
		})
	}
}
