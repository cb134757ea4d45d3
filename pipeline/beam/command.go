package beam

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"microrisk/pipeline/command"
)

// Flags are those of a Runner, beside the SDK's.
func (r *Runner) Flags(set *flag.FlagSet) {
	set.StringVar(&r.Store, "store", "", "folder that driver and workers share; a broken run goes on with what is in it")
	set.Int64Var(&r.Rows, "element_rows", 1<<20, "row groups are taken together until they have so many rows")
	set.IntVar(&r.Shards, "shards", 16, "pieces in which tables are added up")
	set.IntVar(&r.Attempts, "attempts", 3, "how often a worker tries an element")
}

// verbs are the commands that a runner runs, and those that tell of them.
var verbs = []string{"run", "assess", "validate", "help", "version"}

// Main is the command line of microrisk with the flags of a Runner and of Beam's SDK, wherever these stand in it. It gives the exit status; in
// a worker, which Beam starts, it does not return.
func Main(args []string) int {
	r := &Runner{}
	r.Flags(flag.CommandLine)
	logs := flag.Bool("beam_logs", false, "show what Beam logs, on standard error")
	mine, theirs := Split(flag.CommandLine, args[1:])
	flag.CommandLine.Init(args[0], flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	if err := flag.CommandLine.Parse(theirs); err != nil {
		return wrong(err)
	}
	if r.Rows < 1 || r.Shards < 1 || r.Shards > 4096 || r.Attempts < 1 {
		return wrong(fmt.Errorf("--element_rows and --attempts must be 1 or more, --shards from 1 to 4096"))
	}
	if verb := verbOf(mine); verb != "" && !slices.Contains(verbs, verb) {
		return wrong(fmt.Errorf("%s is not for a cluster, run and assess are: take the command microrisk", verb))
	}
	sdk.Init()
	if !*logs {
		quiet()
	}
	return command.MainBy(append([]string{args[0]}, mine...), r)
}

// quiet drops what Beam logs in this process: what fails is told in one line.
func quiet() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

func wrong(err error) int {
	fmt.Fprintln(os.Stderr, "microrisk:", err)
	return command.ExitWrong
}

func verbOf(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// onlyWorkers are flags by which Beam starts a worker; without --worker they are no flags of its.
var onlyWorkers = []string{"worker", "id", "logging_endpoint", "control_endpoint", "semi_persist_dir", "options"}

// Split tells the flags that a set has from the rest of a command line; what follows -- is rest. A worker's are all of the set.
func Split(set *flag.FlagSet, args []string) (rest, flags []string) {
	if slices.ContainsFunc(args, isWorker) {
		return nil, args
	}
	for i := 0; i < len(args); i++ {
		name, _, valued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f := set.Lookup(name)
		switch {
		case args[i] == "--":
			return append(rest, args[i:]...), flags
		case !strings.HasPrefix(args[i], "-") || f == nil || slices.Contains(onlyWorkers, name):
			rest = append(rest, args[i])
			continue
		}
		flags = append(flags, args[i])
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		if !valued && !(ok && b.IsBoolFlag()) && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return rest, flags
}

func isWorker(arg string) bool {
	return slices.Contains([]string{"-worker", "--worker", "-worker=true", "--worker=true"}, arg)
}
