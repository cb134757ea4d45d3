package redesign

import (
	"fmt"
	"strings"

	"microrisk/engine/tabular/redesign"
	"microrisk/operators/protect"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// Losses are the words of what is lost.
var Losses = []string{"categories", "cells", "contributors", "value"}

// losses are the engine's.
var losses = map[string]redesign.Loss{"categories": redesign.Categories, "cells": redesign.CellsLost, "contributors": redesign.Contributors,
	"value": redesign.Value}

// A Spec asks for redesigns of a table.
type Spec struct {
	Source  tables.Source
	Config  protect.Config    // of the table and its rules; its method and outputs have no say
	Ordered []string          // variables of which neighbours alone may become one, NAME by the numbers of its codes, or NAME=a|b|c
	Groups  map[string]string // files of recodes whose lines are the merges that are allowed, by variable
	Pins    []string          // what must stay as it is: NAME=CODE, or NAME for all codes
	Loss    string
	Best    int64    // redesigns that are wanted
	Shown   int64    // single merges that are told
	Nodes   *int     // designs that are looked at, at most
	Seconds *float64 // that the search may take
	Out     string   // folder of recodes, "" for none
	JSON    string
}

// Fields is the field table.
func (s *Spec) Fields() schemas.Table {
	return schemas.Table{What: "the redesign", Doc: "What redesigns of a table are sought.", Fields: []schemas.Field{
		{Name: "ordered", To: &s.Ordered, Doc: "Variables of which neighbours alone may become one.",
			Flag: &schemas.Flag{
				Name: "ordered",
				Many: true,
				Usage: "let only neighbours of a `VARIABLE` become one, by the numbers that its codes begin with, " +
					"or in an order: EDU=low|mid|high; may be repeated (default: variables of bands of numbers, such as 17-24)",
			}},
		{Name: "groups", To: &s.Groups, Doc: "Files of recodes whose lines are the merges that are allowed, by variable.",
			Flag: &schemas.Flag{
				Name:  "groups",
				Many:  true,
				Usage: "allow the merges alone that the lines of a file of recodes are, `VARIABLE=FILE`; may be repeated",
				Set:   protect.FilesByVariable(&s.Groups),
			}},
		{Name: "pins", To: &s.Pins, Doc: "What must stay as it is.",
			Flag: &schemas.Flag{Name: "pin", Many: true, Usage: "keep a code as it is, `VARIABLE=CODE`, or all codes of a VARIABLE; may be repeated"}},
		{Name: "loss", To: &s.Loss, Words: Losses, Default: "categories", Doc: "What the redesigns lose least of.",
			Flag: &schemas.Flag{Name: "loss", Usage: "what is to be lost least: categories, or the cells of merged rows, their contributors or value " +
				"(default: categories)"}},
		{Name: "best", To: &s.Best, Range: schemas.Within(1, 100), Default: int64(3), Doc: "How many of the cheapest redesigns are sought.",
			Flag: &schemas.Flag{Name: "best", Usage: "how many of the cheapest redesigns are sought (default: 3)"}},
		{Name: "shown", To: &s.Shown, Range: schemas.Within(1, 1000), Default: int64(15), Doc: "How many single merges are told.",
			Flag: &schemas.Flag{Name: "shown", Usage: "how many single merges are told (default: 15)"}},
		{Name: "nodes", To: &s.Nodes, Range: schemas.AtLeast(1), Doc: "Stop searching after so many designs, which is the same wherever it runs.",
			Flag: &schemas.Flag{Name: "nodes", Usage: "stop searching after so many designs (default: 20000, or 500 where each adds up all records)"}},
		{Name: "seconds", To: &s.Seconds, Range: schemas.Positive(), Doc: "Stop searching after this time.",
			Flag: &schemas.Flag{Name: "limit", Usage: "stop searching after so many `SECONDS`, with the best that was found"}},
		{Name: "out", To: &s.Out, File: true, Doc: "Folder of recodes.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write the recodes of each redesign to `FOLDER`, as table protect --recode takes them"}},
		{Name: "json", To: &s.JSON, File: true, Doc: "File with all of it.",
			Flag: &schemas.Flag{Name: "json", Usage: "write all of it to `FILE`, which must not be published"}},
	}}
}

// ofTable are the fields of protect that say what the table is, and which cells disclose.
var ofTable = []string{"table", "linked", "missing", "hierarchies", "recodes", "paths", "lead", "total", "response", "statistic", "decimals", "contributor",
	"weight", "total_only", "absolute", "rules"}

// Shared are the fields of protect that a redesign looks at.
func Shared(c *protect.Config) schemas.Table { return c.Fields().Only(ofTable...) }

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	names := schemas.VariableNames(s.Config.Table)
	known := func(path, name string) {
		if len(names) > 0 { // else the table will tell
			c.OneOf(path, "the variable", name, names)
		}
	}
	for i, text := range s.Ordered {
		name, list, given := strings.Cut(text, "=")
		known(fmt.Sprintf("ordered[%d]", i), name)
		if given && (list == "" || len(strings.Split(list, "|")) < 2) {
			c.Add(fmt.Sprintf("ordered[%d]", i), "the order of %s has fewer than two codes; write such as %s=low|mid|high", name, name)
		}
	}
	for i, text := range s.Pins {
		name, _, _ := strings.Cut(text, "=")
		known(fmt.Sprintf("pins[%d]", i), name)
	}
	for name := range s.Groups {
		known("groups."+name, name)
	}
	if s.Nodes != nil && s.Seconds != nil {
		c.Add("nodes", "there are two limits, seconds and nodes; say one")
	}
	if x := s.Source.Columns; x != nil && (x.Status != "" || x.Lower != "" || x.Upper != "") {
		c.Add("source", "what a table says of its cells (--status, --lower, --upper) is not of those that merges make of them: leave it out")
	}
}
