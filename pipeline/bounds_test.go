package pipeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/tabulate"
	"microrisk/pipeline/bounds"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The worked example of rounded margins: of 3 x 3 cells rounded to base 3, with all margins, three of four zeros come back.
const rounded3x3 = `row,column,value
Total,Total,12
Total,D,9
Total,E,6
Total,F,0
A,Total,3
A,D,0
A,E,3
A,F,0
B,Total,3
B,D,3
B,E,0
B,F,0
C,Total,6
C,D,3
C,E,3
C,F,0
`

func TestBoundsWorkedExample(t *testing.T) {
	inFolder(t, map[string]string{"t.csv": rounded3x3})
	o, err := bounds.Run(
		t.Context(),
		bounds.Spec{Tables: []string{"t.csv"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}, Out: "b.csv"},
		session.Options{},
	)
	require.NoError(t, err)
	require.Equal(t, 4, o.Margins)
	require.True(t, o.Sharp)
	require.Equal(t, 3, o.Zeros)
	require.Equal(
		t,
		"row,column,lower,upper,exact\nA,D,0,1,false\nA,E,2,3,false\nA,F,0,0,true\nB,D,3,4,false\nB,E,0,1,false\nB,F,0,0,true\nC,D,3,4,false\nC,E,2,3,false\n"+
			"C,F,0,0,true\n",
		read(t, "b.csv"),
	)
}

// Two margins in files of their own, exact; the tables may leave variables out.
func TestBoundsOfSeveralFiles(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "A,count\n1,4\n2,5\n10,0\n", "b.csv": "B,count\nx,3\ny,6\n"})
	for _, method := range []string{"", "shuttle", "sharp", "frechet"} {
		_, err := bounds.Run(t.Context(), bounds.Spec{Tables: []string{"a.csv", "b.csv"}, Method: method, Out: "out.csv"}, session.Options{})
		require.NoError(t, err, method)
		require.Equal(
			t,
			"A,B,lower,upper,exact\n1,x,0,3,false\n1,y,1,4,false\n2,x,0,3,false\n2,y,2,5,false\n10,x,0,0,true\n10,y,0,0,true\n",
			read(t, "out.csv"),
			method,
		)
	}
}

func TestBoundsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		spec  bounds.Spec
		want  string
	}{
		"margins disagree": {
			map[string]string{"a.csv": "A,count\n1,4\n2,5\n", "b.csv": "B,count\nx,3\ny,7\n"}, bounds.Spec{Tables: []string{"a.csv", "b.csv"}},
			"margins b.csv [B] and a.csv [A] disagree",
		},
		"twice":     {map[string]string{"a.csv": "A,count\n1,4\n1,5\n"}, bounds.Spec{Tables: []string{"a.csv"}}, "has [A = 1] twice"},
		"negative":  {map[string]string{"a.csv": "A,count\n1,-4\n"}, bounds.Spec{Tables: []string{"a.csv"}}, "no whole number of at least 0"},
		"no counts": {map[string]string{"a.csv": "A,n\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}}, "no column of counts"},
		"not rounded": {
			map[string]string{"a.csv": "A,count\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}, Scheme: schemas.Perturbation{Scheme: "random", Base: 3}},
			"never publishes a count of 4",
		},
		"base 0": {
			map[string]string{"a.csv": "A,count\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}, Scheme: schemas.Perturbation{Scheme: "random"}}, "base is 0",
		},
		"even base": {
			map[string]string{"a.csv": "A,count\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 4}},
			"the base 4 is even",
		},
		"method": {map[string]string{"a.csv": "A,count\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}, Method: "guess"}, `no method "guess"`},
		"not decomposable": {
			map[string]string{"a.csv": "A,B,count\nx,y,4\n", "b.csv": "B,C,count\ny,z,4\n", "c.csv": "A,C,count\nx,z,4\n"},
			bounds.Spec{Tables: []string{"a.csv", "b.csv", "c.csv"}, Method: "frechet"}, "decomposable",
		},
		"its own input": {map[string]string{"a.csv": "A,count\n1,4\n"}, bounds.Spec{Tables: []string{"a.csv"}, Out: "a.csv"}, "is the input"},
		"no file":       {nil, bounds.Spec{Tables: []string{"a.csv"}}, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, c.files)
			if c.spec.Out == "" {
				c.spec.Out = "out.parquet"
			}
			before := listing(t)
			_, err := bounds.Run(t.Context(), c.spec, session.Options{})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, listing(t), "nothing is written")
		})
	}
}

// Rounded margins and one that was not.
func TestBoundsOfMixedSchemes(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "A,value\n1,3\n2,6\n", "n.csv": "count\n10\n", "v.csv": "A,value\n1,4\n2,6\n"})
	o, err := bounds.Run(
		t.Context(),
		bounds.Spec{Tables: []string{"a.csv"}, Exact: []string{"n.csv"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}, Out: "b.csv"},
		session.Options{},
	)
	require.NoError(t, err)
	require.Empty(t, o.Warnings)
	require.Equal(t, "A,lower,upper,exact\n1,3,4,false\n2,6,7,false\n", read(t, "b.csv"))
	o, err = bounds.Run(t.Context(), bounds.Spec{Tables: []string{"v.csv"}, Exact: []string{"n.csv"}, Out: "b.csv"}, session.Options{})
	require.NoError(t, err)
	require.Len(t, o.Warnings, 1, "perturbed counts taken as exact")
	o, err = bounds.Run(t.Context(), bounds.Spec{Exact: []string{"v.csv"}, Out: "b.csv"}, session.Options{})
	require.NoError(t, err)
	require.Empty(t, o.Warnings)
}

// A missing value is a category of its own, beside one that is called missing.
func TestBoundsOfMissing(t *testing.T) {
	inFolder(t, map[string]string{"d.csv": "k\nmissing\nNA\nx\n"})
	_, err := Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{"d.csv"}}, Operators: []schemas.Operator{{Config: &tabulate.Config{
		Cells: []schemas.KeyVariable{{Name: "k", MissingCodes: []string{"NA"}}}, Path: "t.parquet"}}}}, session.Options{})
	require.NoError(t, err)
	o, err := bounds.Run(t.Context(), bounds.Spec{Tables: []string{"t.parquet"}, Out: "b.parquet"}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, o.Cells)
	require.Equal(t, 3, o.Known)
}

// Two margins of sixty categories: all bounds, and at once.
func TestBoundsOfLargeTable(t *testing.T) {
	text := map[string]string{}
	for _, v := range []string{"A", "B"} {
		lines := v + ",count\n"
		for i := range 60 {
			lines += fmt.Sprintf("%d,%d\n", i, i%7+1)
		}
		text[v+".csv"] = lines
	}
	inFolder(t, text)
	o, err := bounds.Run(t.Context(), bounds.Spec{Tables: []string{"A.csv", "B.csv"}, Method: "sharp", Out: "b.parquet"}, session.Options{})
	require.NoError(t, err)
	require.True(t, o.Sharp)
	require.Zero(t, o.Unbounded)
	require.Positive(t, o.Width)
}
