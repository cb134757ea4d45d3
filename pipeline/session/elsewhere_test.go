package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/files"
	"microrisk/schemas"
)

// kept is a store in memory.
type kept struct {
	mu      sync.Mutex
	objects map[string][]byte
}

type keptObject struct {
	*bytes.Reader
	name string
}

func (o keptObject) Name() string { return o.name }
func (o keptObject) Close() error { return nil }

func (k *kept) Open(_ context.Context, path string) (files.Input, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.objects[path]
	if !ok {
		return nil, errors.New("there is no such object")
	}
	return keptObject{bytes.NewReader(b), path}, nil
}

func (k *kept) List(_ context.Context, prefix string) ([]string, error) {
	var names []string
	for name := range k.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

type keptOutput struct {
	bytes.Buffer
	store *kept
	name  string
}

func (o *keptOutput) Name() string { return o.name }
func (o *keptOutput) Abort()       {}
func (o *keptOutput) Commit() error {
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	o.store.objects[o.name] = o.Bytes()
	return nil
}

func (k *kept) Create(_ context.Context, path string) (files.Output, error) {
	return &keptOutput{store: k, name: path}, nil
}

// keeping registers a store with empty objects as kept://.
func keeping(names ...string) *kept {
	k := &kept{objects: map[string][]byte{}}
	for _, n := range names {
		k.objects["kept://"+n] = []byte{}
	}
	files.Register("kept", k)
	return k
}

func TestResolveElsewhere(t *testing.T) {
	keeping("b/a.parquet", "b/b.parquet", "b/c.csv", "b/x?.parquet", "b/data/2.parquet", "b/data/10.parquet", "b/data/_SUCCESS", "b/data/.h.parquet",
		"b/data/old/3.parquet", "b/hive/y=1/x.parquet", "b/hive/y=2/x.parquet", "b/delta/_delta_log/0.json", "b/delta/x.parquet", "b/notes/a.txt",
		"b/ice/metadata/v1.metadata.json", "b/ice/data/x.parquet", "b/a b%20#.csv")
	for name, c := range map[string]struct{ path, format, want string }{
		"an object":          {"b/a.parquet", "", "b/a.parquet"},
		"not looked for yet": {"b/gone.parquet", "", "b/gone.parquet"},
		"a pattern":          {"b/?.parquet", "", "b/a.parquet b/b.parquet"},
		"no pattern":         {"b/x?.parquet", "", "b/x?.parquet"},
		"odd signs":          {"b/a b%20#.csv", "", "b/a b%20#.csv"},
		"a folder":           {"b/data/", "", "b/data/10.parquet b/data/2.parquet"},
		"columns in folders": {"b/hive/", "", "b/hive/y=1/x.parquet b/hive/y=2/x.parquet"},
		"patterned folders":  {"b/hive/*/x.parquet", "", "b/hive/y=1/x.parquet b/hive/y=2/x.parquet"},
		"nothing fits":       {"b/z*.parquet", "", "no object fits the pattern kept://b/z*.parquet"},
		"no pattern at all":  {"b/z[.parquet", "", "kept://b/z[.parquet is no pattern"},
		"no data":            {"b/notes/", "", "the folder kept://b/notes/ has no data files"},
		"no bucket":          {"", "", "the folder kept:// has no data files"},
		"a table":            {"b/delta/", "", "it is a Delta Lake table"},
		"another table":      {"b/ice/", "", "it is an Iceberg table"},
		"no kind":            {"b/notes/a.txt", "", "cannot tell the format of kept://b/notes/a.txt by its name; a folder ends with /, objects with"},
		"a kind said":        {"b/notes/a.txt", "csv", "b/notes/a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Resolve(schemas.Source{Path: []string{"kept://" + c.path}, Format: c.format})
			if err != nil {
				require.ErrorContains(t, err, c.want)
				return
			}
			got := strings.ReplaceAll(strings.Join(in.Paths, " "), "kept://", "")
			require.Equal(t, c.want, got)
		})
	}
	_, err := Resolve(schemas.Source{Path: []string{"kept://b/a.parquet", "kept://b/?.parquet"}})
	require.ErrorContains(t, err, "are the same file")
	_, err = Resolve(schemas.Source{Path: []string{"s4://b/a.parquet"}})
	require.ErrorContains(t, err, "paths of kind s4://")
	require.True(t, IsSpec(err))
}

func TestChecksElsewhere(t *testing.T) {
	keeping("b/in.csv")
	reads := []Reading{{"the input", "kept://b/in.csv"}}
	require.NoError(t, CheckPaths(reads, []string{"kept://b/out.csv", "kept://b/summary.json"}))
	for path, want := range map[string]string{
		"kept://b/in.csv": "the output kept://b/in.csv is the input", "KEPT://b/in.csv": "the output KEPT://b/in.csv is the input",
		"kept://b/": "it is a folder", "s3://b/x.csv": "without object stores",
	} {
		err := CheckPaths(reads, []string{path})
		require.ErrorContains(t, err, want)
		require.True(t, IsSpec(err))
	}
	require.ErrorContains(t, CheckPaths(nil, []string{"kept://b/x", "kept://b/x"}), "is written twice")
	require.ErrorContains(t, CheckPaths(nil, []string{"kept://b/x", "Kept://b/x"}), "is written twice")
	_, err := Resolve(schemas.Source{Path: []string{"kept://b/in.csv", "KEPT://b/in.csv"}})
	require.ErrorContains(t, err, "are the same file")
	require.ErrorContains(t, files.Distinct([]string{"kept://b/in.csv"}, []string{"KEPT://b/in.csv"}), "is the input")
}

func TestFilesBesideElsewhere(t *testing.T) {
	k := keeping()
	k.objects["kept://b/text"] = []byte("text")
	text, err := ReadRegular("kept://b/text", 4)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	_, err = ReadRegular("kept://b/text", 3)
	require.ErrorContains(t, err, "more than 3 bytes")
	_, err = ReadRegular("kept://b/gone", 3)
	require.ErrorContains(t, err, "there is no such object")
	require.NoError(t, Replaceable("kept://b/gone", "page", "<!"))
	require.NoError(t, Replaceable("kept://b/text", "page", "text of it"))
	require.ErrorContains(t, Replaceable("kept://b/text", "page", "<!"), "exists and is no page")
	require.ErrorContains(t, (&Companions{}).secret("kept://b/text", Options{}), "is not a file of this machine")
	tidy, err := MakeFolders([]string{"kept://b/new/x"})
	require.NoError(t, err)
	tidy()
	require.NoDirExists(t, "kept:")
}
