package sharedlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/zeebo/xxh3"
)

// sample is a frame whose fields all differ.
func sample() frame {
	f := frame{kind: Batch, number: 0x0102030405060708, epoch: 0x11, index: 0x12, claim: 0x13, scope: []byte("scope"), data: []byte("data of a batch")}
	for i := range f.group {
		f.group[i], f.writer[i], f.chain[i] = byte(0x20+i), byte(0x40+i), byte(0x60+i)
	}
	return f
}

// A frame of version 1 has these bytes, for ever.
func TestGolden(t *testing.T) {
	f := sample()
	encoded := f.append(nil)
	text := hex.Dump(encoded) + fmt.Sprintf("hash %x\n", f.position(encoded).Hash)
	want, err := os.ReadFile("testdata/frame.txt")
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if got, err := parseFrame(encoded); err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("%+v, %v; want %+v", got, err, f)
	}
}

// Every changed bit, and every other length, is noticed.
func TestDamagedFrame(t *testing.T) {
	f := sample()
	encoded := f.append(nil)
	for i := range 8 * len(encoded) {
		b := bytes.Clone(encoded)
		b[i/8] ^= 1 << (i % 8)
		if _, err := parseFrame(b); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) || err == nil {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := range encoded {
		if _, err := parseFrame(encoded[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := parseFrame(append(bytes.Clone(encoded), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte more: %v", err)
	}
}

// resum corrects the sums of a frame that a test changed.
func resum(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[headerBytes-sumBytes:], crc32.Checksum(b[:headerBytes-sumBytes], castagnoli))
	end := len(b) - sumBytes
	binary.LittleEndian.PutUint32(b[end:], crc32.Checksum(b[:end], castagnoli))
	return b
}

// Fields with wrong values are refused although the sums are right, and a later version or kind has an error of its own.
func TestForeignFrame(t *testing.T) {
	f := sample()
	encoded := f.append(nil)
	for _, c := range []struct {
		at   int
		to   byte
		want error
	}{
		{3, frameVersion + 1, ErrVersion}, {3, 0, ErrDamaged}, {4, 1, ErrDamaged}, {7, 0xff, ErrDamaged},
		{11, 0xff, ErrDamaged}, {13, 1, ErrDamaged}, {15, 1, ErrDamaged},
	} {
		b := bytes.Clone(encoded)
		b[c.at] = c.to
		if _, err := parseFrame(resum(b)); !errors.Is(err, c.want) {
			t.Errorf("byte %d is %d: %v, want %v", c.at, c.to, err, c.want)
		}
	}
}

// An entry follows a position only if all its fields say so.
func TestFollows(t *testing.T) {
	at := Position{Group: id{1}, Number: 100, Epoch: 3, Index: 50, Claim: 90, Hash: hash{2}}
	batch := frame{kind: Batch, group: at.Group, number: 101, epoch: 3, index: 51, claim: 90, chain: at.Hash}
	claim := frame{kind: Claim, group: at.Group, number: 101, epoch: 4, index: 50, claim: 90, chain: at.Hash}
	claimed := Position{Group: at.Group, Number: 101, Epoch: 4, Index: 50, Claim: 101, Hash: hash{3}}
	first := frame{kind: Batch, group: at.Group, number: 101 + window, epoch: 4, index: 51, claim: 101, chain: claimed.Hash}
	for _, c := range []struct {
		name string
		at   Position
		f    frame
		edit func(*frame)
		want error
	}{
		{"batch", at, batch, func(*frame) {}, nil},
		{"beat", at, batch, func(f *frame) { f.kind, f.index = Beat, 50 }, nil},
		{"leave", at, batch, func(f *frame) { f.kind, f.index = Leave, 50 }, nil},
		{"claim", at, claim, func(*frame) {}, nil},
		{"batch after a claim", claimed, first, func(*frame) {}, nil},
		{"batch next to a claim", claimed, first, func(f *frame) { f.number = 102 }, ErrDamaged},
		{"other group", at, batch, func(f *frame) { f.group[15]++ }, ErrOtherGroup},
		{"other number", at, batch, func(f *frame) { f.number++ }, ErrDamaged},
		{"other chain", at, batch, func(f *frame) { f.chain[15]++ }, ErrFork},
		{"other epoch", at, batch, func(f *frame) { f.epoch++ }, ErrDamaged},
		{"claim of the same epoch", at, claim, func(f *frame) { f.epoch-- }, ErrDamaged},
		{"other index", at, batch, func(f *frame) { f.index++ }, ErrDamaged},
		{"index of a claim", at, claim, func(f *frame) { f.index++ }, ErrDamaged},
		{"other claim", at, batch, func(f *frame) { f.claim++ }, ErrDamaged},
		{"begin", at, batch, func(f *frame) { f.kind, f.index = Begin, 50 }, ErrDamaged},
		{"kind 0", at, batch, func(f *frame) { f.kind, f.index = 0, 50 }, ErrDamaged},
		{"later kind", at, batch, func(f *frame) { f.kind, f.index = Leave+1, 50 }, ErrVersion},
		{"first", Position{}, frame{kind: Begin, group: id{1}, number: 1}, func(*frame) {}, nil},
		{"batch first", Position{}, frame{kind: Batch, group: id{1}, number: 1, index: 1}, func(*frame) {}, ErrDamaged},
		{"batch without a claim", Position{Number: 1, Group: id{1}}, frame{kind: Batch, group: id{1}, number: 2, index: 1}, func(*frame) {}, ErrDamaged},
	} {
		f := c.f
		c.edit(&f)
		if err := c.at.follow(&f); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A position is what it was encoded from.
func TestPosition(t *testing.T) {
	r := rand.New(rand.NewChaCha8([32]byte{}))
	for range 100 {
		p := Position{
			Group: xxh3.Uint128{Hi: r.Uint64(), Lo: r.Uint64()}.Bytes(), Number: r.Uint64(), Epoch: r.Uint64(), Index: r.Uint64(),
			Claim: r.Uint64(), Hash: xxh3.Uint128{Hi: r.Uint64()}.Bytes(),
		}
		b, err := p.AppendBinary(nil)
		if err != nil || len(b) != PositionBytes {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		var got Position
		if err := got.UnmarshalBinary(b); err != nil || got != p {
			t.Fatalf("%+v, %v; want %+v", got, err, p)
		}
		for _, n := range []int{0, PositionBytes - 1} {
			if got.UnmarshalBinary(b[:n]) == nil {
				t.Errorf("%d bytes are a position", n)
			}
		}
	}
}

// What parses is encoded as it was.
func FuzzFrame(f *testing.F) {
	for kind := Begin; kind <= Leave+1; kind++ {
		s := sample()
		s.kind = kind
		f.Add(s.append(nil))
	}
	f.Add((&frame{}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, resumIfLong(b)} {
			if f, err := parseFrame(b); err == nil && !bytes.Equal(f.append(nil), b) {
				t.Errorf("%x is encoded as %x", b, f.append(nil))
			} else if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
				t.Errorf("an error without a class: %v", err)
			}
		}
	})
}

// resumIfLong returns b with right sums, so that the fuzzer gets behind them.
func resumIfLong(b []byte) []byte {
	if len(b) < headerBytes+sumBytes {
		return b
	}
	return resum(bytes.Clone(b))
}
