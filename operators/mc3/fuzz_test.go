package mc3

import "testing"

// FuzzModel: no text makes the reader of saved models panic, and what it takes stays the same when it is written and read.
func FuzzModel(f *testing.F) {
	for _, text := range []string{"", "{}", `{"microrisk_model":1}`, `{"microrisk_model":1,"variables":[{"name":"a","categories":["x","y"]},{"name":"b","categories":["1"],"missing":true}],"prior_precision":1,"records":3,"search":"exact","graphs":[{"edges":[[0,1]],"log_marginal_likelihood":-1.5,"weight":1}],"margins":[{"variables":[0,1],"codes":[[0,1],[0,1]],"counts":[2,1]}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeModel("model.json", text)
		if err != nil {
			return
		}
		once, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeModel("model.json", once)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, once)
		}
		if twice, err := again.Marshal(); err != nil || string(once) != string(twice) {
			t.Fatalf("%s becomes %s (%v)", once, twice, err)
		}
	})
}
