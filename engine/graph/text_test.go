package graph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func ExampleParse() {
	names := []string{"AGE", "SEX", "MSTATUS", "REGION"}
	g, err := Parse("[SEX MSTATUS] [AGE SEX]", names)
	fmt.Println(g.Format(names), err)
	fmt.Println(g.CanAdd(0, 2), g.JunctionTrees())
	_, err = Parse("[AGE SEX", names)
	fmt.Println(err)
	// Output:
	// [AGE SEX][SEX MSTATUS][REGION] <nil>
	// true 2
	// the bracket "[AGE SEX" of the model has no end
}

func TestFormatOrder(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	require.Equal(t, "[a d][b c]", FromEdges(4, [][2]int{{1, 2}, {0, 3}}).Format(names))
	require.Equal(t, "[a b c d]", Complete(4).Format(names))
	require.Equal(t, "[a][b][c][d]", New(4).Format(names))
	require.Empty(t, New(0).Format(nil))
	require.Equal(t, `["a b"]["say ""x"""][""]`, New(3).Format([]string{"a b", `say "x"`, ""}))
}

func TestParse(t *testing.T) {
	names := []string{"AGE", "SEX", "marital status", "a[1]", `say "x"`, "twin", "twin", "É"}
	for text, want := range map[string][][2]int{
		"":                                   nil,
		" \n":                                nil,
		"[AGE]":                              nil,
		"[AGE SEX]":                          {{0, 1}},
		`["marital status" AGE]["a[1]"SEX]`:  {{0, 2}, {1, 3}},
		`[ "say ""x""" "AGE" ]`:              {{0, 4}},
		"[AGE SEX][AGE][SEX É][AGE SEX É]\t": {{0, 1}, {0, 7}, {1, 7}},
	} {
		g, err := Parse(text, names)
		require.NoError(t, err, text)
		require.Equal(t, want, g.Edges(), text)
	}
	for text, want := range map[string]string{
		"[AGE HEIGHT]":               `"HEIGHT", which is none of`,
		"[AGE SEX":                   "has no end",
		"[AGE [SEX]]":                "has no end",
		"AGE SEX":                    "outside of brackets",
		"[AGE] and more text yet ÉÉ": "outside of brackets",
		"[]":                         "without variables",
		"[AGE AGE]":                  "twice in one bracket",
		`["AGE]`:                     "has no end",
		`[AGE"SEX"]`:                 "a quote within the name",
		"[twin]":                     "two variables are called",
		`[AGE SEX][SEX "a[1]"]["a[1]" É][É AGE]`: "not decomposable",
	} {
		_, err := Parse(text, names)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Parse("", make([]string, 65))
	require.ErrorContains(t, err, "at most 64")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "[AGE SEX][SEX M S]", `["a b" AGE]["a b" "q""q"]`, "[AGE", `["`, "[\xff]", "[AGE SEX][SEX M][M S][S AGE]"} {
		f.Add(text)
	}
	names := []string{"AGE", "SEX", "M", "S", "a b", `q"q`, "", "\xff", "[", "é"}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Parse(text, names)
		if err != nil {
			require.Nil(t, g)
			return
		}
		require.True(t, g.Decomposable())
		again, err := Parse(g.Format(names), names)
		require.NoError(t, err)
		require.True(t, g.Equal(again))
	})
}
