package contingency

import "testing"

func TestRequestID(t *testing.T) {
	same := []Request{
		{Keys: []Key{{Name: "a", MissingCodes: []string{"x", "y"}}}},
		{Keys: []Key{{Name: "a", MissingCodes: []string{"y", "x", "x"}}}},
	}
	if same[0].ID() != same[1].ID() {
		t.Error("the order of missing codes matters")
	}
	different := []Request{
		{},
		{Keys: []Key{{Name: "a"}}},
		{Keys: []Key{{Name: "a", Levels: []string{}}}},
		{Keys: []Key{{Name: "a", Levels: []string{"x", "y"}}}},
		{Keys: []Key{{Name: "a", Levels: []string{`x""y`}}}},
		{Keys: []Key{{Name: "a", Levels: []string{`x"",""y`}}}},
		{Keys: []Key{{Name: "a", MissingCodes: []string{"x", "y"}}}},
		{Keys: []Key{{Name: "a"}, {Name: "b"}}},
		{Keys: []Key{{Name: "b"}, {Name: "a"}}},
		{Keys: []Key{{Name: `a"[];key "b`}}},
		{Keys: []Key{{Name: "a"}}, Sums: []Sum{{Name: "w"}}},
		{Keys: []Key{{Name: "a"}}, Sums: []Sum{{Name: "w", Weight: true}}},
	}
	seen := map[string]int{}
	for i, r := range different {
		if j, ok := seen[r.ID()]; ok {
			t.Errorf("requests %d and %d have the same ID %s", i, j, r.ID())
		}
		seen[r.ID()] = i
	}
}
