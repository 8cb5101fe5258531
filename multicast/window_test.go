package multicast

import (
	"math/rand/v2"
	"testing"
)

// model is a window without limits: all packets that came, and the largest sequence of each
// source.
type model struct {
	came    map[[2]uint32]bool
	highest map[uint32]uint32
}

func (m *model) pass(source, sequence uint32) bool {
	highest, known := m.highest[source]
	behind := highest - sequence
	ahead := !known || int32(-behind) > 0
	if m.came[[2]uint32{source, sequence}] || !ahead && behind >= 64 {
		return false
	}
	m.came[[2]uint32{source, sequence}] = true
	if ahead {
		m.highest[source] = sequence
	}
	return true
}

func TestWindowIsItsModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w, err := newWindow(8)
	if err != nil {
		t.Fatal(err)
	}
	m := model{map[[2]uint32]bool{}, map[uint32]uint32{}}
	start := [8]uint32{}
	for i := range start {
		start[i] = ^uint32(100 * i) // so that some wrap around
	}
	passed := 0
	for range 100000 {
		s := r.IntN(len(start))
		seq := start[s] + uint32(r.IntN(100))
		if r.IntN(20) == 0 {
			start[s] += uint32(r.IntN(70))
		}
		peek := w.isNew(uint32(s), seq)
		got, want := w.pass(uint32(s), seq), m.pass(uint32(s), seq)
		if got != want || peek != got {
			t.Fatalf("source %d, sequence %d: passes %v, would pass %v, want %v", s, seq, got, peek, want)
		}
		if got {
			passed++
		}
	}
	if passed < 1000 {
		t.Errorf("%d passed: the test draws too few new ones", passed)
	}
}

func TestWindowForgetsTheSilent(t *testing.T) {
	w, err := newWindow(3)
	if err != nil {
		t.Fatal(err)
	}
	for source := range uint32(3) {
		w.pass(source, 7)
	}
	w.pass(0, 8) // so that 1 is the one silent for longest
	w.pass(3, 7)
	for _, c := range []struct {
		source uint32
		want   bool
	}{{0, false}, {2, false}, {3, false}, {1, true}} {
		if got := w.isNew(c.source, 7); got != c.want {
			t.Errorf("source %d: sequence 7 is new: %v, want %v", c.source, got, c.want)
		}
	}
}

// TestWindowUnderFlood: with far more sources than the window has room for, its lists stay
// consistent, and of a packet that comes twice in a row one passes.
func TestWindowUnderFlood(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w, err := newWindow(50)
	if err != nil {
		t.Fatal(err)
	}
	for range 20000 {
		source, seq := r.Uint32()%400, r.Uint32()
		w.pass(source, seq)
		if w.pass(source, seq) {
			t.Fatalf("source %d, sequence %d passed twice", source, seq)
		}
	}
	inOrder, inBuckets := 0, 0
	for i, last := w.oldest, int32(none); i != none; i, last = w.entries[i].newer, i {
		if w.entries[i].older != last {
			t.Fatalf("entry %d: older is %d, want %d", i, w.entries[i].older, last)
		}
		inOrder++
	}
	for _, i := range w.buckets {
		for ; i != none; i = w.entries[i].chain {
			inBuckets++
		}
	}
	if inOrder != 50 || inBuckets != 50 {
		t.Errorf("%d in order, %d in buckets, want 50", inOrder, inBuckets)
	}
}

func TestWindowHalfTheCircleBehind(t *testing.T) {
	w, err := newWindow(1)
	if err != nil {
		t.Fatal(err)
	}
	w.pass(1, 0)
	if w.pass(1, 1<<31) {
		t.Error("a sequence 2^31 away passes, want it to count as older")
	}
	if !w.pass(1, 1<<31-1) || w.pass(1, 0) {
		t.Error("2^31-1 ahead: want it to pass, and 0 behind it not to")
	}
}

func TestWindowSizes(t *testing.T) {
	for _, n := range []int{-1, 0, maxSources + 1} {
		if _, err := newWindow(n); err == nil {
			t.Errorf("a window of %d sources: no error", n)
		}
	}
}
