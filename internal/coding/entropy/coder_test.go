package entropy

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns n bits, each of which is one with probability p.
func random(r *rand.Rand, n uint64, p float64) Bits {
	b := NewBits(n)
	if p > 0.5 {
		b = random(r, n, 1-p)
		b.invert()
		return b
	}
	if p > 0.05 {
		for i := range b.Words {
			for j := range min(64, n-uint64(i)*64) {
				if r.Uint32() < uint32(p*(1<<32)) {
					b.Words[i] |= 1 << j
				}
			}
		}
		return b
	}
	// Gaps are geometric.
	scale := 1 / math.Log1p(-p)
	for at := 0.0; p > 0; at++ {
		if at += math.Floor(math.Log(1-r.Float64()) * scale); at >= float64(n) {
			break
		}
		b.set(uint64(at))
	}
	return b
}

func (b Bits) set(i uint64) { b.Words[i/64] |= 1 << (i % 64) }

// noise returns a string of the same length with other bits in its words.
func (b Bits) noise() Bits {
	return Bits{slices.Repeat([]uint64{0x5a5a5a5a5a5a5a5a}, len(b.Words)), b.Len}
}

// roundTrip returns the payload of the strings after it has checked that it decodes to them.
func roundTrip(t testing.TB, c *Coder, strs ...Bits) []byte {
	t.Helper()
	payload := c.Append([]byte{7}, strs...)
	if payload[0] != 7 {
		t.Fatal("what was in dst isn't there")
	}
	payload = payload[1:]
	var decoded []Bits
	for _, s := range strs {
		decoded = append(decoded, s.noise())
	}
	if err := c.Decode(payload, decoded...); err != nil {
		t.Fatalf("%d strings, payload %x: %v", len(strs), payload[:min(40, len(payload))], err)
	}
	for i, s := range strs {
		if !slices.Equal(decoded[i].Words, s.Words) {
			t.Fatalf("string %d of %d, %d bits: not what was coded", i, len(strs), s.Len)
		}
	}
	return payload
}

var fills = []float64{0, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.03, 0.06, 0.1, 0.13, 0.15, 0.155, 0.3, 0.5, 0.7, 0.9, 0.99, 1}

func TestRoundTripShort(t *testing.T) {
	var c Coder
	r := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(260) {
		for _, p := range fills {
			roundTrip(t, &c, random(r, n, p))
			roundTrip(t, &c, random(r, n, p), random(r, r.Uint64N(100), 0.1), random(r, 259-n, 1-p))
		}
	}
	if got := roundTrip(t, &c); len(got) != 0 {
		t.Errorf("no strings have %d bytes, want none", len(got))
	}
}

func TestRoundTripLong(t *testing.T) {
	var c Coder
	r := rand.New(rand.NewPCG(3, 4))
	lengths := []uint64{1<<19 - 1, 1 << 19, 1<<19 - 63, 1<<19 - 100, 1<<19 + 9}
	if testing.Short() {
		lengths = lengths[:1]
	}
	for _, n := range lengths {
		for _, p := range fills {
			roundTrip(t, &c, random(r, n, p))
		}
	}
}

// TestRoundTripStructured encodes strings that are far from random strings of their fill.
func TestRoundTripStructured(t *testing.T) {
	var c Coder
	const n = 1<<19 + 5
	for name, f := range map[string]func(i uint64) bool{
		"the first bit":        func(i uint64) bool { return i == 0 },
		"the last bit":         func(i uint64) bool { return i == n-1 },
		"all but the first":    func(i uint64) bool { return i != 0 },
		"all but the last":     func(i uint64) bool { return i != n-1 },
		"a run at the start":   func(i uint64) bool { return i < 5000 },
		"a run at the end":     func(i uint64) bool { return i >= n-5000 },
		"a long run":           func(i uint64) bool { return i > n/3 && i < n/2 },
		"two of a run":         func(i uint64) bool { return i < n/2 && i%2 == 0 },
		"every 48th":           func(i uint64) bool { return i%48 == 47 },
		"every 64th":           func(i uint64) bool { return i%64 == 0 },
		"some of every 3000":   func(i uint64) bool { return i%3000 < 250 },
		"dense bytes of zeros": func(i uint64) bool { return i/8%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBits(n)
			for i := range uint64(n) {
				if f(i) {
					b.set(i)
				}
			}
			roundTrip(t, &c, b)
			roundTrip(t, &c, b, b)
			b.invert()
			roundTrip(t, &c, b)
		})
	}
}

// TestAll: several payloads at a time give the same results as one at a time, including errors.
func TestAll(t *testing.T) {
	var c Coder
	r := rand.New(rand.NewPCG(5, 6))
	bad := func(job int) bool { return job%3 == 2 }
	for jobs := range 14 {
		var all []Job
		var want [][]byte
		var from [][]Bits
		for j := range jobs {
			var strs []Bits
			for range r.IntN(3) {
				strs = append(strs, random(r, r.Uint64N(60000), fills[r.IntN(len(fills))]))
			}
			want = append(want, Append([]byte{byte(j)}, strs...))
			from = append(from, strs)
			all = append(all, Job{Code: []byte{byte(j)}, Strs: strs})
		}
		c.AppendAll(all)
		for j := range all {
			if !bytes.Equal(all[j].Code, want[j]) {
				t.Fatalf("job %d of %d isn't coded as it is alone", j, jobs)
			}
			all[j].Code = all[j].Code[1:]
			if bad(j) {
				all[j].Code = append(all[j].Code[:0], make([]byte, len(from[j]))...)
				all[j].Code = append(all[j].Code, 1)
			}
			all[j].Strs = nil
			for _, s := range from[j] {
				all[j].Strs = append(all[j].Strs, s.noise())
			}
		}
		c.DecodeAll(all)
		for j := range all {
			if errors.Is(all[j].Err, ErrCorrupt) != bad(j) || all[j].Err != nil != bad(j) {
				t.Fatalf("job %d of %d: error %v, want one: %v", j, jobs, all[j].Err, bad(j))
			}
			for i, s := range all[j].Strs {
				if all[j].Err == nil && !slices.Equal(s.Words, from[j][i].Words) {
					t.Fatalf("string %d of job %d of %d: not what was coded", i, j, jobs)
				}
			}
		}
	}
}

func TestCorrupt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	b := random(r, 1000, 0.1)
	for _, c := range []struct {
		name string
		code []byte
		b    Bits
	}{
		{"no level", nil, b},
		{"level of no bits", []byte{5}, Bits{}},
		{"no level, and more", []byte{0, 1}, b},
		{"bytes that no symbol takes", append([]byte{100}, bytes.Repeat([]byte{255}, 40)...), NewBits(16)},
		{"a state's last byte of 0", []byte{1, 7, 0}, b},
		{"a state that isn't used up", []byte{181, 1, 2, 3, 4, 5, 6, 7}, NewBits(8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := Decode(c.code, c.b.noise()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v, want one that wraps ErrCorrupt", err)
			}
		})
	}
	// The one is after the end: the last gap of a table with raw bits.
	t.Run("a one beyond the end", func(t *testing.T) {
		seen := false
		for state := range 1 << 16 {
			err := Decode([]byte{2, byte(state), byte(state >> 8), 1}, NewBits(700))
			seen = seen || err != nil && bytes.Contains([]byte(err.Error()), []byte("a one at"))
		}
		if !seen {
			t.Error("none found")
		}
	})
}

// TestExhausted: an exhausted state repeats the last symbol: zeros if the symbols are gaps, ones
// if they are bytes. The encoder's state is 0 until another symbol comes.
func TestExhausted(t *testing.T) {
	var c Coder
	for level := 1; level <= lastLevel; level++ {
		step, inverted := stepOf(uint8(level))
		for _, n := range []uint64{1, 7, 8, 63, 64, 65, 128, 1000, 70001} {
			want := NewBits(n)
			if (step >= firstDense) != inverted {
				want.invert()
			}
			got := want.noise()
			if err := c.Decode([]byte{byte(level)}, got); err != nil || !slices.Equal(got.Words, want.Words) {
				t.Fatalf("level %d, %d bits: %d ones, want %d: %v", level, n, got.Count(), want.Count(), err)
			}
		}
	}
	// The state is 0 in the middle of a word, and strings follow.
	r := rand.New(rand.NewPCG(15, 16))
	for at := range uint64(200) {
		b := NewBits(500)
		for i := range b.Len {
			if i >= at || r.IntN(3) == 0 {
				b.set(i)
			}
		}
		roundTrip(t, &c, b, b)
		b.invert()
		roundTrip(t, &c, b, b)
	}
}

func TestMalformedPanics(t *testing.T) {
	for name, b := range map[string]Bits{
		"few words":   {nil, 1},
		"many words":  {make([]uint64, 2), 64},
		"bits beyond": {[]uint64{2}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Append(nil, b)
		})
	}
}

func TestNoAllocations(t *testing.T) {
	var c Coder
	for _, p := range []float64{0.001, 0.13, 0.5} {
		jobs := blocks(5, p)
		strs := jobs[0].Strs
		c.AppendAll(jobs)
		for name, f := range map[string]func(){
			"Append":    func() { jobs[0].Code = c.Append(jobs[0].Code[:0], strs...) },
			"Decode":    func() { _ = c.Decode(jobs[0].Code, strs...) },
			"DecodeAll": func() { c.DecodeAll(jobs) },
			"AppendAll": func() {
				for i := range jobs {
					jobs[i].Code = jobs[i].Code[:0]
				}
				c.AppendAll(jobs)
			},
		} {
			if n := testing.AllocsPerRun(3, f); n != 0 {
				t.Errorf("%s at fill %v: %v allocations, want none", name, p, n)
			}
		}
	}
}

func ExampleAppend() {
	b := NewBits(1000)
	for _, i := range []uint64{3, 141, 592, 653} {
		b.Words[i/64] |= 1 << (i % 64)
	}
	code := Append(nil, b)
	fmt.Println(len(code), "bytes")

	decoded := NewBits(1000)
	if err := Decode(code, decoded); err != nil {
		fmt.Println(err)
	}
	fmt.Println(decoded.Count(), "ones")
	// Output:
	// 6 bytes
	// 4 ones
}

// TestKnownOnes: a job has the same code whether its ones are given or counted.
func TestKnownOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	var c Coder
	for _, p := range fills {
		strs := []Bits{random(r, 5000, p), random(r, 777, p/2)}
		jobs := []Job{{Strs: strs}, {Strs: strs, Ones: []uint64{strs[0].Count(), strs[1].Count()}}}
		c.AppendAll(jobs)
		if got, want := jobs[1].Code, jobs[0].Code; !bytes.Equal(got, want) {
			t.Errorf("fill %v: %x with known ones, want %x", p, got, want)
		}
	}
}
