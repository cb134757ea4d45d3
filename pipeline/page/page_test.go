package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/page"
	"microrisk/pipeline/page/pagetest"
)

// hostile is text that would be a mark in HTML, Markdown or a table.
const hostile = `<b>"a" & 'b'|*c*_d_` + "`e`\n# f [g](h) <script>alert(1)</script>"

func everything() *page.Page {
	p := &page.Page{Title: hostile, About: hostile, For: page.Office, Marks: []string{hostile}, Footer: hostile,
		Verdict: &page.Verdict{State: page.Unmet, Answer: hostile, Blocks: []page.Block{page.Text(hostile)}}}
	for range 2 { // two sections of a name
		p.Add(hostile, page.Block{Heading: hostile, List: []string{hostile}}, page.Note(hostile),
			page.Block{Figures: []page.Figure{{Name: hostile, Value: hostile, Says: hostile, Sure: hostile, State: page.Met}}},
			page.Block{Table: &page.Table{Caption: hostile, Head: []page.Cell{page.Left(hostile), page.Right("n"), page.Left("")},
				Rows: [][]page.Cell{{page.Left(hostile), page.Right("1"), page.Bar(0.5)}, {page.Left("x"), {Text: hostile, State: page.Unmet}, page.Bar(2)}}}},
			page.Block{Table: &page.Table{Caption: "without headings", Rows: [][]page.Cell{{page.Left("a"), page.Right("1")}}}},
			page.Block{Picture: &page.Picture{Title: hostile, Text: hostile, Drawing: func(id string) string { return `<svg id="` + id + `"></svg>` }}},
			page.Block{Terms: [][2]string{{hostile, hostile}}}, page.Block{Code: "a: ```\n" + hostile})
	}
	p.Add("nothing")
	return p
}

func TestHTML(t *testing.T) {
	text, err := everything().Render("report.HTML")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.NotContains(t, string(text), "<b>")
	require.NotContains(t, string(text), ">nothing<", "a section without blocks is not there")
	require.Contains(t, string(text), `<rect width="100.00"`, "a bar ends at its end")
	again, err := everything().HTML()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

func TestMarkdown(t *testing.T) {
	text, err := everything().Render("report.md")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), page.Begins("report.md")))
	outside := true
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "````") {
			outside = !outside
		}
		if !outside {
			continue
		}
		require.NotContains(t, line, "<script")
		require.NotContains(t, line, "<b>")
		if strings.HasPrefix(line, "|") { // a table's rows have its columns
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			require.Contains(t, []int{3, 4}, cells, line)
		}
	}
	require.True(t, outside, "what is code ends")
}

func TestNames(t *testing.T) {
	require.NoError(t, page.CheckPath("a/b.Md"))
	require.ErrorContains(t, page.CheckPath("report.pdf"), ".html or .md")
	require.NoError(t, page.CheckReader(page.Office))
	require.ErrorContains(t, page.CheckReader("publikation"), "did you mean publication?")
}
