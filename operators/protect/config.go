// Package protect makes tables that can be published: it counts or adds up cells with all their totals, finds those that disclose, hides or
// rounds cells so that nobody can work them out, audits the result as an attacker would, and writes it only if it passes.
package protect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "protect"

// Words of the config.
var (
	Methods = []string{
		"none",
		"optimal",
		"modular",
		"hypercube",
		"network",
		"hand",
		"rounding",
		"perturbation",
		"adjustment",
		"partial",
		"multiplicative",
		"abs",
	}
	Costs      = []string{"unity", "value", "contributors"}
	Margins    = []string{"grand", "one_way", "all", "none"}
	Insider    = []string{"exact", "full", "off"}
	Beforehand = []string{"occupied", "nothing"}
	// Statistics are what cells may be asked to have; only the first two can be protected.
	Statistics = []string{"sum", "count", "mean", "median", "ratio"}
)

// DefaultMethod is the one that is taken where nobody names one.
const DefaultMethod = "optimal"

// Based tells whether a method has a base.
func Based(method string) bool { return method == "rounding" }

// Lacks tells whether a method needs what the config does not say.
func (c *Config) Lacks(method string) bool {
	switch method {
	case "hand":
		return c.Overrides == ""
	case "perturbation":
		return c.Perturb == nil
	case "multiplicative":
		return c.SD == nil
	}
	return false
}

// A Config is what a spec says of a table that is to be published.
type Config struct {
	Prefix      string
	Table       []schemas.KeyVariable // its variables; Missing is not looked at
	Linked      [][]string            // tables of some of the variables, which are published together; nil for one of all
	Hierarchies map[string]string     // files, by variable
	Paths       bool                  // codes below several parents are told apart by their paths
	Lead        string                // what stands before codes in .hrc files, once for each level
	Total       string                // the code of totals in files
	Recodes     map[string]string     // files, by variable

	Response    string // column that is added up; "" counts records
	Statistic   string // what the cells have: sum or count; "" is what the response says
	Decimals    int64  // of the response
	Contributor string // column with the unit that must not be disclosed; "" is the record
	Weight      string // column with sampling weights
	TotalOnly   bool   // weights count in totals, and not among contributors
	Absolute    bool   // negative contributions count by their absolute value in rules
	Missing     string // category (default) or drop

	Rules     []Rule
	Sliding   *int   // the width that a hidden cell's interval needs, besides the levels of rules
	Overrides string // file with what is said of cells by hand
	SAP       SAP    // asked before and after

	Method     string
	Base       int64    // of rounding
	Cost       string   // of hiding a cell
	Margins    string   // totals that are never hidden
	Insider    string   // what holders who are the only ones of a hidden cell must not know of others
	Beforehand string   // what everybody knows of hidden cells beforehand
	Seconds    *float64 // limit
	Nodes      *int     // limit of the search, which is the same wherever it runs
	Solver     string

	Changing
	Policy

	Out    string // file that can be published
	Inside string // folder of what must not be

	// Judge is asked besides the audit, before anything is written; an error is why nothing may be. nil: the audit is enough.
	Judge func(context.Context, *Protected) error
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	missing := schemas.ClassesMissingField(&c.Missing)
	missing.Flag = &schemas.Flag{Name: "missing", Usage: "what a missing value means: category or drop (default: category)"}
	return schemas.Table{Required: []string{"table", "rules", "public", "internal"}, Fields: append([]schemas.Field{
		schemas.PrefixField(&c.Prefix, Name),
		{Name: "table", To: &c.Table, Single: true, Doc: "Variables of the table.",
			Flag: &schemas.Flag{
				Name:   "table",
				Usage:  "`VARIABLES` of the table, separated by commas",
				Needed: "name the variables of the table: --table REGION,SEX",
			}},
		missing,
	}, slices.Concat(c.structureFields(), c.measureFields(), c.ruleFields(), c.methodFields(), c.Policy.fields(), c.changingFields(), c.fileFields())...),
		Further: c.peopleFlags()}
}

func (c *Config) structureFields() []schemas.Field {
	return []schemas.Field{
		{
			Name: "linked",
			To:   linkedForm{&c.Linked},
			Doc: "Tables that are published together, lists of the variables of each: they are protected as one, by the totals that they share. Without it one " +
				"table of all variables is published.",
			Flag: &schemas.Flag{Name: "linked", Many: true,
				Usage: "publish a table of these `VARIABLES` alone, and others; may be repeated (default: one table of all variables)",
				Set: func(texts []string) error {
					c.Linked = nil
					for _, text := range texts {
						c.Linked = append(c.Linked, strings.Split(text, ","))
					}
					return nil
				}},
		},
		{
			Name: "hierarchies",
			To:   &c.Hierarchies,
			Doc: "Files of hierarchies, by variable: .hrc, .csv or .parquet with the columns code and parent, or with a column for each level, or .yaml with " +
				"nested codes.",
			Flag: &schemas.Flag{
				Name:  "hierarchy",
				Many:  true,
				Usage: "hierarchy of a variable, `VARIABLE=FILE` (.hrc, .csv, .parquet or .yaml); may be repeated",
				Set:   FilesByVariable(&c.Hierarchies),
			},
		},
		{
			Name: "recodes",
			To:   &c.Recodes,
			Doc: "Files of recodes, by variable, as the ARGUS programs have them: a new code a line, a colon, and the codes and ranges of codes that become it, " +
				"such as 1:10-12,20. Codes that no line has stay; a hierarchy is of the new codes.",
			Flag: &schemas.Flag{
				Name:  "recode",
				Many:  true,
				Usage: "recodes of a variable before cells are counted, `VARIABLE=FILE` (.grc: 1:10-12); may be repeated",
				Set:   FilesByVariable(&c.Recodes),
			},
		},
		{Name: "paths", To: &c.Paths, Doc: "Codes that are below several parents are told apart by their paths.",
			Flag: &schemas.Flag{Name: "paths", Usage: "tell codes that are below several parents apart by their paths"}},
		{Name: "lead", To: &c.Lead, Default: "@", Doc: "What stands before the codes of .hrc files, once for each level.",
			Flag: &schemas.Flag{Name: "lead", Usage: "what stands before codes in .hrc files, once for each level (default: @)"}},
		{Name: "total", To: &c.Total, Default: tabular.TotalCode, Doc: "What totals are called in files.",
			Flag: &schemas.Flag{Name: "total", Usage: "what totals are called in files (default: Total)"}},
	}
}

// FilesByVariable takes files that a flag says as VARIABLE=FILE.
func FilesByVariable(to *map[string]string) func(texts []string) error {
	return func(texts []string) error {
		*to = make(map[string]string)
		for _, text := range texts {
			name, file, ok := strings.Cut(text, "=")
			if _, twice := (*to)[name]; !ok || name == "" || file == "" || twice {
				return fmt.Errorf("is %q; it must be VARIABLE=FILE, once for each variable", text)
			}
			(*to)[name] = file
		}
		return nil
	}
}

func (c *Config) measureFields() []schemas.Field {
	return []schemas.Field{
		{Name: "response", To: &c.Response, Doc: "Column that is added up; without it records are counted.",
			Flag: &schemas.Flag{Name: "response", Usage: "`COLUMN` that is added up (default: records are counted)"}},
		{
			Name:  "statistic",
			To:    &c.Statistic,
			Words: Statistics,
			Doc:   "What the cells have: sum of the response, or count. Means, medians and ratios are refused: protect the sum and the count that they are made of.",
			Flag:  &schemas.Flag{Name: "statistic", Usage: "what the cells have: sum (of a response) or count; means, medians and ratios are refused"},
		},
		{Name: "decimals", To: &c.Decimals, Range: schemas.Within(0, 9), Doc: "Decimals of the response; more are an error.",
			Flag: &schemas.Flag{Name: "decimals", Usage: "decimals of the response; more are an error (default: 0)"}},
		{Name: "contributor", To: &c.Contributor, Doc: "Column with the unit that must not be disclosed, such as a holding; without it the record.",
			Flag: &schemas.Flag{Name: "contributor", Usage: "`COLUMN` with the unit that must not be disclosed (default: the record)"}},
		{Name: "weight", To: &c.Weight, Doc: "Column with sampling weights: a record of weight w stands for w equal contributors.",
			Flag: &schemas.Flag{Name: "weight", Usage: "`COLUMN` with sampling weights"}},
		{Name: "total_only", To: &c.TotalOnly, Doc: "Weights count in totals, and not among contributors.",
			Flag: &schemas.Flag{Name: "total-only", Usage: "let weights count in totals, and not among contributors"}},
		{Name: "absolute", To: &c.Absolute, Doc: "Negative contributions count by their absolute value in rules; without it they are an error.",
			Flag: &schemas.Flag{Name: "absolute", Usage: "let negative contributions count by their absolute value in rules"}},
	}
}

func (c *Config) ruleFields() []schemas.Field {
	return []schemas.Field{
		{Name: "rules", To: schemas.Mappings(&c.Rules, (*Rule).Fields, nil), Doc: "Rules that find cells that disclose; a cell is unsafe if one does.",
			Flag: &schemas.Flag{Name: "rule", Many: true, Usage: "`RULE` that finds cells that disclose, such as min:n=3 or p%:p=10,c=1; may be repeated",
				Needed: "say which cells disclose: --rule min:n=3 (fewer than 3 contributors)",
				Set: func(texts []string) error {
					c.Rules = nil
					for _, text := range texts {
						r, err := ParseRule(text)
						if err != nil {
							return err
						}
						c.Rules = append(c.Rules, r)
					}
					return nil
				}}},
		{
			Name:  "sliding",
			To:    &c.Sliding,
			Range: schemas.AtLeast(1),
			Doc:   "Width that a hidden cell's interval needs, in units of the last decimal, instead of the levels of rules.",
			Flag:  &schemas.Flag{Name: "sliding", Usage: "width that a hidden cell's interval needs, instead of the levels of rules"},
		},
		{
			Name: "overrides",
			To:   &c.Overrides,
			File: true,
			Doc: "What is said of cells by hand: .csv with the variables, set (safe, unsafe, protected, hidden), cost, lower, upper, reason and name, or " +
				"tau-ARGUS' .hst.",
			Flag: &schemas.Flag{Name: "overrides", Usage: "`FILE` with what is said of cells by hand (.csv or .hst)"},
		},
		{Name: "sap", To: schemas.Nested(c.SAP.Fields())},
	}
}

func (c *Config) methodFields() []schemas.Field {
	return []schemas.Field{
		{
			Name:    "method",
			To:      &c.Method,
			Words:   Methods,
			Default: DefaultMethod,
			Doc: "How unsafe cells are protected. none: only they are hidden. optimal: the cheapest other cells too. modular: those of one sub-table after " +
				"another, for hierarchies. hypercube: quick, and hides more. network: two-way tables, quick. hand: those that overrides hide. rounding: all cells " +
				"become multiples of base that add up. perturbation: all cells are changed by a scheme (perturb). adjustment: unsafe cells move by their levels, and " +
				"others by the least that makes all add up. partial: intervals in the place of values, at the least width. multiplicative: margins are multiplied by " +
				"noise (sd), and cells fitted to them. abs: cells of 3 records or fewer are hidden, others rounded to 100.",
			Flag: &schemas.Flag{
				Name:  "method",
				Usage: "how unsafe cells are protected: optimal, modular, hypercube, network, hand, rounding, perturbation, adjustment, partial, multiplicative, abs or none (default: optimal)",
			},
		},
		{Name: "base", To: &c.Base, Range: schemas.AtLeast(2), Default: int64(3), Doc: "Base of rounding, in units of the last decimal.",
			Flag: &schemas.Flag{Name: "base", Usage: "base of rounding (default: 3)"}},
		{Name: "cost", To: &c.Cost, Words: Costs,
			Doc: "What hiding or changing a cell costs: 1, its value, or the number of its contributors; without it the value where cells are hidden, 1 where changed.",
			Flag: &schemas.Flag{
				Name:  "cost",
				Usage: "what hiding or changing a cell costs: unity, value or contributors (default: value where cells are hidden, unity where changed)",
			}},
		{
			Name:    "margins",
			To:      &c.Margins,
			Words:   Margins,
			Default: "grand",
			Doc:     "Totals that are never hidden: the grand one, those over all variables but one too, all, or none.",
			Flag:    &schemas.Flag{Name: "margins", Usage: "totals that are never hidden: grand, one_way, all or none (default: grand)"},
		},
		{
			Name:    "insider",
			To:      &c.Insider,
			Words:   Insider,
			Default: "exact",
			Doc: "What holders who are the only ones of a hidden cell must not know of others: the value (exact), as little as everybody (full), or they are " +
				"not looked at (off).",
			Flag: &schemas.Flag{
				Name:  "insider",
				Usage: "what the only contributors of hidden cells must not know of others: exact, full or off (default: exact)",
			},
		},
		{
			Name:    "beforehand",
			To:      &c.Beforehand,
			Words:   Beforehand,
			Default: "occupied",
			Doc: "What everybody knows of hidden cells beforehand: that they are not empty, as empty cells are not hidden (occupied), or nothing but that no " +
				"value is negative (nothing), to compare with programs that take attackers for such.",
			Flag: &schemas.Flag{
				Name:  "beforehand",
				Usage: "what everybody knows of hidden cells beforehand: that they are occupied, or nothing (default: occupied)",
			},
		},
		{Name: "seconds", To: &c.Seconds, Range: schemas.Positive(),
			Doc: "Stop searching after this time, with the best that was found. Without it, and without nodes, optimal, modular, adjustment and partial look for " +
				"something cheaper for 60 s once they have something safe (modular: in each sub-table).",
			Flag: &schemas.Flag{
				Name: "limit",
				Usage: "stop searching after so many `SECONDS`, with the best that was found (default: optimal, modular, adjustment and partial look for something " +
					"cheaper for 60 s once they have something safe)",
			}},
		{Name: "nodes", To: &c.Nodes, Range: schemas.AtLeast(1), Doc: "Stop searching after so many nodes, which is the same wherever it runs.",
			Flag: &schemas.Flag{Name: "nodes", Usage: "stop searching after so many nodes, which is the same wherever it runs"}},
		{
			Name:    "solver",
			To:      &c.Solver,
			Words:   []string{"auto", "embedded", "cbc", "glpsol"},
			Default: "auto",
			Doc:     "What solves integer programs: auto is cbc or glpsol if they are installed.",
			Flag:    &schemas.Flag{Name: "solver", Usage: "what solves integer programs: auto (cbc or glpsol if they are installed), embedded, cbc or glpsol"},
		},
	}
}

func (c *Config) fileFields() []schemas.Field {
	return []schemas.Field{
		{Name: "public", To: &c.Out, File: true, Doc: "File that can be published (.parquet, .arrow or .csv).",
			Flag: &schemas.Flag{
				Name:  "public",
				Short: "o",
				Usage: "`FILE` that can be published (default: public.parquet)",
				Usual: []string{"public.parquet"},
			}},
		{Name: "internal", To: &c.Inside, File: true, Doc: "Folder for what must not be published.",
			Flag: &schemas.Flag{Name: "internal", Usage: "`FOLDER` for what must not be published (default: internal)", Usual: []string{"internal"}}},
	}
}

// ColumnPrefix names the operator in the summary.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Lists is a Listing's.
func (c *Config) Lists(f func(path string, list *[]schemas.KeyVariable)) { f("table", &c.Table) }

// Names is a Naming operator's.
func (c *Config) Names(path string, s schemas.Scope) {
	for i, v := range c.Table {
		s.Want(fmt.Sprintf("%s.table[%d]", path, i), c.ColumnPrefix(), v.Name)
	}
	for _, x := range []struct{ field, column string }{{"response", c.Response}, {"contributor", c.Contributor}, {"weight", c.Weight}} {
		if x.column != "" {
			s.Want(path+"."+x.field, c.ColumnPrefix(), x.column)
		}
	}
	c.Changing.names(path, c.ColumnPrefix(), s)
}

// Public is a Private config's: it makes other files.
func (c *Config) Public() schemas.Config { return nil }

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile {
	var list []operators.SideFile
	read := func(path, what string, read func(text []byte) (any, error)) {
		list = append(list, operators.SideFile{Path: path, What: what, Kind: operators.Document, Most: LargestFile, Read: read})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Hierarchies)) {
		list = append(list, c.hierarchy(c.Hierarchies[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Recodes)) {
		path := c.Recodes[name]
		read(path, "the recodes", func(text []byte) (any, error) { return tablefile.ReadRecodes(path, text), nil })
	}
	if c.Overrides != "" {
		read(c.Overrides, "the overrides", func(text []byte) (any, error) {
			return tablefile.ReadSettings(c.Overrides, text, schemas.VariableNames(c.Table), cmp.Or(c.Total, tabular.TotalCode))
		})
	}
	if c.Secret != "" {
		list = append(list, operators.SideFile{Path: c.Secret, What: "the secret", Kind: operators.Secret})
	}
	if c.SAP.Asked() {
		list = append(list, operators.SideFile{Path: filepath.Join(c.Inside, SAPFile), What: "the table of areas", Kind: operators.MadeTable, Part: PartSAP})
	}
	return append(list,
		operators.SideFile{Path: filepath.Join(c.Inside, CellsFile), What: "the internal table", Kind: operators.MadeTable, Part: PartCells},
		operators.SideFile{Path: filepath.Join(c.Inside, LogFile), What: "the internal log", Kind: operators.MadeDocument, Part: PartLog, Begins: "{\n"},
		operators.SideFile{Path: c.Out, What: "the public table", Kind: operators.MadeTable, Part: PartPublic})
}

// Files of the internal folder.
const (
	CellsFile = "cells.parquet"
	LogFile   = "log.json"
)

// hierarchy is the file of one, by the ending of its name.
func (c *Config) hierarchy(path string) operators.SideFile {
	f := operators.SideFile{Path: path, What: "the hierarchy", Kind: operators.Document, Most: LargestFile, Read: func(text []byte) (any, error) {
		return tablefile.ReadHierarchy(path, text, cmp.Or(c.Lead, tablefile.DefaultLead), c.Paths)
	}}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet", ".arrow":
		f.Kind, f.Open = operators.Opened, func(ctx context.Context, from operators.Source, _ int64) (any, error) {
			return tablefile.OpenHierarchy(ctx, path, from, LargestFile, c.Paths)
		}
	case ".yaml", ".yml", ".json":
		f.Kind, f.Most, f.Outline = operators.Outline, largestOutline, func(root *schemas.Node) (any, error) {
			return tablefile.OutlineHierarchy(path, root, c.Paths), nil
		}
	}
	return f
}

// largestOutline is the most bytes that a hierarchy in YAML may have.
const largestOutline = 8 << 20

// LargestFile is the most bytes that a hierarchy or a file of overrides may have.
const LargestFile = 64 << 20
