package operators

import (
	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// fewRecords is how many records a table must have for its shape to say anything of the variables.
const fewRecords = 100

// KeyNotes warns of key variables that are none: identifiers, the sampling weight, and what another key variable says already. In tables
// of few records such things happen by chance.
func KeyNotes(env Env, t *contingency.Table, sampling *schemas.Sampling) {
	for _, v := range t.Variables {
		switch n := int64(len(v.Categories)); {
		case sampling != nil && sampling.Weight == v.Name:
			env.Warn("the key variable %s is the sampling weight: nobody would recognise a person by it; leave it out of the key", v.Name)
		case t.Records() >= fewRecords && n >= t.Records()-t.Records()/20:
			env.Warn(
				"the key variable %s looks like an identifier: %d categories in %d records, so that it alone makes nearly every record unique; leave it out of the key",
				v.Name,
				n,
				t.Records(),
			)
		}
	}
	if t.OnDisk() || t.Records() < fewRecords {
		return // in memory the first classes tell of most pairs; a table on disk would be read for each
	}
	told := map[[2]int]bool{}
	for a := range t.Variables {
		for b := range t.Variables {
			if a == b || told[[2]int{b, a}] || !follows(t, a, b) {
				continue
			}
			told[[2]int{a, b}] = true
			same := ""
			if follows(t, b, a) {
				same = " (and the other way round)"
			}
			env.Warn(
				"the key variable %s follows from %s: each category of %s goes with one of %s%s; both in a key count the same fact twice, which doubles minimal sample "+
					"uniques; leave one of them out",
				t.Variables[a].Name,
				t.Variables[b].Name,
				t.Variables[b].Name,
				t.Variables[a].Name,
				same,
			)
		}
	}
}

// follows tells whether variable a is a function of variable b in all records. Variables that are nearly constant, or of so many categories
// that anything would follow from them, are not looked at.
func follows(t *contingency.Table, a, b int) bool {
	from, to := len(t.Variables[b].Categories), len(t.Variables[a].Categories)
	if to < 2 || from < to || int64(from) > t.Records()/5 {
		return false
	}
	const unknown = ^uint32(0)
	of := make([]uint32, from+1)
	for i := range of {
		of[i] = unknown
	}
	for i := range t.Classes() {
		code := t.Code(i, b)
		switch value := t.Code(i, a); of[code] {
		case unknown:
			of[code] = value
		case value:
		default:
			return false
		}
	}
	return true
}
