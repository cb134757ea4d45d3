package hierarchy_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"microrisk/operators/hierarchy"
)

var (
	text  = arrow.BinaryTypes.String
	whole = arrow.PrimitiveTypes.Int64
)

func of(t *testing.T, flags []string, types arrow.DataType, categories []string, missing bool, file string) (*hierarchy.Hierarchy, error) {
	t.Helper()
	var list hierarchy.List
	for _, f := range flags {
		require.NoError(t, hierarchy.ParseFlag(&list, "v="+f))
	}
	var c *hierarchy.Config
	if flags != nil {
		c = &list[0]
	}
	return hierarchy.Of(c, "v", types, categories, missing, []byte(file))
}

func names(h *hierarchy.Hierarchy, level int) []string {
	var out []string
	for _, g := range h.Levels[level].Group {
		out = append(out, h.Levels[level].Names[g])
	}
	return out
}

func TestBands(t *testing.T) {
	h, err := of(t, []string{"5,10", "top:90"}, whole, []string{"17", "18", "22", "87", "90", "93"}, true, "")
	require.NoError(t, err)
	require.Len(t, h.Levels, 4)
	require.Equal(t, []string{"15-19", "15-19", "20-24", "85-89", "90+", "90+", ""}, names(h, 1))
	require.Equal(t, []string{"10-19", "10-19", "20-29", "80-89", "90+", "90+", ""}, names(h, 2))
	require.Equal(t, []string{"*", "*", "*", "*", "*", "*", "*"}, names(h, 3))
	r, left := h.Recode(1)
	require.False(t, left)
	require.Equal(t, 5.0, r.Width)
	require.Equal(t, 90.0, *r.Top)
	r, left = h.Recode(3)
	require.True(t, left)
	require.Nil(t, r)
	require.True(t, h.Missing(1, h.Levels[1].Group[6]))
	require.False(t, h.Missing(3, 0))
	require.Equal(t, "bands of 10 up to 90", h.Describe(2))
	_, err = of(t, []string{"5", "top:93"}, whole, []string{"1"}, false, "")
	require.ErrorContains(t, err, "no end of a band")
}

func TestTables(t *testing.T) {
	const file = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\n"
	h, err := of(t, []string{"v.csv"}, text, []string{"a", "c"}, false, file)
	require.NoError(t, err)
	require.Len(t, h.Levels, 3)
	require.Equal(t, []string{"X", "Y"}, names(h, 1))
	require.Equal(t, []int{2, 2}, h.Levels[1].Size, "values that the file lacks count")
	require.Equal(t, []int{1, 1, 1, 1}, h.Levels[0].Size)
	r, _ := h.Recode(1)
	require.Equal(t, map[string]string{"a": "X", "c": "Y"}, r.Map)
	for want, c := range map[string]struct {
		file       string
		categories []string
		missing    bool
	}{
		`does not have "e"`:          {file, []string{"a", "e"}, false},
		"has 2 levels, the first":    {"a;X;*\nb;X\n", []string{"a"}, false},
		"stands in line 1 too":       {"a;X;*\na;Y;*\n", []string{"a"}, false},
		"do not nest":                {"a;X;1;*\nb;X;2;*\n", []string{"a"}, false},
		"no level above":             {"a\nb\n", []string{"a"}, false},
		"has no lines":               {"", []string{"a"}, false},
		`"e", "f", "g", "h", "i" an`: {file, []string{"e", "f", "g", "h", "i", "j"}, false},
	} {
		_, err := of(t, []string{"v.csv"}, text, c.categories, c.missing, c.file)
		require.ErrorContains(t, err, want)
	}
	h, err = of(t, []string{"v.csv"}, text, []string{"a", "b"}, true, "a;X;*\n;missing;*\nb;Y;*\n")
	require.NoError(t, err)
	require.True(t, h.Missing(1, h.Levels[1].Group[2]), "missing values stay apart up to the last level")
	h, err = of(t, []string{"v.csv"}, text, []string{"a", "b"}, true, "a;X;*\n;X;*\nb;Y;*\n")
	require.NoError(t, err)
	require.Equal(t, []string{"X", "Y", "X"}, names(h, 1), "unless the hierarchy puts them with others")
	require.False(t, h.Missing(1, h.Levels[1].Group[2]))
	require.Equal(t, []int{2, 1}, h.Levels[1].Size)
	r, _ = h.Recode(1)
	require.Equal(t, "X", *r.Missing)
}

func TestParents(t *testing.T) {
	h, err := of(t, []string{"v.csv"}, text, []string{"N1", "N2", "S1"}, false, "code,parent\nN,\nS,\nN1,N\nN2,N\nS1,S\n")
	require.NoError(t, err)
	require.Equal(t, []string{"N", "N", "S"}, names(h, 1))
	require.Len(t, h.Levels, 3)
	h, err = of(t, []string{"v.hrc"}, text, []string{"N1", "N2", "S"}, false, "N\n@N1\n@N2\nS\n")
	require.NoError(t, err)
	require.Equal(t, []string{"N", "N", "S"}, names(h, 1), "a code without parts stays itself")
}

func TestTruncateAndTop(t *testing.T) {
	h, err := of(t, []string{"truncate:3,2"}, text, []string{"10115", "10117", "10999", "20095"}, false, "")
	require.NoError(t, err)
	require.Equal(t, []string{"101", "101", "109", "200"}, names(h, 1))
	require.Equal(t, []string{"10", "10", "10", "20"}, names(h, 2))
	h, err = of(t, []string{"top:5,3"}, whole, []string{"1", "2", "3", "4", "5", "6"}, false, "")
	require.NoError(t, err)
	require.Equal(t, 5, h.Groups(1))
	require.Equal(t, 3, h.Groups(2))
}

func TestProposals(t *testing.T) {
	var ages []string
	for n := 16; n < 80; n++ {
		ages = append(ages, string(rune('0'+n/10))+string(rune('0'+n%10)))
	}
	h, err := of(t, nil, text, ages, false, "")
	require.NoError(t, err)
	require.Contains(t, h.Proposed, "bands of 5, 10, 20")
	for _, codes := range [][]string{{"1", "2", "3"}, append([]string{"01"}, ages...), append([]string{"9000"}, ages...), append([]string{"other"}, ages...)} {
		h, err = of(t, nil, text, codes, false, "")
		require.NoError(t, err)
		require.Equal(t, "as it is, or left out", h.Proposed)
		require.Len(t, h.Levels, 2)
	}
	h, err = of(t, []string{"fixed"}, text, ages, false, "")
	require.NoError(t, err)
	require.Len(t, h.Levels, 1)
}

func TestWrongFlags(t *testing.T) {
	for _, flag := range []string{"", "v", "=5", "v=", "v=five", "v=top:x", "v=levels:2", "v=levels:3..1", "v=cells:-1", "v=5,inf"} {
		require.Error(t, hierarchy.ParseFlag(new(hierarchy.List), flag), flag)
	}
}
