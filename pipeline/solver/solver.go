// Package solver runs other programs that solve integer programs, cbc and glpsol, in processes of their own.
package solver

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"microrisk/engine/program"
	"microrisk/engine/scratch"
)

// Names are the words for solvers.
var Names = []string{"auto", "embedded", "cbc", "glpsol"}

// Of finds the program that solves integer programs where the embedded solver stops: cbc or glpsol, if it is there; asked is one of Names. It
// is nil for the embedded one. The name is that of what was found. The error is of a program that is not there.
func Of(asked, tempDir string) (program.Solver, string, error) {
	kinds := map[string]func(io.Reader, *program.Model) (*program.Solution, error){"cbc": program.ReadCBC, "glpsol": program.ReadGLPSOL}
	switch asked {
	case "embedded":
		return nil, "embedded", nil
	case "cbc", "glpsol":
		path, err := exec.LookPath(asked)
		if err != nil {
			return nil, "", fmt.Errorf("the solver %s is not on the PATH; install it, or take --solver embedded", asked)
		}
		return &Process{kind: asked, path: path, tempDir: tempDir, read: kinds[asked]}, asked, nil
	default: // auto
		for _, kind := range []string{"cbc", "glpsol"} {
			if path, err := exec.LookPath(kind); err == nil {
				return &Process{kind: kind, path: path, tempDir: tempDir, read: kinds[kind]}, kind, nil
			}
		}
		return nil, "embedded", nil
	}
}

// A Process runs a program in a process of its own, on files that only this user can read.
type Process struct {
	kind, path, tempDir string
	read                func(io.Reader, *program.Model) (*program.Solution, error)
	Failed              error // the first failure; calls come one after the other
}

// Solve is a program.Solver's. The files are gone when it returns.
func (s *Process) Solve(ctx context.Context, m *program.Model) (*program.Solution, error) {
	dir, err := scratch.Folder(s.tempDir) // mode 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil { // the program is run in it
		return nil, err
	}
	model, result := filepath.Join(dir, "model.mps"), filepath.Join(dir, "result")
	f, err := os.OpenFile(model, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := program.WriteMPS(f, m); err != nil {
		f.Close()
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	args := []string{model, "solve", "solu", result}
	if s.kind == "glpsol" {
		args = []string{"--freemps", model, "--write", result}
	}
	c := exec.CommandContext(ctx, s.path, args...)
	c.Dir = dir
	inGroup(c)
	failed := c.Run()
	if failed != nil && ctx.Err() != nil {
		return nil, ctx.Err() // else the result tells what came of it
	}
	out, err := os.Open(result)
	if err != nil {
		if failed == nil {
			return nil, s.fail("the solver %s wrote no result; try it by hand, or take another one (solver: embedded)", s.path)
		}
		return nil, s.fail("the solver %s wrote no result (%v); try it by hand, or take another one (solver: embedded)", s.path, failed)
	}
	defer out.Close()
	solution, err := s.read(out, m)
	if err != nil {
		return nil, s.fail("the result of the solver %s cannot be read: %w", s.path, err)
	}
	return solution, nil
}

// fail remembers the first failure.
func (s *Process) fail(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if s.Failed == nil {
		s.Failed = err
	}
	return err
}
