package references_test

import (
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding/local"
)

// A fileCase is a file with figures of a prototype.
type fileCase struct {
	file            string
	key             []string
	k               int64
	own, group, old int64 // cells: own, exact; the group bound; class as a prototype has it
}

var (
	cps       = []string{"education", "experience", "ethnicity", "smsa", "region", "parttime"}
	testKey   = []string{"urbrur", "roof", "walls", "water", "electcon", "relat", "sex"}
	eusilc    = []string{"db040", "hsize", "rb090", "pb220a", "pl030"}
	francd    = []string{"Key1", "Key2", "Key3", "Key4"}
	adultKey  = []string{"age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"}
	censusKey = []string{"age", "sex", "race", "marital_status", "education", "class_of_worker", "major_occupation", "birth_country_self"}
)

var fileCases = []fileCase{
	{"micro/cps1988", cps, 2, 2879, 2885, 2951},
	{"micro/cps1988", cps, 3, 5046, 5057, 5139},
	{"micro/cps1988", cps, 5, 8440, 8455, 8561},
	{"micro/sdc_testdata", testKey, 2, 157, 181, 203},
	{"micro/sdc_testdata", testKey, 3, 283, 327, 401},
	{"micro/sdc_testdata", testKey, 5, 461, 556, 732},
	{"micro/eusilc_synth", eusilc, 2, 301, 314, 359},
	{"micro/eusilc_synth", eusilc, 3, 680, 687, 794},
	{"micro/eusilc_synth", eusilc, 5, 1341, 1361, 1558},
	{"micro/sdc_francdat", francd, 2, 6, 6, 6},
	{"micro/sdc_francdat", francd, 3, 12, 12, 16},
	{"protect/arx_adult", adultKey, 2, 16199, 16537, 18535},
	{"protect/arx_adult", adultKey, 3, 22245, 22714, 25659},
	{"protect/arx_adult", adultKey, 5, 28546, 29112, 32958},
	{"micro/census_1m", censusKey, 3, 214714, 219819, 240537},
}

// fileProblem counts the keys of a file in the folder that MICRORISK_DATA names.
func fileProblem(t testing.TB, file string, key []string, k int64) *local.Problem {
	data := os.Getenv("MICRORISK_DATA")
	if data == "" {
		t.Skip("MICRORISK_DATA names a folder with files that are not the project's")
	}
	f, err := os.Open(filepath.Join(data, file+".parquet"))
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	pf, err := parquet.OpenFile(f, info.Size())
	require.NoError(t, err)
	columns := make([][]uint32, len(key))
	for v, name := range key {
		leaf, ok := pf.Schema().Lookup(name)
		require.True(t, ok, name)
		codes := make(map[string]uint32)
		for _, g := range pf.RowGroups() {
			columns[v] = readColumn(t, g.ColumnChunks()[leaf.ColumnIndex], columns[v], codes)
		}
	}
	return countedKeys(columns, k)
}

func readColumn(t testing.TB, chunk parquet.ColumnChunk, column []uint32, codes map[string]uint32) []uint32 {
	pages := chunk.Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if err != nil {
			return column
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buffer)
			for _, v := range buffer[:n] {
				s := v.String()
				if v.IsNull() {
					s = "\x00"
				}
				code, ok := codes[s]
				if !ok {
					code = uint32(len(codes))
					codes[s] = code
				}
				column = append(column, code)
			}
			if err != nil {
				break
			}
		}
		parquet.Release(page)
	}
}

func countedKeys(columns [][]uint32, k int64) *local.Problem {
	p := &local.Problem{K: k, Codes: make([][]uint32, len(columns))}
	at := make(map[[8]uint32]int)
	for r := range columns[0] {
		var key [8]uint32
		for v := range columns {
			key[v] = columns[v][r]
		}
		c, ok := at[key]
		if !ok {
			c = len(p.Counts)
			at[key] = c
			p.Counts = append(p.Counts, 0)
			for v := range columns {
				p.Codes[v] = append(p.Codes[v], key[v])
			}
		}
		p.Counts[c]++
	}
	return p
}

// Eight rows, of which all partitions are tried: what local.Class finds is the best, at k = 2 and 3.
func TestFrancdatBest(t *testing.T) {
	for k, want := range map[int64]float64{2: 6, 3: 16} {
		p := fileProblem(t, "micro/sdc_francdat", francd, k)
		var rows [][]uint32
		for c, n := range p.Counts {
			row := make([]uint32, len(p.Codes))
			for v := range p.Codes {
				row[v] = p.Codes[v][c]
			}
			for range n {
				rows = append(rows, row)
			}
		}
		require.Equal(t, want, classBrute(p, rows))
	}
}

// Class costs at most what a prototype did, less a third of its distance from the group bound, and is safe by recount.
func TestClassFiles(t *testing.T) {
	for _, c := range fileCases {
		p := fileProblem(t, c.file, c.key, c.k)
		r, err := local.Class(t.Context(), p, local.Options{})
		require.NoError(t, err)
		t.Logf("%s %d: at risk %d, own %v, group %v, class %d (%d records; prototype %d, aim %d)", c.file, c.k, r.AtRisk, r.OwnBound, r.GroupBound,
			r.Cells, r.Changed, c.old, c.old-(c.old-c.group)/3)
		require.EqualValues(t, c.own, r.OwnBound)
		require.EqualValues(t, c.group, math.Ceil(r.GroupBound-1e-6))
		most := c.old - (c.old-c.group)/3
		if c.file == "micro/sdc_francdat" { // francdat: TestFrancdatBest
			most = c.old
		}
		require.LessOrEqual(t, r.Cells, most)
		again, err := local.Recount(t.Context(), p, r.Parts)
		require.NoError(t, err)
		require.Equal(t, []int64{0, 0, 0}, []int64{again.Class, again.Own, again.Wildcard})
		require.Zero(t, r.Suppressed)
		require.True(t, slices.IsSortedFunc(r.Parts, func(a, b local.Part) int { return a.Class - b.Class }))
	}
}

// What other programs cut of these files by the same count, and how many rows are left that lack compatible ones when the record may have
// one cell cut.
func TestWildcardFiles(t *testing.T) {
	sdcMicro := map[string]int64{"micro/cps1988 2": 2865, "micro/cps1988 3": 5025, "micro/cps1988 5": 8422}
	for _, c := range fileCases {
		if c.file == "micro/census_1m" {
			continue
		}
		p := fileProblem(t, c.file, c.key, c.k)
		r, err := local.Wildcard(t.Context(), p, 1, local.Options{})
		require.NoError(t, err)
		again, err := local.Recount(t.Context(), p, r.Parts)
		require.NoError(t, err)
		t.Logf("%s %d: %d cells; left %d; persons %d", c.file, c.k, r.Cells, again.Wildcard, again.Persons)
		if c.file == "micro/cps1988" {
			name := c.file + " " + string(rune('0'+c.k))
			require.LessOrEqual(t, 5*r.Cells, sdcMicro[name])
			require.Zero(t, again.Wildcard)
			require.Positive(t, again.Persons)
		}
	}
}

// classBrute is the cost of the best partition into groups of at least k rows that are alike where not cut, all weights being 1.
func classBrute(p *local.Problem, rows [][]uint32) float64 {
	n, k := len(rows), int(p.K)
	best := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = math.Inf(1)
		low := set & -set
		rest := set &^ low
		for sub := rest; ; sub = (sub - 1) & rest {
			size := bits.OnesCount(uint(sub)) + 1
			if size >= k && size <= 2*k-1 && !math.IsInf(best[rest&^sub], 1) {
				best[set] = min(best[set], best[rest&^sub]+groupCost(rows, sub|low))
			}
			if sub == 0 {
				break
			}
		}
	}
	return best[1<<n-1]
}

func groupCost(rows [][]uint32, set int) float64 {
	first := rows[bits.TrailingZeros(uint(set))]
	differ := 0
	for v := range first {
		for r, row := range rows {
			if set>>r&1 != 0 && row[v] != first[v] {
				differ++
				break
			}
		}
	}
	return float64(differ * bits.OnesCount(uint(set)))
}
