package tables

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"microrisk/operators/files"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
	"microrisk/schemas/pattern"
)

// A ReleaseSpec asks for a release to be judged by a register, and to stand in it if nothing speaks against it.
type ReleaseSpec struct {
	Entry
	Register string // its file, which is begun if it is not there
	Note     string // file for what those who get the table are told; "" for none
}

// Release judges a release, and adds it to the register if it passed: what stands there stays as it is. Errors about what was asked are those
// for which session.IsSpec is true.
func Release(ctx context.Context, s ReleaseSpec, o session.Options) (*Judgement, error) {
	o = o.WithDefaults()
	r, err := readRegister(s.Register, true)
	if err != nil {
		return nil, err
	}
	file := cmp.Or(s.Public, s.Records)
	if e := r.entry(file); e != nil {
		return nil, session.Wrong(fmt.Errorf("%s is in %s already, as %s; table audit --register judges it again", file, s.Register, e.Name))
	}
	if err := schemas.CheckDocument(&Register{Releases: append(r.Releases[:len(r.Releases):len(r.Releases)], s.Entry)}); err != nil {
		return nil, err
	}
	if s.Public != "" && s.Internal == "" {
		return nil, session.Wrong(advice.Errorf("it is not said what is true of %s: name its internal folder (%s), as table protect made it; with --method none it "+
			"makes a table as it is", s.Public, advice.Advice{Spec: "internal", Flags: "--internal"}))
	}
	before, text, err := s.text(r)
	if err != nil {
		return nil, err
	}
	judge := JudgeSpec{AuditSpec: AuditSpec{Public: file, Truth: s.Internal}, Register: s.Register, Records: s.Records != "", Fraction: 1, Note: s.Note,
		Entry: &s.Entry, Begin: true}
	if s.Fraction != nil {
		judge.Fraction = *s.Fraction
	}
	j, err := Judge(ctx, judge, o)
	if err != nil || j.Passed() != nil {
		return j, err
	}
	if now, err := readText(s.Register); err != nil || !bytes.Equal(now, before) {
		return nil, errors.Join(fmt.Errorf("%s was changed meanwhile; run it again", s.Register), err)
	}
	out, err := files.CreateLocal(s.Register)
	if err != nil {
		return nil, err
	}
	defer out.Abort()
	if _, err := out.Write(text); err != nil {
		return nil, err
	}
	return j, files.Commit(out)
}

func readText(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return text, err
}

// text is the register as it is, and as it will be.
func (s *ReleaseSpec) text(r *Register) (before, after []byte, err error) {
	if before, err = readText(s.Register); err != nil {
		return nil, nil, err
	}
	e := s.Entry
	for _, p := range []*string{&e.Public, &e.Internal, &e.Records} {
		*p = from(filepath.Dir(s.Register), *p)
	}
	item := strings.Split(strings.TrimRight(string(schemas.TableYAML(e.Fields())), "\n"), "\n")
	text, added := addItem(string(before), item)
	if added {
		now, err := parseRegister(s.Register, []byte(text))
		if err == nil && len(now.Releases) == len(r.Releases)+1 && reflect.DeepEqual(now.Releases[:len(r.Releases)], append([]Entry{}, r.Releases...)) &&
			same(cmp.Or(now.Releases[len(r.Releases)].Public, now.Releases[len(r.Releases)].Records), cmp.Or(s.Public, s.Records)) {
			return before, []byte(text), nil
		}
	}
	return nil, nil, session.Wrong(
		fmt.Errorf("%s cannot be added to without changing how it is written: releases must be a list of lines that begin with -; or "+
			"add it yourself: {%s}", s.Register, strings.Join(item, ", ")),
	)
}

// from is a path from a folder, if it can be told so.
func from(folder, path string) string {
	a, err := filepath.Abs(folder)
	b, other := filepath.Abs(path)
	if path == "" || err != nil || other != nil {
		return path
	}
	if short, err := filepath.Rel(a, b); err == nil {
		return filepath.ToSlash(short)
	}
	return b
}

// newRegister is what a register begins with.
const newRegister = "# What went out: microrisk table release adds to it, and table audit --register judges by it.\nversion: 1\nreleases:\n"

var (
	releasesLine = pattern.New(`^releases[ \t]*:[ \t]*(\[[ \t]*\])?[ \t]*(#.*)?$`)
	emptyList    = pattern.New(`\[[ \t]*\][ \t]*`)
)

// addItem adds an item to the list of releases, at its end; false where that is written in another way than line by line.
func addItem(text string, item []string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		text = newRegister
	}
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	at := slices.IndexFunc(lines, releasesLine().MatchString)
	if at < 0 {
		return "", false
	}
	head, comment, _ := strings.Cut(lines[at], "#")
	if head = emptyList().ReplaceAllString(head, ""); comment != "" {
		head += "#" + comment
	}
	lines[at] = head
	last, room, found := at, "  ", false
	for i := at + 1; i < len(lines); i++ {
		line, bare := lines[i], strings.TrimLeft(lines[i], " ")
		if bare == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' && line != "-" && !strings.HasPrefix(line, "- ") { // what comes after the list
			break
		}
		if !found && bare[0] == '-' {
			room, found = line[:len(line)-len(bare)], true
		}
		last = i
	}
	var added []string
	for i, line := range item {
		added = append(added, room+map[bool]string{true: "- ", false: "  "}[i == 0]+line)
	}
	return strings.Join(slices.Insert(lines, last+1, added...), end) + end, true
}
