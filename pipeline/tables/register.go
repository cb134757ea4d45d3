package tables

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// A Register is what went out before, as people keep it beside their releases.
type Register struct {
	Parts     string   // file of what categories stand for, "" for none
	Topics    []string // that are sensitive, besides SensitiveTopics
	Sensitive *int     // contributors that every published cell has to have where the topic is sensitive
	Few       *int     // people who must not be found by subtraction: fewer than these
	Releases  []Entry

	path string
}

// An Entry is a release: a published table, or a file of records.
type Entry struct {
	Name, Date, People string
	Public, Internal   string
	Records            string
	Fraction           *float64
	Method, Secret     string
	Topic              string
	Complete           bool
	True               bool
	Additive           bool
	Keep               []string
	For, Purpose       string
}

// SensitiveTopics are those of health that need more care (Miller 2005, the draft policy of the Information Services Division).
var SensitiveTopics = []string{
	"sexually transmitted diseases", "abortion", "pregnancy under 16", "suicide", "self-harm", "mental health", "alcohol", "drugs", "contraception",
}

// DefaultSensitive is how many contributors a published cell has to have where the topic is sensitive.
const DefaultSensitive = 5

// Fields is a Document's.
func (r *Register) Fields() schemas.Table {
	return schemas.Table{What: "the register", Doc: "What was released before.", Required: []string{"releases"}, Fields: []schemas.Field{
		{Name: "parts", To: &r.Parts, File: true, Doc: "File of what categories stand for where tables differ (.csv: table, variable, code, finest); a table is the name of a release."},
		{Name: "topics", To: &r.Topics, Doc: "Topics that are sensitive, besides the usual ones of health."},
		{Name: "sensitive", To: &r.Sensitive, Range: schemas.AtLeast(2), Doc: "Contributors that every published cell has to have where the topic is sensitive (5)."},
		{Name: "few", To: &r.Few, Range: schemas.AtLeast(2), Doc: "Fewer people than these must not be found by subtraction (3)."},
		{Name: "releases", To: schemas.Mappings(&r.Releases, (*Entry).Fields, nil), Doc: "The releases, in any order."},
	}}
}

// Fields is the field table of an entry.
func (e *Entry) Fields() schemas.Table {
	text := func(name string, to *string, doc string) schemas.Field {
		return schemas.Field{Name: name, To: to, Doc: doc}
	}
	file := func(name string, to *string, doc string) schemas.Field {
		return schemas.Field{Name: name, To: to, File: true, Doc: doc}
	}
	return schemas.Table{What: "a release", Required: []string{"name"}, Fields: []schemas.Field{
		text("name", &e.Name, "What the release is called."),
		text("date", &e.Date, "The day of the release, such as 2026-05-01; one without is taken for older than all others."),
		text("people", &e.People, "Who it is of, in words; only releases of the same words are compared."),
		file("public", &e.Public, "The published table."),
		file("internal", &e.Internal, "Its internal folder; a table that shows all its true values needs none."),
		file("records", &e.Records, "A published file of records, in place of a table."),
		{Name: "fraction", To: &e.Fraction, Range: schemas.Within(0, 1), Doc: "Share of the people that the records are of (1)."},
		text("method", &e.Method, "How the table was protected, if it has no internal folder."),
		text("secret", &e.Secret, "The name of the secret by which it was perturbed, never the secret."),
		text("topic", &e.Topic, "What it is about; some topics are sensitive."),
		{Name: "complete", To: &e.Complete, Doc: "Those who asked for it need all cells."},
		{Name: "true_values", To: &e.True, Doc: "Those who asked for it need true values where there are any."},
		{Name: "additive", To: &e.Additive, Doc: "Those who asked for it need totals that are the sums of their parts."},
		{Name: "keep", To: &e.Keep, Doc: "Cells that must not be hidden, such as REGION=North,SEX=Total; a variable that is not named is its total."},
		text("for", &e.For, "Who asked for it."),
		text("purpose", &e.Purpose, "What it is wanted for."),
	}}
}

// Check is a Document's.
func (r *Register) Check(k *schemas.Checker) {
	if r.Releases == nil {
		k.Add("", "the register has no releases; each has a name and a file: releases: [{name: areas, public: areas.parquet, internal: areas}]")
	}
	for i, e := range r.Releases {
		at := fmt.Sprintf("releases[%d]", i)
		if first := slices.IndexFunc(r.Releases, func(x Entry) bool { return x.Name == e.Name }); first < i {
			k.Add(at+".name", "%s is the name of release %d too", e.Name, first+1)
		}
		if (e.Public == "") == (e.Records == "") {
			k.Add(at, "%s must have one of public, a table, and records", e.Name)
		}
		if _, err := time.Parse(time.DateOnly, e.Date); e.Date != "" && err != nil {
			k.Add(at+".date", "the date is %q; it must be as 2026-05-01", e.Date)
		}
		if e.Records != "" && e.Internal != "" {
			k.Add(at+".internal", "an internal folder is of a table, and this release is of records")
		}
		if e.Fraction != nil && e.Records == "" {
			k.Add(at+".fraction", "a fraction is of records, and this release is a table")
		}
		if e.Fraction != nil && *e.Fraction == 0 {
			k.Add(at+".fraction", "the fraction is 0: it is above 0, and 1 for all people")
		}
		for j, cell := range e.Keep {
			for part := range strings.SplitSeq(cell, ",") {
				if v, _, ok := strings.Cut(part, "="); !ok || v == "" {
					k.Add(fmt.Sprintf("%s.keep[%d]", at, j), "%q is no cell; write its categories, such as REGION=North,SEX=Total", cell)
				}
			}
		}
	}
}

// ReadRegister reads a register. Paths in it are from its folder.
func ReadRegister(path string) (*Register, error) {
	text, err := session.ReadRegular(path, specfile.MaxSpecSize)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the register %s cannot be read: %w", path, err))
	}
	root, err := specfile.ParseOther(path, "register", text, specfile.MaxSpecSize)
	if err != nil {
		return nil, err
	}
	r := &Register{path: path}
	if _, err := schemas.DecodeDocument(path, root, r, nil); err != nil {
		return nil, err
	}
	from := func(p *string) {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(path), *p)
		}
	}
	from(&r.Parts)
	for i := range r.Releases {
		e := &r.Releases[i]
		from(&e.Public)
		from(&e.Internal)
		from(&e.Records)
	}
	return r, nil
}

// entry is the one that has a file; nil if there is none.
func (r *Register) entry(file string) *Entry {
	for i := range r.Releases {
		e := &r.Releases[i]
		if same(cmp.Or(e.Public, e.Records), file) {
			return e
		}
	}
	return nil
}

func same(a, b string) bool {
	a, err := filepath.Abs(a)
	b, other := filepath.Abs(b)
	return err == nil && other == nil && a == b
}

// before are the entries that went out before one, of the same people; after it, or of others, are told.
func (r *Register) before(own *Entry) (list []Entry, others []string) {
	for _, e := range r.Releases {
		switch {
		case e.Name == own.Name:
		case !strings.EqualFold(e.People, own.People):
			others = append(others, fmt.Sprintf("%s is of other people (%s)", e.Name, cmp.Or(e.People, "it is not said of whom")))
		case own.Date != "" && e.Date > own.Date:
			others = append(others, fmt.Sprintf("%s went out later (%s)", e.Name, e.Date))
		default:
			list = append(list, e)
		}
	}
	return list, others
}

// sensitive tells whether a topic needs more care, and what word says so.
func (r *Register) sensitive(topic string) (string, bool) {
	for _, t := range slices.Concat(SensitiveTopics, r.Topics) {
		if topic != "" && strings.Contains(strings.ToLower(topic), strings.ToLower(t)) {
			return t, true
		}
	}
	return "", false
}

// A Standing is how a release stands to what was asked of it.
type Standing struct {
	What string
	Met  bool
	Why  string
}

// note is what those who get a table are told of it, in plain words, without a parameter.
func note(method string, hidden, changed bool) string {
	switch {
	case hidden:
		return "Some values are not shown (x), so that nobody can be recognised in the table and nothing can be learnt about anybody. Some of them are not " +
			"sensitive themselves: they are not shown because others could be worked out from them. All values that are shown are true, and totals include " +
			"what is not shown. A combination that is not listed has nobody in it.\n"
	case method == "rounding":
		return "All values are rounded, totals too, so that nobody can be recognised in the table. They are rounded together, so that totals are the sums of " +
			"their parts; no value is far from the true one. A combination that is not listed has nobody in it, or its value is rounded to 0.\n"
	case method != "" && method != protect.Methods[0] && changed:
		return "Values are changed a little, so that nobody can be recognised in the table. Small values are less exact than large ones, in proportion; " +
			"do not draw conclusions from small differences.\n"
	}
	return "All values are true and shown. A combination that is not listed has nobody in it.\n"
}
