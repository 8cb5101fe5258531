package entropy

import (
	"math"
	"math/bits"
	"testing"
)

func TestTables(t *testing.T) {
	for step := 1; step <= lastStep; step++ {
		a := newTable(step)
		n := int(a.last) + 1
		if n > 256 || a.cum[0] != 0 || a.cum[n] != whole {
			t.Fatalf("step %d: %d symbols from %d to %d, want at most 256 from 0 to %d", step, n, a.cum[0], a.cum[n], whole)
		}
		least := uint32(4)
		if a.dense {
			least = 1
		}
		for i := range n {
			if f := a.cum[i+1] - a.cum[i]; a.cum[i+1] <= a.cum[i] || f < least {
				t.Errorf("step %d: symbol %d has %d to %d, want %d or more", step, i, a.cum[i], a.cum[i+1], least)
			}
		}
		p := float64(step*step) / whole
		if width := p * float64(uint64(1)<<a.shift); !a.dense && (width > 1.0/16 && a.shift > 0 || width <= 1.0/32) {
			t.Errorf("step %d: 2^b·p is %v, want 1/32 to 1/16, or b=0", step, width)
		}
		// What kernels rely on to find escapes within a word.
		if !a.dense && a.escape < 33 {
			t.Errorf("step %d: an escape of %d, want 33 or more", step, a.escape)
		}
	}
}

// The frequencies are those of the model, to within the rounding of the survivals, or
// of the bytes; byte 0 has the errors of all others.
func TestFrequencies(t *testing.T) {
	for step := 1; step <= lastStep; step++ {
		a, p := newTable(step), float64(step*step)/whole
		for i := range int(a.last) {
			want, within := whole*math.Pow(1-p, float64(uint64(i)<<a.shift)), 0.51
			got := float64(whole - a.cum[i])
			if a.dense {
				ones := bits.OnesCount8(uint8(i + 1))
				want = max(1, whole*math.Pow(p, float64(ones))*math.Pow(1-p, float64(8-ones)))
				got = float64(a.cum[i+2] - a.cum[i+1])
			}
			if math.Abs(got-want) > within {
				t.Errorf("step %d, symbol %d: %v, want %v", step, i, got, want)
			}
		}
	}
}

// TestReciprocals: multiplication by a reciprocal equals division, up to the largest state.
func TestReciprocals(t *testing.T) {
	for step := 1; step <= lastStep; step++ {
		a := tables[step]()
		for i := range int(a.last) + 1 {
			f := uint64(a.cum[i+1] - a.cum[i])
			e := &a.put
			for _, x := range []uint64{f << 15, f<<15 + f - 1, f<<47 - 1, f<<47 - f, f<<47 - f - 1, f<<46 + 12345, f * 0x123456789a, f*0x123456789a - 1} {
				q, _ := bits.Mul64(x, e.inverse[i])
				got := x + e.begin[i] + q>>e.shift[i]*e.rest[i]
				if want := x/f<<16 + uint64(a.cum[i]) + x%f; got != want {
					t.Fatalf("step %d, symbol %d on state %d: %d, want %d", step, i, x, got, want)
				}
			}
		}
	}
}

// cost returns the bits that x random ones of n bits take at a level.
func cost(level int, x, n uint64) float64 {
	s, inverted := stepOf(uint8(level))
	p := float64(s*s) / whole
	if inverted {
		p = 1 - p
	}
	return -float64(x)*math.Log2(p) - float64(n-x)*math.Log2(1-p)
}

func TestLevelFor(t *testing.T) {
	check := func(x, n uint64) {
		level := levelFor(x, n)
		if (x == 0) != (level == 0) {
			t.Fatalf("%d ones of %d: level %d", x, n, level)
		}
		if x == 0 {
			return
		}
		best := math.Inf(1)
		for l := 1; l <= lastLevel; l++ {
			best = min(best, cost(l, x, n))
		}
		if got := cost(int(level), x, n); got > best+1 {
			t.Errorf("%d ones of %d: level %d takes %.2f bits, want %.2f", x, n, level, got, best)
		}
	}
	for n := range uint64(70) {
		for x := range n + 1 {
			check(x, n)
		}
	}
	const n = 1 << 19
	for x := uint64(0); x <= n; x += 1 + min(x, n-x)/50 {
		check(x, n)
	}
	// Nothing overflows.
	const huge = ^uint64(0)
	for _, c := range []struct {
		x    uint64
		want uint8
	}{{0, 0}, {1, 1}, {huge / 4, 128}, {huge / 2, 181}, {huge - 1, 182}, {huge, 182}} {
		if got := levelFor(c.x, huge); got != c.want {
			t.Errorf("%d ones of 2^64-1: level %d, want %d", c.x, got, c.want)
		}
	}
}

func TestSteps(t *testing.T) {
	before := 0
	for level := 1; level <= lastLevel; level++ {
		step, inverted := stepOf(uint8(level))
		if level == lastStep+1 {
			before = 0
		}
		if step <= before || step > lastStep || inverted != (level > lastStep) {
			t.Errorf("level %d: step %d, inverted %v, after step %d", level, step, inverted, before)
		}
		before = step
	}
	if before != lastStep {
		t.Errorf("the last level has step %d, want %d", before, lastStep)
	}
}
