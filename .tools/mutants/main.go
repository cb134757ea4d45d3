// Damages files at random, runs the program on each damaged file twice, and counts what must not be: values that are wrong where there
// is a checksum, two runs that differ, panics, memory, hangs, other exit statuses than 0 to 3, and files left over.
//
//	mutants [-n 2000] [-seed 1] [-only NAME]      from the repository's root; the program is build/microrisk
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

var (
	count = flag.Int("n", 2000, "mutants, spread over the files")
	seed  = flag.Uint64("seed", 1, "seed")
	only  = flag.String("only", "", "files whose names have this text")
	one   = flag.Int("one", -1, "run this mutant alone, and keep it")
	procs = flag.Int("procs", 2, "mutants at the same time")
)

func main() {
	flag.Parse()
	bad, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || bad > 0 {
		os.Exit(1)
	}
}

// mutate damages a file; where is the first byte that is not as it was.
func mutate(b []byte, r *rand.Rand) (out []byte, how string, where int) {
	out = bytes.Clone(b)
	at, n := r.IntN(len(b)), 1+r.IntN(min(64, len(b)))
	if r.IntN(3) == 0 { // ends hold footers and schemas
		at = len(b) - 1 - r.IntN(min(len(b), 600))
	}
	end := min(at+n, len(b))
	switch r.IntN(8) {
	case 0:
		out[at] ^= 1 << r.IntN(8)
		return out, "one bit", at
	case 1:
		for k := range 1 + r.IntN(4) {
			out[min(at+k, len(b)-1)] = byte(r.Uint32())
		}
		return out, "some bytes", at
	case 2:
		return out[:at], "truncated", at
	case 3:
		return append(out[:end:end], b[at:]...), "a range twice", end
	case 4:
		return append(out[:at:at], b[end:]...), "a range removed", at
	case 5:
		to := r.IntN(len(b) - (end - at) + 1)
		copy(out[to:], b[at:end])
		copy(out[at:end], b[to:])
		return out, "ranges swapped", min(at, to)
	case 6: // a number of variable length as large as it can be
		k := min(1+r.IntN(9), len(b)-at)
		for i := range k {
			out[at+i] = 0xff
		}
		out[at+k-1] = byte([]int{0, 1, 0x7f, 0x0f}[r.IntN(4)])
		return out, "a large number", at
	}
	clear(out[at:end])
	return out, "a range of zeros", at
}

type tally struct {
	mutants, errors, fine, changed int
	bad                            map[string]int
	peak                           int64
}

func run() (bad int, err error) {
	program, err := filepath.Abs("build/microrisk")
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	list, err := subjects(program, folder)
	if err != nil {
		return 0, err
	}
	for i := range list {
		whole, err := os.ReadFile(list[i].path)
		if err != nil {
			return 0, err
		}
		for _, args := range list[i].commands {
			if _, err := asItWas(program, folder, &list[i], whole, args); err != nil {
				return 0, err
			}
		}
	}
	tallies := make([]tally, len(list))
	var mu sync.Mutex
	var wait sync.WaitGroup
	gate := make(chan struct{}, *procs)
	for i := range *count {
		s := i % len(list)
		if !strings.Contains(list[s].name, *only) || *one >= 0 && i != *one {
			continue
		}
		gate <- struct{}{}
		wait.Go(func() {
			defer func() { <-gate }()
			o, e := judge(program, folder, &list[s], i)
			mu.Lock()
			defer mu.Unlock()
			if e != nil {
				err = e
			}
			tallies[s].add(&o)
			for _, b := range o.bad {
				fmt.Printf("mutant %d of %s (%s, byte %d; %s): %s\n", i, list[s].name, o.how, o.where, strings.Join(o.args, " "), b)
			}
		})
	}
	wait.Wait()
	return report(list, tallies), err
}

func (t *tally) add(o *outcome) {
	t.mutants++
	t.peak = max(t.peak, o.peak)
	switch {
	case o.status != 0:
		t.errors++
	case o.changed:
		t.changed++
	default:
		t.fine++
	}
	if t.bad == nil {
		t.bad = map[string]int{}
	}
	for _, b := range o.bad {
		name, _, _ := strings.Cut(b, ":")
		t.bad[name]++
	}
}

func report(list []subject, tallies []tally) (bad int) {
	fmt.Printf("%-28s %8s %8s %8s %10s", "file", "mutants", "refused", "the same", "undetected")
	for _, k := range kinds {
		fmt.Printf(" %*s", max(len(k), 5), k)
	}
	fmt.Printf(" %9s\n", "peak, MB")
	sum := tally{bad: map[string]int{}}
	line := func(name string, t *tally) {
		fmt.Printf("%-28s %8d %8d %8d %10d", name, t.mutants, t.errors, t.fine, t.changed)
		for _, k := range kinds {
			fmt.Printf(" %*d", max(len(k), 5), t.bad[k])
		}
		fmt.Printf(" %9d\n", t.peak>>20)
	}
	for i := range list {
		t := &tallies[i]
		line(list[i].name, t)
		sum.mutants, sum.errors, sum.fine, sum.changed, sum.peak = sum.mutants+t.mutants, sum.errors+t.errors, sum.fine+t.fine, sum.changed+t.changed, max(sum.peak, t.peak)
		for k, n := range t.bad {
			sum.bad[k] += n
			bad += n
		}
	}
	line("all", &sum)
	return bad
}
