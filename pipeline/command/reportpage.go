package command

import (
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators"
	"microrisk/pipeline"
	"microrisk/pipeline/limits"
	"microrisk/pipeline/page"
	"microrisk/pipeline/runpage"
	"microrisk/pipeline/session"
)

// reportFlags are those of verbs that make a page.
func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:  "report",
			Usage: "write a page to decide by to `FILE`: .html for browsers and printers, .md for logs",
		},
		&cli.StringFlag{
			Name:  "report-for",
			Usage: "whom the page is for: `office` (everything), or publication (with the file: no values of records, no counts below 10) (default: office)",
		},
		&cli.BoolFlag{Name: "confidential", Usage: "let the page show the riskiest records by their values; it must stay in the office then"},
	}
}

// officeFlags are those of verbs whose pages are for the office alone.
func officeFlags() []cli.Flag {
	flags := reportFlags()
	return []cli.Flag{flags[0], flags[2]}
}

// limitProfileFlag takes limits of a profile.
func limitProfileFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "profile",
		Usage: "take limits of a profile, `NAME` (" + strings.Join(limits.Names(), ", ") +
			"; conventions with their sources, no law) or a file such as office.yaml; --limit, and limits of a spec, go before them",
	}
}

// A reportPage is where a page goes, and whom it is for.
type reportPage struct {
	path, reader string
	confidential bool
}

// reportOf is what the flags say of a page; nil for none.
func reportOf(ctx *cli.Context) (*reportPage, error) {
	r := &reportPage{path: ctx.String("report"), reader: ctx.String("report-for"), confidential: ctx.Bool("confidential")}
	switch {
	case !ctx.IsSet("report"):
		for _, flag := range []string{"report-for", "confidential"} {
			if ctx.IsSet(flag) {
				return nil, usage("--%s is of a page, and there is none: add --report report.html", flag)
			}
		}
		return nil, nil
	case ctx.Bool("print-spec"):
		return nil, usage("--report is the page of a run, and --print-spec does not run anything; leave one of them out")
	}
	if err := page.CheckPath(r.path); err != nil {
		return nil, usage("--report: %v", err)
	}
	if err := session.Replaceable(r.path, "page", page.Begins(r.path)); err != nil {
		return nil, err
	}
	if r.reader == "" {
		r.reader = page.Office
	}
	if err := page.CheckReader(r.reader); err != nil {
		return nil, usage("--report-for: %v", err)
	}
	if r.confidential && r.reader == page.Publication {
		return nil, usage("--confidential shows values of records, and a page for publication has none; leave one of them out")
	}
	return r, nil
}

// besides are the files that are made of a run.
func (r *reportPage) besides() []pipeline.Beside {
	if r == nil {
		return nil
	}
	return []pipeline.Beside{{Path: r.path, What: "page", Begins: page.Begins(r.path), Make: func(o *pipeline.Outcome) ([]byte, error) {
		return runpage.Of(o, r.reader, r.confidential).Render(r.path)
	}}}
}

// apart tells that a page would be written over what is read, or written besides.
func (r *reportPage) apart(others []string) error {
	if r == nil {
		return nil
	}
	var reads []session.Reading
	for _, path := range others {
		if path == r.path {
			return usage("--report %s is another file of this run; give the page a name of its own", r.path)
		}
		reads = append(reads, session.Reading{What: "a file that is read:", Path: path})
	}
	return session.CheckPaths(reads, []string{r.path})
}

// writes are the files that are written after a verb has run.
func (r *reportPage) writes() []string {
	if r == nil {
		return nil
	}
	return []string{r.path}
}

// write writes the page of a verb that has run.
func (r *reportPage) write(ctx *cli.Context, o session.Options, inputs []string, p *page.Page) error {
	file := operators.SideFile{Path: r.path, What: "the page", Kind: operators.MadeDocument, Begins: page.Begins(r.path)}
	return session.WriteParts(ctx.Context, []operators.SideFile{file}, rendered{p, r.path}, o, inputs)
}

// A rendered page is a document.
type rendered struct {
	*page.Page
	path string
}

// Part is an operators.Parted's.
func (r rendered) Part(string) any { return r }

// Document is an operators.Documented's.
func (r rendered) Document() ([]byte, error) { return r.Render(r.path) }

// told is the line that says where the page is.
func (r *reportPage) told() string {
	if r == nil {
		return ""
	}
	return "page written to " + r.path + "\n"
}

// profileOf is the profile of limits that a flag names.
func profileOf(ctx *cli.Context) (*limits.Profile, error) {
	name := ctx.String("profile")
	switch {
	case name != "":
		return limits.Load(name)
	case ctx.IsSet("profile"):
		return nil, usage("--profile has no name; it is one of %s, or a file such as office.yaml", strings.Join(limits.Names(), ", "))
	}
	return nil, nil
}
