package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"microrisk/operators"
	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas/advice"
)

// A JudgeSpec asks whether something may go out, given what went out before.
type JudgeSpec struct {
	AuditSpec        // of a table; With and Parts are the register's
	Register  string // its file
	Records   bool   // Public is a file of records, and there is no truth
	Fraction  float64
	Note      string // file for what those who get the table are told; "" for none
	Entry     *Entry // what the register is to say of it, where it does not list it yet; nil: its name
	Begin     bool   // there may be no register yet
}

// A judge is at work.
type judge struct {
	*JudgeSpec
	*Judgement
	register *Register
	own      *Entry
	options  session.Options
	parts    []tablefile.Part
	tables   []earlier
	others   []other // that are not compared
	records  []Entry // published files of records, and the one that is judged
}

// An earlier release is a table that went out before.
type earlier struct {
	*Entry
	*AuditSpec
	made *audit.Audit
}

// Judge judges a table, or a file of records, by a register. Errors about what was asked are those for which session.IsSpec is true.
func Judge(ctx context.Context, s JudgeSpec, o session.Options) (*Judgement, error) {
	r, err := readRegister(s.Register, s.Begin)
	if err != nil {
		return nil, err
	}
	j := &judge{JudgeSpec: &s, register: r, own: r.entry(s.Public), options: o.WithDefaults()}
	switch {
	case j.own != nil && s.Entry != nil && s.Entry.People != "":
		return nil, session.Wrong(advice.Errorf("%s is in %s, as %s: its people stand there (%s)", s.Public, s.Register, j.own.Name,
			advice.Advice{Spec: "leave people out", Flags: "leave --people out"}))
	case j.own == nil && s.Entry != nil:
		j.own = s.Entry
	case j.own == nil:
		j.own = &Entry{Name: s.Public, Public: s.Public, Internal: s.Truth}
	}
	j.Judgement = &Judgement{Name: j.own.Name}
	if err := j.locate(ctx); err != nil {
		return nil, err
	}
	var releases []audit.Release
	if !s.Records {
		if err := j.own.agrees(s.way); err != nil {
			return nil, err
		}
		if j.Audit, err = s.open(ctx, true, j.options); err != nil {
			return nil, err
		}
		if err := j.Audit.Ask(ctx, s.All && s.Out != ""); err != nil {
			return nil, err
		}
		releases = append(releases, audit.Release{Name: j.own.Name, Audit: j.Audit})
	}
	if err := j.open(ctx); err != nil {
		return nil, err
	}
	j.skip(ctx)
	if s.Records {
		return j.Judgement, j.byKind(ctx)
	}
	for _, e := range j.tables {
		if of := kindOf(e.made); of != kindOf(j.Audit) {
			j.Skipped = append(j.Skipped, fmt.Sprintf("%s is of something else (%s)", e.Name, of))
			if a, b := j.Audit.Table, e.made.Table; a.Text(a.Values[0]) == b.Text(b.Values[0]) {
				j.options.Logger.Warn(fmt.Sprintf("%s is of %s, and %s of %s: they are not compared, though both have %s in all. If they are of the same things, "+
					"make both of the records, or of counts (--count)", e.Name, of, j.own.Name, kindOf(j.Audit), a.Text(a.Values[0])))
			}
			continue
		}
		releases = append(releases, audit.Release{Name: e.Name, Audit: e.made})
	}
	if err := j.together(ctx, releases); err != nil {
		return nil, err
	}
	j.compare(releases)
	j.stand()
	return j.Judgement, j.write(ctx)
}

// locate finds all that is to be read, and sees that nothing of it is written.
func (j *judge) locate(ctx context.Context) error {
	s := j.JudgeSpec
	reads := []session.Reading{{What: "the register", Path: s.Register}}
	if !s.Records {
		if s.Truth = cmp.Or(s.Truth, j.own.Internal); s.Truth == "" {
			return session.Wrong(fmt.Errorf("it is not said what is true: --truth INTERNAL, or internal of the release in %s", s.Register))
		}
		if s.Config.Base == 0 && j.own.Base != nil {
			s.Config.Base = int64(*j.own.Base)
		}
		own, err := s.locate(ctx)
		if err != nil {
			return err
		}
		reads = append(reads, own...)
	} else {
		j.records = append(j.records, Entry{Name: j.own.Name, Records: s.Public, Fraction: &s.Fraction})
		reads = append(reads, session.Reading{What: "the records", Path: s.Public})
	}
	before, others, err := j.register.before(j.own)
	if err != nil {
		return err
	}
	j.others = others
	for _, e := range before {
		if e.Records != "" {
			j.records = append(j.records, e)
			reads = append(reads, session.Reading{What: "the records", Path: e.Records})
			continue
		}
		x := &AuditSpec{Public: e.Public, Truth: e.Internal, Config: protect.Config{Beforehand: s.Config.Beforehand}}
		if e.Base != nil {
			x.Config.Base = int64(*e.Base)
		}
		more, err := x.locate(ctx)
		if err != nil {
			return e.wrong(err)
		}
		reads = append(reads, more...)
		j.tables = append(j.tables, earlier{Entry: &e, AuditSpec: x})
	}
	if j.register.Parts != "" {
		if j.parts, err = readParts(j.register.Parts); err != nil {
			return err
		}
		reads = append(reads, session.Reading{What: "the parts", Path: j.register.Parts})
	}
	return j.outputs(reads)
}

// outputs judges what is to be written.
func (j *judge) outputs(reads []session.Reading) error {
	var list []string
	if j.Out != "" {
		if err := session.KnownKind(j.Out); err != nil {
			return err
		}
		list = append(list, j.Out)
	}
	if j.Note != "" {
		list = append(list, j.Note)
	}
	if list == nil {
		return nil
	}
	if err := session.CheckPaths(append(reads, j.options.Reads...), list); err != nil {
		return err
	}
	j.options.Sweep(list...)
	return nil
}

func (e *Entry) wrong(err error) error { return fmt.Errorf("the release %s: %w", e.Name, err) }

// open reads the tables that went out before.
func (j *judge) open(ctx context.Context) error {
	for i := range j.tables {
		e := &j.tables[i]
		err := e.agrees(e.way)
		if err != nil {
			return err
		}
		if e.made, err = e.AuditSpec.open(ctx, false, j.options); err != nil {
			return e.wrong(err)
		}
	}
	return nil
}

// kindOf is what a table is of.
func kindOf(a *audit.Audit) string {
	of := cmp.Or(a.Response, "counts")
	if a.Weighted {
		of += ", weighted"
	}
	if a.Table.Decimals > 0 {
		of += fmt.Sprintf(" with %d decimals", a.Table.Decimals)
	}
	return of
}

// byKind judges records: tables of the same kind together.
func (j *judge) byKind(ctx context.Context) error {
	kinds := make(map[string][]audit.Release)
	var order []string
	for _, e := range j.tables {
		of := kindOf(e.made)
		if kinds[of] == nil {
			order = append(order, of)
		}
		kinds[of] = append(kinds[of], audit.Release{Name: e.Name, Audit: e.made})
	}
	for _, of := range order {
		if err := j.together(ctx, kinds[of]); err != nil {
			return err
		}
	}
	return nil
}

// together finds out what tables and records tell together.
func (j *judge) together(ctx context.Context, releases []audit.Release) error {
	told := false
	for i := range j.records {
		for _, x := range releases {
			tells, err := j.learn(ctx, x, &j.records[i])
			if err != nil {
				return err
			}
			told = told || tells
		}
	}
	if len(releases) < 2 && !told {
		return nil
	}
	few := int64(Few)
	if j.register.Few != nil {
		few = int64(*j.register.Few)
	}
	t, err := audit.Combine(ctx, releases, among(j.parts, releases), cmp.Or(j.Few, few))
	if err != nil {
		var of *audit.ContradictionError
		if errors.As(err, &of) {
			of.Right = j.remedy()
		}
		return session.WrongTable(ctx, err)
	}
	for _, w := range t.Warnings {
		j.options.Logger.Warn(w)
	}
	j.Together = append(j.Together, t)
	return nil
}

// write writes what was found out of the table, and the note, unless the table must not go out.
func (j *judge) write(ctx context.Context) error {
	var list []operators.SideFile
	if j.Out != "" {
		list = append(list, operators.SideFile{Path: j.Out, What: "the findings", Kind: operators.MadeTable, Part: partFindings})
	}
	if j.Noted = j.Note != "" && j.Passed() == nil; j.Noted {
		list = append(list, operators.SideFile{Path: j.Note, What: "the note", Kind: operators.MadeDocument})
	}
	if list == nil {
		return nil
	}
	return session.WriteParts(ctx, list, j, j.options, []string{j.Public, j.truth})
}

const partFindings = "findings"

// Part is an operators.Parted's.
func (j *judge) Part(name string) any {
	if name == partFindings {
		return j.Audit
	}
	return noted(j.Audit.Note())
}

// noted is a text for a file.
type noted string

// Document is a Documented's.
func (n noted) Document() ([]byte, error) { return []byte(n), nil }

// among are the parts of tables that are there: a register may have those of others.
func among(parts []tablefile.Part, releases []audit.Release) []tablefile.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p tablefile.Part) bool {
		return !slices.ContainsFunc(releases, func(r audit.Release) bool { return r.Name == p.Table })
	})
}

func readParts(path string) ([]tablefile.Part, error) {
	text, err := session.ReadRegular(path, LargestParts)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the parts %s cannot be read: %w", path, err))
	}
	parts, err := tablefile.ParseParts(path, text)
	return parts, session.Wrong(err)
}

// LargestParts is the most bytes that a file of parts may have.
const LargestParts = 64 << 20
