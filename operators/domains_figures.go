package operators

import "math"

// A DomainFigure is what a measure tells of each domain besides its counts: one of its functions is set. Classes of which it is NaN are
// left out.
type DomainFigure struct {
	Name     string
	Told     string                    // what a report calls it; "": it leaves it out
	Table    int                       // place in the plan of the table that classes are of, which DivideBeside was asked for; 0: the key's
	Sum      func(class int) float64   // of a record of this class: summed over the domain
	Mean     func(class int) float64   // the mean over its records that have one
	Greatest func(class int) float64   // the greatest over them
	Least    func(class int) float64   // the least
	From     func(d *Division) float64 // from the counts and the figures before; NaN for none
	Domain   func(domain int) float64  // of the domain itself, by its place; NaN for none
}

// A Division has the figures of a domain so far.
type Division struct {
	Records, Dropped, Uniques int64
	Pairs                     int64 // records with a frequency of 2
	Figures                   []float64

	means []int64 // records that means are of
}

// Per is a figure, by its place, per so many of something; NaN if there are none.
func (d *Division) Per(figure int, of int64) float64 {
	if of == 0 {
		return math.NaN()
	}
	return d.Figures[figure] / float64(of)
}

// add adds records of a class.
func (d *Division) add(class int, records, frequency int64, figures []DomainFigure, table int) {
	if frequency == 0 {
		d.Dropped += records
		return
	}
	d.Records += records
	switch frequency {
	case 1:
		d.Uniques += records
	case 2:
		d.Pairs += records
	}
	d.addFigures(class, records, figures, table)
}

// addFigures adds those whose classes are of this table.
func (d *Division) addFigures(class int, records int64, figures []DomainFigure, table int) {
	for k, f := range figures {
		if f.Table != table || !f.counted() {
			continue
		}
		x, v := &d.Figures[k], f.of(class)
		switch {
		case math.IsNaN(v):
		case f.Mean != nil:
			if math.IsNaN(*x) {
				*x = 0
			}
			d.means[k] += records
			*x += float64(records) * v
		case f.Sum != nil:
			*x += float64(records) * v
		case f.Greatest != nil:
			if !(*x >= v) {
				*x = v
			}
		case f.Least != nil:
			if !(*x <= v) {
				*x = v
			}
		}
	}
}

// complete fills in what follows from the sums.
func (d *Division) complete(domain int, figures []DomainFigure) {
	for k, f := range figures {
		switch {
		case f.From != nil:
			d.Figures[k] = f.From(d)
		case f.Domain != nil:
			d.Figures[k] = f.Domain(domain)
		case f.Mean != nil && d.means[k] > 0:
			d.Figures[k] /= float64(d.means[k])
		}
	}
}

// counted tells whether it is made of classes.
func (f *DomainFigure) counted() bool { return f.From == nil && f.Domain == nil }

// of is what it is of a class.
func (f *DomainFigure) of(class int) float64 {
	switch {
	case f.Sum != nil:
		return f.Sum(class)
	case f.Mean != nil:
		return f.Mean(class)
	case f.Greatest != nil:
		return f.Greatest(class)
	}
	return f.Least(class)
}
