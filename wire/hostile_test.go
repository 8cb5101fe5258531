package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// refused reports an error unless all functions refuse b with want, with the same error with and
// without workers.
func refused(t *testing.T, what string, b []byte, l wire.Limits, want error) {
	t.Helper()
	for name, read := range map[string]func(wire.Limits) error{
		"Parse":            func(l wire.Limits) error { _, err := wire.Parse(b, l); return err },
		"Read":             func(l wire.Limits) error { _, err := wire.Read(bytes.NewReader(b), l); return err },
		"Read of a stream": func(l wire.Limits) error { _, err := wire.Read(bytes.NewBuffer(b), l); return err },
		"ReadBlocks":       func(l wire.Limits) error { return readBlocks(bytes.NewBuffer(b), l) },
	} {
		err := read(l)
		if !errors.Is(err, want) {
			t.Errorf("%s: %s: %v, want %v", what, name, err, want)
		}
		l.Workers = 3
		if parallel := read(l); fmt.Sprint(parallel) != fmt.Sprint(err) {
			t.Errorf("%s: %s: %v, with workers %v", what, name, err, parallel)
		}
	}
}

// samples are small containers with all elements of the format.
func samples(t testing.TB) map[string][]byte {
	return map[string][]byte{"plain": mustAppend(t, wiretest.Sample(t)), "packed": mustPack(t, packed(t)), "noted": mustPack(t, noted(t))}
}

func TestTruncatedAndAppended(t *testing.T) {
	for name, b := range samples(t) {
		for n := range len(b) {
			refused(t, name+", truncated", b[:n], wire.Limits{}, umbel.ErrCorrupt)
		}
		refused(t, name+", appended", append(bytes.Clone(b), 0), wire.Limits{}, umbel.ErrCorrupt)
		refused(t, name+", twice", append(bytes.Clone(b), b...), wire.Limits{}, umbel.ErrCorrupt)
	}
}

func TestEveryBitFlip(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	for name, b := range samples(t) {
		for i := range 8 * len(b) {
			b[i/8] ^= 1 << (i % 8)
			_, err := wire.Parse(b, wire.Limits{})
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("%s: bit %d flipped: %v", name, i, err)
			}
			if _, err := wire.Read(bytes.NewBuffer(b), wire.Limits{}); err == nil {
				t.Errorf("%s: bit %d flipped: Read took it", name, i)
			}
			// With the correct checksum it may be another container, but not one of a state
			// that can't be.
			s, err := wire.Parse(wiretest.Sum(bytes.Clone(b[:len(b)-4])), wire.Limits{})
			if err == nil {
				err = s.Check()
			} else if errors.Is(err, umbel.ErrCorrupt) || errors.Is(err, umbel.ErrLimit) {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: bit %d flipped, summed again: %v", name, i, err)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

const (
	kind     = "\x01x"
	hasher   = "\x00" + seed
	seed     = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	noParams = "\x00"
	noPlanes = "\x00"
	noParts  = "\x00\x00"
	head     = kind + hasher + noParams
	one      = "\x01" // one param or plane follows
)

func TestCorrupt(t *testing.T) {
	if _, err := wire.Parse(wiretest.Container(head, noPlanes, noParts), wire.Limits{}); err != nil {
		t.Fatalf("the smallest container: %v", err)
	}
	nest := func(depth int) []byte {
		return wiretest.Container(strings.Repeat(head+noPlanes+"\x01\x00", depth-1) + head + noPlanes + noParts)
	}
	if _, err := wire.Parse(nest(umbel.MaxDepth), wire.Limits{}); err != nil {
		t.Fatalf("as deep as allowed: %v", err)
	}
	for _, c := range []struct {
		name string
		b    []byte
		at   int // offset of the error
	}{
		{"no bytes", nil, 0},
		{"text", []byte("alice\nbob\n"), 8},
		{"kind without name", wiretest.Container("\x00", hasher, noParams, noPlanes, noParts), 9},
		{"kind in capitals", wiretest.Container("\x01X", hasher, noParams, noPlanes, noParts), 10},
		{"unknown hash", wiretest.Container(kind, 6, seed, noParams, noPlanes, noParts), 28},
		{"seed where none is taken", wiretest.Container(kind, 4, seed[1:], 1, noParams, noPlanes, noParts), 28},
		{"long seed", wiretest.Container(kind, 0, seed[1:], 1, noParams, noPlanes, noParts), 28},
		{"param of type 2", wiretest.Container(kind, hasher, one, "\x01k", 2, uint64(1), noPlanes, noParts), 31},
		{"param twice", wiretest.Container(kind, hasher, 2, "\x01k", 0, uint64(1), "\x01k", 0, uint64(1), noPlanes, noParts), 50},
		{"param not a number", wiretest.Container(kind, hasher, one, "\x01k", 1, uint64(0x7ff8<<48), noPlanes, noParts), 39},
		{"param infinite", wiretest.Container(kind, hasher, one, "\x01k", 1, uint64(0x7ff0<<48), noPlanes, noParts), 39},
		{"width 0", wiretest.Container(head, one, 0, uint64(0), noParts), 38},
		{"width 3", wiretest.Container(head, one, 3, uint64(0), noParts), 38},
		{"more cells than there can be", wiretest.Container(head, one, 64, ^uint64(0), noParts), 38},
		{"bits beyond the last cell", wiretest.Container(head, one, 1, uint64(63), 0, uint64(1<<63), noParts), 47},
		{"payload as long as raw", wiretest.Container(head, one, 1, uint64(64), 3, "\x08", uint64(0), noParts), 40},
		{"payload of 2^63 bytes", wiretest.Container(head, one, 1, uint64(64), 4, strings.Repeat("\xff", 8), "\x7f", noParts), 48},
		{"payload longer than the container", wiretest.Container(head, one, 1, uint64(1<<19), 3, "\x80\x80\x02", noParts), 42},
		{"length in two bytes for one", wiretest.Container(head, one, 1, uint64(64), 3, "\x81\x00\x00", noParts), 41},
		{"length without end", wiretest.Container(head, one, 1, uint64(64), 3, strings.Repeat("\xff", 20), noParts), 49},
		{"no payload", wiretest.Container(head, one, 1, uint64(64), 3, "\x00", noParts), 40},
		{"no positions", wiretest.Container(head, one, 1, uint64(64), 4, "\x00", noParts), 40},
		{"bytes after a payload", wiretest.Container(head, one, 1, uint64(64), 3, "\x02\x00\x01", noParts), 42},
		{"a position beyond the last cell", wiretest.Container(head, one, 1, uint64(5), 4, "\x03\x01\x00\x20", noParts), 43},
		{"positions of counters", wiretest.Container(head, one, 2, uint64(32), 4, "\x03\x01\x00\x01", noParts), 39},
		{"block cut off", wiretest.Container(head, one, 1, uint64(128), 0, uint64(1)), 51},
		{"parts missing", wiretest.Container(head, noPlanes, uint16(2), head, noPlanes, noParts), 58},
		{"too deep", nest(umbel.MaxDepth + 1), 100},
	} {
		refused(t, c.name, c.b, wire.Limits{}, umbel.ErrCorrupt)
		_, err := wire.Parse(c.b, wire.Limits{})
		at := -1
		if _, _ = fmt.Sscanf(fmt.Sprint(err), "byte %d", &at); at != c.at {
			t.Errorf("%s: %v, at byte %d, want %d", c.name, err, at, c.at)
		}
	}
}

// A container of a later version is reported as unsupported.
func TestLaterVersion(t *testing.T) {
	version := wiretest.Container(head, noPlanes, noParts)
	version[7] = 3
	refused(t, "version 3", version, wire.Limits{}, errors.ErrUnsupported)
	refused(t, "coding 7", wiretest.Container(head, one, 1, uint64(1), 7, noParts), wire.Limits{}, errors.ErrUnsupported)
}

func TestLimits(t *testing.T) {
	for _, parts := range []int{umbel.MaxStates - 1, umbel.MaxStates} {
		b := wiretest.Container(head, noPlanes, uint16(parts), strings.Repeat(head+noPlanes+noParts, parts))
		if _, err := wire.Parse(b, wire.NoLimits); (err == nil) != (parts < umbel.MaxStates) || err != nil && !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%d parts: %v", parts, err)
		}
	}
	empties := wiretest.Container(head, one, 1, uint64(2<<19), 1, 1, noParts) // 128 KiB
	refused(t, "empty blocks", empties, wire.Limits{Bytes: 128<<10 - 1}, umbel.ErrLimit)
	if _, err := wire.Parse(empties, wire.Limits{Bytes: 128 << 10}); err != nil {
		t.Errorf("empty blocks within the limit: %v", err)
	}
	s := wiretest.Sample(t)
	b := mustAppend(t, s)
	refused(t, "planes of parts", b, wire.Limits{Bytes: s.Bytes() - 1}, umbel.ErrLimit)
	if _, err := wire.Parse(b, wire.Limits{Bytes: s.Bytes()}); err != nil {
		t.Errorf("exactly the limits: %v", err)
	}
	if _, err := wire.Parse(b, wire.NoLimits); err != nil {
		t.Errorf("no limits: %v", err)
	}
	left, none := s.Bytes(), errors.New("none left")
	take := func(n uint64) error {
		if n > left {
			return none
		}
		left -= n
		return nil
	}
	if _, err := wire.Parse(b, wire.Limits{Reserve: take}); err != nil || left != 0 {
		t.Errorf("memory that others share: %v, %d bytes are left", err, left)
	}
	left = s.Bytes() - 1
	if _, err := wire.Read(bytes.NewReader(b), wire.Limits{Reserve: take}); !errors.Is(err, none) {
		t.Errorf("a byte too few: %v", err)
	}
}

// A small message with huge arrays allocates little, with any limits.
func TestHostileLengths(t *testing.T) {
	rest := strings.Repeat("\x00", 1000)
	good := strings.Repeat("\x03\x03\x01\x01\x01", 200) // 12.5 MiB of blocks
	bad := strings.Repeat("\x03\x03\x00\x01\x01", 200)  // none of them decodes
	for _, c := range []struct {
		name string
		b    []byte
		l    wire.Limits
		most uint64 // bytes allocated
	}{
		{"1 TiB, default limits", wiretest.Container(head, one, 1, uint64(1<<43), rest), wire.Limits{}, 2 << 20},
		{"1 TiB, no limits", wiretest.Container(head, one, 1, uint64(1<<43), rest), wire.NoLimits, 2 << 20},
		{"2^56 bytes, no limits", wiretest.Container(head, one, 64, uint64(1<<53), rest), wire.NoLimits, 2 << 20},
		{"1 GiB, default limits", wiretest.Container(head, one, 16, uint64(1<<29), rest), wire.Limits{}, 2 << 20},
		{"1 TiB of payloads, no limits", wiretest.Container(head, one, 1, uint64(1<<43), bad), wire.NoLimits, 2 << 20},
		{"1 TiB, of which 200 blocks come", wiretest.Container(head, one, 1, uint64(1<<43), good), wire.NoLimits, 24 << 20},
		{"1 TiB in a payload, no limits", wiretest.Container(head, one, 1, uint64(1<<43), 3, strings.Repeat("\xff", 9), 1, rest), wire.NoLimits, 2 << 20},
		{"1 GiB of counters, default limits", wiretest.Container(head, one, 16, uint64(1<<29), bad), wire.Limits{}, 2 << 20},
		{"the longest payload", wiretest.Container(head, one, 1, uint64(1<<19), 3, "\xff\xff\x03"), wire.Limits{}, 256 << 10},
		{"1 GiB of payloads, workers", wiretest.Container(head, one, 1, uint64(1<<33), bad), wire.Limits{Workers: 4}, 5 << 20},
		{"65535 parts", wiretest.Container(head, noPlanes, uint16(1<<16-1), rest), wire.NoLimits, 16 << 10},
		{"255 planes", wiretest.Container(head, 255, rest), wire.NoLimits, 64 << 10},
		{"255 params", wiretest.Container(kind, hasher, 255, rest), wire.NoLimits, 64 << 10},
	} {
		for way, read := range map[string]func() error{
			"Parse":      func() error { _, err := wire.Parse(c.b, c.l); return err },
			"Read":       func() error { _, err := wire.Read(bytes.NewBuffer(c.b), c.l); return err },
			"ReadBlocks": func() error { return readBlocks(bytes.NewBuffer(c.b), c.l) },
		} {
			var err error
			if n := wiretest.Allocated(func() { err = read() }); n > c.most {
				t.Errorf("%s: %s took %d bytes, want at most %d", c.name, way, n, c.most)
			}
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("%s: %s: %v", c.name, way, err)
			}
		}
	}
}

// TestMemoryWithoutArrays: the memory for everything except arrays is proportional to the
// container, including garbage.
func TestMemoryWithoutArrays(t *testing.T) {
	for name, b := range map[string][]byte{
		"parts":  wiretest.Container(head, noPlanes, uint16(umbel.MaxStates-1), strings.Repeat(head+noPlanes+noParts, umbel.MaxStates-1)),
		"planes": wiretest.Container(head, 255, strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00\x00", 255), noParts),
	} {
		var err error
		n := wiretest.Allocated(func() { _, err = wire.Parse(b, wire.NoLimits) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if most := uint64(40*len(b) + 16<<10); n > most {
			t.Errorf("%s: %d bytes for a container of %d", name, n, len(b))
		}
	}
}
