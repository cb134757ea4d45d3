package runpage

import (
	"strings"

	"microrisk/schemas"
)

// A wording is how a figure is told: its name, what it says, and how sure it is.
type wording struct{ name, says, sure string }

const (
	counted    = "Counted, not estimated: exact for this file and these key variables."
	byModel    = "An estimate by models of the population: as good as they are, and as the fraction or weights that were given."
	byMatches  = "An estimate: as sure as the chances of a match that it rests on."
	bySampling = "An estimate from the sampling, its weights or its fraction: right on average if these are, and unsure for single records."
)

// wordings are those of figures, by the names of their limits.
var wordings = map[string]wording{
	"rows":               {"Records", "So many rows were read.", counted},
	schemas.LimitClasses: {"Combinations", "So many different combinations of the key variables are in the file.", counted},
	schemas.LimitSampleUniques: {"Sample uniques",
		"So many records have a combination of the key variables that no other record of the file has. Others cannot be told apart by these variables alone.",
		counted + " How many of them are unique in the population too is another question."},
	schemas.LimitSampleUniqueShare: {"Share of sample uniques", "This part of the records has a combination that no other record has.", counted},
	schemas.LimitDoubles:           {"Doubles", "So many combinations are shared by just two records.", counted},
	"special_uniques": {
		"Special uniques",
		"So many sample uniques are unique by fewer than all key variables: the fewer it takes, the likelier the record is unique in the population too.",
		counted,
	},
	"msus": {"Minimal sample uniques", "In so many ways records can be singled out: by sets of key variables of which none can be left out.", counted},
	"file_score": {
		"SUDA score of the file",
		"The scores of all records, summed. It compares versions of one file, and says nothing alone.",
		"Exact, but no probability: it ranks.",
	},
	"max_score": {
		"Highest SUDA score",
		"The score of the record that can be singled out in the most ways and by the fewest variables.",
		"Exact, but no probability: it ranks.",
	},
	"dis": {"Chance that a unique match is right (DIS)",
		"If somebody of the population fits just one record of the file, the record is that person's with this chance.", ""},
	"pu":    {"Population uniques", "This part of the population has a combination that nobody else has.", byModel},
	"pu_su": {"Population uniques among sample uniques", "This part of the sample uniques is expected to be unique in the population too.", byModel},
	"cm_um": {"Chance that a unique match is right, by models", "The same chance as DIS, here by models of the population.", byModel},
	"cm_su": {
		"Chance that a sample unique is found",
		"Who looks in the population for a sample unique, and picks one of those who fit, is right with this chance.",
		byModel,
	},
	"max_correct_match": {"Greatest chance of a record", "Who knows all key variables finds the record that is easiest to find with this chance.",
		byModel + " As the greatest of many estimates, it is rather too high than too low."},
	"expected_population_uniques": {"Expected population uniques", "So many of the sample uniques are expected to be unique in the population too.", byModel},
	"expected_correct_matches": {
		"Expected finds among sample uniques",
		"Who tries to find all sample uniques is expected to be right so many times.",
		byModel,
	},
	schemas.LimitReidentifications: {"Expected re-identifications",
		"Who tries to find all records of the file, and picks for each one of the people who fit, is expected to be right so many times.", ""},
	"kanonymity_violations": {"Records in small groups", "So many records share their combination with fewer records than are asked for.",
		counted + " It says nothing of the population."},
	"ldiversity_violations": {
		"Records whose group tells too much",
		"So many records are in groups with too few different values of a sensitive variable.",
		counted,
	},
	"max_attribution": {
		"Greatest chance that a value is learnt",
		"The sensitive value of some record is learnt with this chance, by a match or without one.",
		byMatches,
	},
	"expected_attributions": {"Expected values learnt", "The sensitive values of so many records are expected to be learnt.", byMatches},
	"sap": {
		"Greatest chance that a zero is found (SAP)",
		"Who knows some people of a table, and subtracts them, finds a combination to be empty with this chance.",
		"",
	},
}

// nameOf is a figure's name in words.
func nameOf(figure string) string {
	if w, ok := wordings[figure]; ok {
		return w.name
	}
	return strings.ReplaceAll(figure, "_", " ")
}

// wordingOf is how a figure is told; that of other people's operators as their descriptor says it.
func wordingOf(figure string) wording {
	if w, ok := wordings[figure]; ok {
		return w
	}
	w := wording{name: nameOf(figure)}
	for _, f := range schemas.Figures() {
		if f.Name == figure {
			w.says = f.Doc
		}
	}
	return w
}

// Said is how a figure is called in words, and what it says.
func Said(figure string) (name, says string) {
	w := wordingOf(figure)
	return w.name, w.says
}
