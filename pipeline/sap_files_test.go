package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/mc3"
	"microrisk/operators/sap"
	"microrisk/operators/tabulate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func homes() map[string]string {
	return map[string]string{"homes.csv": "area,sex,health\nnorth,m,good\nnorth,m,good\nnorth,f,bad\nsouth,f,good\nsouth,f,good\nsouth,m,bad\n",
		"secret": "sixteen bytes and some more", "released.csv": "area,sex,health,count\nnorth,m,good,2\n", "model.json": `{"microrisk_model":`}
}

func variablesOf(names ...string) (list []schemas.KeyVariable) {
	for _, name := range names {
		list = append(list, schemas.KeyVariable{Name: name})
	}
	return list
}

// sapSpec is a run with every kind of output.
func sapSpec() *schemas.Spec {
	return &schemas.Spec{Source: schemas.Source{Path: []string{"homes.csv"}}, Sink: schemas.Sink{Path: "out.csv"}, Summary: "summary.json",
		Operators: []schemas.Operator{
			{Config: &sap.Config{By: variablesOf("area"), Cells: variablesOf("sex", "health"), Known: []int64{1}, Tables: "tables.csv"}},
			{Config: &tabulate.Config{Cells: variablesOf("area", "sex"), Path: "table.csv"}}}}
}

// Whatever is read beside the inputs is not written over, by whatever is written.
func TestWhatIsReadIsNotWrittenOver(t *testing.T) {
	for what, name := range map[string]func(s *schemas.Spec, path string){
		"the secret": func(s *schemas.Spec, path string) {
			s.Operators[0].Config.(*sap.Config).Release.Perturbation = schemas.Perturbation{Scheme: "random", Base: 3, Secret: path}
		},
		"the secret of tabulate": func(s *schemas.Spec, path string) {
			s.Operators[1].Config.(*tabulate.Config).Perturb = &schemas.Perturbation{Scheme: "random", Base: 3, Secret: path}
		},
		"the file of published counts": func(s *schemas.Spec, path string) { s.Operators[0].Config.(*sap.Config).Release.Published = path },
		"the saved model": func(s *schemas.Spec, path string) {
			s.Key, s.Sampling = keyOf("sex"), &schemas.Sampling{Fraction: 0.1}
			s.Operators = append(s.Operators, schemas.Operator{Config: &mc3.Config{ModelIn: path}})
		},
	} {
		for by, write := range map[string]func(s *schemas.Spec, path string){
			"output":   func(s *schemas.Spec, path string) { s.Sink.Path = path },
			"summary":  func(s *schemas.Spec, path string) { s.Summary = path },
			"tables":   func(s *schemas.Spec, path string) { s.Operators[0].Config.(*sap.Config).Tables = path },
			"tabulate": func(s *schemas.Spec, path string) { s.Operators[1].Config.(*tabulate.Config).Path = path },
		} {
			t.Run(what+" by "+by, func(t *testing.T) {
				inFolder(t, homes())
				require.NoError(t, os.Rename("secret", "beside.csv"))
				require.NoError(t, os.Symlink("beside.csv", "link.csv"))
				s := sapSpec()
				name(s, "beside.csv")
				write(s, "link.csv")
				_, err := Run(t.Context(), s, session.Options{})
				require.ErrorContains(t, err, "the output link.csv is "+strings.TrimSuffix(what, " of tabulate")+" beside.csv")
				require.True(t, session.IsSpec(err))
				require.Equal(t, homes()["secret"], read(t, "beside.csv"))
				require.NoFileExists(t, "out.csv")
			})
		}
	}
}

// When one of the files of a run cannot be written, none of the others is there.
func TestAllFilesOrNone(t *testing.T) {
	for name, apart := range map[string]func(s *schemas.Spec){
		"tables": func(s *schemas.Spec) {
			s.Operators[0].Config.(*sap.Config).Tables = filepath.Join("apart", "tables.csv")
		},
		"tabulate": func(s *schemas.Spec) {
			s.Operators[1].Config.(*tabulate.Config).Path = filepath.Join("apart", "table.parquet")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, homes())
			require.NoError(t, os.Mkdir("apart", 0o777))
			before := listing(t)
			s := sapSpec()
			apart(s)
			_, err := Run(t.Context(), s, session.Options{Progress: func(stage string, _, _ int64) {
				if stage == "writing" { // as a disk that goes away
					os.RemoveAll("apart")
				}
			}})
			require.ErrorContains(t, err, "writing "+filepath.Join("apart", "table"))
			require.Equal(t, before, listing(t))
		})
	}
	inFolder(t, homes())
	_, err := Run(t.Context(), sapSpec(), session.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"homes.csv", "model.json", "out.csv", "released.csv", "secret", "summary.json", "table.csv", "tables.csv"}, listing(t))
	require.True(t, strings.HasPrefix(read(t, "tables.csv"), "area,people,cells,sap_1,"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	inFolder(t, homes())
	_, err = Run(ctx, sapSpec(), session.Options{})
	require.Error(t, err)
	require.Equal(t, []string{"homes.csv", "model.json", "released.csv", "secret"}, listing(t))
}

// The limit sap is compared with the greatest SAP of a table at the largest number of people known.
func TestLimitOfSAP(t *testing.T) {
	inFolder(t, homes())
	s := sapSpec()
	s.Operators[0].Config.(*sap.Config).Known = []int64{2, 1}
	s.Operators[0].Config.(*sap.Config).Release.Perturbation = schemas.Perturbation{Scheme: "conventional", Base: 5}
	for limit, breached := range map[float64]bool{0.3: true, 0.34: false} {
		s.Limits = map[string]schemas.Limit{"sap": {Max: limit}}
		outcome, err := Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		m := outcome.Summary.Operators["sap"].(*sap.Summary)
		require.InDelta(t, 1.0/3, m.Greatest(), 1e-12)
		require.Equal(t, breached, len(outcome.Breaches) > 0)
		if breached {
			require.Equal(t, "limit breached: sap of sap is 0.333333, at most 0.3 is allowed", outcome.Breaches[0].String())
		}
		require.FileExists(t, "out.csv")
	}
}
