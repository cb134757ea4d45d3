// Package scratch makes the files that a run needs until it ends: files without a name where the system has them, so that nothing
// is left of them whenever the process dies, and names that tell whose they are where it has not, so that a later run can remove
// what a dead process left.
//
//	f, name, err := scratch.Open(folder) // name is "" for a file without one
//	gone, err := scratch.Sweep(folder)
package scratch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"microrisk/schemas/pattern"
)

// A name is hidden and has the machine (and its space of process numbers), the process, when it started, and a number of its own. It
// is short, so that it fits wherever another name does.
var nameForm = pattern.New(`^\.microrisk-([0-9a-f]{8})-([0-9]+)-([0-9]+)-[0-9]+\.partial$`)

// made are the names that this process gave, those that are gone too.
var made sync.Map

// Clean removes all that this process made that still has its name: for a process that is about to end at once.
func Clean() {
	made.Range(func(name, _ any) bool {
		os.RemoveAll(name.(string))
		return true
	})
}

var (
	serial  atomic.Int64
	machine = sync.OnceValue(machineOf)
	started = sync.OnceValue(func() uint64 { return startOf(os.Getpid()) })
)

// Name is the base name of a file or folder of this process that nothing else has.
func Name() string {
	return fmt.Sprintf(".microrisk-%s-%d-%d-%d.partial", machine(), os.Getpid(), started(), serial.Add(1))
}

// machineOf tells machines, and containers with process numbers of their own, apart: those of others are never taken for dead.
func machineOf() string {
	h := fnv.New32a()
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	fmt.Fprintf(h, "%s\x00%s", host, space)
	return fmt.Sprintf("%08x", h.Sum32())
}

// Open makes a file in a folder that only this user can read, open for reading and writing. Where the system can it has no name (""),
// else the name that is given back, which is the caller's to remove.
func Open(folder string) (f *os.File, name string, err error) { return openAs(folder, 0o600) }

func openAs(folder string, mode fs.FileMode) (f *os.File, name string, err error) {
	if f, err := unnamed(folder, mode); err == nil {
		return f, "", nil
	}
	return named(folder, mode)
}

func named(folder string, mode fs.FileMode) (f *os.File, name string, err error) {
	for range attempts {
		name = filepath.Join(folder, Name())
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); err == nil {
			made.Store(name, nil)
		}
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
	return nil, "", err
}

// attempts is how many names are tried: another process has the same one only if it forged it.
const attempts = 100

// Folder makes a folder in a folder that only this user can look into.
func Folder(in string) (name string, err error) {
	if in == "" {
		in = TempDir()
	}
	for range attempts {
		name = filepath.Join(in, Name())
		if err = os.Mkdir(name, 0o700); err == nil {
			made.Store(name, nil)
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", err
}

// Sweep removes from a folder what dead processes of this program on this machine left, and tells the names of what it removed. What
// cannot be removed stays.
func Sweep(folder string) (gone []string, err error) {
	d, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if Dead(name) && os.RemoveAll(filepath.Join(folder, name)) == nil {
				gone = append(gone, name)
			}
		}
		if err != nil {
			return gone, nil
		}
	}
}

// Dead tells whether a name is that of a process of this machine which is no more.
func Dead(name string) bool {
	m := nameForm().FindStringSubmatch(name)
	if m == nil || m[1] != machine() {
		return false
	}
	pid, err := strconv.Atoi(m[2])
	if err != nil || pid == os.Getpid() && m[3] == strconv.FormatUint(started(), 10) {
		return false
	}
	if !alive(pid) {
		return true
	}
	now := startOf(pid)
	return now != 0 && m[3] != "0" && strconv.FormatUint(now, 10) != m[3] // its number was given to another
}

// DefaultMode is the mode that a new file in a folder gets if its maker does not care.
func DefaultMode(folder string) (fs.FileMode, error) {
	f, name, err := openAs(folder, 0o666)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	f.Close()
	if name != "" {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}
