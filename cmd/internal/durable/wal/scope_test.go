package wal_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// frameOf returns the offset of the frame of an entry in a file, and that of its scope.
func frameOf(t *testing.T, d []byte, index uint64) (frame, scope int) {
	t.Helper()
	frame = offsetOf(t, d, index)
	scope = bytes.Index(d, entryOf(index, 1).Scope) - 16
	if scope < 0 || scope >= frame {
		t.Fatalf("entry %d has no scope before its frame", index)
	}
	return frame, scope
}

// A hole has the scopes of its entries if all of them are whole. Bits of a scope are no loss.
func TestScopes(t *testing.T) {
	disk, segments := sound(t, 9, true)
	for _, c := range []struct {
		flip   []uint64 // entries of whose data a bit is flipped
		scopes []uint64 // entries of whose scopes a bit is flipped
		want   string
	}{
		{[]uint64{9}, nil, "9-9 [9]"},
		{[]uint64{8, 9}, nil, "8-9 [8 9]"},
		{[]uint64{2}, nil, "2-2 [2]"},
		{[]uint64{2, 3, 7}, nil, "2-3 [2 3], 7-7 [7]"},
		{[]uint64{2, 3}, []uint64{3}, "2-3 []"},
		{[]uint64{4, 5}, nil, "4-5 []"}, // 5 has no scope
		{nil, []uint64{2, 9}, ""},
		{[]uint64{3}, []uint64{2, 4}, "3-3 [3]"},
	} {
		d := disk.Clone()
		b := d.File(segments[0])
		for _, index := range c.flip {
			frame := offsetOf(t, b, index)
			b[frame+70] ^= 4
		}
		for _, index := range c.scopes {
			_, scope := frameOf(t, b, index)
			b[scope+18] ^= 4
		}
		d.SetFile(segments[0], b)
		l, err := wal.OpenDir(d.Dir(), wal.Options{SegmentBytes: segmentBytes})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := l.ReadOver(ctx, 1, func(uint64, []byte) error { return nil }, func(h wal.Hole) error {
			var of []uint64
			for i, scope := range h.Scopes {
				if index := h.First + uint64(i); bytes.Equal(scope, entryOf(index, 1).Scope) {
					of = append(of, index)
				}
			}
			if got != "" {
				got += ", "
			}
			got += fmt.Sprintf("%d-%d %v", h.First, h.Last, of)
			return nil
		}); err != nil {
			t.Error(err)
		}
		if got != c.want {
			t.Errorf("entries %v, scopes %v altered: holes %q, want %q", c.flip, c.scopes, got, c.want)
		}
		l.Close()
	}
}

// A scope whose frame was never written is removed before the next one is written: it says nothing about the
// entry that gets its index.
func TestScopeWithoutFrame(t *testing.T) {
	b := newBench(t)
	b.fill(3)
	segment := b.disk.Names()[0]
	before := len(bytes.TrimRight(b.disk.File(segment), "\x00"))
	b.must(write(b.log, entryOf(4, 1)))
	b.disk.Kill()
	file := b.disk.File(segment)
	frame, scope := frameOf(t, file, 4)
	if scope < before {
		t.Fatalf("the scope is at %d, before %d", scope, before)
	}
	clear(file[frame:])
	b.disk.SetFile(segment, file)
	b.open()
	if b.log.Torn() == "" {
		t.Error("the scope is not reported")
	}
	if bytes.Contains(b.disk.File(segment), entryOf(4, 1).Scope) {
		t.Error("the scope is still there")
	}
	b.read(1, "1-3")
}

// A segment of version 1 is read and continued, without scopes.
func TestSegmentWithoutScopes(t *testing.T) {
	plain := func(index uint64) entry {
		e := entryOf(index, 1)
		e.Scope = nil
		return e
	}
	b := newBench(t)
	b.must(add(b.log, plain(1), plain(2)))
	b.must(b.log.Close())
	segment := b.disk.Names()[0]
	file := b.disk.File(segment)
	for _, at := range []int{0, 2048} {
		file[at+7] = 1
		binary.LittleEndian.PutUint32(file[at+56:], crc32.Checksum(file[at:at+56], crc32.MakeTable(crc32.Castagnoli)))
	}
	b.disk.SetFile(segment, file)
	b.open()
	b.read(1, "1-2")
	b.fill(2)
	b.again()
	b.read(1, "1-4")
	if bytes.Contains(b.disk.File(segment), []byte("scope of")) {
		t.Error("the segment contains a scope")
	}
}
