package library

import (
	"microrisk/pipeline/explain"
	"microrisk/pipeline/inspect"
)

// A Near is a class of records that nearly match.
type Near struct {
	Differs map[string]*string `json:"differs"` // their values where they differ
	Records int64              `json:"records"`
	Rows    []int64            `json:"rows"` // the first of them
}

// recordOf is what is told of a record; maps are by key variable, null for missing values.
func recordOf(e *explain.Explanation) map[string]any {
	values, risks := map[string]*string{}, map[string]*float64{}
	for v, name := range e.Variables {
		if v < len(e.Values) {
			values[name] = e.Values[v]
		}
	}
	for _, r := range e.Risks {
		risks[r.Column] = r.Value
	}
	msus, near := [][]string{}, []Near{}
	for _, set := range e.MSUs {
		var names []string
		for _, v := range set {
			names = append(names, e.Variables[v])
		}
		msus = append(msus, names)
	}
	for _, n := range e.Near {
		x := Near{Differs: map[string]*string{}, Records: n.Count, Rows: []int64{}}
		for k, v := range n.Differs {
			x.Differs[e.Variables[v]] = n.Values[k]
		}
		for _, r := range n.Rows {
			x.Rows = append(x.Rows, r.Row)
		}
		near = append(near, x)
	}
	return map[string]any{"row": e.Row, "values": values, "counted": e.Counted, "sample_frequency": e.Frequency, "msus": msus, "max_size": e.MaxSize,
		"score": e.ScoreName, "suda_score": e.Score, "suda_is": e.IS, "risks": risks, "distance": e.Distance, "nearest_records": e.NearCount, "nearest": near}
}

// inspected is what is told of a table: its columns, the categories that were asked for, or how its key singles records out.
func inspected(i *inspect.Inspection) map[string]any {
	out := map[string]any{"rows": i.Rows, "counted": i.Counted}
	if i.Columns != nil {
		list := []map[string]any{}
		for _, c := range i.Columns {
			x := map[string]any{"name": c.Name, "type": c.Type}
			if c.Reason != "" {
				x["no_categories"] = c.Reason
			} else {
				x["categories"] = c.Categories
			}
			if c.Missing >= 0 {
				x["missing"] = c.Missing
			}
			list = append(list, x)
		}
		out["columns"] = list
	}
	if i.Values != nil {
		byColumn := map[string]any{}
		for _, c := range i.Values {
			list := []map[string]any{}
			for _, v := range c.Values {
				list = append(list, map[string]any{"value": v.Value, "records": v.Count})
			}
			byColumn[c.Name] = map[string]any{"values": list, "more": c.More, "more_records": c.MoreRows}
		}
		out["values"] = byColumn
	}
	if k := i.Key; k != nil {
		without := map[string]any{}
		for _, w := range k.Without {
			without[w.Without] = map[string]any{"classes": w.Classes, "sample_uniques": w.SampleUniques}
		}
		out["key"] = map[string]any{"records": k.Whole.Records, "classes": k.Whole.Classes, "sample_uniques": k.Whole.SampleUniques, "without": without}
	}
	return out
}
