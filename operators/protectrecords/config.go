package protectrecords

import (
	"cmp"
	"errors"

	"microrisk/operators"
	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "protect_records"

// Limit is the name of the limit of what is lost.
const Limit = "protection_loss"

// A Config is what a spec says of the operator.
type Config struct {
	Prefix string
	Key    *schemas.Key // nil: the spec's
	Ask
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Required: []string{"safe"},
		Fields: append([]schemas.Field{schemas.PrefixField(&c.Prefix, Name), schemas.KeyField(&c.Key)}, c.Ask.Fields()...)}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	key := cmp.Or(c.Key, s.Key)
	if key == nil {
		k.Add(path, "a protection needs key variables")
		return
	}
	c.Ask.Check(k, path, key, s.Sampling)
}

// ColumnPrefix is what it is called in the summary.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Names is a Naming operator's.
func (c *Config) Names(path string, s schemas.Scope) {
	if c.Key != nil {
		for _, v := range c.Key.Variables {
			s.Want(path+".key", c.ColumnPrefix(), v.Name)
		}
	}
	if c.Target.Sensitive != "" {
		s.Want(path+".safe.sensitive", c.ColumnPrefix(), c.Target.Sensitive)
	}
}

// Remakes is a Remaking operator's: of a key of its own, as far as a config alone can tell.
func (c *Config) Remakes(column string) bool {
	h := c.Hierarchies.Of(column)
	return (h != nil || c.Key.Has(column)) && (h == nil || !h.Fixed)
}

// Weighs is a Weighing operator's.
func (c *Config) Weighs() bool { return c.Target.sampled() }

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile {
	var list []operators.SideFile
	for _, path := range c.Hierarchies.Files() {
		list = append(list, operators.SideFile{Path: path, What: "the hierarchy", Kind: operators.Document, Most: 256 << 20,
			Read: func(text []byte) (any, error) { return text, nil }})
	}
	return list
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	o := Operator{Config: *c, Sampling: with.Sampling, Texts: map[string][]byte{}}
	if o.Config.Key == nil {
		o.Config.Key = &with.Key
	}
	for _, path := range c.Hierarchies.Files() {
		if text, ok := with.Files.Documents[path].([]byte); ok {
			o.Texts[path] = text
		}
	}
	return []operators.Operator{o}
}

// notMet says that nothing that was tried is safe, and what comes nearest.
func notMet(out *Outcome) error {
	why := "nothing meets the target: " + out.Target
	if out.Stopped != "" {
		why = "nothing that was tried meets the target (" + out.Target + "): " + out.Stopped
	}
	if n := out.Nearest; n != nil {
		why += "; the nearest:"
		for i, l := range n.Levels {
			if i > 0 {
				why += ","
			}
			why += " " + l.Variable + " " + l.Words
		}
	}
	return errors.New(why)
}

// Public is a Private config's: what was searched tells of the file that it was made of.
func (c *Config) Public() schemas.Config { return nil }
