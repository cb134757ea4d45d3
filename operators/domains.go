package operators

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// Numbers of domains: the first ones stand in the summary, the riskiest in a report; more than the most are warned of.
const (
	domainsTold     = 100
	domainsReported = 8
	domainsMost     = 10_000
)

// A besides is a table with the domains beside another: its place in the plan, and those of by among its variables.
type besides struct {
	table int
	by    []int
}

// requestDomains asks for the table that has the domains beside the key, if the measure tells of domains.
func (b *BoundKey) requestDomains(in *arrow.Schema, m schemas.Dividing) error {
	names, _ := m.Divided()
	if len(names) == 0 {
		return nil
	}
	known := slices.Clone(b.Counted.Variables)
	if l, ok := m.(schemas.Listing); ok {
		l.Lists(func(_ string, list *[]schemas.KeyVariable) { known = append(known, *list...) })
	}
	alone := b.Counted
	alone.Variables = nil
	for _, name := range names {
		v := schemas.KeyVariable{Name: name}
		if at := slices.IndexFunc(known, func(v schemas.KeyVariable) bool { return v.Name == name }); at >= 0 {
			v.MissingCodes, v.Levels = known[at].MissingCodes, known[at].Levels
		}
		alone.Variables = append(alone.Variables, v)
	}
	request, err := alone.Request(in)
	if err != nil {
		return err
	}
	b.by = request.Keys
	return b.DivideBeside(0)
}

// DivideBeside asks for the table that has the domains beside a table of the plan, if there are domains: one more of the same scan, and none
// where all that tells domains apart is in the table.
func (b *BoundKey) DivideBeside(table int) error {
	if b.by == nil {
		return nil
	}
	keys, d := slices.Clone(b.Plan.Tables[table].Keys), besides{table: table}
	for _, key := range b.by {
		at := slices.IndexFunc(keys, func(k contingency.Key) bool { return k.Name == key.Name })
		if at < 0 {
			at = len(keys)
			keys = append(keys, key)
		}
		d.by = append(d.by, at)
	}
	if len(keys) > schemas.MaxKeyVariables {
		return fmt.Errorf("%s: what it counts and by have %d variables together; at most %d can be counted", b.Prefix, len(keys), schemas.MaxKeyVariables)
	}
	if len(keys) > len(b.Plan.Tables[table].Keys) {
		d.table = len(b.Plan.Tables)
		b.Plan.Tables = append(b.Plan.Tables, contingency.Request{Keys: keys})
	}
	if b.beside == nil {
		b.beside = map[int]besides{}
	}
	b.beside[table] = d
	return nil
}

// Domains are those of a measure, as they are written: embedded in what Fit returns, it is a Tabled.
type Domains struct {
	by      []contingency.Variable
	codes   [][]uint32 // by variable and domain
	figures []DomainFigure
	rows    []Division
}

// Divide adds the figures of the domains up, if there are any: frequency is that of a class of the key, 0 for one that is dropped. Figures
// come in the order in which they are written; the riskiest domains are those with the most of the first that a report tells of.
func (b *BoundKey) Divide(
	ctx context.Context, tables []*contingency.Table, env Env, m *schemas.MeasuredKey, frequency func(class int) int64, figures ...DomainFigure,
) (Domains, error) {
	return b.DivideTable(ctx, tables, env, m, 0, frequency, figures...)
}

// DivideTable is Divide where another table of the plan, which DivideBeside was asked for, takes the place of the key's.
func (b *BoundKey) DivideTable(
	ctx context.Context, tables []*contingency.Table, env Env, m *schemas.MeasuredKey, table int, frequency func(class int) int64, figures ...DomainFigure,
) (d Domains, err error) {
	if b.by == nil {
		return d, nil
	}
	margin, err := b.margin(ctx, tables, env, table, len(figures))
	if err != nil {
		return d, err
	}
	d.describe(margin, figures)
	if err := d.checkNames(b.Prefix); err != nil {
		return d, err
	}
	err = b.eachPart(ctx, tables, env, table, margin, func(class, domain int, records int64) {
		d.rows[domain].add(class, records, frequency(class), figures, table)
	})
	for _, more := range slices.Sorted(maps.Keys(b.beside)) {
		if more == table || err != nil || !slices.ContainsFunc(figures, func(f DomainFigure) bool { return f.Table == more && f.counted() }) {
			continue
		}
		err = b.eachPart(ctx, tables, env, more, margin, func(class, domain int, records int64) {
			d.rows[domain].addFigures(class, records, figures, more)
		})
	}
	if err != nil {
		return d, err
	}
	for i := range d.rows {
		d.rows[i].complete(i, figures)
	}
	m.Divided = d.summary()
	return d, nil
}

// DomainTable is the place in the plan of the table that has the domains beside the key.
func (b *BoundKey) DomainTable() int { return b.beside[0].table }

// DomainClasses are the classes of that table by domain, and how each is called.
func (b *BoundKey) DomainClasses(ctx context.Context, tables []*contingency.Table, env Env) (classes [][]int, names []string, err error) {
	margin, err := b.margin(ctx, tables, env, 0, 1)
	if err != nil {
		return nil, nil, err
	}
	with := tables[b.DomainTable()]
	domain, err := Projected(ctx, with, b.beside[0].by, margin)
	if err != nil {
		return nil, nil, err
	}
	classes = make([][]int, margin.Classes())
	for class, d := range domain {
		classes[d] = append(classes[d], class)
	}
	for d := range classes {
		var parts []string
		for v, variable := range margin.Variables {
			value := "(missing)"
			if c := int(margin.Code(d, v)); c < len(variable.Categories) {
				value = variable.Categories[c]
			}
			parts = append(parts, variable.Name+" = "+value)
		}
		names = append(names, strings.Join(parts, ", "))
	}
	return classes, names, nil
}

// margin is the table of the domains alone.
func (b *BoundKey) margin(ctx context.Context, tables []*contingency.Table, env Env, table, figures int) (*contingency.Table, error) {
	beside := b.beside[table]
	with := tables[beside.table]
	if err := env.InMemory(with, fmt.Sprintf("the domains of %d classes", with.Classes()), 8*int64(with.Classes()), FewerVariables); err != nil {
		return nil, err
	}
	margin, err := with.Margin(ctx, beside.by...)
	if err != nil {
		return nil, err
	}
	n := margin.Classes()
	needs := int64(n) * int64(128+16*figures+4*len(b.by))
	if err := env.Budget.Memory(fmt.Sprintf("the figures of %d domains", n), needs, "take coarser domains"); err != nil {
		return nil, err
	}
	if n > domainsMost {
		env.Warn("%s: there are %d domains, which is more than anybody will look at: is one of by an identifier?", b.Prefix, n)
	}
	return margin, nil
}

// eachPart goes through the classes of a table: each is a run of classes of the table that has the domains beside it.
func (b *BoundKey) eachPart(
	ctx context.Context, tables []*contingency.Table, env Env, table int, margin *contingency.Table, part func(class, domain int, records int64),
) error {
	t, beside := tables[table], b.beside[table]
	with := tables[beside.table]
	if err := env.InMemory(with, fmt.Sprintf("the domains of %d classes", with.Classes()), 8*int64(with.Classes()), FewerVariables); err != nil {
		return err
	}
	for k, v := range beside.by {
		if !slices.Equal(with.Variables[v].Categories, margin.Variables[k].Categories) {
			return fmt.Errorf("%s: the values of %q differ between two tables of one scan", b.Prefix, margin.Variables[k].Name)
		}
	}
	domain, err := Projected(ctx, with, beside.by, margin)
	if err != nil {
		return err
	}
	at := 0
	for class := range t.Classes() {
		if class%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for left := t.Count(class); left > 0 && at < with.Classes(); at++ {
			records := with.Count(at)
			left -= records
			part(class, int(domain[at]), records)
		}
	}
	if err := t.Err(); err != nil {
		return err
	}
	return with.Err()
}

// describe makes room for the domains.
func (d *Domains) describe(margin *contingency.Table, figures []DomainFigure) {
	d.by, d.figures, d.rows = margin.Variables, figures, make([]Division, margin.Classes())
	for v := range margin.Variables {
		codes := make([]uint32, margin.Classes())
		margin.Codes(v, 0, codes)
		d.codes = append(d.codes, codes)
	}
	for i := range d.rows {
		d.rows[i].Figures, d.rows[i].means = make([]float64, len(figures)), make([]int64, len(figures))
		for k, f := range figures {
			if f.Sum == nil {
				d.rows[i].Figures[k] = math.NaN()
			}
		}
	}
}

// domainCounts are the counts of a domain, as columns of its file.
var domainCounts = []string{"records", "dropped", "sample_uniques", "doubles"}

// checkNames finds columns of the file that are called the same.
func (d *Domains) checkNames(who string) error {
	names := slices.Clone(domainCounts)
	for _, f := range d.figures {
		if slices.Contains(names, f.Name) {
			return fmt.Errorf("%s: two figures of domains are called %q: give a sensitive variable another name (recode)", who, f.Name)
		}
		names = append(names, f.Name)
	}
	for _, v := range d.by {
		if slices.Contains(names, v.Name) {
			return fmt.Errorf("%s: a column of by is called %q, as a figure of domains is: give it another name (recode)", who, v.Name)
		}
	}
	return nil
}
