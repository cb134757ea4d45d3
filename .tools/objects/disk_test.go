package objects

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// keyed are rows of a key that hardly two have, as text and as an Arrow stream: their tables do not fit in little memory.
var keyed = sync.OnceValues(func() (text, stream []byte) {
	const rows = 1_000_000
	random := rand.New(rand.NewPCG(5, 6))
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	out := []byte("a,b\n")
	for range rows {
		for i, end := range []byte(",\n") {
			v := random.Int64N(3000)
			b.Field(i).(*array.Int64Builder).Append(v)
			out = append(strconv.AppendInt(out, v, 10), end)
		}
	}
	var s bytes.Buffer
	w := ipc.NewWriter(&s, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecordBatch()); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out, s.Bytes()
})

// A disk is a folder of temporary files with little room, in all or, where that takes rights that the tests do not have, in each file.
type disk struct {
	folder string
	said   string // when there is no more room
	file   string // most of a file, as ulimit -f has it
}

// disks are one of each kind with room for some KiB.
func disks(t *testing.T, kib int) map[string]disk {
	all := map[string]disk{"small files": {t.TempDir(), "file too large", strconv.Itoa(2 * kib)}}
	mounted := t.TempDir()
	if err := syscall.Mount("tmpfs", mounted, "tmpfs", 0, fmt.Sprintf("size=%dk", max(kib, 4))); err != nil {
		t.Logf("no disk of the test's own: %s", err)
		return all
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(mounted, 0)) })
	if kib == 0 {
		require.NoError(t, os.WriteFile(filepath.Join(mounted, "full"), make([]byte, 4096), 0o600))
	}
	all["a small disk"] = disk{mounted, "the disk is full", "unlimited"}
	return all
}

// runOn runs the program as a process of its own, bound as a disk says.
func runOn(t *testing.T, d disk, temp string, in []byte, args ...string) (status int, said string) {
	t.Helper()
	c := exec.Command("sh", append([]string{"-c", "ulimit -f " + d.file + ` && exec "$@"`, "sh", program}, args...)...)
	c.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
	c.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run()
	return c.ProcessState.ExitCode(), out.String()
}

// A disk that fills ends the run with one line, and leaves neither objects nor uploads nor files.
func TestDiskThatFills(t *testing.T) {
	_, b := s3Server(t)
	text, stream := keyed()
	in := b.put("in.csv", text)
	out := []string{"--memory", "8MiB", "--out", b.path("out.parquet")}
	const kib = 2048
	for where, d := range disks(t, kib) {
		for name, c := range map[string]struct {
			stdin []byte
			args  []string
			said  string
		}{
			"tables":                    {nil, append(out, in), "writing temporary data to " + d.folder + ": " + d.said},
			"the folder of a flag":      {nil, append(out, in, "--temp-dir", d.folder), "writing temporary data to " + d.folder + ": " + d.said},
			"an output of this machine": {nil, []string{in, "--memory", "1GiB", "--out", filepath.Join(d.folder, "out.parquet")}, d.said},
			"standard input":            {stream, append(out, "-"), "keeping standard input in a temporary file in " + d.folder + ": " + d.said},
		} {
			t.Run(where+", "+name, func(t *testing.T) {
				temp := d.folder
				if slices.Contains(c.args, "--temp-dir") {
					temp = t.TempDir()
				}
				status, said := runOn(t, d, temp, c.stdin, slices.Concat([]string{"assess"}, c.args, []string{"--key", "a,b", "--fraction", "0.1", "--quiet",
					"--summary", b.path("risk.json")})...)
				require.Equal(t, 1, status, said)
				require.Contains(t, said, c.said)
				require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
				require.Equal(t, []string{"in.csv"}, b.keys())
				require.Empty(t, b.uploads())
				require.Empty(t, within(t, d.folder))
			})
		}
	}
}

// A disk without room for the note of an upload has no empty one after the run.
func TestDiskThatIsFull(t *testing.T) {
	_, b := s3Server(t)
	in := b.put("in.csv", []byte("a,b\n1,2\n1,3\n"))
	for where, d := range disks(t, 0) {
		t.Run(where, func(t *testing.T) {
			before := within(t, d.folder)
			status, said := runOn(t, d, d.folder, nil, "assess", in, "--key", "a,b", "--fraction", "0.1", "--quiet", "--out", b.path("out.csv"))
			require.Zero(t, status, said)
			require.Equal(t, []string{"in.csv", "out.csv"}, b.keys())
			require.Equal(t, before, within(t, d.folder))
			b.remove("out.csv")
		})
	}
}

func within(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
