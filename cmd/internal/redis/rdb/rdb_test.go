package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// goldenDump is what RedisBloom 8 answers to DUMP of BF.RESERVE k6 0.01 100 NONSCALING.
const goldenDump = "\a\x810\x16墉\xbe\xf8\x04\x02\x00\x02\x01\x02\r\x02\x02\x02@d\x04{\x14\xaeG\xe1z\x84?\x02\a\x04\x88\x16\x8aŌ+#@\x02C\xc0\x02\x00\x05\xc3\t@x\x01\x00\x00\xe0k\x00\x01\x00\x00\x02\x00\x00\f\x00\xa0+O\xce\xfeI\xf5b"

func reserve(t testing.TB, o redisbloom.Options) *redisbloom.Filter {
	t.Helper()
	f, err := redisbloom.Reserve(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGoldenDump(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 100, NonScaling: true, Expansion: 2})
	if got := Append(nil, f.State()); string(got) != goldenDump {
		t.Errorf("got  %q\nwant %q", got, goldenDump)
	}
}

// same reports whether two filters have the same header and bytes.
func same(t testing.TB, a, b *redisbloom.Filter) bool {
	t.Helper()
	for iter := int64(0); ; {
		next, x, err := a.ScanDump(iter)
		if err != nil {
			t.Fatal(err)
		}
		n, y, err := b.ScanDump(iter)
		if err != nil {
			t.Fatal(err)
		}
		if n != next || !bytes.Equal(x, y) {
			return false
		}
		if iter = next; iter == 0 {
			return true
		}
	}
}

// What is dumped is restored, filters of one layer or many, empty or full.
func TestPayloadRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, o := range []redisbloom.Options{
		{ErrorRate: 0.01, Capacity: 100},
		{ErrorRate: 0.25, Capacity: 1, Expansion: 1},
		{ErrorRate: 1e-300, Capacity: 10, NonScaling: true},
		{ErrorRate: 0.001, Capacity: 5000, Expansion: 4},
	} {
		for _, n := range []int{0, 1, 100, 700} {
			f := reserve(t, o)
			for range n {
				f.Add(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
			}
			payload := Append(nil, f.State())
			g, err := Parse(payload, 1<<30, anything)
			if err != nil {
				t.Fatalf("%+v with %d keys: %v", o, n, err)
			}
			if !same(t, f, g) {
				t.Errorf("%+v with %d keys: another filter came back", o, n)
			}
		}
	}
}

// sealed returns a payload with the sum that belongs to it.
func sealed(payload string) []byte {
	b := []byte(payload[:len(payload)-8])
	return binary.LittleEndian.AppendUint64(b, sum(b))
}

// A payload with one thing wrong makes no filter.
func TestPayloadRefused(t *testing.T) {
	edit := func(old, new string) string {
		if strings.Count(goldenDump, old) != 1 {
			t.Fatalf("%q isn't there once", old)
		}
		return strings.Replace(goldenDump, old, new, 1)
	}
	for name, c := range map[string]struct {
		payload string
		want    error
	}{
		"another module":        {edit("\xbe\xf8\x04", "\xbe\xf7\x04"), ErrFormat},
		"another version":       {edit("\xbe\xf8\x04", "\xbe\xf8\x03"), ErrFormat},
		"no module":             {"\x00" + goldenDump[1:], ErrFormat},
		"2^64-1 layers":         {edit("\x02\x01\x02\r", "\x02\x81\xff\xff\xff\xff\xff\xff\xff\xff\x02\r"), ErrFormat},
		"no layers":             {edit("\x02\x01\x02\r", "\x02\x00\x02\r"), ErrFormat},
		"unknown options":       {edit("\x02\x01\x02\r", "\x02\x01\x02\x1d"), ErrFormat},
		"no bits":               {edit("\x02C\xc0\x02", "\x02\x00\x02"), ErrFormat},
		"more bits than cells":  {edit("\x02C\xc0\x02", "\x02D\x00\x02"), ErrFormat},
		"giant bits":            {edit("\x02C\xc0\x02", "\x02\x81\x00\xff\xff\xff\xff\xff\xff\xc0\x02"), umbel.ErrLimit},
		"other k":               {edit("\x02\a\x04", "\x02\x08\x04"), ErrFormat},
		"rate NaN":              {edit("{\x14\xaeG\xe1z\x84?", "{\x14\xaeG\xe1z\xf8\x7f"), ErrFormat},
		"packed cells cut":      {edit("\xc3\t@x\x01\x00\x00\xe0k\x00\x01\x00\x00", "\xc3\x06@x\x01\x00\x00\xe0k\x00"), ErrFormat},
		"repetition from ahead": {edit("\xe0k\x00", "\xe0k\x07"), ErrFormat},
		"giant packed cells":    {edit("\xc3\t@x", "\xc3\t\x80\xff\xff\xff\xff"), ErrFormat},
		"items without entries": {edit("\x04\x02\x00\x02\x01", "\x04\x02\x05\x02\x01"), ErrFormat},
		"bytes behind the end":  {edit("\x02\x00\x00\f", "\x02\x00\x00\x00\f"), ErrFormat},
		"cut":                   {goldenDump[:40] + goldenDump[len(goldenDump)-10:], ErrFormat},
		"nothing":               {strings.Repeat("\x00", 10), ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse(sealed(c.payload), 1<<30, anything)
			if f != nil || !errors.Is(err, c.want) {
				t.Errorf("%v, %v, want %v", f, err, c.want)
			}
		})
	}
	for _, payload := range []string{"", "short", goldenDump[:len(goldenDump)-1] + "x", "\b" + goldenDump[1:]} {
		if f, err := Parse([]byte(payload), 1<<30, anything); f != nil || !errors.Is(err, ErrEnvelope) {
			t.Errorf("%q: %v, %v, want %v", payload, f, err, ErrEnvelope)
		}
	}
}

// Redis writes a string that is the digits of a number as that number.
func TestDigitsForCells(t *testing.T) {
	for digits, encoded := range map[string]string{
		"12345678": "\xc2\x4e\x61\xbc\x00",
		"-1234567": "\xc2\x79\x29\xed\xff",
	} {
		p := payload{rest: []byte("\x05" + encoded), room: 8, hold: anything}
		words := p.cells(1)
		if p.err != nil || string(plainBytes(words)) != digits {
			t.Errorf("%q: %q, %v", digits, plainBytes(words), p.err)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add([]byte(goldenDump)[:len(goldenDump)-8])
	small, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.1, Capacity: 4})
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(20) {
		small.Add(umbel.Digest{H1: i * 0x9e3779b97f4a7c15, H2: i})
	}
	b := Append(nil, small.State())
	f.Add(b[:len(b)-8])
	f.Fuzz(func(t *testing.T, b []byte) {
		payload := binary.LittleEndian.AppendUint64(b, sum(b))
		own, err := Parse(payload, 1<<20, anything)
		if err != nil {
			if own != nil || !errors.Is(err, ErrEnvelope) && !errors.Is(err, ErrFormat) && !errors.Is(err, umbel.ErrLimit) {
				t.Fatalf("%v, %v", own, err)
			}
			return
		}
		again, err := Parse(Append(nil, own.State()), 1<<20, anything)
		if err != nil || !same(t, own, again) {
			t.Fatalf("dumped again: %v", err)
		}
	})
}

func TestLZF(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 600 {
		b := make([]byte, n)
		for i := range b {
			if rng.IntN(n+1) < 40 {
				b[i] = byte(rng.IntN(3))
			}
		}
		packed, ok := lzf(nil, b, 2*n+10)
		got, err := unLZF(nil, packed, uint64(n))
		if !ok || err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%q\npacked %q, %v\nback %q, %v", b, packed, ok, got, err)
		}
		if packed, ok = lzf(nil, b, len(packed)-1); n > 0 && (ok || len(packed) > 0) {
			t.Fatalf("%d bytes: packed to fewer than there are", n)
		}
	}
	long := bytes.Repeat([]byte("abcdefghi"), 5000)
	packed, ok := lzf(nil, long, len(long))
	if got, err := unLZF(nil, packed, uint64(len(long))); !ok || err != nil || !bytes.Equal(got, long) || len(packed) > len(long)/50 {
		t.Errorf("%d bytes packed to %d, %v, %v", len(long), len(packed), ok, err)
	}
}

func FuzzUnLZF(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\xe0k\x00\x01\x00\x00"), uint64(120))
	f.Add([]byte("\x02abc\x20\x02"), uint64(6))
	f.Fuzz(func(t *testing.T, packed []byte, n uint64) {
		got, err := unLZF(nil, packed, n)
		if err == nil && uint64(len(got)) != n {
			t.Fatalf("%d bytes, want %d", len(got), n)
		}
	})
}

// anything takes any memory.
func anything(uint64) error { return nil }
