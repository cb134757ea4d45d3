package advise

// What there is, in plain words: Miller 2005, chapters 2 to 5, and what this program adds.
var (
	tests = map[string]Option{
		"min": {What: "a cell is unsafe if fewer than n people or firms are in it", Usual: "n = 3; 5 is common, 10 very cautious",
			Good: "simple, quick, easy to explain", Bad: "also finds small cells that tell nobody anything"},
		"p%": {What: "a cell is unsafe if one of those in it can work out the largest one to p per cent", Usual: "p = 10 or 15, one attacker or two",
			Good: "looks at what really can be learnt of a firm", Bad: "needs the two largest contributions to each cell"},
		"dominance": {What: "a cell is unsafe if the n largest have more than k per cent of it", Usual: "n = 3, k = 75; or n = 2, k = 70",
			Good: "widely used and known", Bad: "overlooks how the second largest helps to estimate the largest"},
		"pq": {What: "as p%, where everybody knows all contributions to q per cent beforehand", Usual: "p = 10, q = 30",
			Good: "protects against competitors who know the trade", Bad: "hides much where much is known beforehand"},
		"across": {What: "a row is unsafe if those in it can work out what all others in it are", Usual: "p = 40, one attacker",
			Good: "finds groups that are all alike, however large", Bad: "hides whole rows; harder to explain"},
		"concentration": {What: "a row is unsafe if at least p per cent of it are in one sensitive category", Usual: "p = 80, the variable that nobody knows",
			Good: "protects groups in which nearly all have the illness", Bad: "you must say which variable others do not know"},
	}
	styles = map[string]Option{
		"true": {What: "values are true, and some are left out or merged", Good: "every number can be trusted; easy to explain",
			Bad: "gaps; looks like hiding; hard to model"},
		"complete": {What: "every cell has a value, and some are changed a little", Good: "no gaps; good for the press and for models",
			Bad: "numbers are not quite true, which has to be said"},
	}
	methods = map[string]Option{
		"redesign": {
			What: "categories become one until no cell is unsafe",
			Good: "all that is published is true and complete",
			Bad:  "less detail; only where merging makes sense",
		},
		"optimal": {
			What: "unsafe cells are hidden, and the cheapest others so that nobody can work them out",
			Good: "hides least, and says how near to the best it is",
			Bad:  "slow for large tables",
		},
		"modular": {What: "the same, one part of a hierarchy after another", Good: "quick for large tables with hierarchies", Bad: "hides a little more"},
		"network": {
			What: "the same by flows, for two-way tables",
			Good: "quick for two variables, one with a hierarchy",
			Bad:  "two-way tables only; hides a little more",
		},
		"hypercube": {What: "the same by corners of boxes", Good: "quick for any table", Bad: "hides more than is needed"},
		"rounding": {What: "all cells become multiples of a base that add up (controlled rounding)", Usual: "base 3, 5 or 10; at least the threshold",
			Good: "complete, totals add up, good for models", Bad: "small counts change much in proportion; slow for large tables of many variables"},
		"perturbation": {What: "chance adds noise to every cell, or rounds it, totals too", Good: "quick; the same cell can be the same in all tables",
			Bad: "totals are not the sums of their parts"},
		"adjustment": {
			What: "unsafe cells move away by what they need, others by the least that makes all add up",
			Good: "complete, totals add up, safe cells hardly change",
			Bad:  "who knows the rules can guess which cells moved",
		},
		"partial": {What: "unsafe cells are published as intervals, and others so that nobody can narrow them", Good: "no gaps, and nothing false",
			Bad: "readers have to live with intervals"},
		"multiplicative": {
			What:  "margins are multiplied by noise, and cells fitted to them",
			Usual: "sd 0.05",
			Good:  "keeps the relations inside the table, adds up",
			Bad:   "small counts hardly change",
		},
		"abs": {What: "cells of 3 records or fewer are left out, others rounded to 100", Good: "a simple rule for large weighted surveys",
			Bad: "what is left out can follow from totals; then nothing is published"},
	}
)

// options are some of a catalogue, one of them chosen and one usual.
func options(of map[string]Option, chosen, usual string, names ...string) []Option {
	var list []Option
	for _, name := range names {
		o := of[name]
		o.Name, o.Chosen, o.Default = name, name == chosen, name == usual
		list = append(list, o)
	}
	return list
}
