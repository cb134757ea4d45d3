package compare

import (
	"fmt"
	"maps"
	"slices"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// A listed table is one of several that are compared in one run.
type listed struct {
	file   string // a ready-made one; "" for the source of all
	config protect.Config
}

func (l *listed) fields() schemas.Table {
	t := l.config.Fields().Only("table", "hierarchies", "recodes")
	t.What, t.Required = "a table", []string{"table"}
	t.Fields = append([]schemas.Field{{Name: "file", To: &l.file, File: true, Doc: "A ready-made table."}}, t.Fields...)
	return t
}

// each is a spec for every table: that of flags, if they name one, and those of the file.
func (s *Spec) each() ([]*Spec, error) {
	if s.Tables == "" {
		return []*Spec{s}, nil
	}
	text, err := session.ReadRegular(s.Tables, largestGrid)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the tables %s cannot be read: %w", s.Tables, err))
	}
	root, err := specfile.ParseOther(s.Tables, "the list of tables", text, largestGrid)
	if err != nil {
		return nil, session.Wrong(err)
	}
	var list []*listed
	err = schemas.DecodePart(s.Tables, func(d *schemas.Decoder) {
		d.Items(root, "", "the tables", func(_ int, item *schemas.Node, at string) {
			l := &listed{}
			d.Mapping(item, at, l.fields())
			list = append(list, l)
		})
	}, func(c *schemas.Checker, decoded bool) {
		for i, l := range list {
			at := fmt.Sprintf("[%d]", i)
			c.Table(at, l.fields())
			switch {
			case decoded && len(l.config.Table) == 0:
				c.Add(at, "a table has no variables; such as {table: [REGION, SEX]}")
			case l.file != "" && s.Source.Records != nil:
				c.Add(at+".file", "the tables are made of records, and %s would be a ready-made one", l.file)
			}
		}
		if decoded && len(list) == 0 {
			c.Add("", "there are no tables")
		}
	})
	if err != nil {
		return nil, session.Wrong(err)
	}
	var specs []*Spec
	if s.Config.Table != nil {
		specs = append(specs, s.of(&listed{config: protect.Config{Table: s.Config.Table}}))
	}
	for _, l := range list {
		specs = append(specs, s.of(l))
	}
	return specs, nil
}

// of is the spec of one of the tables: what flags say of its variables, and what the list says.
func (s *Spec) of(l *listed) *Spec {
	one := *s
	one.Config.Table, one.Config.Rules = l.config.Table, slices.Clone(s.Config.Rules)
	names := schemas.VariableNames(l.config.Table)
	files := func(shared, own map[string]string) map[string]string {
		list := maps.Clone(shared)
		maps.DeleteFunc(list, func(name, _ string) bool { return !slices.Contains(names, name) })
		if list == nil && own != nil {
			list = make(map[string]string)
		}
		maps.Copy(list, own)
		return list
	}
	one.Config.Hierarchies, one.Config.Recodes = files(s.Config.Hierarchies, l.config.Hierarchies), files(s.Config.Recodes, l.config.Recodes)
	if !slices.Contains(names, one.Config.SAP.Area) {
		one.Config.SAP.Area = ""
	}
	for i := range one.Config.Table {
		if s.Codes != nil {
			one.Config.Table[i].MissingCodes = s.Codes
		}
	}
	if l.file != "" {
		one.Source = tables.Source{Path: l.file, Columns: s.Source.Columns}
	}
	if s.Source.Columns != nil {
		columns := *s.Source.Columns
		one.Source.Columns = &columns
	}
	return &one
}
