package beam

import (
	"errors"
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
	set.StringVar(&r.Store, "store", "", "`FOLDER` that driver and workers share, from which a broken run goes on")
	set.Int64Var(&r.Rows, "element_rows", 1<<20, "take row groups together until they have `N` rows")
	set.IntVar(&r.Shards, "shards", 16, "add tables up in `N` pieces")
	set.IntVar(&r.Attempts, "attempts", 3, "try an element `N` times in a worker")
}

// check says what is wrong with their values.
func (r *Runner) check() error {
	switch {
	case r.Rows < 1:
		return fmt.Errorf("--element_rows must be 1 or more")
	case r.Shards < 1 || r.Shards > 4096:
		return fmt.Errorf("--shards must be from 1 to 4096")
	case r.Attempts < 1:
		return fmt.Errorf("--attempts must be 1 or more")
	}
	return nil
}

// verbs are the commands that a runner runs, and those that tell of them.
var verbs = []string{"run", "assess", "validate", "help", "h", "version"}

// Main is the command line of microrisk with the flags of a Runner and of Beam's SDK, wherever these stand in it. It gives the exit status; in
// a worker, which Beam starts, it does not return.
func Main(args []string) int {
	r := &Runner{}
	r.Flags(flag.CommandLine)
	logs := flag.Bool("beam_logs", false, "show what Beam says")
	mine, theirs := Split(flag.CommandLine, args[1:])
	flag.CommandLine.Init(args[0], flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	if err := flag.CommandLine.Parse(theirs); err != nil {
		return wrong(spelled(err))
	}
	if slices.ContainsFunc(args, isWorker) { // which has no command
		sdk.Init() // works, and ends the process
	}
	if err := r.check(); err != nil {
		return wrong(err)
	}
	if err := dashed(flag.CommandLine, mine); err != nil {
		return wrong(err)
	}
	line := append([]string{args[0]}, mine...)
	verb := command.Verb(line)
	switch {
	case verb != "" && !slices.Contains(verbs, verb):
		return wrong(fmt.Errorf("%q is not for a cluster: run, assess and validate are; other commands are those of the program microrisk", verb))
	case isHelp(verb, mine):
		fmt.Print(help)
		flagsHelp(os.Stdout)
		return command.ExitDone
	case slices.Contains(mine, "--help") || slices.Contains(mine, "-h") || verb == "help" || verb == "h":
		defer flagsHelp(os.Stdout)
	}
	sdk.Init()
	if !*logs {
		quiet()
	}
	return command.MainBy(line, r)
}

// isHelp tells whether a line asks for help on the whole.
func isHelp(verb string, line []string) bool {
	return verb == "" && !slices.Contains(line, "--version") || (verb == "help" || verb == "h") && len(line) == 1
}

const help = `microrisk-beam - does what microrisk run and assess do, on workers of Apache Beam

   microrisk-beam run SPEC.yaml [FLAGS]
   microrisk-beam assess FILE... --key A,B,C [FLAGS]
   microrisk-beam validate SPEC.yaml

Outputs are those of microrisk, byte for byte. Without flags of a runner the
workers are in this process. microrisk-beam COMMAND --help tells more, and
microrisk --help has the flags of all commands, which are taken here too.
`

// flagsHelp tells the flags of a cluster.
func flagsHelp(w io.Writer) {
	fmt.Fprint(w, "\nFlags of a cluster:\n\n")
	for _, name := range []string{"store", "element_rows", "shards", "attempts", "beam_logs"} {
		f := flag.Lookup(name)
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		fmt.Fprintf(w, "   %s\n       %s\n", strings.TrimSpace("--"+name+" "+value), usage)
	}
	fmt.Fprint(w, `   --runner NAME, --endpoint HOST:PORT, --environment_type TYPE and others
       flags of Beam: which runner does the work, and where its workers are
`)
}

// spelled is what the flags' library says, with flags as they are written here.
func spelled(err error) error {
	said := strings.Replace(err.Error(), "flag needs an argument: -", "a value is missing after --", 1)
	return errors.New(strings.Replace(said, "for flag -", "for the flag --", 1))
}

// dashed finds flags of the set that are spelt with - in place of _.
func dashed(set *flag.FlagSet, line []string) error {
	for _, arg := range line {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		under := strings.ReplaceAll(name, "-", "_")
		switch {
		case arg == "--":
			return nil
		case strings.HasPrefix(arg, "--") && under != name && set.Lookup(under) != nil:
			return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, under)
		}
	}
	return nil
}

// quiet drops what Beam logs in this process: what fails is told in one line.
func quiet() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

func wrong(err error) int {
	fmt.Fprintln(os.Stderr, "microrisk:", err)
	return command.ExitWrong
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
