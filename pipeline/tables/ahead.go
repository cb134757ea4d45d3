package tables

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"microrisk/engine/scratch"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
)

// Ahead makes a table that is being protected be judged by a register too, before anything is written; entry is what the register is to say of
// it. told gets what was found out, whatever it is.
func Ahead(register string, entry Entry, o session.Options, told func(*Judgement)) func(context.Context, *protect.Protected) error {
	return func(ctx context.Context, p *protect.Protected) error {
		o := o.WithDefaults()
		folder, err := scratch.Folder(o.TempDir)
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		c := *p.Config
		c.Out, c.Inside = filepath.Join(folder, "public.parquet"), filepath.Join(folder, "internal")
		if err := session.WriteParts(ctx, c.Files(), p, o, nil); err != nil {
			return err
		}
		j, err := Judge(ctx, JudgeSpec{AuditSpec: AuditSpec{Public: c.Out, Truth: c.Inside}, Register: register, Entry: &entry}, o)
		if err != nil {
			return fmt.Errorf("by %s: %w", register, err)
		}
		if told != nil {
			told(j)
		}
		if err := j.Passed(); err != nil {
			return &AheadError{register, err}
		}
		return nil
	}
}

// An AheadError says that a table is safe by itself, and not with what went out before.
type AheadError struct {
	Register string
	Err      error
}

func (e *AheadError) Error() string {
	return fmt.Sprintf(
		"the table is not safe with what went out before (%s), and nothing is published: %v; merge categories, leave a variable out, or publish "+
			"what went out already",
		e.Register,
		e.Err,
	)
}

// Unwrap is what was found out.
func (e *AheadError) Unwrap() error { return e.Err }

// Released refuses to write over what went out, by a register; "" is a register.yaml beside an output or here, if there is one that can be read.
func Released(register string, outputs ...string) error {
	registers := []string{register}
	if register == "" {
		registers = []string{"register.yaml"}
		for _, path := range outputs {
			registers = append(registers, filepath.Join(filepath.Dir(path), "register.yaml"))
		}
	}
	for _, name := range registers {
		r, err := ReadRegister(name)
		if err != nil && register != "" {
			return err
		}
		if err != nil {
			continue // it is no register
		}
		for _, path := range outputs {
			if err := r.over(path); err != nil {
				return session.Wrong(err)
			}
		}
	}
	return nil
}

// over is an error of a file or folder that went out.
func (r *Register) over(path string) error {
	if same(path, r.path) {
		return fmt.Errorf("the output %s is the register; give the output another name", path)
	}
	for _, e := range r.Releases {
		for _, file := range []string{e.Public, e.Internal, e.Records} {
			if file != "" && same(file, path) {
				return fmt.Errorf("%s is of %s, which went out (%s), and is not written over: give the output another name", path, e.Name, r.path)
			}
		}
	}
	return nil
}
