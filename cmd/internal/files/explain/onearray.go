package explain

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

const (
	mullin  = "Bloom 1970, as corrected by Mullin 1983"
	bose    = "Bose, Guo, Kranakis, Maheshwari, Morin, Morrison, Smid and Tang 2008"
	broder  = "Bloom 1970; Broder and Mitzenmacher 2004"
	almeida = "Almeida, Baquero, Preguiça and Hutchison 2007"
	fan     = "Fan, Cao, Almeida and Broder 2000, section V-C"
	putze   = "Putze, Sanders and Singler 2010, equation (3)"
	dill    = "Dillinger and Walzer 2021"
	solved  = "the first formula, solved for m"

	bloomRate = "(1 - (1 - 1/m)^(k·n))^k"
)

func bloomSteps(d *derivation, s bloom.Shape, n uint64) {
	p := d.bloom(s.M, s.K, n)
	d.fill("1 - (1 - 1/m)^(k·n)", plan.Filter{M: s.M, K: s.K}.Fill(n), "Bloom 1970")
	best := 0.0
	if s.M > 1 {
		best = -math.Ln2 / (float64(n) * math.Log1p(-1/float64(s.M)))
	}
	d.addf("best k: half of the cells are then set", "ln 2 / (-n · ln(1 - 1/m))", broder,
		"%.4g, the best integer is %d", best, plan.BestK(s.M, n))
	if size, err := plan.SizeForK(n, s.K, p); err == nil && p == independent(s.M, s.K, n) {
		d.addf("least size with that rate and k, m", "1 / (1 - (1 - p^(1/k))^(1/(k·n)))", solved, "%d cells", size)
	}
	d.memory(s.M)
	d.bitsPerKey(s.M, n, p)
}

func partitionedSteps(d *derivation, s partitioned.Shape, n uint64) {
	m, k := float64(s.M), float64(s.K)
	d.let("m", s.M)
	d.let("k", s.K)
	rate := func(slice uint64) float64 {
		return partitioned.Shape{M: slice * uint64(s.K), K: s.K}.Forecast(n).FPRate
	}
	p := s.Forecast(n).FPRate
	d.rate(n, "(1 - (1 - k/m)^n)^k", p, almeida)
	d.addf("cells in each of the k slices", "m / k", "", "%d cells", s.M/uint64(s.K))
	d.fill("1 - (1 - k/m)^n", -math.Expm1(float64(n)*math.Log1p(-k/m)), almeida)
	d.addf("best k, approximately: half of the cells are then set", "(m / n) · ln 2", almeida, "%.4g", m/float64(n)*math.Ln2)
	if slice, found := planning.Least(s.M/uint64(s.K), func(slice uint64) bool { return rate(slice) <= p }); found && p > 0 && p < 1 {
		d.addf("least size with that rate and k, in whole slices, m", "k / (1 - (1 - p^(1/k))^(1/n))", solved, "%d cells", slice*uint64(s.K))
	}
	d.memory(s.M)
	d.bitsPerKey(s.M, n, p)
}

func blockedSteps(d *derivation, s blocked.Shape, n uint64) {
	w, b, k, blocks := s.Words, s.Bits, s.Words*s.Bits, s.M/blocked.BlockBits
	d.let("w", w)
	d.let("b", b)
	p := s.Forecast(n).FPRate
	d.rate(n, "mean over j of P(w words of a block with j keys have the b bits of a key), j from Binomial(n, 1/B)",
		p, putze+"; words: Lang, Neumann, Kemper and Boncz 2019, section 3", "B", blocks)
	d.blocks(s.M, k, n, blocked.BlockBits)
	inWord := -math.Expm1(float64(b) * math.Log1p(-1.0/64))
	hit := float64(w) / 8 * inWord / float64(blocks)
	d.fill("1 - (1 - (w/8) · (1 - (63/64)^b) / B)^n", -math.Expm1(float64(n)*math.Log1p(-hit)), "")
	d.add("cells set per key, k", "w · b", fmt.Sprint(k), "")
	d.memory(s.M)
	d.bitsPerKey(s.M, n, p)
}

func splitblockSteps(d *derivation, s splitblock.Shape, n uint64) {
	blocks := s.M / splitblock.BlockBits
	p := s.Forecast(n).FPRate
	d.rate(n, "mean over j of (1 - (31/32)^j)^8, j from Binomial(n, 1/B)", p,
		"Apache Parquet, BloomFilter.md; "+putze, "B", blocks)
	d.blocks(s.M, splitblock.K, n, splitblock.BlockBits)
	d.fill("1 - (1 - 1/(32·B))^n", -math.Expm1(float64(n)*math.Log1p(-1/(32*float64(blocks)))), "")
	d.memory(s.M)
	d.bitsPerKey(s.M, n, p)
}

// squidSteps are those of bloom with k = 4, which Squid fixes.
func squidSteps(d *derivation, s squid.Shape, n uint64) {
	p := d.bloom(s.M, squid.K, n)
	d.fill("1 - (1 - 1/m)^(k·n)", plan.Filter{M: s.M, K: squid.K}.Fill(n), "Bloom 1970")
	d.memory(s.M)
	d.bitsPerKey(s.M, n, p)
}

// blocks adds the steps of kinds with m/size blocks, and sets m and k.
func (d *derivation) blocks(m uint64, k int, n uint64, size int) {
	d.let("m", m)
	d.let("k", k)
	count, keys := m/uint64(size), float64(n)/float64(m/uint64(size))
	d.add("for comparison, the rate of a bloom filter with the same m and k", bloomRate, sixDigits(independent(m, k, n)), mullin)
	d.addf(fmt.Sprintf("blocks of %d bits, B", size), fmt.Sprintf("m / %d", size), "", "%d blocks", count)
	d.addf("keys per block, on average", "n / B", "", "%.4g keys", keys)
	d.addf("standard deviation of the keys per block, the reason for the higher rate", "sqrt((n / B) · (1 - 1/B))", "",
		"%.4g keys", math.Sqrt(keys*(1-1/float64(count))))
}

func countingSteps(d *derivation, s counting.Shape, n uint64) {
	d.bloom(s.M, s.K, n)
	d.counters(s, n)
}

// counters adds the steps of counters, which saturate and take memory.
func (d *derivation) counters(s counting.Shape, n uint64) {
	width := max(s.Width, counting.DefaultWidth)
	limit := uint64(1)<<width - 1
	d.let("w", width)
	d.let("j", limit)
	d.add("counters that saturate if each key is added once, on average; a bound of the probability that one does",
		"m · P[Bin(k·n, 1/m) >= j], j = 2^w - 1", fourDigits(s.Overflow(n, limit)), fan)
	d.add("a closed bound of that", "m · (e · k · n / (j · m))^j", fourDigits(s.OverflowBound(n, limit)), fan)
	d.addf("keys per counter, on average; the rate is least for the memory at 0.69", "k · n / m", "Bloom 1970",
		"%.4g", float64(s.K)*float64(n)/float64(s.M))
	d.addf("memory, in words of 8 bytes", "8 · ceil(m · w / 64)", "", "%d bytes", s.Forecast(n).Bytes)
}

func importedSteps(d *derivation, s imported.Shape, n uint64) {
	fc := s.Forecast(n)
	d.let("m", s.M)
	d.let("k", fmt.Sprintf("%.0f", fc.K))
	rate := "f^k + excess of double hashing"
	if s.Form == imported.Blobloom {
		rate = "mean over the blocks of f^k, and at least 2^-18 per key in a block"
	}
	d.add(fmt.Sprintf("false-positive rate with %d keys, in the form %v", n, s.Form), rate, sixDigits(fc.FPRate), "Dillinger and Manolios 2004")
	d.memory(s.M)
	d.bitsPerKey(s.M, n, fc.FPRate)
}

func nixbloomSteps(d *derivation, s nixbloom.Shape, n uint64) {
	fc := s.Forecast(n)
	fill := plan.Filter{M: s.M, K: s.K}.Fill(n)
	d.let("m", s.M)
	d.let("k", s.K)
	d.let("f", fmt.Sprint(fill))
	d.let("excess", fmt.Sprintf("%.6g", fc.FPRate-math.Pow(fill, float64(s.K))))
	d.fill("1 - (1 - 1/m)^(k·n)", fill, "Bloom 1970")
	d.add(fmt.Sprintf("false-positive rate with %d keys, with the excess of double hashing, about 1/m", n), "f^k + excess",
		sixDigits(fc.FPRate), "Dillinger and Manolios 2004; Kirsch and Mitzenmacher 2006")
	d.memory(s.M)
	d.bitsPerKey(s.M, n, fc.FPRate)
}

func weightedSteps(d *derivation, s weighted.Shape, n uint64) {
	const bruck = "Bruck, Gao and Jiang 2006, corrected for unequal membership"
	fc := s.Forecast(n)
	load := fc.K * float64(n)
	fill := -math.Expm1(load * math.Log1p(-1/float64(s.M)))
	d.let("m", s.M)
	d.let("k", fmt.Sprintf("%.4g", fc.K))
	d.let("K", fmt.Sprintf("%.0f", load))
	d.addf("cells set by all keys, with repetitions, K: k per key on average", "n · k", bruck, "%.0f", load)
	d.fill("1 - (1 - 1/m)^K", fill, mullin)
	sum := ""
	for i, c := range s.Classes {
		if i > 0 {
			sum += " + "
		}
		sum += fmt.Sprintf("%.3g · %.6g^%d", c.Queries, fill, c.K)
	}
	independent := 0.0
	for _, c := range s.Classes {
		independent += c.Queries * math.Pow(fill, float64(c.K))
	}
	general, source := "Σ r_c · fill^k_c", bruck
	if fc.FPRate > independent*(1+1e-9) { // a few keys
		general, source = "mean of Σ r_c · fill^k_c over the fill ratios of filters, more than that of the mean", bruck+"; "+bose
	}
	d.formulas = append(d.formulas, Formula{
		fmt.Sprintf("false-positive rate with %d keys, classes weighted by their share r of the queries", n),
		general, sum, sixDigits(fc.FPRate), source,
	})
	if s.Width != 0 { // k is that of all keys: plans have one class
		d.counters(counting.Shape{M: s.M, K: int(math.Ceil(fc.K)), Width: s.Width}, n)
		return
	}
	d.memory(s.M)
	d.bitsPerKey(s.M, n, fc.FPRate)
}

func sparseSteps(d *derivation, s sparse.Shape, n uint64) {
	m, p, size := s.M, plan.Filter{M: s.M, K: 1}.FPRate(n), 8*s.Forecast(n).Bytes
	x := min(n, m)
	low := bits.Len64(m/x) - 1
	d.let("m", m)
	d.let("x", x)
	d.let("l", low)
	d.rate(n, "1 - (1 - 1/m)^n", p, "Bloom 1970, with k = 1")
	if size, err := plan.SizeForK(n, 1, p); err == nil {
		d.addf("least size with that rate, m", "1 / (1 - (1 - p)^(1/n))", solved, "%d cells", size)
	}
	d.let("q", m/x)
	d.addf("low bits of a position, l, where q is m / x rounded down and x the smaller of n and m",
		"ceil(log2(q + 1)) - 1", "Elias 1974", "%d bits", low)
	d.addf("memory, at most: low bits, and the other bits of x positions in unary",
		"8 · (ceil(x·l / 64) + ceil((x + ceil(m / 2^l)) / 64))", "Elias 1974; Fano 1971", "%d bytes", size/8)
	d.perKey(m, n)
	d.let("bytes", size/8)
	d.addf("memory per key", "8 · bytes / n", "", "%.4g bits", float64(size)/float64(n))
	d.addf("size per key of a packed message of the cells", "m · (-p · log2(p) - (1 - p) · log2(1 - p)) / n",
		"Mitzenmacher 2002, section 3", "%.4g bits", plan.Filter{M: m, K: 1}.WireBits(n).Mean/float64(n))
}

func ribbonSteps(d *derivation, s ribbon.Shape, n uint64) {
	fc := s.Forecast(n)
	columns := int(fc.K)
	slots, shards := ribbon.Slots(n)
	upper := fc.Bytes/8 - uint64(columns)*((slots+63)/64) - (shards+1)/2
	d.let("c", columns)
	d.let("s", s.Steps)
	d.let("z", shards)
	d.let("w", slots)
	d.let("u", upper)
	d.let("x", 2*(1-math.Ldexp(fc.FPRate, columns)))
	d.rate(n, "(1 - x/2) / 2^c", fc.FPRate, dill+": c columns, and one more for a share x of the keys")
	d.addf("columns per key, on average, for s steps", "s / 256", dill, "%.6g columns", fc.K)
	d.addf("shards, each solved independently, z", "ceil(n / 1500)", "", "%d shards", shards)
	d.let("z", shards/2*2)
	d.addf("slots: 4 more than keys per shard, and half a failed attempt per shard, w", "n + 4·"+fmt.Sprint(shards)+" + z/2", "", "%d slots", slots)
	d.let("z", shards)
	d.addf("memory: blocks of 64 slots, u of them with one column more, and 4 bytes per shard",
		"8 · (c·ceil(w / 64) + u + ceil(z / 2))", "", "%d bytes", fc.Bytes)
	d.addf("the least of any filter with that rate", "log2(1/p)", "Carter, Floyd, Gill, Markowsky and Wegman 1978",
		"%.4g bits per key", -math.Log2(fc.FPRate))
	d.let("m", fc.Cells)
	d.bitsPerKey(fc.Cells, n, fc.FPRate)
}

// bloom adds the rate of a filter with k cells per key anywhere in m, and returns it.
func (d *derivation) bloom(m uint64, k int, n uint64) float64 {
	d.let("m", m)
	d.let("k", k)
	p, simple := plan.Filter{M: m, K: k}.FPRate(n), independent(m, k, n)
	if p == simple {
		d.rate(n, bloomRate, p, mullin)
		return p
	}
	d.rate(n, "mean of (X / m)^k over the numbers X of cells that k·n draws set", p, bose)
	d.add("for comparison, the rate if the cells were independent", bloomRate, sixDigits(simple), mullin)
	return p
}

// independent returns the rate by the formula for independent cells, bloomRate.
func independent(m uint64, k int, n uint64) float64 {
	return plan.FPRateAtFill(plan.Filter{M: m, K: k}.Fill(n), k)
}

// rate adds the false-positive rate and sets p. more is pairs of a letter and its number.
func (d *derivation) rate(n uint64, general string, p float64, source string, more ...any) {
	for i := 0; i < len(more); i += 2 {
		d.let(more[i].(string), more[i+1])
	}
	d.let("p", p)
	d.add(fmt.Sprintf("false-positive rate with %d keys, p", n), general, sixDigits(p), source)
}

func (d *derivation) fill(general string, fill float64, source string) {
	d.add("fill ratio, the share of the cells that are set", general, sixDigits(fill), source)
}

func (d *derivation) memory(m uint64) {
	d.addf("memory, in words of 8 bytes", "8 · ceil(m / 64)", "", "%d bytes", (m+63)/64*8)
}

func (d *derivation) perKey(m, n uint64) {
	d.addf("bits per key", "m / n", "", "%.4g bits", float64(m)/float64(n))
}

// bitsPerKey adds the memory per key, and the least that a Bloom filter needs.
func (d *derivation) bitsPerKey(m, n uint64, p float64) {
	d.let("m", m)
	d.let("p", p)
	d.perKey(m, n)
	if p > 0 && p < 1 {
		d.addf("the least of any Bloom filter with that rate", "log2(1/p) / ln 2", broder, "%.4g bits per key", -math.Log2(p)/math.Ln2)
	}
}

func sixDigits(f float64) string  { return fmt.Sprintf("%.6g", f) }
func fourDigits(f float64) string { return fmt.Sprintf("%.4g", f) }
