package schemas

import "slices"

// People say whose noise it is.
type People struct {
	By        string // cells, which "" is too, or people
	RecordKey string // of people: the column with the key of each record
	RecordID  string // of people: the column that tells records apart, of which keys are made by the secret
}

// Bys are words of People.
var Bys = []string{"cells", "people"}

// ByPeople tells whether the same people get the same noise, in whatever cells they are.
func (p *People) ByPeople() bool { return p.By == "people" }

// PeopleFields say whose noise it is.
func (p *People) PeopleFields() []Field {
	return []Field{
		{Name: "by", To: &p.By, Words: Bys, Schema: `"default": "cells"`,
			Doc: "Whose noise it is: that of a cell, by its categories, or that of the people in it, whatever cell of whatever table they are in.",
			Flag: &Flag{Name: "noise-by",
				Usage: "whose noise it is: that of cells, or that of the people in them, whatever table they are in (default: cells)"}},
		{Name: "record_key", To: &p.RecordKey, Doc: "by: people: column with the key of each record, a whole number from 0 to 2^53, drawn once for all tables.",
			Flag: &Flag{Name: "record-key", Usage: "people: `COLUMN` with the key of each record, a whole number from 0 to 2^53"}},
		{Name: "record_id", To: &p.RecordID, Doc: "by: people: column that tells records apart, of which their keys are made by the secret.",
			Flag: &Flag{Name: "record-id", Usage: "people: `COLUMN` that tells records apart, of which their keys are made by the secret"}},
	}
}

// RecordFields is the field table of a perturbation of records.
func (p *Perturbation) RecordFields() Table {
	t := p.Fields()
	t.Fields = append(t.Fields, p.PeopleFields()...)
	return t
}

// people judges whose noise it is.
func (c *Checker) people(path string, p *Perturbation) {
	switch {
	case p.By != "" && !p.Random() && (p.Scheme == "" || slices.Contains(Schemes, p.Scheme)):
		c.Add(path+".by", "by says whose noise it is, and the scheme leaves nothing to chance")
	case !p.ByPeople() && p.RecordKey != "":
		c.Add(path+".record_key", "record_key is of noise by people; say by: people")
	case !p.ByPeople() && p.RecordID != "":
		c.Add(path+".record_id", "record_id is of noise by people; say by: people")
	case p.ByPeople() && (p.RecordKey == "") == (p.RecordID == ""):
		c.Add(path+".by", "noise by people needs the column with the keys of records (record_key), or the one that tells them apart (record_id): one of the two")
	}
}

// Names tells the columns that are named.
func (p *People) Names(path, who string, s Scope) {
	for _, x := range []struct{ field, column string }{{"record_key", p.RecordKey}, {"record_id", p.RecordID}} {
		if x.column != "" {
			s.Want(path+"."+x.field, who, x.column)
		}
	}
}
