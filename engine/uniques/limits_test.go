package uniques

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomFile has independent uniform variables.
func randomFile(rows int, cards ...int) file {
	r := rand.New(rand.NewPCG(1, 2))
	f := file{cards: cards, rows: make([][]uint32, rows)}
	for i := range f.rows {
		f.rows[i] = make([]uint32, len(cards))
		for v, n := range cards {
			f.rows[i][v] = uint32(r.IntN(n))
		}
	}
	return f
}

func TestOptionErrors(t *testing.T) {
	table := randomFile(10, 2, 2).table(t)
	for name, o := range map[string]Options{
		"policies":           {Policies: []Policy{Category}},
		"unknown policy":     {Policies: []Policy{9, 9}},
		"negative size":      {MaxSize: -1},
		"negative threshold": {Threshold: -1},
		"huge threshold":     {Threshold: 1 << 40},
		"unknown score":      {Score: 17},
	} {
		if _, err := Search(context.Background(), table, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEstimateRefusesEndlessSearch(t *testing.T) {
	table := randomFile(4000, slices.Repeat([]int{3}, 40)...).table(t)
	_, err := Search(context.Background(), table, Options{Workers: 2})
	var e *EstimateError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v", err)
	}
	if e.Work.Needs < time.Hour || e.Visits < 1e9 || e.MaxSize < 1 || e.MaxSize > 10 {
		t.Errorf("estimate %+v", e)
	}
	if _, err := Search(context.Background(), table, Options{Workers: 2, MaxSize: 2}); err != nil {
		t.Errorf("with a size limit: %v", err)
	}
}

// TestEstimateIsNear compares the estimate of visits with a full count on a file where both can be had.
func TestEstimateIsNear(t *testing.T) {
	f := randomFile(3000, 3, 4, 5, 2, 6, 3, 2, 4)
	table := f.table(t)
	o := Options{}
	if err := o.normalise(table); err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(table, &o)
	if err != nil {
		t.Fatal(err)
	}
	share, err := p.sample(context.Background(), &o, chosen)
	if err != nil {
		t.Fatal(err)
	}
	estimated, visits := 0.0, 0.0
	for s := 1; s <= 8; s++ {
		estimated += share[s] * float64(binomial(8, s)) * float64(p.n)
	}
	for i := range p.n {
		agree := p.agreements(context.Background(), i)
		for set := uint64(1); set < 1<<8; set++ {
			if liveOn(set, agree) {
				visits++
			}
		}
	}
	if estimated < .7*visits || estimated > 1.4*visits {
		t.Errorf("estimated %v visits of %v", estimated, visits)
	}
}

// TestEstimateIsOfTheWay compares the visits that are estimated with those of the search, by blocks and by size, with and without covers.
func TestEstimateIsOfTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		rows      int
		cards     []int
		threshold int64
	}{
		"even":           {5000, slices.Repeat([]int{4}, 9), 1},
		"a threshold":    {5000, slices.Repeat([]int{4}, 9), 2},
		"few categories": {6000, slices.Repeat([]int{2}, 14), 1},
		"many":           {9000, []int{30, 2, 50, 6, 10, 8, 90}, 1},
	} {
		table := randomFile(c.rows, c.cards...).table(t)
		for _, way := range []direction{upwards, nested} {
			o := Options{Threshold: c.threshold, direction: way}
			r := search(t, table, o)
			if err := o.normalise(table); err != nil {
				t.Fatal(err)
			}
			p, err := newProblem(table, &o)
			if err != nil {
				t.Fatal(err)
			}
			share, err := p.sample(context.Background(), &o, way)
			if err != nil {
				t.Fatal(err)
			}
			visits := 0.0
			for s := range share {
				visits += share[s] * float64(binomial(p.variables, s)) * float64(p.n)
			}
			if real := float64(r.Visits); visits < real/2.5 || visits > 2.5*real {
				t.Errorf("%s, direction %d: %v visits are estimated, it took %v", name, way, visits, real)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	for _, way := range []direction{upwards, downwards} {
		table := randomFile(50000, slices.Repeat([]int{2}, 20)...).table(t)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(200 * time.Millisecond)
			cancel()
		}()
		_, err := Search(ctx, table, Options{Workers: 2, Force: true, direction: way})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Search(ctx, randomFile(10, 2).table(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestProgress(t *testing.T) {
	table := randomFile(2000, 2, 3, 4, 5, 2).table(t)
	for way := upwards; way <= downwards; way++ {
		last, calls := int64(0), 0
		search(t, table, Options{Workers: 3, direction: way, Progress: func(done, total int64) {
			if done < last || done > total || total != 31 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
			calls++
		}})
		if last != 31 || calls == 0 {
			t.Errorf("ended at %d after %d calls", last, calls)
		}
	}
}

// TestAgreements compares the sets on which classes agree with those of every pair, on keys of one word and of several.
func TestAgreements(t *testing.T) {
	for _, cards := range [][]int{{3, 4, 1, 5, 2, 17}, {1 << 30, 2, 1 << 30, 5}} {
		f := randomFile(400, cards...)
		for _, row := range f.rows {
			row[0], row[2] = row[0]%3, row[2]%5%uint32(cards[2])
		}
		table := f.table(t)
		var o Options
		if err := o.normalise(table); err != nil {
			t.Fatal(err)
		}
		p, err := newProblem(table, &o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.n {
			if table.Count(i) > 1 {
				continue
			}
			var want []uint64
			for j := range p.n {
				var set uint64
				for v := range cards {
					if p.code(i, v) == p.code(j, v) {
						set |= 1 << v
					}
				}
				if i != j && !slices.Contains(want, set) {
					want = append(want, set)
				}
			}
			got := p.agreements(context.Background(), i)
			want = largest(want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: class %d agrees on %b, should be %b", cards, i, got, want)
			}
		}
	}
}
