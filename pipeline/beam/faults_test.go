package beam

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/scratch"
	"microrisk/pipeline/session"
)

// failing makes something fail so many times; done tells how often everything was done.
func failing(t *testing.T, what string, times int) (done func(what string) int) {
	var mu sync.Mutex
	counts := map[string]int{}
	before := inject
	inject = func(now string) error {
		mu.Lock()
		defer mu.Unlock()
		counts[now]++
		if now == what && counts[now] <= times {
			return errors.New("the disk is away")
		}
		return before(now)
	}
	t.Cleanup(func() { inject = before })
	return func(what string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[what]
	}
}

const faultSpec = "\noperators: [suda: {}]"

// What fails twice in a worker and then does not is as if it had not failed.
func TestFailsTwice(t *testing.T) {
	dir := t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"))
	for _, what := range []string{"count 1", "write seen-1-1", "write shard-1-0-1", "annotate 1", "write piece-3", "write wrote-1"} {
		t.Run(what, func(t *testing.T) {
			done := failing(t, what, 2)
			store := t.TempDir()
			same(t, func(to string) string { return specOf(faultSpec, filepath.Join(dir, "one.parquet"), to) }, &Runner{Rows: 900, Shards: 3, Store: store})
			assert.Equal(t, 3, done(what))
			left, err := os.ReadDir(store)
			require.NoError(t, err)
			assert.Empty(t, left, "of a run that is done")
		})
	}
}

// What fails more often ends the run with its words; a run after it goes on where it ended.
func TestFailsAndGoesOn(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"))
	to := t.TempDir() + "/"
	text := specOf(faultSpec, filepath.Join(dir, "one.parquet"), to)
	r := &Runner{Rows: 900, Shards: 3, Store: store}
	done := failing(t, "write piece-3", 3)
	_, err := run(t, text, r)
	require.EqualError(t, err, "the disk is away")
	written, err := os.ReadDir(to)
	require.NoError(t, err)
	assert.Empty(t, written)
	_, got := ran(t, text, r)
	_, want := ran(t, specOf(faultSpec, filepath.Join(dir, "one.parquet"), t.TempDir()+"/"), nil)
	assert.True(t, want[0] == got[0])
	for _, once := range []string{"count 0", "count 1", "count 2"} {
		assert.Equal(t, 1, done(once), once)
	}
	assert.Equal(t, 4, done("write piece-3"))
}

// A driver that is killed while workers write leaves nothing at the output; the next one goes on.
func TestKilledDriver(t *testing.T) {
	if text := os.Getenv("MICRORISK_BEAM_KILLED"); text != "" {
		inject = func(what string) error {
			if what == "write piece-4" {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		}
		_, err := run(t, text, &Runner{Rows: 1, Shards: 3, Store: os.Getenv("MICRORISK_BEAM_STORE")})
		t.Fatal("the run was not killed", err)
	}
	dir, store, to, temp := t.TempDir(), t.TempDir(), t.TempDir()+"/", t.TempDir()
	residents(t, 2500, 400, filepath.Join(dir, "one.parquet"))
	text := specOf(faultSpec, filepath.Join(dir, "one.parquet"), to)
	killed := exec.Command(os.Args[0], "-test.run", "^TestKilledDriver$")
	killed.Env = append(os.Environ(), "MICRORISK_BEAM_KILLED="+text, "MICRORISK_BEAM_STORE="+store, "TMPDIR="+temp)
	said, err := killed.CombinedOutput()
	var status *exec.ExitError
	require.ErrorAs(t, err, &status, string(said))
	require.Equal(t, syscall.SIGKILL, status.Sys().(syscall.WaitStatus).Signal(), string(said))
	written, err := os.ReadDir(to)
	require.NoError(t, err)
	assert.Empty(t, written)
	_, err = scratch.Sweep(temp)
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(temp, "*microrisk-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "that a later run does not remove")
	pieces, err := filepath.Glob(filepath.Join(store, "*", "wrote-*"))
	require.NoError(t, err)
	require.NotEmpty(t, pieces)

	done := failing(t, "", 0)
	_, got := ran(t, text, &Runner{Rows: 1, Shards: 3, Store: store})
	_, want := ran(t, specOf(faultSpec, filepath.Join(dir, "one.parquet"), t.TempDir()+"/"), nil)
	assert.True(t, want[0] == got[0])
	for _, piece := range pieces {
		element := strings.TrimPrefix(filepath.Base(piece), "wrote-")
		assert.Zero(t, done("annotate "+element), "element %s was done", element)
	}
	assert.Zero(t, done("count 0"))
	assert.Equal(t, 1, done("annotate 4"))
}

// Errors about rows and specs are those of one process, whichever part has them.
func TestSameErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "one.parquet")
	residents(t, 2500, 400, path)
	for name, spec := range map[string]string{
		"a value that no row has": "\noperators:\n  - select: {rows: {area: [a1, a77]}}\n  - suda: {}",
		"no row":                  "\noperators:\n  - select: {rows: {age: {min: 200}}}\n  - suda: {}",
		"a level that is none":    "\nkey: {variables: [{name: sex, levels: [m]}, area]}\noperators: [suda: {}]",
		"a weight":                "\nsampling: {weight: age}\noperators: [individual: {}]",
	} {
		t.Run(name, func(t *testing.T) {
			_, want := run(t, specOf(spec, path, t.TempDir()+"/"), nil)
			_, got := run(t, specOf(spec, path, t.TempDir()+"/"), &Runner{Rows: 900, Shards: 3})
			require.Error(t, want)
			require.EqualError(t, got, want.Error())
			assert.Equal(t, session.IsSpec(want), session.IsSpec(got))
		})
	}
}

// What a cluster cannot do is refused before anything starts.
func TestRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	residents(t, 500, 100, "one.parquet")
	require.NoError(t, os.WriteFile("people.csv", []byte("age,sex\n3,m\n"), 0o666))
	remote := func(t *testing.T) {
		before := *jobopts.EnvironmentType
		*jobopts.EnvironmentType = "DOCKER"
		t.Cleanup(func() { *jobopts.EnvironmentType = before })
	}
	runner := func(name, endpoint string) func(t *testing.T) {
		return func(t *testing.T) { set(t, map[*string]string{runners.Runner: name, jobopts.Endpoint: endpoint}) }
	}
	for name, c := range map[string]struct {
		from, to, spec, store, want string
		prepare                     func(t *testing.T)
	}{
		"input":    {"people.csv", "out.parquet", "\nkey: {variables: [age]}\noperators: [suda: {}]", "", "people.csv is not Parquet", nil},
		"output":   {"one.parquet", "out.csv", faultSpec, "", "the output is not Parquet", nil},
		"order":    {"one.parquet", "out.parquet", "\noperators: [protect_records: {safe: {k: 3}, suppress: cells}]", "", "protect_records must see all rows", nil},
		"runner":   {"one.parquet", "out.parquet", faultSpec, "", `there is no runner "flonk"; did you mean flink?`, runner("flonk", "")},
		"none":     {"one.parquet", "out.parquet", faultSpec, "", `there is no runner "dot"`, runner("dot", "")},
		"endpoint": {"one.parquet", "out.parquet", faultSpec, "", "--runner flink needs the address of its job server", runner("flink", "")},
		"store":    {"one.parquet", "out.parquet", faultSpec, "", "need a folder that all share", remote},
		"relative": {"one.parquet", "out.parquet", faultSpec, "/tmp", "one.parquet means another file to each worker", remote},
	} {
		t.Run(name, func(t *testing.T) {
			if c.prepare != nil {
				c.prepare(t)
			}
			_, err := run(t, specOf(c.spec, c.from, c.to), &Runner{Store: c.store})
			require.ErrorContains(t, err, "on a cluster: ")
			require.ErrorContains(t, err, c.want)
			assert.True(t, session.IsSpec(err))
			assert.NoFileExists(t, c.to)
		})
	}
}
