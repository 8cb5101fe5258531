package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// refused reports an error unless all ways of reading refuse b with want, and say
// the same with workers as without.
func refused(t *testing.T, what string, b []byte, l wire.Limits, want error) {
	t.Helper()
	for name, read := range map[string]func(wire.Limits) error{
		"Parse":            func(l wire.Limits) error { _, err := wire.Parse(b, l); return err },
		"Read":             func(l wire.Limits) error { _, err := wire.Read(bytes.NewReader(b), l); return err },
		"Read of a stream": func(l wire.Limits) error { _, err := wire.Read(bytes.NewBuffer(b), l); return err },
		"Scan": func(l wire.Limits) error {
			_, err := wire.Scan(bytes.NewBuffer(b), l, func(wire.Block) error { return nil })
			return err
		},
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

// samples are small containers with all that there is.
func samples(t testing.TB) map[string][]byte {
	return map[string][]byte{"plain": mustAppend(t, sample(t)), "packed": mustPack(t, packed(t))}
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
			// With a checksum that fits it may be another container, but of no state
			// that can't be.
			s, err := wire.Parse(sum(bytes.Clone(b[:len(b)-4])), wire.Limits{})
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

// sealed returns fields as one container: magic before, checksum behind.
func sealed(fields ...any) []byte {
	b := []byte("\x89umbel\n\x01")
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = append(b, f...)
		case int:
			b = append(b, byte(f))
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, f)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, f)
		}
	}
	return sum(b)
}

// sum appends the checksum of b.
func sum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
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
	if _, err := wire.Parse(sealed(head, noPlanes, noParts), wire.Limits{}); err != nil {
		t.Fatalf("the smallest container: %v", err)
	}
	nest := func(depth int) []byte {
		return sealed(strings.Repeat(head+noPlanes+"\x01\x00", depth-1) + head + noPlanes + noParts)
	}
	if _, err := wire.Parse(nest(umbel.MaxDepth), wire.Limits{}); err != nil {
		t.Fatalf("as deep as allowed: %v", err)
	}
	for _, c := range []struct {
		name string
		b    []byte
		says string
	}{
		{"no bytes", nil, "byte 0"},
		{"text", []byte("alice\nbob\n"), "no container"},
		{"kind without name", sealed("\x00", hasher, noParams, noPlanes, noParts), "name"},
		{"kind in capitals", sealed("\x01X", hasher, noParams, noPlanes, noParts), "name"},
		{"unknown hash", sealed(kind, 6, seed, noParams, noPlanes, noParts), "algorithm 6"},
		{"seed where none is taken", sealed(kind, 4, seed[1:], 1, noParams, noPlanes, noParts), "seed"},
		{"long seed", sealed(kind, 0, seed[1:], 1, noParams, noPlanes, noParts), "seed"},
		{"param of type 2", sealed(kind, hasher, one, "\x01k", 2, uint64(1), noPlanes, noParts), "type 2"},
		{"param twice", sealed(kind, hasher, 2, "\x01k", 0, uint64(1), "\x01k", 0, uint64(1), noPlanes, noParts), "twice"},
		{"param not a number", sealed(kind, hasher, one, "\x01k", 1, uint64(0x7ff8<<48), noPlanes, noParts), "finite"},
		{"param infinite", sealed(kind, hasher, one, "\x01k", 1, uint64(0x7ff0<<48), noPlanes, noParts), "finite"},
		{"width 0", sealed(head, one, 0, uint64(0), noParts), "width 0"},
		{"width 3", sealed(head, one, 3, uint64(0), noParts), "width 3"},
		{"more cells than there can be", sealed(head, one, 64, ^uint64(0), noParts), "2^56"},
		{"bits beyond the last cell", sealed(head, one, 1, uint64(63), 0, uint64(1<<63), noParts), "beyond the last"},
		{"payload as long as raw", sealed(head, one, 1, uint64(64), 3, "\x08", uint64(0), noParts), "8 bytes, want fewer than 8"},
		{"payload of 2^63 bytes", sealed(head, one, 1, uint64(64), 4, strings.Repeat("\xff", 8), "\x7f", noParts), "want fewer than 8"},
		{"payload longer than the container", sealed(head, one, 1, uint64(1<<19), 3, "\x80\x80\x02", noParts), "9 bytes"[2:]},
		{"length in two bytes for one", sealed(head, one, 1, uint64(64), 3, "\x81\x00\x00", noParts), "shortest"},
		{"length without end", sealed(head, one, 1, uint64(64), 3, strings.Repeat("\xff", 20), noParts), "shortest"},
		{"no payload", sealed(head, one, 1, uint64(64), 3, "\x00", noParts), "block 0"},
		{"no positions", sealed(head, one, 1, uint64(64), 4, "\x00", noParts), "block 0"},
		{"bytes after a payload", sealed(head, one, 1, uint64(64), 3, "\x02\x00\x01", noParts), "block 0"},
		{"a position beyond the last cell", sealed(head, one, 1, uint64(5), 4, "\x03\x01\x00\x20", noParts), "block 0"},
		{"positions of counters", sealed(head, one, 2, uint64(32), 4, "\x03\x01\x00\x01", noParts), "positions of cells of 2 bits"},
		{"block cut off", sealed(head, one, 1, uint64(128), 0, uint64(1)), "block 0"},
		{"parts missing", sealed(head, noPlanes, uint16(2), head, noPlanes, noParts), "part 1"},
		{"too deep", nest(umbel.MaxDepth + 1), "deeper than 4"},
	} {
		refused(t, c.name, c.b, wire.Limits{}, umbel.ErrCorrupt)
		if _, err := wire.Parse(c.b, wire.Limits{}); err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "wire: byte ") {
			t.Errorf("%s: %v, want an offset and %q", c.name, err, c.says)
		}
	}
}

// What a later version may have written says so.
func TestLaterVersion(t *testing.T) {
	version := sealed(head, noPlanes, noParts)
	version[7] = 2
	refused(t, "version 2", version, wire.Limits{}, errors.ErrUnsupported)
	refused(t, "coding 5", sealed(head, one, 1, uint64(1), 5, noParts), wire.Limits{}, errors.ErrUnsupported)
}

func TestLimits(t *testing.T) {
	empties := sealed(head, one, 1, uint64(2<<19), 1, 1, noParts) // 128 KiB
	refused(t, "empty blocks", empties, wire.Limits{Bytes: 128<<10 - 1}, umbel.ErrLimit)
	if _, err := wire.Parse(empties, wire.Limits{Bytes: 128 << 10}); err != nil {
		t.Errorf("empty blocks within the limit: %v", err)
	}
	s := sample(t)
	b := mustAppend(t, s)
	refused(t, "planes of parts", b, wire.Limits{Bytes: s.Bytes() - 1}, umbel.ErrLimit)
	refused(t, "states", b, wire.Limits{States: 3}, umbel.ErrLimit)
	if _, err := wire.Parse(b, wire.Limits{Bytes: s.Bytes(), States: 4}); err != nil {
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

// A small message that claims much costs little, whatever the limits.
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
		{"1 TiB, default limits", sealed(head, one, 1, uint64(1<<43), rest), wire.Limits{}, 2 << 20},
		{"1 TiB, no limits", sealed(head, one, 1, uint64(1<<43), rest), wire.NoLimits, 2 << 20},
		{"2^56 bytes, no limits", sealed(head, one, 64, uint64(1<<53), rest), wire.NoLimits, 2 << 20},
		{"1 GiB, default limits", sealed(head, one, 16, uint64(1<<29), rest), wire.Limits{}, 2 << 20},
		{"1 TiB of payloads, no limits", sealed(head, one, 1, uint64(1<<43), bad), wire.NoLimits, 2 << 20},
		{"1 TiB, of which 200 blocks come", sealed(head, one, 1, uint64(1<<43), good), wire.NoLimits, 24 << 20},
		{"1 TiB in a payload, no limits", sealed(head, one, 1, uint64(1<<43), 3, strings.Repeat("\xff", 9), 1, rest), wire.NoLimits, 2 << 20},
		{"1 GiB of counters, default limits", sealed(head, one, 16, uint64(1<<29), bad), wire.Limits{}, 2 << 20},
		{"the longest payload", sealed(head, one, 1, uint64(1<<19), 3, "\xff\xff\x03"), wire.Limits{}, 256 << 10},
		{"1 GiB of payloads, workers", sealed(head, one, 1, uint64(1<<33), bad), wire.Limits{Workers: 4}, 5 << 20},
		{"65535 parts", sealed(head, noPlanes, uint16(1<<16-1), rest), wire.NoLimits, 16 << 10},
		{"255 planes", sealed(head, 255, rest), wire.NoLimits, 64 << 10},
		{"255 params", sealed(kind, hasher, 255, rest), wire.NoLimits, 64 << 10},
	} {
		for way, read := range map[string]func() error{
			"Parse": func() error { _, err := wire.Parse(c.b, c.l); return err },
			"Read":  func() error { _, err := wire.Read(bytes.NewBuffer(c.b), c.l); return err },
			"Scan": func() error {
				_, err := wire.Scan(bytes.NewBuffer(c.b), c.l, func(wire.Block) error { return nil })
				return err
			},
		} {
			var err error
			if n := allocated(func() { err = read() }); n > c.most {
				t.Errorf("%s: %s took %d bytes, want at most %d", c.name, way, n, c.most)
			}
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("%s: %s: %v", c.name, way, err)
			}
		}
	}
}

// What isn't planes takes memory in proportion to the container, as Limits says;
// garbage is counted.
func TestMemoryBesidesPlanes(t *testing.T) {
	for name, b := range map[string][]byte{
		"parts":  sealed(head, noPlanes, uint16(1<<16-1), strings.Repeat(head+noPlanes+noParts, 1<<16-1)),
		"planes": sealed(head, 255, strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00\x00", 255), noParts),
	} {
		var err error
		n := allocated(func() { _, err = wire.Parse(b, wire.NoLimits) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if most := uint64(40*len(b) + 16<<10); n > most {
			t.Errorf("%s: %d bytes for a container of %d", name, n, len(b))
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
