// Package repository keeps what is known of data collections in a folder of YAML files that people edit and keep under version control:
// variables with their categories, forms with the variables that they hold, groups of forms, and scenarios.
//
//	microrisk-keymap.yaml     what goes for all
//	variables/NAME.yaml       a variable: categories, edges, codes, review
//	forms/NAME.yaml           a form: metadata, variables with their categories
//	groups/NAME.yaml          a set of forms
//	scenarios/NAME.yaml       a question: a target, a match set, prevalences
package repository

import "microrisk/schemas"

// Schema ids.
const (
	ConfigSchema   = "microrisk/keymap/config@1"
	VariableSchema = "microrisk/keymap/variable@1"
	FormSchema     = "microrisk/keymap/form@1"
	GroupSchema    = "microrisk/keymap/group@1"
	ScenarioSchema = "microrisk/keymap/scenario@1"
)

// Config is what goes for the whole repository.
type Config struct {
	MetadataColumns []string // that a grid of forms begins with
	MaxNodes        int      // harmonizations of a variable; 0 for the default
	DefaultBase     string   // one of Bases; "" for all
}

// Bases of prevalence: a share of all forms of the match set, or of those that hold the variable.
var Bases = []string{"all", "present"}

// SchemaID is the first line's.
func (*Config) SchemaID() string { return ConfigSchema }

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{
		What: "the repository",
		Doc:  "What goes for a whole repository of forms.",
		Fields: []schemas.Field{
			{Name: "metadata_columns", To: &c.MetadataColumns, Doc: "Metadata that grids of forms begin with."},
			{Name: "max_nodes", To: &c.MaxNodes, Range: schemas.Within(1, 1e7), Doc: "The most harmonizations of a variable; more are an error."},
			{Name: "default_base", To: &c.DefaultBase, Words: Bases, Word: "base",
				Doc: "What a prevalence is a share of, unless a scenario says it: all forms of the match set, or those that hold the variable."},
		},
	}
}

// Check has nothing to add.
func (*Config) Check(*schemas.Checker) {}

// Scales of a variable.
const (
	Nominal  = "nominal"
	Ordinal  = "ordinal"
	Interval = "interval"
)

// Variable is a variable of the whole repository, with the graph of its categories.
type Variable struct {
	Name          string
	Scale         string // Nominal, Ordinal or Interval; "" for nominal
	Unit          string // of an interval variable
	Note          string
	AssumedLevels *int // what arbitrary precision counts for in areas; nil for the number of smallest categories
	Nodes         []Node
	Edges         [][2]string         // ids: the larger category, a part of it
	SinkOrder     []string            // ids of the smallest categories of an ordinal variable
	Codes         map[string][]string // categories, by id, of codes that were given once
	Review        *Review
}

// Node is a category of a variable.
type Node struct {
	ID           string
	Label        string   // what people read; "" for the id
	FormerLabels []string // that it had
	Note         string
	Lo, Hi       *float64 // of an interval variable: lo <= x < hi; both may be infinite
}

// Review is what a person decided after looking at what an analysis says of a variable.
type Review struct {
	Note            string
	EffectiveLevels *int     // categories that count at most
	Exclude         bool     // it is no key variable, whatever is computed
	Same            []string // names of variables that look alike, and are the same thing: left to be merged
	Different       []string // names of variables that look alike, and are not the same
}

// SchemaID is the first line's.
func (*Variable) SchemaID() string { return VariableSchema }

// Fields is the field table.
func (v *Variable) Fields() schemas.Table {
	return schemas.Table{
		What:     "the variable",
		Doc:      "A variable with the graph of its categories.",
		Required: []string{"name"},
		Fields: []schemas.Field{
			{Name: "name", To: &v.Name, Doc: "The same on every form that has the variable."},
			{
				Name:  "scale",
				To:    &v.Scale,
				Words: []string{Nominal, Ordinal, Interval},
				Doc:   "nominal (default), ordinal, or interval: categories are bands of numbers.",
			},
			{Name: "unit", To: &v.Unit, Doc: "Unit of the bands of an interval variable, such as years."},
			{Name: "note", To: &v.Note, Doc: "What was assumed about wording."},
			{Name: "assumed_levels", To: &v.AssumedLevels, Range: schemas.AtLeast(1),
				Doc: "What a value that is written in counts for in areas; the number of smallest categories, a lower bound, unless it is said."},
			{Name: "nodes", To: schemas.Mappings(&v.Nodes, (*Node).fields, nil), Doc: "Its categories, of all sizes."},
			{Name: "edges", To: pairs{&v.Edges}, Doc: "Pairs of ids: a category, and a part of it. Those of an interval variable are made from its bands."},
			{Name: "sink_order", To: &v.SinkOrder, Doc: "Ids of the smallest categories of an ordinal variable in their order."},
			{
				Name: "codes",
				To:   schemas.TextLists(&v.Codes),
				Doc:  "Codes that were given, each with the ids of its categories: the program writes them, and they do not change.",
			},
			{Name: "review", To: schemas.Maybe(&v.Review, (*Review).fields), Doc: "What a person decided."},
		},
	}
}

func (n *Node) fields() schemas.Table {
	return schemas.Table{
		What:     "a category",
		Doc:      "A category of a variable.",
		Required: []string{"id"},
		Fields: []schemas.Field{
			{
				Name:   "id",
				To:     &n.ID,
				Schema: `"type": "string", "pattern": "` + idPattern + `"`,
				Doc:    "Lower-case letters, digits and dashes; it does not change.",
			},
			{Name: "label", To: &n.Label, Doc: "What people read; the id unless it is said."},
			{Name: "former_labels", To: &n.FormerLabels, Doc: "Labels that it had."},
			{Name: "note", To: &n.Note, Doc: "What was assumed about wording."},
			{Name: "lo", To: boundForm{&n.Lo}, Doc: "The least number of a band; -inf for none."},
			{Name: "hi", To: boundForm{&n.Hi}, Doc: "The number that a band ends below; inf for none."},
		},
	}
}

func (r *Review) fields() schemas.Table {
	return schemas.Table{
		What: "the review",
		Doc:  "What a person decided of a variable.",
		Fields: []schemas.Field{
			{Name: "note", To: &r.Note, Doc: "Why."},
			{Name: "effective_levels", To: &r.EffectiveLevels, Range: schemas.AtLeast(1), Doc: "Categories that it counts for at most."},
			{Name: "exclude", To: &r.Exclude, Doc: "It is no key variable."},
			{Name: "same", To: &r.Same, Doc: "Names of variables that are the same thing."},
			{Name: "different", To: &r.Different, Doc: "Names of variables that look alike and are not the same."},
		},
	}
}

// Form is an instrument that collects data: a questionnaire, an application form, a register.
type Form struct {
	Name      string
	Note      string
	Metadata  map[string]string
	Variables []Instance
}

// Instance is a variable as a form has it.
type Instance struct {
	Variable     string
	Categories   []string // ids; empty: the value is written in
	Questions    []string // as they are asked
	Note         string
	Column       string              // of the form's data
	Values       map[string][]string // values that the column has, of categories
	MissingCodes []string            // values of the column that say that there is none
}

// SchemaID is the first line's.
func (*Form) SchemaID() string { return FormSchema }

// Fields is the field table.
func (f *Form) Fields() schemas.Table {
	return schemas.Table{
		What:     "the form",
		Doc:      "A form: an instrument that collects data, with the variables that it holds.",
		Required: []string{"name"},
		Fields: []schemas.Field{
			{Name: "name", To: &f.Name, Doc: "Its own among the forms."},
			{Name: "note", To: &f.Note, Doc: "Anything."},
			{Name: "metadata", To: &f.Metadata, Doc: "Anything that groups may ask for, such as Organisation."},
			{Name: "variables", To: schemas.Keyed(&f.Variables, (*Instance).fields, func(i *Instance) *string { return &i.Variable }),
				Doc: "The variables that it holds, by name."},
		},
	}
}

func (i *Instance) fields() schemas.Table {
	return schemas.Table{
		What: "a variable of a form",
		Doc:  "A variable as a form has it.",
		Fields: []schemas.Field{
			{Name: "categories", To: &i.Categories, Doc: "Ids of categories that exclude one another and cover the variable; none: the value is written in."},
			{Name: "questions", To: &i.Questions, Doc: "As they are asked."},
			{Name: "note", To: &i.Note, Doc: "What was assumed about wording."},
			{Name: "column", To: &i.Column, Doc: "The column of the form's data that has it."},
			{
				Name: "values",
				To:   schemas.TextLists(&i.Values),
				Doc:  "The values that the column has, by id of category; an id stands for itself unless it is here.",
			},
			{Name: "missing_codes", To: &i.MissingCodes, Doc: "Values of the column that say that there is none."},
		},
	}
}

// Check judges its name; what else a form says is judged beside its variables.
func (f *Form) Check(c *schemas.Checker) { checkName(c, f.Name) }

// Group is a set of forms: those named, those that metadata pick, those of other groups, without those of some.
type Group struct {
	Name  string
	Note  string
	Forms []string
	Where map[string][]string // metadata, and the values of it that are meant; all must hold
	Union []string            // groups
	Minus []string            // groups
}

// SchemaID is the first line's.
func (*Group) SchemaID() string { return GroupSchema }

// Fields is the field table.
func (g *Group) Fields() schemas.Table {
	return schemas.Table{
		What:     "the group",
		Doc:      "A group of forms.",
		Required: []string{"name"},
		Fields: []schemas.Field{
			{Name: "name", To: &g.Name, Doc: "Its own among the groups."},
			{Name: "note", To: &g.Note, Doc: "Anything."},
			{Name: "forms", To: &g.Forms, Doc: "Names of forms."},
			{Name: "where", To: schemas.TextLists(&g.Where), Doc: "Forms whose metadata have one of the values listed, for each that is named."},
			{Name: "union", To: &g.Union, Doc: "Groups whose forms belong to it."},
			{Name: "minus", To: &g.Minus, Doc: "Groups whose forms do not."},
		},
	}
}

// Check tells whether anything is in it.
func (g *Group) Check(c *schemas.Checker) {
	checkName(c, g.Name)
	if g.Forms == nil && g.Where == nil && g.Union == nil {
		c.Add("", "the group says no forms; it needs forms, where or union")
	}
}

// Modes of a scenario.
var Modes = []string{"specific", "typical", "multiple"}

// Scenario is a question: which variables of a target can a match set be compared by?
type Scenario struct {
	Name          string
	Narrative     string
	Mode          string // one of Modes; "" for what the match set is
	Target        string // form
	Match         Match
	Prevalence    []string // decimal texts from 0 to 1
	Variables     []string // of the target; nil for all
	Strict        *bool    // nil for true
	Base          string   // one of Bases; "" for that of the repository
	IncludeTarget bool     // among the match set, if it is named there
}

// Match is a set of forms.
type Match struct {
	Groups  []string
	Forms   []string
	Exclude []string // forms
}

// SchemaID is the first line's.
func (*Scenario) SchemaID() string { return ScenarioSchema }

// Fields is the field table.
func (s *Scenario) Fields() schemas.Table {
	return schemas.Table{
		What:     "the scenario",
		Doc:      "A question: by which variables can records of a target be compared with those of other forms?",
		Required: []string{"name", "target"},
		Fields: []schemas.Field{
			{Name: "name", To: &s.Name, Doc: "Its own among the scenarios."},
			{Name: "narrative", To: &s.Narrative, Doc: "Who would do it, why, and with what."},
			{
				Name:  "mode",
				To:    &s.Mode,
				Words: Modes,
				Doc:   "specific: one form. typical: one group of forms that are alike. multiple: forms of several groups.",
			},
			{Name: "target", To: &s.Target, Doc: "Name of the form whose data are to be released."},
			{Name: "match", To: schemas.Nested(s.Match.fields()), Doc: "The forms that it is compared with; all others unless it is said."},
			{
				Name: "prevalence",
				To:   prevalences{&s.Prevalence},
				Doc:  "Shares of the match set that must hold a variable, such as 0.25; several are analysed one by one. 0: one form is enough.",
			},
			{Name: "variables", To: &s.Variables, Doc: "Variables of the target; all unless it is said."},
			{
				Name: "strict",
				To:   &s.Strict,
				Doc:  "Categorizations that contradict one another are an error of the variable (default); false: they are merged, and the result is marked.",
			},
			{Name: "base", To: &s.Base, Words: Bases, Doc: "What a prevalence is a share of."},
			{Name: "include_target", To: &s.IncludeTarget, Doc: "The target counts among the forms that it is compared with."},
		},
	}
}

func (m *Match) fields() schemas.Table {
	return schemas.Table{
		What: "match",
		Fields: []schemas.Field{
			{Name: "groups", To: &m.Groups, Doc: "Names of groups."},
			{Name: "forms", To: &m.Forms, Doc: "Names of forms."},
			{Name: "exclude", To: &m.Exclude, Doc: "Names of forms that are left out."},
		},
	}
}

// Check tells whether it has a target.
func (s *Scenario) Check(c *schemas.Checker) {
	checkName(c, s.Name)
	if s.Target == "" {
		c.Add("target", "the scenario has no target, the form whose data are to be released")
	}
}
