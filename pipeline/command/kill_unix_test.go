//go:build unix

package command

import (
	"bufio"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

// program is microrisk as a process of its own.
func program(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "MICRORISK_MAIN=1")
	return c
}

// kills is how many times the program is killed; MICRORISK_KILLS asks for more.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("MICRORISK_KILLS")); err == nil {
		return n
	}
	return 12
}

// A run that is killed leaves nothing that can be seen, and the next one removes what cannot.
func TestKilledRunsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program many times")
	}
	dir := t.TempDir()
	in, temp, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "temp"), filepath.Join(dir, "out")
	manyKeys(t, in, 1)
	for _, f := range []string{temp, out} {
		require.NoError(t, os.Mkdir(f, 0o700))
	}
	args := func(ending string) []string {
		return []string{"assess", in, "--key", "a,b", "--measures", "frequency,sap", "--cells", "a", "--tables", filepath.Join(out, "tables.csv"),
			"--out", filepath.Join(out, "risk."+ending), "--summary", filepath.Join(out, "summary.json"), "--memory", "8MiB", "--temp-dir", temp}
	}
	whole := map[string]bool{"tables.csv": true, "summary.json": true, "risk.parquet": true, "risk.csv": true, "risk.arrow": true}
	text, err := program(args("parquet")...).CombinedOutput()
	require.NoError(t, err, string(text))
	n, hidden := kills(), 0
	for i := range n {
		c := program(args([]string{"parquet", "csv", "arrow"}[i%3])...)
		require.NoError(t, c.Start())
		// From before it reads anything to about when it ends, closer to each other where outputs begin.
		time.Sleep(time.Duration(5 * math.Pow(300, float64(i)/float64(n)) * float64(time.Millisecond)))
		c.Process.Kill()
		c.Wait()
		for _, folder := range []string{out, temp} {
			for _, name := range entries(t, folder) {
				require.True(t, whole[name] || strings.HasPrefix(name, "."), "%s was left in %s", name, folder)
				if !whole[name] {
					hidden++
				}
			}
		}
	}
	t.Logf("%d kills, %d hidden files seen after them", n, hidden)
	text, err = program(args("parquet")...).CombinedOutput()
	require.NoError(t, err, string(text))
	require.Empty(t, entries(t, temp))
	for _, name := range entries(t, out) {
		require.True(t, whole[name], "%s was left", name)
	}
}

// A change of a repository that is killed leaves what was or what was to be, or files that check tells of, with what to do.
func TestKilledChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program many times")
	}
	residence(t)
	variable := "Country of Residence"
	require.Zero(t, microrisk(t, "keymap", "add", "variable", "Sex", "--categories", "f,m,x", "-r", "r").status)
	args := []string{
		"keymap",
		"add",
		"form",
		"New",
		"--variable",
		variable + "=britain,northern-ireland,non-uk",
		"--variable",
		"Sex=f,m,x",
		"--note",
		"n",
		"-r",
		"r",
	}
	before := texts(t, "r")
	out, err := program(args...).CombinedOutput()
	require.NoError(t, err, string(out))
	after := texts(t, "r")
	restore := func() {
		require.NoError(t, os.RemoveAll("r"))
		for path, text := range before {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join("r", path)), 0o777))
			require.NoError(t, os.WriteFile(filepath.Join("r", path), []byte(text), 0o666))
		}
	}
	n := kills()
	var whole, old, left int
	for i := range n {
		restore()
		c := program(args...)
		require.NoError(t, c.Start())
		// From before it writes anything to about when it ends: from 5 ms to 50, closer to each other at first.
		time.Sleep(time.Duration(5 * math.Pow(10, float64(i)/float64(n)) * float64(time.Millisecond)))
		c.Process.Kill()
		c.Wait()
		got := texts(t, "r")
		var hidden []string
		for path := range got {
			if strings.HasSuffix(path, ".unfinished") {
				hidden = append(hidden, path)
			}
		}
		check := microrisk(t, "keymap", "check", "-r", "r")
		switch {
		case len(hidden) > 0:
			left++
			require.Equal(t, ExitFailed, check.status)
			for _, path := range hidden {
				require.Contains(t, check.out, path+": a change that was not finished left this")
				require.NoError(t, os.Remove(filepath.Join("r", path)))
			}
		case got["forms/new.yaml"] == "":
			old++
			require.Equal(t, before, got)
		default:
			whole++
			require.Equal(t, after, got)
		}
		check = microrisk(t, "keymap", "check", "-r", "r")
		require.Zero(t, check.status, check.out)
		again := microrisk(t, args...)
		require.Zero(t, again.status, again.err)
		require.Equal(t, after, texts(t, "r"))
	}
	t.Logf("%d kills: %d before, %d after, %d left something", n, old, whole, left)
}

func entries(t *testing.T, folder string) []string {
	t.Helper()
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// endless writes an Arrow stream that does not end.
func endless(w io.Writer) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 1000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
	}
	r := b.NewRecord()
	s := ipc.NewWriter(w, ipc.WithSchema(schema))
	for s.Write(r) == nil {
		time.Sleep(time.Millisecond)
	}
}

// The first signal ends the program, whatever it is doing.
func TestTheFirstSignalEndsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program many times")
	}
	dir := t.TempDir()
	in, fifo := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "fifo")
	manyKeys(t, in, 10)
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	cases := map[string]struct {
		args  []string
		stdin func(w io.Writer)
	}{
		"waiting for standard input": {[]string{"assess", "-", "--key", "a"}, nil},
		"spooling":                   {[]string{"assess", "-", "--key", "a", "--memory", "64KiB"}, endless},
		"decoding and fitting": {
			[]string{"assess", in, "--key", "a,b", "--measures", "mc3", "--fraction", "0.1", "--search", "mc3", "--iterations", "100000000"},
			nil,
		},
	}
	for name, c := range cases {
		for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				p := program(append(c.args, "--out", filepath.Join(dir, "out.parquet"), "--temp-dir", dir)...)
				w, err := p.StdinPipe()
				require.NoError(t, err)
				defer w.Close()
				var text strings.Builder
				p.Stdout, p.Stderr = &text, &text
				require.NoError(t, p.Start())
				if c.stdin != nil {
					go c.stdin(w)
				}
				time.Sleep(300 * time.Millisecond)
				require.NoError(t, p.Process.Signal(signal))
				p.Wait()
				require.Equal(t, ExitFailed, p.ProcessState.ExitCode(), text.String())
				require.Contains(t, text.String(), "interrupted")
				require.ElementsMatch(t, []string{"fifo", "in.parquet"}, entries(t, dir))
			})
		}
	}
}

// What never begins or never ends is not waited for.
func TestNothingIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("data", 0o700))
	require.NoError(t, syscall.Mkfifo("fifo", 0o600))
	require.NoError(t, syscall.Mkfifo("data/part.csv", 0o600))
	require.NoError(t, os.WriteFile("in.csv", []byte("a,b\n1,2\n"), 0o600))
	zeros := func(w io.Writer) {
		for b := make([]byte, 1<<16); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		args  []string
		stdin func(w io.Writer)
		want  string
	}{
		"in a folder":  {[]string{"assess", "data", "--key", "a", "--out", "out.csv"}, nil, "data/part.csv: it is not a regular file"},
		"input":        {[]string{"assess", "fifo", "--key", "a", "--out", "out.csv"}, nil, "it is not a regular file"},
		"spec":         {[]string{"run", "fifo"}, nil, "cannot read the spec fifo: it is not a regular file"},
		"endless spec": {[]string{"run", "/dev/zero"}, nil, "cannot read the spec /dev/zero: it is not a regular file"},
		"model": {
			[]string{"assess", "in.csv", "--key", "a,b", "--measures", "mc3", "--fraction", "0.5", "--model-in", "fifo", "--out", "out.csv"}, nil,
			"the saved model fifo cannot be read: it is not a regular file",
		},
		"endless model": {
			[]string{"assess", "in.csv", "--key", "a,b", "--measures", "mc3", "--fraction", "0.5", "--model-in", "/dev/zero", "--out", "out.csv"}, nil,
			"it is not a regular file",
		},
		"endless secret": {
			[]string{"tabulate", "in.csv", "--cells", "a", "--scheme", "random", "--base", "3", "--secret", "/dev/zero"}, nil,
			"the secret /dev/zero cannot be read: it is not a regular file",
		},
		"recodes": {
			[]string{"link", "in.csv", "in.csv", "--population-size", "10", "--recode-a", "fifo"}, nil, "cannot read the recodes fifo: it is not a regular file",
		},
		"published": {
			[]string{"assess", "in.csv", "--measures", "sap", "--cells", "a", "--published", "fifo", "--out", "out.csv"}, nil, "it is not a regular file",
		},
		"endless standard input": {[]string{"assess", "-", "--key", "a", "--out", "out.csv", "--temp-dir", "."}, zeros, "standard input"},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(c.args...)
			var text strings.Builder
			p.Stdout, p.Stderr = &text, &text
			w, err := p.StdinPipe()
			require.NoError(t, err)
			defer w.Close()
			require.NoError(t, p.Start())
			if c.stdin != nil {
				go c.stdin(w)
			}
			p.Wait()
			require.NotZero(t, p.ProcessState.ExitCode(), text.String())
			require.Contains(t, text.String(), c.want)
		})
	}
}

// A search for a release that is interrupted writes its best so far, and says so.
func TestInterruptedSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program")
	}
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Chdir(t.TempDir())
		args := []string{"protect", "in.csv", "--target", "k=3", "--suppress", "records", "--share", "0.02", "--time", "100", "--out", "out.csv",
			"--release", "out.yaml", "--json", "out.json"}
		r := rand.New(rand.NewPCG(1, 1))
		var text strings.Builder
		for v := range 12 {
			name := "v" + strconv.Itoa(v)
			args = append(args, "--key", name, "--hierarchy", name+"=2,4,8")
			text.WriteString(name + ",")
		}
		for range 2000 {
			text.WriteString("\n")
			for range 12 {
				text.WriteString(strconv.Itoa(min(7, int(r.ExpFloat64()*2))) + ",")
			}
		}
		require.NoError(t, os.WriteFile("in.csv", []byte(strings.ReplaceAll(text.String(), ",\n", "\n")[:text.Len()-2002]+"\n"), 0o600))
		p := program(args...)
		log, err := p.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, p.Start())
		said, sent := "", false
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			said += lines.Text() + "\n"
			if !sent && strings.Contains(lines.Text(), "counting done") { // and recodings are tried
				sent = true
				time.Sleep(200 * time.Millisecond)
				require.NoError(t, p.Process.Signal(signal))
			}
		}
		p.Wait()
		require.Equal(t, ExitFailed, p.ProcessState.ExitCode(), said)
		require.Contains(t, said, "the search ends with the best so far")
		require.Contains(t, said, "microrisk: interrupted: this is the best so far; others could lose")
		require.ElementsMatch(t, []string{"in.csv", "out.csv", "out.hidden.parquet", "out.yaml", "out.json"}, entries(t, "."))
		document, err := os.ReadFile("out.json")
		require.NoError(t, err)
		require.Contains(t, string(document), `"stopped": "it was interrupted"`)
		require.Contains(t, string(document), `"met": true`)
	}
}
