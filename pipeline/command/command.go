// Package command is the command line of microrisk.
//
//	microrisk assess FILE... --key AGE,SEX,... --fraction 0.01 --out risk.parquet
//	microrisk run SPEC.yaml
//	microrisk validate SPEC.yaml
//	microrisk inspect FILE [--key ...]
//	microrisk explain FILE --row N --key ...
//	microrisk tabulate FILE --cells ...
//	microrisk bounds TABLE...
//
// It makes specs of flags, hands them to package pipeline, and shows what comes of them.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"microrisk/engine/scratch"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas/pattern"
)

// Exit statuses.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitWrong  = 2 // the command or the spec is wrong
	ExitLimit  = 3 // the outputs are written, and a limit is breached
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // Err is a terminal: progress is drawn there
	Screen   bool // Out is a terminal: no Arrow stream goes there

	// Abandon ends the process when a command that was interrupted has not ended soon; nil: it is waited for.
	Abandon func(status int)
	// Signals can end a search with its best so far; nil: they end the command.
	Signals *Signals

	// Runner runs what run and assess do; nil: this process alone.
	Runner session.Runner
}

// Main runs the command line of this process and gives its exit status.
func Main(args []string) int { return MainBy(args, nil) }

// MainBy is Main with a runner.
func MainBy(args []string, runner session.Runner) int {
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	// A reader that has gone away is an error of the write to it, so that what was begun is cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, signals := listen()
	defer signals.cancel()
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return Run(ctx, args, Streams{os.Stdin, os.Stdout, os.Stderr, terminal(os.Stderr), terminal(os.Stdout), os.Exit, signals, runner})
}

// collectorPercent is how much the heap grows between collections, in percent. Tables are large and live long: collecting sooner than Go
// would costs a few percent of time and saves a fifth of memory.
const collectorPercent = 60

// firstCollection is how large the heap is, in percent of Go's least, when it is collected first: a short command ends before that.
const firstCollection = 600

// collectLate sets the collector; the first collection is the sign that the heap is no longer small.
func collectLate() {
	debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, collectorPercent)
}

// Run runs a command line, args[0] being the program's name, and gives its exit status.
func Run(ctx context.Context, args []string, s Streams) (status int) {
	c := &console{Streams: s, logs: "text", args: args}
	defer func() {
		if r := recover(); r != nil {
			c.fail(operators.Recovered(r, nil))
			status = ExitFailed
		}
	}()
	if s.Abandon != nil {
		defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, c.abandon) })()
	}
	app := c.app()
	c.logs = logFormat(args) // before what is wrong with the flags is told
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	c.finish()
	if c.stopProfile != nil {
		c.stopProfile()
	}
	var limit *limitError
	var unmet *notMetError
	var long *uniques.EstimateError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &limit):
		for _, b := range limit.breaches {
			c.fail(breachError(b))
		}
		return ExitLimit
	case errors.As(err, &unmet):
		for _, what := range unmet.what {
			c.fail(errors.New(what))
		}
		return ExitLimit
	case ctx.Err() != nil: // whatever came of being stopped
		c.fail(errors.New("interrupted"))
		return ExitFailed
	case errors.As(err, &long):
		c.fail(tooLong{long})
		return ExitFailed
	case isUsage(err) || session.IsSpec(err):
		c.fail(err)
		return ExitWrong
	}
	c.fail(err)
	return ExitFailed
}

// patience is how long an interrupted command may take to stop by itself: a system call, or a long computation of a library, may not
// know that it should.
const patience = 700 * time.Millisecond

// abandon ends the process; nothing that it has begun is left.
func (c *console) abandon() {
	scratch.Clean()
	c.fail(errors.New("interrupted"))
	c.Abandon(ExitFailed)
}

// tooLong says in the words of flags and spec what can be done about a search that would take too long.
type tooLong struct{ *uniques.EstimateError }

func (e tooLong) Error() string {
	about := fmt.Sprintf("%.0f hours", math.Ceil(e.Work.Needs.Hours()))
	if days := e.Work.Needs.Hours() / 24; days > 2 {
		about = report.Count(int64(math.Ceil(days))) + " days"
	}
	return fmt.Sprintf(
		"the search would take about %s: with at most %d variables a set (--max-size %d, in a spec max_size: %d) it takes about a minute; --force (force: true) "+
			"goes on all the same",
		about,
		e.MaxSize,
		e.MaxSize,
		e.MaxSize,
	)
}

// A usageError says that the command line itself is wrong.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func isUsage(err error) bool {
	var u *usageError
	return errors.As(err, &u)
}

// A limitError ends a run that breached limits.
type limitError struct{ breaches []pipeline.Breach }

func (e *limitError) Error() string { return "a limit was breached" }

// A console is where a command talks to its user.
type console struct {
	Streams
	logs     string // text or json
	quiet    bool
	mute     bool // no warnings
	flags    bool // flags describe the run, no spec
	progress *progress
	logger   *slog.Logger
	args     []string          // of the command line
	reads    []session.Reading // files that said what is to be done

	stopProfile func() // nil when there is no profile
}

// A breachError is a limit that was breached.
type breachError pipeline.Breach

func (b breachError) Error() string { return pipeline.Breach(b).String() }

// logFormat is what a command line says of it, wherever in the line, and whether or not the rest is right.
func logFormat(args []string) string {
	for i, arg := range args {
		name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case arg == "--":
			return "text"
		case name != "log-format" || !strings.HasPrefix(arg, "-"):
		case valued:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return "text"
}

// finish takes the progress bar off the screen.
func (c *console) finish() {
	if c.progress != nil {
		c.progress.finish()
	}
}

func (c *console) app() *cli.App {
	app := &cli.App{
		Name:      "microrisk",
		Usage:     "tells how risky each record of a microdata file is to release",
		UsageText: "microrisk COMMAND [FLAGS] [FILES]",
		Description: `Reads microdata (one row for each person, household or business), counts the
combinations of its key variables, finds each record's minimal sample uniques,
and writes the same rows with columns of risk added.

What columns there are, and what the file's risk is:
   microrisk inspect survey.parquet
   microrisk assess survey.parquet --key AGE,SEX,REGION --fraction 0.01
The same as a spec, to be extended and run:
   microrisk assess ... --print-spec > survey.yaml
   microrisk run survey.yaml

Exit status: 0 done, 1 failed, 2 the command or the spec is wrong, 3 a limit was
breached.`,
		Flags:                     globalFlags(),
		Reader:                    c.In,
		Writer:                    c.Out,
		ErrWriter:                 c.Err,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usage("%s", plainUsage(err)) },
		Before:                    c.before,
		Action: func(ctx *cli.Context) error {
			if ctx.Args().Present() {
				_, err := findCommand(ctx.App, ctx.Args().First())
				return err
			}
			return cli.ShowAppHelp(ctx)
		},
		Commands: c.commands(),
	}
	c.dress(app, app.Commands)
	return app
}

// commands are all commands, or the one that the command line begins with: a command that is not called need not be made.
func (c *console) commands() []*cli.Command {
	all := []struct {
		name string
		make func() *cli.Command
	}{
		{"assess", c.assess}, {"run", c.run}, {"validate", c.validate}, {"inspect", c.inspect}, {"explain", c.explain}, {"tabulate", c.tabulate},
		{"bounds", c.boundsCommand}, {"attack", c.attackCommand}, {"link", c.linkCommand}, {"evaluate", c.evaluateCommand},
		{"protect", c.protectCommand}, {"compare", c.compareCommand}, {"table", c.tableCommand}, {"keymap", c.keymapCommand}, {"count", c.count},
		{"version", c.version},
	}
	var list []*cli.Command
	for _, one := range all {
		if len(c.args) > 1 && (c.args[1] == one.name || c.args[1] == "--version" && one.name == "version") {
			return []*cli.Command{one.make()}
		}
	}
	for _, one := range all {
		list = append(list, one.make())
	}
	return list
}

// dress gives commands what all have in common.
func (c *console) dress(app *cli.App, commands []*cli.Command) {
	for _, command := range commands {
		command.OnUsageError = app.OnUsageError
		command.HideHelpCommand = true
		if len(command.Subcommands) > 0 {
			c.dress(app, command.Subcommands)
			command.Action = func(ctx *cli.Context) error { return cli.ShowSubcommandHelp(ctx) }
		}
		if command.Name == "run" || command.Name == "validate" {
			continue
		}
		action := command.Action
		command.Action = func(ctx *cli.Context) error {
			c.flags = true
			return action(ctx)
		}
	}
}

// plainUsage words an error of the flags' library as the others are.
func plainUsage(err error) string {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		return "there is no flag " + rest
	}
	if m := badValue().FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("--%s is %q; it must be a whole number", m[2], m[1])
	}
	return text
}

// badValue is how the flags' library says that a value is no number; all flags that it reads as numbers are whole ones.
var badValue = pattern.New(`^invalid value "(.*)" for flag -(\S+): (?:parse error|value out of range)$`)

// before reads the flags that all commands have.
func (c *console) before(ctx *cli.Context) error {
	c.logs = ctx.String("log-format")
	c.quiet, c.mute = ctx.Bool("quiet"), ctx.Bool("no-warnings")
	if c.logs != "text" && c.logs != "json" {
		bad := c.logs
		c.logs = "text"
		return usage("--log-format is %q; it is text or json", bad)
	}
	c.logger = slog.New(c.handler())
	if path := ctx.String("cpuprofile"); path != "" {
		return c.startProfile(path)
	}
	return nil
}

// startProfile writes a profile of the processor's time until the command ends.
func (c *console) startProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return fmt.Errorf("cannot write the profile: %w", err)
	}
	c.stopProfile = func() {
		pprof.StopCPUProfile()
		f.Close()
	}
	return nil
}

func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "workers", Usage: "run on `N` cores; 0 for all"},
		&cli.StringFlag{
			Name:  "memory",
			Usage: "let tables take `SIZE` (such as 512MiB or 4GB) of memory before they go to the temporary folder (default: half of what the machine or its control group allows)",
		},
		&cli.StringFlag{
			Name:  "temp-dir",
			Usage: "`FOLDER` for tables that do not fit in the memory, and for what is read from standard input and does not fit in a quarter of it (default: the system's)",
		},
		&cli.Uint64Flag{Name: "seed", Value: session.DefaultSeed, Usage: "seed `N` of random methods, recorded in the summary (default: 1)"},
		&cli.StringFlag{Name: "log-format", Value: "text", Usage: "`FORMAT` of what is logged to standard error: text or json (default: text)"},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress, no log lines and no table; warnings and errors stay"},
		&cli.BoolFlag{Name: "no-warnings", Usage: "drop warnings from the log; the summary document has them all the same"},
		&cli.BoolFlag{Name: "insecure-secret", Usage: "take a secret that others than its owner can read"},
		&cli.BoolFlag{Name: "record-host", Usage: "name this machine in the summary document"},
		&cli.BoolFlag{Name: "verify", Usage: "decode every page of every column before any work"},
		&cli.IntFlag{Name: "batch", Hidden: true},
		&cli.StringFlag{Name: "cpuprofile", Hidden: true},
	}
}

// ownMemory is about what the program needs besides its tables: pages that are decoded, chunks that are encoded.
const ownMemory = 64 << 20

// mostWorkers is far beyond what a machine has; each takes its part of the memory.
const mostWorkers = 4096

// options are the run's options that the flags say.
func (c *console) options(ctx *cli.Context) (session.Options, error) {
	o := session.Options{
		Workers: ctx.Int("workers"), TempDir: ctx.String("temp-dir"), Seed: ctx.Uint64("seed"), Batch: ctx.Int("batch"),
		Verify: ctx.Bool("verify"), Host: ctx.Bool("record-host"), Logger: c.logger, Stdin: c.In, Stdout: c.Out,
		InsecureSecret: ctx.Bool("insecure-secret"), Reads: c.reads, Runner: c.Runner,
	}
	switch {
	case o.Workers < 0 || o.Workers > mostWorkers:
		return o, usage("--workers is %d; it must be from 0 (all cores) to %d", o.Workers, mostWorkers)
	case o.Batch < 0:
		return o, usage("--batch is %d; it must be 0 or more", o.Batch)
	case o.Seed == 0:
		return o, usage("--seed is 0; it must be 1 or more")
	}
	if text := ctx.String("memory"); text != "" {
		n, err := parseSize(text)
		if err != nil {
			return o, err
		}
		o.Memory = n
	}
	limit := o.Memory
	if limit == 0 {
		limit = session.DefaultMemory()
	}
	// The collector works harder before the process grows beyond what tables may take and what the program itself needs.
	debug.SetMemoryLimit(limit + ownMemory)
	c.progress = newProgress(c)
	o.Progress, o.Enough = c.progress.report, c.enough
	return o, nil
}
