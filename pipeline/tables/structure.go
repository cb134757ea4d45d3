package tables

import (
	"cmp"
	"context"
	"errors"
	"os"

	"microrisk/engine/tabular"
	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// StructureOf is what the metadata of a file say of the table that it has; nil for files of other kinds, and those without it.
func StructureOf(ctx context.Context, path string) (*tablefile.Structure, error) {
	if info, err := os.Stat(path); session.KindOf(path) != session.ParquetKind || err != nil || !info.Mode().IsRegular() {
		return nil, nil // what is wrong is told when it is read
	}
	text, err := session.MetadataOf(ctx, path, tablefile.StructureKey)
	if err != nil {
		return nil, err
	}
	s, err := tablefile.ReadStructure(path, text)
	return s, session.Wrong(err)
}

// fill says of a table what its structure says, and nothing else said.
func fill(c *protect.Config, s *tablefile.Structure) error {
	if s != nil && len(s.Variables) > 0 {
		if len(c.Table) == 0 {
			for _, v := range s.Variables {
				c.Table = append(c.Table, schemas.KeyVariable{Name: v.Name})
			}
		}
		c.Total = cmp.Or(c.Total, s.Variables[0].Total)
		c.Decimals = cmp.Or(c.Decimals, int64(s.Decimals))
	}
	if len(c.Table) == 0 {
		return session.Wrong(errors.New("name the variables of the table (--table REGION,SEX)"))
	}
	return nil
}

// cellColumns are the columns of a table of all true values, as a rule looks at them.
func cellColumns(ctx context.Context, path string, o session.Options) (*protect.Columns, error) {
	source, err := session.OpenPaths(ctx, []string{path}, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	c := &protect.Columns{Count: "contributors", Value: audit.CellColumns.Value}
	for _, x := range []struct {
		to   *string
		name string
	}{{&c.Records, audit.CellColumns.Count}, {&c.Max, "top_1"}, {&c.Second, "top_2"}, {&c.Sole, audit.CellColumns.Sole}} {
		if source.Schema().HasField(x.name) {
			*x.to = x.name
		}
	}
	return c, nil
}

// treesOf are the trees of the variables of a table: those of hierarchies, else of the structure, and totals alone, which grow with the codes
// that are met.
func treesOf(operator protect.Operator, c *protect.Config, path string, s *tablefile.Structure) ([]*tabular.Tree, error) {
	trees, err := operator.Trees()
	if err != nil {
		return nil, err
	}
	list := make([]*tabular.Tree, len(c.Table))
	for v, k := range c.Table {
		list[v] = trees[k.Name]
		if list[v] == nil {
			if list[v], err = s.Tree(path, k.Name); err != nil {
				return nil, err
			}
			if _, recoded := c.Recodes[k.Name]; recoded && list[v] != nil && list[v].Depth() < 2 {
				list[v] = nil // its codes are others
			}
		}
		if list[v] == nil {
			list[v] = tabular.NewTree(k.Name)
		}
	}
	return list, nil
}
