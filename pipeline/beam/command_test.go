package beam

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/command"
)

// The flags of each runner go to Beam, the others to microrisk, wherever they stand.
func TestSplit(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	(&Runner{}).Flags(set)
	flag.VisitAll(func(f *flag.Flag) {
		if set.Lookup(f.Name) == nil {
			set.Var(f.Value, f.Name, f.Usage)
		}
	})
	for name, flags := range map[string]string{
		"prism":         "",
		"an own prism":  "--runner=universal --endpoint=localhost:8073 --environment_type=LOOPBACK",
		"flink":         "--runner flink --endpoint flink-jobs:8099 --environment_type DOCKER --environment_config registry/microrisk-beam:1 --parallelism 64",
		"flink, no job": "--runner=flink --endpoint=localhost:8099 --environment_type=EXTERNAL --environment_config=localhost:50000",
		"spark":         "--runner=spark --endpoint=spark-jobs:8099 --environment_type=PROCESS --environment_config={\"command\":\"/opt/boot\"} --worker_binary /opt/microrisk-beam",
		"dataflow": "--runner=dataflow --project=census --region=europe-west1 --staging_location=gs://census/staging --temp_location=gs://census/temp " +
			"--worker_machine_type=n2-highmem-8 --max_num_workers=50 --no_use_public_ips --store gs://census/runs --element_rows 5000000",
	} {
		t.Run(name, func(t *testing.T) {
			restoring(t, set)
			want := strings.Fields(flags)
			rest, got := Split(set, slices.Concat([]string{"run"}, want, []string{"spec.yaml", "--workers", "2", "--quiet", "--id", "PERSON"}))
			assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
			assert.Equal(t, []string{"run", "spec.yaml", "--workers", "2", "--quiet", "--id", "PERSON"}, rest)
			require.NoError(t, set.Parse(got))
			assert.Empty(t, set.Args())
		})
	}
	worker := []string{"--worker=true", "--id=1", "--logging_endpoint=localhost:1", "--control_endpoint=localhost:2", "--options={}"}
	rest, got := Split(set, worker)
	assert.Empty(t, rest)
	assert.Equal(t, worker, got)
	rest, got = Split(set, []string{"assess", "--", "--runner"})
	assert.Equal(t, []string{"assess", "--", "--runner"}, rest)
	assert.Empty(t, got)
}

// restoring gives all flags the values back that they have now.
func restoring(t *testing.T, set *flag.FlagSet) {
	was := map[string]string{}
	set.VisitAll(func(f *flag.Flag) { was[f.Name] = f.Value.String() })
	t.Cleanup(func() {
		set.VisitAll(func(f *flag.Flag) {
			if f.Value.String() != was[f.Name] {
				require.NoError(t, f.Value.Set(was[f.Name]))
			}
		})
	})
}

// No flag of microrisk is one of Beam's.
func TestFlagsDiffer(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	(&Runner{}).Flags(set)
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && !slices.Contains(onlyWorkers, f.Name) && set.Lookup(f.Name) == nil {
			set.Var(f.Value, f.Name, f.Usage)
		}
	})
	for _, verb := range []string{"run", "assess", "validate"} {
		var out bytes.Buffer
		require.Zero(t, command.Run(t.Context(), []string{"microrisk", verb, "--help"}, command.Streams{Out: &out, Err: &out}))
		require.Contains(t, out.String(), "--")
		for _, word := range strings.FieldsFunc(out.String(), func(r rune) bool { return strings.ContainsRune(" ,\n\t=()", r) }) {
			if name := strings.TrimLeft(word, "-"); strings.HasPrefix(word, "--") && name != "" {
				assert.Nil(t, set.Lookup(name), "%s: --%s", verb, name)
			}
		}
	}
}

// The command is found behind flags that take values, and what it is not for is refused.
func TestVerb(t *testing.T) {
	for line, want := range map[string]string{
		"run a.yaml": "run", "--workers 1 run a.yaml": "run", "--workers=1 inspect": "inspect", "--quiet assess a": "assess", "": "", "--help": "", "-- run": "",
	} {
		assert.Equal(t, want, command.Verb(append([]string{"microrisk-beam"}, strings.Fields(line)...)), line)
	}
}

func TestWrongFlags(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	r := &Runner{}
	r.Flags(set)
	require.ErrorContains(t, dashed(set, []string{"run", "--element-rows=5"}), "did you mean --element_rows?")
	require.NoError(t, dashed(set, []string{"run", "--max-size", "3", "--", "--element-rows"}))
	require.ErrorContains(t, spelled(set.Parse([]string{"--shards", "x"})), "for the flag --shards")
	require.ErrorContains(t, spelled(set.Parse([]string{"--store"})), "a value is missing after --store")
	for line, want := range map[string]string{
		"--element_rows=0": "--element_rows", "--shards=0": "--shards", "--shards=4097": "--shards", "--attempts=-1": "--attempts",
	} {
		r := &Runner{}
		set := flag.NewFlagSet("", flag.ContinueOnError)
		r.Flags(set)
		require.NoError(t, set.Parse([]string{line}))
		require.ErrorContains(t, r.check(), want+" must be")
	}
}

// asProgram makes the tests' program be the command.
const asProgram = "MICRORISK_TEST_AS_PROGRAM"

// A process that Beam starts with no command is a worker: it calls whom it is to work for.
func TestWorker(t *testing.T) {
	driver, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer driver.Close()
	at := driver.Addr().String()
	worker := exec.Command(os.Args[0], "--worker=true", "--id=w", "--options={}", "--semi_persist_dir="+t.TempDir(),
		"--logging_endpoint="+at, "--control_endpoint="+at)
	worker.Env = append(os.Environ(), asProgram+"=1")
	worker.Dir = t.TempDir()
	ended, called := make(chan string, 1), make(chan bool, 1)
	go func() {
		said, err := worker.CombinedOutput()
		ended <- fmt.Sprint(err, string(said))
	}()
	go func() {
		if c, err := driver.Accept(); err == nil {
			called <- true
			c.Close()
		}
	}()
	select {
	case <-called:
		_ = worker.Process.Kill()
		<-ended
	case said := <-ended:
		t.Fatalf("it ended without a call: %s", said)
	}
}
