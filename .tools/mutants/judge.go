package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	memory  = "256MiB"
	most    = 400 << 20 // bytes of memory, all in all
	address = 8 << 20   // kilobytes of addresses, so that a bad case cannot take the machine
	patient = 90 * time.Second
)

var kinds = []string{"wrong", "differs", "panic", "memory", "hang", "status", "left over"}

// An outcome is what became of a mutant.
type outcome struct {
	args    []string
	how     string
	where   int
	status  int
	changed bool // without an error, other values than those of the file as it was
	passed  bool // and whoever reads the output finds the damage, or the right values
	peak    int64
	bad     []string
}

type ran struct {
	status  int
	said    string // standard output and error
	output  []byte
	left    []string
	peak    int64
	timeout bool
}

// judge makes mutant i of a file, runs a command on it twice, and compares.
func judge(program, folder string, s *subject, i int) (outcome, error) {
	whole, err := os.ReadFile(s.path)
	if err != nil {
		return outcome{}, err
	}
	r := rand.New(rand.NewPCG(*seed, uint64(i)))
	b, how, where := mutate(whole, r)
	o := outcome{args: s.commands[i/17%len(s.commands)], how: how, where: where}
	own := filepath.Join(folder, fmt.Sprint("mutant", i))
	if *one < 0 {
		defer os.RemoveAll(own)
	} else {
		own = "mutant"
	}
	first, err := execute(program, own, s.path, b, o.args)
	if err != nil {
		return o, err
	}
	second, err := execute(program, own, s.path, b, o.args)
	if err != nil {
		return o, err
	}
	o.status, o.peak = first.status, max(first.peak, second.peak)
	if first.status == 0 && !bytes.Equal(b, whole) {
		good, err := asItWas(program, folder, s, whole, o.args)
		if err != nil {
			return o, err
		}
		o.changed = first.said != good.said || !bytes.Equal(first.output, good.output)
	}
	if o.changed && s.checked && strings.HasSuffix(o.args[len(o.args)-1], ".risk") { // pages that only pass through keep their checksums
		good, err := asItWas(program, folder, s, whole, o.args)
		if err != nil {
			return o, err
		}
		defer os.RemoveAll(own + "read")
		values := []string{"assess", "FILE", "--key", keys, "--replace", "--measures", "frequency", "--out", "OUT.csv"}
		var is, was ran
		if is, err = execute(program, own+"read", "x.parquet", first.output, values); err == nil {
			was, err = execute(program, own+"read", "x.parquet", good.output, values)
		}
		if err != nil {
			return o, err
		}
		o.passed = is.status != 0 || bytes.Equal(is.output, was.output)
	}
	o.find(s, whole, b, &first, &second)
	return o, nil
}

func (o *outcome) find(s *subject, whole, b []byte, first, second *ran) {
	say := func(kind, format string, args ...any) { o.bad = append(o.bad, kind+": "+fmt.Sprintf(format, args...)) }
	if o.changed && s.checked && !o.passed && firstDifference(whole, b) < len(whole)-footer(whole) && len(whole) == len(b) {
		say("wrong", "another output without an error: %.300s", first.said)
	}
	if first.status != second.status || first.said != second.said || !bytes.Equal(first.output, second.output) {
		say("differs", "%.300s <> %.300s", first.said, second.said)
	}
	for _, r := range []*ran{first, second} {
		if strings.Contains(r.said, "panic") || strings.Contains(r.said, "internal error") || strings.Contains(r.said, "goroutine ") {
			say("panic", "%.600s", r.said)
		}
		if r.peak > most {
			say("memory", "%d MB", r.peak>>20)
		}
		if r.timeout {
			say("hang", "no end after %v", patient)
		} else if r.status < 0 || r.status > 3 {
			say("status", "%d: %.300s", r.status, r.said)
		}
		if len(r.left) > 0 {
			say("left over", "%v", r.left)
		}
	}
}

// firstDifference is the first byte that is not the same.
func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// footer is the size of what no checksum covers at the end of a Parquet file.
func footer(b []byte) int {
	if n := len(b); n > 12 && string(b[n-4:]) == "PAR1" {
		return min(n, 8+int(uint32(b[n-8])|uint32(b[n-7])<<8|uint32(b[n-6])<<16|uint32(b[n-5])<<24))
	}
	return 0
}

var (
	goodMu sync.Mutex
	goods  = map[string]*ran{}
)

// asItWas runs a command on the file before it was damaged, once.
func asItWas(program, folder string, s *subject, whole []byte, args []string) (*ran, error) {
	goodMu.Lock()
	defer goodMu.Unlock()
	key := s.path + strings.Join(args, " ")
	if goods[key] == nil {
		r, err := execute(program, filepath.Join(folder, "good"), s.path, whole, args)
		if err != nil {
			return nil, err
		}
		if r.status != 0 {
			return nil, fmt.Errorf("%v of the undamaged %s: %s", args, s.path, r.said)
		}
		goods[key] = &r
	}
	return goods[key], nil
}

var numbers = regexp.MustCompile(`(time=|"time":)\S+|\d+(\.\d+)? ?(ms|µs|s)\b|(seconds|per_second)=\S+`)

// execute runs the program in a folder of its own, where nothing but the input and the output may be when it has ended.
func execute(program, own, path string, b []byte, args []string) (ran, error) {
	if err := os.RemoveAll(own); err != nil {
		return ran{}, err
	}
	if err := os.MkdirAll(filepath.Join(own, "tmp"), 0o700); err != nil {
		return ran{}, err
	}
	ending := filepath.Ext(path)
	if strings.HasSuffix(path, ".csv.gz") {
		ending = ".csv.gz"
	}
	file, out := "input"+ending, "OUT"
	if err := os.WriteFile(filepath.Join(own, file), b, 0o600); err != nil {
		return ran{}, err
	}
	full := []string{"-c", fmt.Sprintf("ulimit -v %d; exec \"$@\"", address), "sh", program}
	for _, a := range args {
		if a == "FILE" && ending == ".arrows" { // streams are piped
			a = "-"
		}
		a = strings.Replace(a, "FILE", file, 1)
		if a == "OUT.risk" {
			a = "OUT" + map[bool]string{true: ".arrow", false: ending}[ending == ".arrows"]
		}
		if strings.HasPrefix(a, "OUT") {
			out = a
		} else if strings.HasPrefix(a, os.TempDir()) || a == "" {
			a, _ = filepath.Abs(a)
		}
		full = append(full, a)
	}
	if args[0] == "run" {
		out = "OUT.parquet"
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", append(full, "--memory", memory, "--quiet", "--temp-dir", "tmp")...)
	c.Dir = own
	if ending == ".arrows" {
		c.Stdin = bytes.NewReader(b)
	}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return ran{}, err
	}
	r := ran{status: c.ProcessState.ExitCode(), said: numbers.ReplaceAllString(said.String(), "#"), timeout: ctx.Err() != nil}
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = u.Maxrss << 10
	}
	r.output, _ = os.ReadFile(filepath.Join(own, out))
	return r, filepath.WalkDir(own, func(p string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(own, p)
		written := name == out && (r.status == 0 || r.status == 3)
		if err == nil && name != "." && name != "tmp" && name != file && !written {
			r.left = append(r.left, name)
		}
		return err
	})
}
