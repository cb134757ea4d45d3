package tables

import (
	"context"
	"fmt"

	"microrisk/operators/protect"
)

// skip tells which releases are not compared, and warns of those of people in other words who are as many: they may be the same.
func (j *judge) skip(ctx context.Context) {
	for _, o := range j.others {
		why := o.why
		if all := j.equal(ctx, o); all != "" {
			why += ", though both have " + all + " in all"
			j.options.Logger.Warn(fmt.Sprintf("%s is of %q and %s of %q: they are not compared, though both have %s in all. If they are the same people, "+
				"say so by the same words (people) in %s; if not, all is well", o.Name, o.People, j.own.Name, j.own.People, all, j.Register))
		}
		j.Skipped = append(j.Skipped, why)
	}
}

// equal is the grand total of the table that is judged, if one of other people, as it is said, has the same; "" otherwise, and where it cannot
// be read, as it has no say.
func (j *judge) equal(ctx context.Context, o other) string {
	if !o.people || o.Public == "" || j.Audit == nil {
		return ""
	}
	x := &AuditSpec{Public: o.Public, Truth: o.Internal, Config: protect.Config{}}
	if o.Base != nil {
		x.Config.Base = int64(*o.Base)
	}
	if _, err := x.locate(ctx); err != nil {
		return ""
	}
	a, err := x.open(ctx, false, j.options)
	if err != nil || kindOf(a) != kindOf(j.Audit) || a.Table.Values[0] != j.Audit.Table.Values[0] {
		return ""
	}
	return j.Audit.Table.Text(j.Audit.Table.Values[0])
}

// remedy is what is right where releases contradict each other.
func (j *judge) remedy() string {
	listed := fmt.Sprintf("give it people of its own in %s", j.Register)
	if j.register.entry(j.Public) == nil {
		listed = fmt.Sprintf("list it in %s with people of its own (or --people)", j.Register)
	}
	return fmt.Sprintf("they are of different people, or one was rounded: name its internal folder. If %s is of other people, %s: those of the same people "+
		"alone are compared. If one leaves people out, as those without a value (--missing drop), the file of parts says what its total stands for", j.own.Name, listed)
}
