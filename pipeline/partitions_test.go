package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/frequency"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/pipeline/inspect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// text writes a file, in folders that are made.
func text(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func hive(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	text(t, "hive/year=2020/place=a%2Fb/x.csv", "sex,age\nm,1\nf,2\n")
	text(t, "hive/year=2020/place=c/x.csv", "sex,age\nm,1\n")
	text(t, "hive/year=2021/place="+session.MissingPartition+"/x.csv", "sex,age\nm,1\nm,3\n")
}

func partitionSpec(source, sink string, key ...string) *schemas.Spec {
	s := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Key: &schemas.Key{}, Sink: schemas.Sink{Path: sink},
		Operators: []schemas.Operator{{Config: &frequency.Config{}}}}
	for _, name := range key {
		s.Key.Variables = append(s.Key.Variables, schemas.KeyVariable{Name: name})
	}
	return s
}

func TestPartitionColumns(t *testing.T) {
	t.Run("one file", func(t *testing.T) {
		hive(t)
		_, err := Run(t.Context(), partitionSpec("hive", "out.csv", "year", "sex"), session.Options{Batch: 1})
		require.NoError(t, err)
		require.Equal(t, "sex,age,year,place,sample_frequency\nm,1,2020,a/b,2\nf,2,2020,a/b,1\nm,1,2020,c,2\nm,1,2021,,2\nm,3,2021,,2\n", read(t, "out.csv"))
		for _, kind := range []string{"parquet", "arrow"} {
			_, err := Run(t.Context(), partitionSpec("hive", "out."+kind, "year", "sex"), session.Options{})
			require.NoError(t, err)
			_, err = Run(t.Context(), partitionSpec("out."+kind, kind+".csv", "place"), session.Options{})
			require.ErrorContains(t, err, "sample_frequency")
			// What comes of it, once more, in its own kind: the columns pass.
			s := partitionSpec("out."+kind, kind+".csv", "place")
			s.Operators[0].Config.(*frequency.Config).Replace = true
			_, err = Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			require.Equal(
				t,
				"sex,age,year,place,sample_frequency\nm,1,2020,a/b,2\nf,2,2020,a/b,2\nm,1,2020,c,1\nm,1,2021,,2\nm,3,2021,,2\n",
				read(t, kind+".csv"),
			)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		hive(t)
		_, err := Run(t.Context(), partitionSpec("hive", "out/", "place", "sex"), session.Options{})
		require.NoError(t, err)
		require.Equal(t, "sex,age,sample_frequency\nm,1,1\nf,2,1\n", read(t, "out/year=2020/place=a%2Fb/x.csv"))
		require.Equal(t, "sex,age,sample_frequency\nm,1,2\nm,3,2\n", read(t, "out/year=2021/place="+session.MissingPartition+"/x.csv"))
	})
	t.Run("selected", func(t *testing.T) {
		hive(t)
		s := partitionSpec("hive", "out.csv", "sex")
		s.Operators = append(
			[]schemas.Operator{
				{Config: &selection.Config{Rows: []selection.Condition{{Column: "place", Values: []string{"a/b"}}}, Columns: []string{"place", "sex"}}},
			},
			s.Operators...)
		_, err := Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		require.Equal(t, "sex,place,sample_frequency\nm,a/b,1\nf,a/b,1\n", read(t, "out.csv"))
	})
	t.Run("inspected", func(t *testing.T) {
		hive(t)
		i, err := inspect.Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{"hive"}}}, inspect.Look{}, session.Options{})
		require.NoError(t, err)
		require.Equal(t, inspect.ColumnInspection{Name: "place", Type: "string", Categories: 2, Missing: 2}, i.Columns[3])
	})
	t.Run("a column of that name", func(t *testing.T) {
		hive(t)
		text(t, "hive/year=2021/place=d/x.csv", "sex,year\nm,1\n")
		_, err := Run(t.Context(), partitionSpec("hive", "out.csv", "sex"), session.Options{})
		require.ErrorContains(t, err, `there is a column "year" in the files too`)
	})
	t.Run("not in all folders", func(t *testing.T) {
		hive(t)
		text(t, "hive/year=2021/x.csv", "sex,age\nm,1\n")
		_, err := Run(t.Context(), partitionSpec("hive", "out/", "place"), session.Options{})
		require.ErrorContains(t, err, "is in a folder named place=..., hive/year=2021/x.csv is not")
		_, err = Run(t.Context(), partitionSpec("hive", "out/", "year"), session.Options{})
		require.NoError(t, err)
	})
	t.Run("a new column of that name in folders", func(t *testing.T) {
		hive(t)
		s := partitionSpec("hive", "out/", "year")
		s.Operators = append(
			[]schemas.Operator{{Config: &recode.Config{{Name: "year", Replace: true, Map: map[string]string{"2020": "a", "2021": "b"}}}}},
			s.Operators...)
		_, err := Run(t.Context(), s, session.Options{})
		require.ErrorContains(t, err, "cannot have a new column")
	})
}

func TestTablesOfVersionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ log, path, want string }{
		"Delta":              {"t/_delta_log/0.json", "t", "is a Delta Lake table"},
		"Delta, one file":    {"t/_delta_log/0.json", "t/year=1/a.csv", "is a Delta Lake table"},
		"Delta, a pattern":   {"t/_delta_log/0.json", "t/year=*/*.csv", "is a Delta Lake table"},
		"Delta, a partition": {"t/_delta_log/0.json", "t/year=1", "is a Delta Lake table"},
		"Hudi":               {"t/.hoodie/hoodie.properties", "t", "is a Hudi table"},
		"Iceberg":            {"t/metadata/v1.metadata.json", "t", "is an Iceberg table"},
		"Iceberg's data":     {"t/metadata/v1.metadata.json", "t/data/year=1/a.csv", "is an Iceberg table"},
		"within":             {"t/year=1/_delta_log/0.json", "t", "is a Delta Lake table"},
		"none":               {"t/metadata/notes.txt", "t", ""},
		"beside":             {"u/_delta_log/0.json", "t", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			text(t, c.log, "{}")
			text(t, "t/year=1/a.csv", "a\n1\n")
			text(t, "t/data/year=1/a.csv", "a\n1\n")
			_, err := session.Resolve(schemas.Source{Path: []string{c.path}})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.True(t, session.IsSpec(err))
		})
	}
}
