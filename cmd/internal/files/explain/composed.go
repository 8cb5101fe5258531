package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/plan"
)

func scalableSteps(d *derivation, s scalable.Shape, n uint64) {
	fraction := func(l scalable.Log) float64 { return math.Exp2(-float64(l) / (1 << 16)) }
	slices := func(i scalable.Log) uint64 { return uint64((s.First + i*s.Tightening + 1<<16 - 1) >> 16) }
	first, r, k := fraction(s.First), fraction(s.Tightening), slices(0)
	d.let("P_0", fmt.Sprint(first))
	d.let("r", fmt.Sprint(r))
	d.let("k_0", k)
	d.let("slice", s.Slice)
	d.let("growth", s.Growth)
	d.add("bound of the false-positive rate for any number of layers", "P_0 / (1 - r)", sixDigits(first/(1-r)), almeida+", section 3")
	d.add("slices of the first layer, k_0", "ceil(log2(1/P_0))", fmt.Sprint(k), almeida)
	d.rate(n, "(1 - (1 - 1/slice)^n)^k_0", s.Forecast(n).FPRate, almeida+", equation (1), for the first layer")
	d.addf("keys at which the first layer is half full, and the second is added", "ln(1/2) / ln(1 - 1/slice)", almeida,
		"%.6g keys", -math.Ln2/math.Log1p(-1/float64(s.Slice)))
	d.addf("memory of the first layer", "k_0 · slice / 8", "", "%d bytes", k*s.Slice/8)
	d.addf("bits per key", "k_0 · slice / n", "", "%.4g bits", float64(k*s.Slice)/float64(n))
	if tenth := math.Pow(float64(s.Growth), 9) * float64(s.Slice); slices(9) <= scalable.MaxK && tenth*float64(slices(9)) <= 1<<56 {
		d.add("slices of the tenth layer", "ceil(log2(1/P_0) + 9 · log2(1/r))", fmt.Sprint(slices(9)), almeida)
		d.addf("cells of a slice of the tenth layer", "slice · growth^9", almeida, "%.0f cells", tenth)
	}
}

func dynamicSteps(d *derivation, s dynamic.Shape, n uint64) {
	m, k, capacity := s.Layer.M, s.Layer.K, s.Capacity()
	full := independent(m, k, capacity)
	d.bloom(m, k, n)
	d.let("full", s.Full)
	d.let("c", capacity)
	d.let("p", fmt.Sprint(full))
	d.let("width", max(s.Width, 1))
	d.addf("keys at which a layer is full, and another is added, c", "-(m / k) · ln(1 - full/m)", "Swamidass and Baldi 2007",
		"%.6g keys", plan.Filter{M: m, K: k}.Keys(s.Full).Value)
	d.add("rate of a full layer, p", "(1 - (1 - 1/m)^(k·c))^k", sixDigits(full), mullin)
	d.add("rate of ten full layers, if independent", "1 - (1 - p)^10", sixDigits(-math.Expm1(10*math.Log1p(-full))), "Guo, Wu, Chen and Luo 2006")
	d.addf("memory of a layer", "8 · ceil(m · width / 64)", "", "%d bytes", s.Forecast(1).Bytes)
	d.perKey(m, n)
}

// unionSteps are those of the only member of a new union, and the rate with a second one.
func unionSteps(d *derivation, s union.Shape, n uint64) {
	dynamicSteps(d, s.Member, n)
	p := s.Forecast(n).FPRate
	d.let("p", p)
	d.add("rate of a union with another member with the same rate", "1 - (1 - p)^2", sixDigits(plan.CompoundFPRate(p, p)), "independent events")
}

func foldingSteps(d *derivation, s folding.Shape, n uint64) {
	const sailhan = "Sailhan and Stehr 2012"
	low, high := s.Interval()
	folded, fc := s.FoldedSize(n), s.Forecast(n)
	sizes := plan.FoldSizes(s.M, 1<<s.Group)
	sizes = slices.DeleteFunc(sizes, func(m uint64) bool { return m < s.M/folding.MaxFold })
	d.let("m", s.M)
	d.let("k", s.K)
	d.let("f", folded)
	d.let("high", high)
	d.let("width", max(s.Width, 1))
	step := func(what, general, numbers, value, source string) {
		d.formulas = append(d.formulas, Formula{what, general, numbers, value, source})
	}
	step("interval of the rate", "[ρ - ε, ρ + ε]", fmt.Sprintf("%.4g ± %.4g", (low+high)/2, (high-low)/2),
		fmt.Sprintf("%.4g to %.4g", low, high), sailhan+", section III")
	least := -1 / math.Expm1(math.Log1p(-math.Pow(high, 1/float64(s.K)))/(float64(s.K)*float64(n)))
	d.addf(fmt.Sprintf("least size of the folded filter with %d keys", n), "1 / (1 - (1 - high^(1/k))^(1/(k·n)))",
		sailhan+", equation (14), corrected", "%.0f cells", math.Ceil(least*(1-1e-12)))
	step("size of the base", "the number with the most divisors in oversize times the interval of sizes",
		fmt.Sprintf("%d sizes from %d to %d cells", len(sizes), sizes[0], s.M), fmt.Sprintf("%d cells", s.M), sailhan+", section IV")
	d.let("r", s.M/folded)
	d.addf(fmt.Sprintf("size of the folded filter with %d keys, f: the smallest divisor of m that is at least the least size", n), "m / r",
		sailhan+", section IV-C", "%d cells", folded)
	d.add("rate at that size", "(1 - (1 - 1/f)^(k·n))^k", sixDigits(independent(folded, s.K, n)), mullin)
	step(fmt.Sprintf("false-positive rate with %d keys, on average over filters of different sizes", n), "Σ P(size) · E(fill^k | size)",
		fmt.Sprintf("fill at most %.4g", math.Pow(high, 1/float64(s.K))), sixDigits(fc.FPRate),
		"occupancies, Johnson and Kotz 1977")
	d.addf("memory of the base", "8 · ceil(m · width / 64)", "", "%d bytes", fc.Bytes)
	d.addf("memory of the folded filter", "8 · ceil(f / 64)", "", "%d bytes", (folded+63)/64*8)
}

func windowSteps(d *derivation, s window.Shape, n uint64) {
	const shtul = "Shtul, Baquero and Almeida 2020"
	d.let("k", s.K)
	d.let("l", s.L)
	d.let("s", s.Slice)
	d.let("g", s.Limit)
	d.let("t", s.Ticks)
	if s.Ticks == 0 {
		d.addf("keys of a generation, g, counted as bits of the newest slice", "ceil(n / l)", shtul, "%d keys", s.Limit)
		d.addf("keys added after a key before it expires, at least", "l · g", shtul, "%d keys", s.Window())
		d.add("fill ratio before a shift of a slice with k generations, s the cells of a slice", "1 - (1 - g/s)^k",
			fourDigits(-math.Expm1(float64(s.K)*math.Log1p(-float64(s.Limit)/float64(s.Slice)))), shtul)
		d.add(fmt.Sprintf("false-positive rate with %d keys before a shift, the worst moment; the i-th newest slice matches with 1 - (1 - g/s)^min(i,k)", n),
			"P(k consecutive ones of k + l slices of s cells match)", sixDigits(s.Forecast(n).FPRate), shtul+", the recursion over slices and matches")
	} else {
		d.addf("time before a key expires, at least, t the ticks of a generation", "l · t", shtul, "%d ticks", s.Window())
		d.add("fill ratio before a shift of a slice with k generations of n/l keys, s the cells of a slice", "1 - (1 - 1/s)^(k·n/l)",
			fourDigits(-math.Expm1(float64(s.K)*float64(n)/float64(s.L)*math.Log1p(-1/float64(s.Slice)))), shtul)
		d.add("rate if all keys are added in one generation", "(1 - (1 - 1/s)^n)^k",
			fourDigits(plan.FPRateAtFill(plan.Filter{M: s.Slice, K: 1}.Fill(n), s.K)), almeida+": k slices that contain all n keys")
		d.add(fmt.Sprintf("false-positive rate with %d keys: that, or if it is higher, before a shift that of generations with n/l bits in the "+
			"newest slice; the i-th newest slice then matches with 1 - (1 - n/(l·s))^min(i,k)", n),
			"P(k consecutive ones of k + l slices of s cells match)", sixDigits(s.Forecast(n).FPRate), shtul+", the recursion over slices and matches")
	}
	d.addf("memory, in words of 8 bytes", "8 · ceil((k + l) · s / 64)", shtul, "%d bytes", s.Forecast(n).Bytes)
}

func redisbloomSteps(d *derivation, s redisbloom.Shape, n uint64) {
	const redis = "Bloom 1970, as computed by RedisBloom"
	fc := s.Forecast(n)
	e := min(s.ErrorRate, redisbloom.MaxErrorRate)
	if !s.NonScaling {
		d.let("p", e)
		e /= 2
		d.add("error rate of the first layer, so that the sum p/2 + p/4 + … of all layers is at most p", "p / 2", sixDigits(e),
			"Almeida et al. 2007, section 4.1, with r = 1/2")
	}
	m, k := fc.Cells, int(fc.K)
	perKey := -math.Log(e) / 0.480453013918201 // RedisBloom's constant
	fill := plan.Filter{M: m, K: k}.Fill(n)
	d.let("e", e)
	d.let("b", fmt.Sprint(perKey))
	d.let("c", s.Capacity)
	d.let("m", m)
	d.let("k", k)
	d.let("f", fmt.Sprint(fill))
	d.let("correction", fmt.Sprintf("%.6g", fc.FPRate-math.Pow(fill, float64(k))))
	d.addf("bits per key, b", "-ln(e) / 0.480453013918201", redis, "%.4f bits", perKey)
	d.addf("cells, m", "⌈⌊c·b⌋/64⌉·64", "RedisBloom", "%d cells", m)
	d.add("cells set per key, k", "ceil(b · 0.693147180559945)", fmt.Sprint(k), redis)
	d.fill("1 - (1 - 1/m)^(k·n)", fill, "Bloom 1970")
	d.add(fmt.Sprintf("false-positive rate with %d keys, corrected for double hashing", n), "f^k + correction",
		sixDigits(fc.FPRate), "Dillinger and Manolios 2004; Kirsch and Mitzenmacher 2006")
	d.memory(m)
}
