package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// emptyFiles makes empty files in a fresh current folder.
func emptyFiles(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, nil, 0o666))
	}
}

func TestResolve(t *testing.T) {
	tree := []string{"a.parquet", "b.parquet", "c.csv", "notes.txt", "[odd].parquet",
		"data/2.parquet", "data/10.parquet", "data/_SUCCESS", "data/.hidden.parquet", "data/_tmp.parquet", "data/readme.md", "data/old/3.parquet",
		"hive/year=2020/part=1/x.parquet", "hive/year=2021/part=1/x.parquet", "mixed/a.csv", "mixed/b.parquet", "empty/readme.md"}
	for name, c := range map[string]struct {
		source schemas.Source
		want   string // paths, or the error
		kind   string
		spec   bool // the error is about the spec
	}{
		"file":                 {source: schemas.Source{Path: []string{"a.parquet"}}, want: "a.parquet", kind: "parquet"},
		"files as named":       {source: schemas.Source{Path: []string{"b.parquet", "a.parquet"}}, want: "b.parquet a.parquet", kind: "parquet"},
		"pattern":              {source: schemas.Source{Path: []string{"?.parquet"}}, want: "a.parquet b.parquet", kind: "parquet"},
		"a name is no pattern": {source: schemas.Source{Path: []string{"[odd].parquet"}}, want: "[odd].parquet", kind: "parquet"},
		"folder":               {source: schemas.Source{Path: []string{"data"}}, want: "data/10.parquet data/2.parquet", kind: "parquet"},
		"folder of folders": {
			source: schemas.Source{Path: []string{"hive"}}, want: "hive/year=2020/part=1/x.parquet hive/year=2021/part=1/x.parquet", kind: "parquet",
		},
		"pattern of folders": {
			source: schemas.Source{Path: []string{"hive/year=*"}}, want: "hive/year=2020/part=1/x.parquet hive/year=2021/part=1/x.parquet", kind: "parquet",
		},
		"folder with a format": {source: schemas.Source{Path: []string{"mixed"}, Format: "csv"}, want: "mixed/a.csv", kind: "csv"},
		"format of one file":   {source: schemas.Source{Path: []string{"notes.txt"}, Format: "csv"}, want: "notes.txt", kind: "csv"},
		"table":                {source: schemas.Source{Table: "a.parquet", Count: "N"}, want: "a.parquet", kind: "parquet"},
		"standard input":       {source: schemas.Source{Path: []string{"-"}}, want: "-", kind: "arrow"},

		"standard input as CSV": {
			source: schemas.Source{Path: []string{"-"}, Format: "csv"}, want: "standard input is read as an Arrow IPC stream, not as csv; name a file instead",
			spec: true,
		},
		"not there":          {source: schemas.Source{Path: []string{"a.parqet"}}, want: "a.parqet does not exist; did you mean a.parquet?"},
		"pattern of nothing": {source: schemas.Source{Path: []string{"z*.parquet"}}, want: "no file fits the pattern z*.parquet"},
		"broken pattern":     {source: schemas.Source{Path: []string{"a[.parquet"}}, want: "a[.parquet is no pattern: syntax error in pattern", spec: true},
		"folder without data": {
			source: schemas.Source{Path: []string{"empty"}}, want: "the folder empty has no data files; they are known by the endings .parquet, .arrow and .csv",
		},
		"twice": {
			source: schemas.Source{Path: []string{"a.parquet", "./a.parquet"}}, want: "a.parquet and ./a.parquet are the same file; each input is read once", spec: true,
		},
		"twice by a pattern": {
			source: schemas.Source{Path: []string{"a.parquet", "*.parquet"}}, want: "a.parquet and a.parquet are the same file; each input is read once", spec: true,
		},
		"kinds": {
			source: schemas.Source{Path: []string{"a.parquet", "c.csv"}}, want: "a.parquet and c.csv are of different kinds (parquet, csv); read them in separate runs",
			spec: true,
		},
		"unknown kind": {
			source: schemas.Source{Path: []string{"notes.txt"}},
			want:   "cannot tell the format of notes.txt by its name; endings are .parquet, .arrow and .csv, or say source: {format: ...}", spec: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			emptyFiles(t, tree...)
			in, err := Resolve(c.source)
			if err != nil {
				assert.Equal(t, c.want, err.Error())
				assert.Equal(t, c.spec, IsSpec(err))
				return
			}
			assert.Equal(t, c.want, strings.Join(in.Paths, " "))
			assert.Equal(t, c.kind, in.Kind)
		})
	}
}

func TestResolveFollowsLinks(t *testing.T) {
	emptyFiles(t, "real/a.parquet")
	require.NoError(t, os.Symlink("real", "link"))
	in, err := Resolve(schemas.Source{Path: []string{"link"}})
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join("link", "a.parquet")}, in.Paths)
	_, err = Resolve(schemas.Source{Path: []string{"link", "real"}})
	assert.ErrorContains(t, err, "are the same file")
}

func TestDestine(t *testing.T) {
	for name, c := range map[string]struct {
		source  []string
		sink    schemas.Sink
		summary string
		want    string // paths and kind, or the error
	}{
		"nothing":                  {source: []string{"a.parquet"}, want: " "},
		"file":                     {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "out.parquet"}, want: "out.parquet parquet"},
		"another kind":             {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "out.csv"}, want: "out.csv csv"},
		"format before the ending": {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "out.data", Format: "arrow"}, want: "out.data arrow"},
		"folder": {
			source: []string{"a.parquet", "data/b.parquet"}, sink: schemas.Sink{Path: "data"}, want: "data/a.parquet data/b.parquet parquet",
		},
		"folder, another kind": {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "into/", Format: "csv"}, want: "into/a.csv csv"},
		"one file for all":     {source: []string{"a.parquet", "b.parquet"}, sink: schemas.Sink{Path: "out.parquet"}, want: "out.parquet parquet"},
		"standard output":      {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "-"}, want: " arrow"},

		"standard output as CSV": {
			source: []string{"a.parquet"}, sink: schemas.Sink{Path: "-", Format: "csv"},
			want: "standard output is written as an Arrow IPC stream, not as csv; name a file instead",
		},
		"no ending": {
			source: []string{"a.parquet"}, sink: schemas.Sink{Path: "out"},
			want: "cannot tell the format of the output out by its name; endings are .parquet, .arrow and .csv, or say sink: {format: ...}",
		},
		"input": {
			source: []string{"a.parquet"}, sink: schemas.Sink{Path: "./a.parquet"}, want: "the output ./a.parquet is the input a.parquet; give the output another name",
		},
		"input by a link": {
			source: []string{"a.parquet"}, sink: schemas.Sink{Path: "link.parquet"},
			want: "the output link.parquet is the input a.parquet; give the output another name",
		},
		"folder of the inputs": {
			source: []string{"a.parquet", "b.parquet"}, sink: schemas.Sink{Path: "."}, want: "the output a.parquet is the input a.parquet; give the output another name",
		},
		"clash": {
			source: []string{"a.parquet", "other/a.parquet"}, sink: schemas.Sink{Path: "into/"},
			want: "a.parquet and other/a.parquet would both be written to into/a.parquet; rename one of them, or write all to one file",
		},
		"clash of partitions": {
			source: []string{"hive"}, sink: schemas.Sink{Path: "into/"}, want: "into/year=2020/part=1/a.parquet into/year=2020/part=2/a.parquet parquet",
		},
		"clash within one": {
			source: []string{"hive/year=2020/part=1", "other/part=1"}, sink: schemas.Sink{Path: "into/"},
			want: "into/year=2020/part=1/a.parquet into/part=1/a.parquet parquet",
		},
		"clash all the same": {
			source: []string{"deep/part=1", "other/part=1"}, sink: schemas.Sink{Path: "into/"},
			want: "deep/part=1/a.parquet and other/part=1/a.parquet would both be written to into/part=1/a.parquet; rename one of them, or write all to one file",
		},
		"no clash": {
			source: []string{"a.parquet", "other/part=2"}, sink: schemas.Sink{Path: "into/"}, want: "into/a.parquet into/part=2/b.parquet parquet",
		},
		"no folder": {source: []string{"a.parquet"}, sink: schemas.Sink{Path: "none/out.parquet"}, want: "none/out.parquet parquet"},
		"file for a folder": {
			source: []string{"a.parquet"}, sink: schemas.Sink{Path: "b.parquet/out.parquet"}, want: "cannot write b.parquet/out.parquet: the folder b.parquet is a file",
		},
		"summary is the input": {
			source: []string{"a.parquet"}, summary: "a.parquet", want: "the output a.parquet is the input a.parquet; give the output another name",
		},
		"summary is a folder": {source: []string{"a.parquet"}, summary: "into", want: "cannot write into: it is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			emptyFiles(
				t,
				"a.parquet",
				"b.parquet",
				"other/a.parquet",
				"data/c.parquet",
				"into/x",
				"hive/year=2020/part=1/a.parquet",
				"hive/year=2020/part=2/a.parquet",
				"other/part=1/a.parquet",
				"other/part=2/b.parquet",
				"deep/part=1/a.parquet",
			)
			require.NoError(t, os.MkdirAll("data", 0o777))
			require.NoError(t, os.Symlink("a.parquet", "link.parquet"))
			if name == "folder" {
				require.NoError(t, os.Mkdir("src", 0o777))
				require.NoError(t, os.Rename("data/c.parquet", "src/b.parquet"))
				c.source[1] = "src/b.parquet"
			}
			in, err := Resolve(schemas.Source{Path: c.source})
			require.NoError(t, err)
			out, err := destine(&schemas.Spec{Sink: c.sink, Summary: c.summary}, in, nil)
			if err != nil {
				assert.Equal(t, c.want, err.Error())
			} else {
				assert.Equal(t, c.want, strings.Join(out.Paths, " ")+" "+out.kind)
			}
			for _, folder := range []string{".", "data", "into"} {
				left, err := filepath.Glob(filepath.Join(folder, ".microrisk-*"))
				require.NoError(t, err)
				assert.Empty(t, left, "a probe was left behind")
			}
		})
	}
}

func TestMachineMemory(t *testing.T) {
	const limit = 1 << 30
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, 0},
		"machine":       {map[string]string{"/proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\n"}, 2 << 20},
		"control group": {
			map[string]string{"/proc/meminfo": "MemTotal: 16777216 kB\n", "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "1073741824\n"}, limit,
		},
		"control group above": {
			map[string]string{
				"/proc/meminfo": "MemTotal: 16777216 kB\n", "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
				"/sys/fs/cgroup/a/memory.max": "1073741824\n",
			},
			limit,
		},
		"control group, old kind": {
			map[string]string{"/proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1073741824"}, limit,
		},
		"no limit": {
			map[string]string{"/proc/meminfo": "MemTotal: 1024 kB\n", "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"}, 1 << 20,
		},
		"nonsense": {map[string]string{"/proc/meminfo": "MemTotal:\n", "/proc/self/cgroup": "::\nx\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, machineMemory(func(path string) ([]byte, error) {
				text, ok := c.files[path]
				if !ok {
					return nil, os.ErrNotExist
				}
				return []byte(text), nil
			}))
		})
	}
	assert.Positive(t, DefaultMemory())
}
