package adaptive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
)

// tiny is a design of two blocks that is small enough to be written by hand.
var tiny = Design{
	Objective: Hashed, K: 3, Least: 1, Method: ByOptimum, Rate: 0.25,
	Runs: []Run{{4, 1 << 61}, {8, 1 << 58}}, Ends: []int{4, 12}, Weights: Weights{3, 1},
}

// designs returns designs of all methods and both objectives.
func designs(t testing.TB) map[string]*Design {
	t.Helper()
	must := func(d *Design, err error) *Design {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	goal := Requirements{Rate: 0.1, Weights: Uniform(20)}
	hashed := goal
	hashed.Objective = Hashed
	some := tiny
	return map[string]*Design{
		"tiny":                &some,
		"one link":            mustHeuristic(t, 1, 0.5),
		"heuristic":           mustHeuristic(t, 20, 0.1),
		"optimum/independent": must(Optimum(goal)),
		"optimum/hashed":      must(Optimum(hashed)),
	}
}

func TestBytes(t *testing.T) {
	const want = "75616401" + "01" + "03" + "3fd0000000000000" + "03" + "01" +
		"02" + "04" + "08" + "02" + "04" + "2000000000000000" + "08" + "0400000000000000" + "02" + "03" + "01"
	if b, err := tiny.MarshalBinary(); err != nil || hex.EncodeToString(b) != want {
		t.Errorf("bytes are %x, %v, want %s", b, err, want)
	}
	if got, want := tiny.ID(), "470c364cd6d659e524491ad4f6aeb323"; got != want {
		t.Errorf("ID is %s, want %s", got, want)
	}
	ids := make(map[string]string)
	for name, d := range designs(t) {
		b, err := d.AppendBinary([]byte("before"))
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatalf("%s: %v, or what was there is overwritten", name, err)
		}
		var again, read Design
		if err := again.UnmarshalBinary(b[len("before"):]); err != nil || !reflect.DeepEqual(&again, d) {
			t.Errorf("%s: by its bytes %+v, %v, want %+v", name, again, err, d)
		}
		j, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(j, &read); err != nil || !reflect.DeepEqual(&read, d) {
			t.Errorf("%s: by its JSON %+v, %v, want %+v", name, read, err, d)
		}
		if other := ids[d.ID()]; other != "" {
			t.Errorf("%s and %s have one ID", name, other)
		}
		ids[d.ID()] = name
	}
}

// TestBytesRefuse: a missing or additional byte at any place is refused, and the receiver is
// unchanged.
func TestBytesRefuse(t *testing.T) {
	b, err := tiny.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(at int, by ...byte) []byte { return append(append(bytes.Clone(b[:at]), by...), b[at+1:]...) }
	cases := map[string][]byte{
		"one more byte":           append(bytes.Clone(b), 0),
		"another magic":           replaced(0, 'v'),
		"another version":         replaced(3, 2),
		"objective":               replaced(4, 2),
		"method":                  replaced(5, 4),
		"rate above one":          replaced(6, 0x40),
		"k of none":               replaced(14, 0),
		"k in two bytes":          replaced(14, 0x83, 0),
		"least above the front":   replaced(15, 5),
		"links that aren't there": replaced(16, 0xff, 0xff, 0xff, 0x7f),
		"no links":                replaced(16, 0),
		"no bits":                 replaced(17, 0),
		"a long uvarint":          replaced(17, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"runs too short":          replaced(20, 3),
		"odds above one":          replaced(21, 0xf0),
		"a last weight of 0":      replaced(len(b)-1, 0),
	}
	for n := range b {
		cases[string(rune('0'+n))+" bytes"] = b[:n]
	}
	for what, b := range cases {
		d := tiny
		if err := d.UnmarshalBinary(b); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrCorrupt)
		}
		if !reflect.DeepEqual(d, tiny) {
			t.Errorf("%s: the design is overwritten: %+v", what, d)
		}
	}
	huge := replaced(16, 0xff, 0xff, 0xff, 0xff, 0x0f)
	if n := testing.AllocsPerRun(10, func() { var d Design; _ = d.UnmarshalBinary(huge) }); n > 5 {
		t.Errorf("%g allocations for 4 billion links that aren't there, want a few for the error", n)
	}
}

func TestJSONRefuse(t *testing.T) {
	good := `{"version":1,"objective":"hashed","method":"optimum","rate":0.25,"k":3,"least":1,"ends":[4,12],"runs":[{"positions":4,"odds":"2000000000000000"},{"positions":8,"odds":"0400000000000000"}],"weights":[3,1]}`
	var d Design
	if err := d.UnmarshalJSON([]byte(good)); err != nil || !reflect.DeepEqual(d, tiny) {
		t.Fatalf("%+v, %v, want %+v", d, err, tiny)
	}
	if b, err := tiny.MarshalJSON(); err != nil || string(b) != good {
		t.Errorf("JSON is %s, %v, want %s", b, err, good)
	}
	for what, c := range map[string][2]string{
		"version":       {`"version":1`, `"version":2`},
		"field":         {`"least"`, `"most"`},
		"objective":     {`hashed`, `hash`},
		"method":        {`optimum`, `optimal`},
		"short odds":    {`2000000000000000`, `2`},
		"signed odds":   {`2000000000000000`, `+200000000000000`},
		"rate":          {`0.25`, `1`},
		"lengths":       {`[4,12]`, `[12,4]`},
		"half a design": {`"weights":[3,1]}`, ``},
		"two":           {`[3,1]}`, `[3,1]}{}`},
	} {
		d := tiny
		b := bytes.Replace([]byte(good), []byte(c[0]), []byte(c[1]), 1)
		if err := d.UnmarshalJSON(b); !errors.Is(err, umbel.ErrCorrupt) || !reflect.DeepEqual(d, tiny) {
			t.Errorf("%s: %v, %+v, want an error that wraps %q and no change", what, err, d, umbel.ErrCorrupt)
		}
	}
}

// TestCheck: an invalid design is refused by every method that receives one.
func TestCheck(t *testing.T) {
	for what, change := range map[string]func(*Design){
		"objective":           func(d *Design) { d.Objective = 2 },
		"method":              func(d *Design) { d.Method = 9 },
		"k of independent":    func(d *Design) { d.Objective = Independent },
		"k of none":           func(d *Design) { d.K = 0 },
		"k of many":           func(d *Design) { d.K = MaxK + 1 },
		"no rate":             func(d *Design) { d.Rate = math.NaN() },
		"no links":            func(d *Design) { d.Ends = nil },
		"many links":          func(d *Design) { d.Ends = make([]int, MaxLinks+1) },
		"falling lengths":     func(d *Design) { d.Ends = []int{4, 3} },
		"many bits":           func(d *Design) { d.Ends = []int{4, MaxBits + 1} },
		"an empty run":        func(d *Design) { d.Runs = []Run{{4, 1}, {0, 2}, {8, 1}} },
		"a run without odds":  func(d *Design) { d.Runs = []Run{{4, 1}, {8, 0}} },
		"two runs for one":    func(d *Design) { d.Runs = []Run{{4, 1}, {8, 1}} },
		"too few positions":   func(d *Design) { d.Runs = []Run{{4, 1}, {7, 2}} },
		"too many positions":  func(d *Design) { d.Runs = []Run{{4, 1}, {9, 2}} },
		"odds above one":      func(d *Design) { d.Runs = []Run{{4, 1 << 61}, {8, 1<<60 + 1}} },
		"least of many":       func(d *Design) { d.Least = 5 },
		"least above k":       func(d *Design) { d.Least = 4 },
		"least below none":    func(d *Design) { d.Least = -1 },
		"weights":             func(d *Design) { d.Weights = Weights{1} },
		"weights without one": func(d *Design) { d.Weights = Weights{1, 0} },
		"large weights":       func(d *Design) { d.Weights = Weights{1 << 53, 1} },
	} {
		d := tiny
		change(&d)
		if err := d.Check(); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrGoal)
		}
		if _, err := d.Sampler(); err == nil {
			t.Errorf("%s: there is a sampler", what)
		}
		if _, err := d.MarshalBinary(); err == nil {
			t.Errorf("%s: there are bytes", what)
		}
		if _, err := d.MarshalJSON(); err == nil {
			t.Errorf("%s: there is JSON", what)
		}
	}
	whole := tiny
	whole.Runs = []Run{{4, 1 << 61}, {8, 1 << 60}} // one, exactly
	if err := whole.Check(); err != nil {
		t.Errorf("odds of one together: %v", err)
	}
}

// FuzzDesign: an accepted design encodes to the same bytes or JSON, and nothing panics.
func FuzzDesign(f *testing.F) {
	for _, d := range designs(f) {
		b, err := d.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d, again Design
		if err := d.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("%v, want an error that wraps %q", err, umbel.ErrCorrupt)
			}
			return
		}
		if out, err := d.MarshalBinary(); err != nil || !bytes.Equal(out, b) {
			t.Fatalf("%x becomes %x, %v", b, out, err)
		}
		j, err := d.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(j); err != nil || !reflect.DeepEqual(d, again) {
			t.Fatalf("%+v becomes %s, %v", d, j, err)
		}
		s, err := d.Sampler()
		if err != nil {
			t.Fatal(err)
		}
		if w := s.Codeword(umbelCodeword(1), 1); len(w) != (d.Bits()+63)/64 || w[len(w)-1]>>1>>((d.Bits()-1)&63) != 0 {
			t.Fatalf("a codeword of %d positions is %x", d.Bits(), w)
		}
	})
}

func FuzzDesignJSON(f *testing.F) {
	for _, d := range designs(f) {
		b, err := d.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d, again Design
		if err := d.UnmarshalJSON(b); err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("%v, want an error that wraps %q", err, umbel.ErrCorrupt)
			}
			return
		}
		out, err := d.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(out); err != nil || !reflect.DeepEqual(d, again) {
			t.Fatalf("%s becomes %s, %v", b, out, err)
		}
	})
}

// TestLargestDesign: the largest design can be decoded. Inputs that are longer than any design
// are refused before they are parsed.
func TestLargestDesign(t *testing.T) {
	d := Design{Objective: Independent, Least: 1, Rate: 0.1, Ends: make([]int, MaxLinks), Weights: make(Weights, MaxLinks)}
	for i := range d.Ends {
		d.Ends[i], d.Weights[i] = MaxBits, 1<<53/MaxLinks
	}
	for i := range MaxBits {
		d.Runs = append(d.Runs, Run{1, 1<<63 + uint64(i%2)})
	}
	b, err := d.MarshalBinary()
	if err != nil || len(b) > maxSize {
		t.Fatalf("%d bytes, %v, want at most %d", len(b), err, maxSize)
	}
	var again Design
	if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, d) {
		t.Errorf("what is read isn't what was written, %v", err)
	}
	long := append(b, make([]byte, maxSize)...)
	if n := testing.AllocsPerRun(10, func() { err = again.UnmarshalBinary(long) }); n > 5 || !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("%d bytes: %v after %g allocations, want an error that wraps %q after a few", len(long), err, n, umbel.ErrCorrupt)
	}
}
