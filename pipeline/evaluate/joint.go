package evaluate

import "microrisk/engine/attack"

// A JointRow is how many keys have so many records in a sample and so many people in the population, mean over samples.
type JointRow struct {
	Records    int64   `json:"records"`      // f: the least; the last row has all above, too
	People     int64   `json:"people_from"`  // F
	PeopleMost *int64  `json:"people_to"`    // null: no end
	Classes    float64 `json:"mean_classes"` // keys
}

// Rows and columns of the joint table.
const MostJointRecords = 5

var jointPeople = []int64{1, 2, 3, 4, 5, 10, 100} // the least of each column

// jointOf counts the keys of a sample by f and F.
func jointOf(classes []attack.Class) [][]int64 {
	table := make([][]int64, MostJointRecords+1)
	for f := range table {
		table[f] = make([]int64, len(jointPeople))
	}
	for _, c := range classes {
		column := 0
		for column+1 < len(jointPeople) && c.Population >= jointPeople[column+1] {
			column++
		}
		table[min(c.Sample, MostJointRecords)][column]++
	}
	return table
}

// joint is the mean table: a row for each cell that is possible.
func joint(all []*judged) []JointRow {
	var rows []JointRow
	for f := range MostJointRecords + 1 {
		for k, people := range jointPeople {
			r := JointRow{Records: int64(f), People: people}
			if k+1 < len(jointPeople) {
				most := jointPeople[k+1] - 1
				if r.PeopleMost = &most; most < int64(f) {
					continue
				}
			}
			for _, j := range all {
				r.Classes += float64(j.joint[f][k]) / float64(len(all))
			}
			rows = append(rows, r)
		}
	}
	return rows
}
