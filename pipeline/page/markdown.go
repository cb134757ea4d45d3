package page

import (
	"fmt"
	"math"
	"strings"
)

// Markdown is the page for logs: pictures are told, as the tables beside them have their numbers.
func (p *Page) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", plain(p.Title))
	if p.About != "" {
		fmt.Fprintf(&b, "%s\n\n", plain(p.About))
	}
	for _, m := range p.Marks {
		fmt.Fprintf(&b, "> **%s**\n\n", plain(m))
	}
	if v := p.Verdict; v != nil {
		fmt.Fprintf(&b, "## Verdict\n\n**%s**\n\n", plain(v.Answer))
		for _, x := range v.Blocks {
			x.markdown(&b)
		}
	}
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "## %s\n\n", plain(s.Heading))
		for _, x := range s.Blocks {
			x.markdown(&b)
		}
	}
	if p.Footer != "" {
		fmt.Fprintf(&b, "---\n\n%s\n", plain(p.Footer))
	}
	return []byte(b.String())
}

func (x *Block) markdown(b *strings.Builder) {
	if x.Heading != "" {
		fmt.Fprintf(b, "### %s\n\n", plain(x.Heading))
	}
	if x.Text != "" {
		fmt.Fprintf(b, "%s\n\n", plain(x.Text))
	}
	for i, item := range x.List {
		fmt.Fprintf(b, "- %s\n", plain(item))
		if i == len(x.List)-1 {
			b.WriteByte('\n')
		}
	}
	for i, f := range x.Figures {
		fmt.Fprintf(b, "- **%s: %s.**", plain(f.Name), plain(f.Value))
		if f.State != "" {
			fmt.Fprintf(b, " Limit: %s.", stateWords[f.State])
		}
		fmt.Fprintf(b, " %s", plain(f.Says))
		if f.Sure != "" {
			fmt.Fprintf(b, " *How sure:* %s", plain(f.Sure))
		}
		b.WriteByte('\n')
		if i == len(x.Figures)-1 {
			b.WriteByte('\n')
		}
	}
	if x.Table != nil {
		x.Table.markdown(b)
	}
	if x.Picture != nil {
		fmt.Fprintf(b, "### %s\n\n%s\n\n", plain(x.Picture.Title), plain(x.Picture.Text))
	}
	if x.Note != "" {
		fmt.Fprintf(b, "%s\n\n", plain(x.Note))
	}
	for i, t := range x.Terms {
		fmt.Fprintf(b, "- **%s**: %s\n", plain(t[0]), plain(t[1]))
		if i == len(x.Terms)-1 {
			b.WriteByte('\n')
		}
	}
	if x.Code != "" {
		fence := "```"
		for strings.Contains(x.Code, fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "%s\n%s\n%s\n\n", fence, strings.TrimRight(x.Code, "\n"), fence)
	}
}

// barWidth is the length of the longest bar in characters.
const barWidth = 20

func (t *Table) markdown(b *strings.Builder) {
	head := t.Head
	if head == nil && len(t.Rows) > 0 { // Markdown has no table without
		head = make([]Cell, len(t.Rows[0]))
	}
	fmt.Fprintf(b, "%s\n\n|", plain(t.Caption))
	line := "|"
	for _, c := range head {
		fmt.Fprintf(b, " %s |", plain(c.Text))
		if line += "---"; c.Number {
			line += ":"
		}
		line += "|"
	}
	b.WriteString("\n" + line + "\n")
	for _, row := range t.Rows {
		b.WriteByte('|')
		for _, c := range row {
			text := plain(c.Text)
			if c.Bar != nil {
				text = strings.Repeat("█", int(math.Ceil(barWidth*min(max(*c.Bar, 0), 1))))
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// marks are characters that mean something in Markdown.
var marks = strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "#", "\\#",
	"\n", " ", "\r", " ")

// plain is text that stays text in Markdown.
func plain(text string) string { return marks.Replace(text) }
