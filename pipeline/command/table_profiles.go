package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/profiles"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// tableProfiles lists policies.
func (c *console) tableProfiles() *cli.Command {
	return &cli.Command{
		Name:      "profiles",
		Usage:     "list policies of offices that table protect can take rules and method from",
		ArgsUsage: "[NAME]",
		UsageText: "microrisk table profiles [NAME]",
		Description: `A profile says which cells of a table are unsafe, how they are protected, and what
more is asked of sensitive topics: table protect --profile NAME, or --profile FILE
for one of your own. With a NAME its text is printed, to begin one with:

   microrisk table profiles threshold5 > office.yaml
   microrisk table protect survey.csv --table REGION,SEX --profile office.yaml`,
		Action: func(ctx *cli.Context) error {
			switch ctx.Args().Len() {
			case 0:
				list, err := profiles.All()
				if err != nil {
					return err
				}
				return c.print(profilesText(list))
			case 1:
				if profiles.IsFile(ctx.Args().First()) {
					p, err := profiles.Load(ctx.Args().First())
					if err != nil {
						return err
					}
					return c.print(profilesText([]*profiles.Profile{p}))
				}
				text, err := profiles.Text(ctx.Args().First())
				if err != nil {
					return err
				}
				return c.print(string(text))
			}
			return usage("table profiles takes one name, not %d", ctx.Args().Len())
		},
	}
}

func profilesText(list []*profiles.Profile) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(report.Printable(p.Called()))
		if p.Since != "" {
			b.WriteString(", since " + report.Printable(p.Since))
		}
		b.WriteString("\n" + wrap(report.Printable(p.About), 2) + "\n")
		rows := [][]report.Cell{{report.Left("unsafe"), report.Left(rulesText(p.Config.Rules))}, {report.Left("method"), report.Left(methodText(&p.Config))}}
		more := p.Sensitive.Config
		if more.Rules != nil || more.Method != "" {
			text := rulesText(more.Rules)
			if more.Method != "" {
				text = strings.TrimPrefix(text+"; "+methodText(&more), "; ")
			}
			rows = append(rows, []report.Cell{report.Left("sensitive topics"), report.Left(text)})
		}
		if p.Sensitive.Topics != nil {
			rows = append(rows, []report.Cell{report.Left("its own topics"), report.Left(topicsText(p.Sensitive.Topics))})
		}
		b.WriteString(besideNames(rows) + "\n")
	}
	return b.String() + wrap("Sensitive topics (--topic): "+topicsText(profiles.Topics)+".", 0) + "\n"
}

// besideNames are texts with their names before them, as wide as the screen.
func besideNames(rows [][]report.Cell) string {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0].Text))
	}
	var b strings.Builder
	for _, r := range rows {
		text := wrap(r[1].Text, width+4)
		b.WriteString("  " + r[0].Text + strings.Repeat(" ", width-len(r[0].Text)+2) + strings.TrimLeft(text, " ") + "\n")
	}
	return b.String()
}

func rulesText(rules []protect.Rule) string {
	var words []string
	for i := range rules {
		words = append(words, rules[i].String())
	}
	return strings.Join(words, "; ")
}

func methodText(c *protect.Config) string {
	text := c.Method
	if text == "" {
		text = protect.DefaultMethod
	}
	if c.Perturb != nil {
		text += ", scheme " + c.Perturb.Text()
	}
	if c.Base > 0 {
		text += fmt.Sprintf(", base %d", c.Base)
	}
	return text
}

func topicsText(topics []string) string {
	var words []string
	for _, t := range topics {
		name, _, _ := strings.Cut(t, "|")
		words = append(words, strings.TrimSpace(name))
	}
	return report.Printable(strings.Join(words, ", "))
}

// profileFlags are those of commands that take rules and methods of policies.
func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:  "profile",
			Usage: "take rules and method from a policy, `NAME` (table profiles lists them) or a file such as office.yaml; flags go before it",
		},
		&cli.StringFlag{Name: "topic", Usage: "what the table is about, in a few words: sensitive topics have stricter rules (table profiles)"},
	}
}

// A policy is what a command takes from one.
type policy struct {
	rules []protect.Rule // of sensitive topics, which go beside those of flags
}

// policyOf puts what --profile and --topic say into a config, before flags say other things.
func (c *console) policyOf(ctx *cli.Context, to *protect.Config) (*policy, error) {
	name, topic := ctx.String("profile"), ctx.String("topic")
	var p *profiles.Profile
	if name != "" {
		var err error
		if p, err = profiles.Load(name); err != nil {
			return nil, err
		}
		if profiles.IsFile(name) {
			c.reads = append(c.reads, session.Reading{What: "the profile", Path: name})
		}
	} else if ctx.IsSet("profile") {
		return nil, usage("--profile has no name; table profiles lists them")
	}
	found, rules := p.Apply(to, topic)
	if ctx.IsSet("method") {
		*to = to.For("")
	}
	switch {
	case topic == "":
	case found == "":
		c.logger.Warn(fmt.Sprintf("the topic %q is on no list of sensitive topics: the usual rules are taken (table profiles)", topic))
	default:
		c.logger.Warn(fmt.Sprintf("the topic %q is sensitive (%s): rules are stricter", topic, found))
	}
	return &policy{rules: rules}, nil
}

// after puts the rules of sensitive topics beside those of flags.
func (p *policy) after(c *protect.Config) { c.Rules = profiles.Stricter(c.Rules, p.rules) }

// sayPolicy lets flags say the fields of a config, on top of what a policy says.
func (c *console) sayPolicy(ctx *cli.Context, to *protect.Config, fields func() schemas.Table) error {
	p, err := c.policyOf(ctx, to)
	if err != nil {
		return err
	}
	t := fields()
	if err := sayFields(ctx, t); err != nil {
		return err
	}
	if ctx.String("profile") != "" { // what a policy says is a default
		to.Forget(func(field string) bool {
			f := t.Field(field)
			return f != nil && f.Flag != nil && ctx.IsSet(f.Flag.Name)
		})
	}
	p.after(to)
	return nil
}
