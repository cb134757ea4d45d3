package tables

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"microrisk/operators/protect"
	"microrisk/pipeline/profiles"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
	"microrisk/schemas/specfile"
)

// A Register is what went out before, as people keep it beside their releases.
type Register struct {
	Parts     string   // file of what categories stand for, "" for none
	Topics    []string // that are sensitive, besides those that always are
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
	Method, Scheme     string
	Secret             string
	Base               *int
	Topic              string
	Complete           bool
	True               bool
	Additive           bool
	Keep               []string
	For, Purpose       string
}

// Fields is a Document's.
func (r *Register) Fields() schemas.Table {
	return schemas.Table{What: "the register", Doc: "What was released before.", Required: []string{"releases"}, Fields: []schemas.Field{
		{
			Name: "parts",
			To:   &r.Parts,
			File: true,
			Doc:  "File of what categories stand for where tables differ (.csv: table, variable, code, finest); a table is the name of a release.",
		},
		{
			Name: "topics",
			To:   &r.Topics,
			Doc:  "Topics that are sensitive, besides those that always are (table profiles), each with other words for it: alcohol|Korsakoff.",
		},
		{
			Name:  "sensitive",
			To:    &r.Sensitive,
			Range: schemas.AtLeast(2),
			Doc:   "Contributors that every published cell has to have where the topic is sensitive (10).",
		},
		{Name: "few", To: &r.Few, Range: schemas.AtLeast(2), Doc: "Fewer people than these must not be found by subtraction (3)."},
		{Name: "releases", To: schemas.Mappings(&r.Releases, (*Entry).Fields, nil), Doc: "The releases, in any order."},
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
		file := func(x Entry) string { return filepath.Clean(cmp.Or(x.Public, x.Records, e.Name)) }
		if first := slices.IndexFunc(r.Releases, func(x Entry) bool { return file(x) == file(e) }); first < i {
			k.Add(at, "%s is the file of release %d, %s, too", file(e), first+1, r.Releases[first].Name)
		}
		if strings.TrimSpace(e.Name) == "" {
			k.Add(at+".name", "a release needs a name")
		}
		e.checkMethod(k, at)
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
		e.checkKeep(k, at)
	}
	for i, topic := range r.Topics {
		if slices.ContainsFunc(strings.Split(topic, "|"), func(word string) bool { return strings.TrimSpace(word) == "" }) {
			k.Add(fmt.Sprintf("topics[%d]", i), "there is no word where one should be, in %q", topic)
		}
	}
}

// checkMethod judges how a table was protected.
func (e *Entry) checkMethod(k *schemas.Checker, at string) {
	if e.Records != "" && (e.Method != "" || e.Scheme != "") {
		k.Add(at+".method", "a method is of a table, and this release is of records")
	}
	if e.Public != "" && e.Internal == "" && slices.Contains(protect.Methods, e.Method) && e.Method != protect.Methods[0] {
		k.Add(at+".internal", "a table that was made by %s does not tell what is true: name its internal folder", e.Method)
	}
	if e.Scheme == "" {
		return
	}
	if e.Method != "" && e.Method != "perturbation" {
		k.Add(at+".scheme", "a scheme is of perturbation, and the method is %s", e.Method)
	}
	if _, err := schemas.ParseScheme(e.Scheme); err != nil {
		k.Add(at+".scheme", "the scheme %v", err)
	}
}

func (e *Entry) checkKeep(k *schemas.Checker, at string) {
	for j, cell := range e.Keep {
		for part := range strings.SplitSeq(cell, ",") {
			if v, _, ok := strings.Cut(part, "="); !ok || v == "" {
				k.Add(fmt.Sprintf("%s.keep[%d]", at, j), "%q is no cell; write its categories, such as REGION=North,SEX=Total", cell)
			}
		}
	}
}

// agrees compares what the register says of how a table was made with what its log says.
func (e *Entry) agrees(way *protect.Way) error {
	if way == nil {
		return nil
	}
	if e.Method != "" && e.Method != way.Method {
		return session.Wrong(fmt.Errorf("the release %s: the register says that its method is %s, and its log that it is %s", e.Name, e.Method, way.Method))
	}
	if name, _, _ := strings.Cut(e.Scheme, ":"); name != "" && name != way.Scheme {
		return session.Wrong(fmt.Errorf("the release %s: the register says that its scheme is %s, and its log that it is %s", e.Name, name,
			cmp.Or(way.Scheme, "none, but "+way.Method)))
	}
	return nil
}

// ReadRegister reads a register. Paths in it are from its folder.
func ReadRegister(path string) (*Register, error) { return readRegister(path, false) }

// readRegister is ReadRegister; with begin one that is not there is empty.
func readRegister(path string, begin bool) (*Register, error) {
	text, err := session.ReadRegular(path, specfile.MaxSpecSize)
	switch none := errors.Is(err, fs.ErrNotExist); {
	case none && begin:
		return &Register{path: path}, nil
	case none:
		return nil, session.Wrong(fmt.Errorf("there is no register %s; microrisk table release begins one, with the first release", path))
	case err != nil:
		return nil, session.Wrong(fmt.Errorf("the register %s cannot be read: %w", path, err))
	}
	return parseRegister(path, text)
}

func parseRegister(path string, text []byte) (*Register, error) {
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
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	if err == nil && other == nil {
		return os.SameFile(x, y)
	}
	a, err = filepath.Abs(a)
	b, other = filepath.Abs(b)
	return err == nil && other == nil && a == b
}

// An other is an entry that a release is not compared with, and why.
type other struct {
	Entry
	why    string
	people bool // it is of others, as it is said
}

// before are the entries that went out before one, of the same people; later ones, and those of others, are told. The error is of one of which
// it is not said whom it is of.
func (r *Register) before(own *Entry) (list []Entry, others []other, err error) {
	var people []string
	for _, e := range r.Releases {
		switch {
		case e.Name == own.Name:
			continue
		case own.Date != "" && e.Date > own.Date:
			others = append(others, other{e, fmt.Sprintf("%s went out later (%s)", e.Name, e.Date), false})
			continue
		case own.People != "" && e.People != "" && !samePeople(e.People, own.People):
			others = append(others, other{e, fmt.Sprintf("%s is of other people (%s)", e.Name, e.People), true})
			continue
		}
		list = append(list, e)
		if e.People != "" && !slices.ContainsFunc(people, func(p string) bool { return samePeople(p, e.People) }) {
			people = append(people, e.People)
		}
	}
	if own.People == "" && len(people) > 1 {
		return nil, nil, session.Wrong(advice.Errorf("%s has releases of several people (%s), and does not say of whom %s is (%s)",
			r.path, strings.Join(people, "; "), own.Name, advice.Advice{Spec: "list it there, with people", Flags: "--people, or list it there with people"}))
	}
	return list, others, nil
}

// samePeople tells whether words are of the same people: letters of either case, and any spaces.
func samePeople(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// sensitive is the sensitive topic that words are about, "" for none.
func (r *Register) sensitive(about string) string {
	p := &profiles.Profile{Sensitive: profiles.Sensitive{Topics: r.Topics}}
	return p.Topic(about)
}
