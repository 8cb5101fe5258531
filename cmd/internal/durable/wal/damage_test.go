package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/internal/race"
)

func spans(first, last uint64) string { return fmt.Sprintf("%d-%d", first, last) }

// sound returns the disk of a log of n entries, after a close in order or a kill, and its segments.
func sound(t *testing.T, n int, killed bool) (*disktest.Disk, []string) {
	t.Helper()
	b := newBench(t)
	b.fill(n)
	if killed {
		b.disk.Kill()
	} else {
		b.must(b.log.Close())
	}
	return b.disk, slices.DeleteFunc(b.disk.Names(), func(s string) bool { return !strings.HasSuffix(s, ".wal") })
}

// heads are the files of the head.
var heads = []string{"head", "head.copy"}

// headBit flips a bit in slots of files of the head.
func headBit(files []string, slots ...int) func(*disktest.Disk) {
	return func(d *disktest.Disk) {
		for _, name := range files {
			b := d.File(name)
			for _, slot := range slots {
				b[slot*4096+20] ^= 1
			}
			d.SetFile(name, b)
		}
	}
}

// offsetOf returns the offset of the frame of an entry in a segment.
func offsetOf(t *testing.T, segment []byte, index uint64) int {
	t.Helper()
	at := bytes.Index(segment, entryOf(index, 1).Data[:16]) // in its header
	if at < 0 {
		t.Fatalf("entry %d is not in the segment", index)
	}
	return at - 8
}

// holder returns the name of the segment that contains an entry.
func holder(segments []string, index uint64) string {
	name := segments[0]
	for _, s := range segments {
		if s <= fmt.Sprintf("%020d.wal", index) {
			name = s
		}
	}
	return name
}

// TestFaults has the faults of which most logs report none: each of them is reported, with the
// entries that are lost.
func TestFaults(t *testing.T) {
	const n = 300
	for _, killed := range []bool{false, true} {
		disk, segments := sound(t, n, killed)
		lastSegment := segments[len(segments)-1]
		var lastFirst uint64
		fmt.Sscanf(lastSegment, "%d.wal", &lastFirst)
		var middleFirst, middleNext uint64
		fmt.Sscanf(segments[1], "%d.wal", &middleFirst)
		fmt.Sscanf(segments[2], "%d.wal", &middleNext)
		in := func(index uint64, delta int) func(*disktest.Disk) {
			return func(d *disktest.Disk) {
				name := holder(segments, index)
				b := d.File(name)
				b[offsetOf(t, b, index)+delta] ^= 4
				d.SetFile(name, b)
			}
		}
		cut := func(index uint64, delta int, zeros bool) func(*disktest.Disk) {
			return func(d *disktest.Disk) {
				b := d.File(lastSegment)
				at := offsetOf(t, b, index) + delta
				if zeros {
					clear(b[at:])
				} else {
					b = b[:at]
				}
				d.SetFile(lastSegment, b)
			}
		}
		remove := func(name string) func(*disktest.Disk) {
			return func(d *disktest.Disk) { d.Lose(name) }
		}
		header := func(name string) func(*disktest.Disk) {
			return func(d *disktest.Disk) {
				b := d.File(name)
				b[20] ^= 1
				b[2048+40] ^= 1
				d.SetFile(name, b)
			}
		}
		for _, c := range []struct {
			name   string
			damage func(*disktest.Disk)
			want   string
		}{
			{"none", func(*disktest.Disk) {}, "1-300"},
			{"a bit of the data in an old file", in(20, 66), "1-19 !20-20 21-300"},
			{"a bit of the data in the last file", in(lastFirst+3, 66), fmt.Sprintf("1-%d !%[2]d-%[2]d %d-300", lastFirst+2, lastFirst+3, lastFirst+4)},
			{"a bit of the length in the last file", in(lastFirst+3, 5), fmt.Sprintf("1-%d !%[2]d-%[2]d %d-300", lastFirst+2, lastFirst+3, lastFirst+4)},
			{"a bit of the index in the last file", in(lastFirst+3, 8), fmt.Sprintf("1-%d !%[2]d-%[2]d %d-300", lastFirst+2, lastFirst+3, lastFirst+4)},
			{"a bit of the data of the last entry", in(n, 70), "1-299 !300-300"},
			{"a bit of the header of the last entry", in(n, 30), "1-299 !300-300"},
			{"the last file is cut in an entry", cut(n-5, 30, false), "1-294 !295-300"},
			{"the last file is cut between entries", cut(n-5, 0, false), "1-294 !295-300"},
			{"the last file is cut in its header", func(d *disktest.Disk) { d.SetFile(lastSegment, d.File(lastSegment)[:30]) }, fmt.Sprintf("1-%d !%d-300", lastFirst-1, lastFirst)},
			{"zeros at the end", cut(n-5, 30, true), "1-294 !295-300"},
			{"the first file is missing", remove(segments[0]), fmt.Sprintf("!1-%d %d-300", middleFirst-1, middleFirst)},
			{"an old file is missing", remove(segments[1]), fmt.Sprintf("1-%d !%d-%d %d-300", middleFirst-1, middleFirst, middleNext-1, middleNext)},
			{"the last file is missing", remove(lastSegment), fmt.Sprintf("1-%d !%d-300", lastFirst-1, lastFirst)},
			{"all files are missing", func(d *disktest.Disk) {
				for _, s := range segments {
					d.Lose(s)
				}
			}, "!1-300"},
			{"the header of an old file", header(segments[1]), fmt.Sprintf("1-%d !%d-%d %d-300", middleFirst-1, middleFirst, middleNext-1, middleNext)},
			{"the header of the last file", header(lastSegment), fmt.Sprintf("1-%d !%d-300", lastFirst-1, lastFirst)},
			{"the first head is missing", remove("head"), "1-300"},
			{"the second head is missing", remove("head.copy"), "1-300"},
			{"both heads are missing", func(d *disktest.Disk) { d.Lose(heads...) }, "1-300 !301-300"},
			{"all slots of the first head", headBit(heads[:1], 0, 1, 2), "1-300"},
			{"all slots of the second head", headBit(heads[1:], 0, 1, 2), "1-300"},
			{"all slots of both heads", headBit(heads, 0, 1, 2), "1-300 !301-300"},
			{"the first slots", headBit(heads, 0), "1-300"},
			{"the second slots", headBit(heads, 1), "1-300"},
			{"the third slots", headBit(heads, 2), "1-300"},
			{"an empty head", func(d *disktest.Disk) { d.SetFile("head", []byte{}) }, "1-300"},
			{"empty heads", func(d *disktest.Disk) { d.SetFile("head", []byte{}); d.SetFile("head.copy", []byte{}) }, "1-300 !301-300"},
		} {
			t.Run(fmt.Sprintf("%s/killed=%v", c.name, killed), func(t *testing.T) {
				d := disk.Clone()
				c.damage(d)
				b := &bench{T: t, disk: d, o: wal.Options{SegmentBytes: segmentBytes}}
				// Looking changes nothing.
				b.o.ReadOnly = true
				b.open()
				b.read(1, c.want)
				b.must(b.log.Close())
				b.o.ReadOnly = false
				for range 2 {
					b.open()
					err := b.log.Read(ctx, 1, func(uint64, []byte) error { return nil })
					if hole := strings.Contains(c.want, "!"); hole != errors.Is(err, wal.ErrHole) {
						t.Fatalf("error %v, want a hole: %v", err, hole)
					}
					if i := strings.LastIndex(c.want, "!"); i >= 0 && strings.HasSuffix(c.want[i:], "-300") && !strings.Contains(c.want[i:], " ") {
						b.wants(add(b.log, entryOf(b.log.Next(), 1)), wal.ErrHole)
						b.wants(b.log.Purge(ctx, 2), wal.ErrHole)
					}
					b.must(b.log.Close())
				}
				b.open()
				b.read(1, c.want)
				b.fill(100) // accepted
				if b.log.Next() != 401 {
					t.Errorf("the next entry is %d, want 401: no index is used twice", b.log.Next())
				}
				b.again()
				b.read(301, "301-400")
				b.fill(1)
				b.must(b.log.Purge(ctx, 301))
				b.again()
				b.must(b.log.Read(ctx, 301, func(uint64, []byte) error { return nil }))
				b.must(b.log.Close())
			})
		}
	}
}

// damage alters the files of a disk at random and says how.
func damage(d *disktest.Disk, random *rand.Rand) string {
	names := d.Names()
	name := names[random.IntN(len(names))]
	b := d.File(name)
	at := random.IntN(len(b))
	if strings.HasSuffix(name, ".wal") && random.IntN(2) == 0 {
		at = bytes.LastIndex(b[:at+1], []byte("umb\x01")) // near the beginning of a frame
		at = max(at, 0) + random.IntN(80)
	}
	switch random.IntN(6) {
	case 0, 1, 2:
		b[at] ^= 1 << random.IntN(8)
		d.SetFile(name, b)
		return fmt.Sprintf("a bit of byte %d of %s", at, name)
	case 3:
		d.SetFile(name, b[:at])
		return fmt.Sprintf("%s cut to %d bytes", name, at)
	case 4:
		page := at &^ 4095
		clear(b[page:min(page+4096, len(b))])
		d.SetFile(name, b)
		return fmt.Sprintf("zeros at %d of %s", page, name)
	}
	d.Lose(name)
	return name + " removed"
}

// recycled returns the disk of a log with the entries from first to last in files that were used before.
func recycled(t *testing.T, first, last int) *disktest.Disk {
	t.Helper()
	b := newBench(t)
	b.fill(first + 100)
	b.must(b.log.Purge(ctx, uint64(first)))
	b.fill(last - first - 100)
	b.must(b.log.Purge(ctx, uint64(first)))
	b.must(b.log.Close())
	return b.disk
}

// TestRandomDamage damages logs at random. What was durable is there, unaltered, or its loss is
// reported.
func TestRandomDamage(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	tries := 2000
	if testing.Short() {
		tries = 200
	}
	random := rand.New(rand.NewPCG(13, 1))
	const n = 350
	whole, holes := 0, 0
	closed, _ := sound(t, n, false)
	killed, _ := sound(t, n, true)
	for i, disk := range []*disktest.Disk{closed, killed, recycled(t, 150, n)} {
		first := []uint64{1, 1, 150}[i]
		for range (tries + 2) / 3 {
			d := disk.Clone()
			what := damage(d, random)
			l, err := wal.OpenDir(d.Dir(), wal.Options{SegmentBytes: segmentBytes})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			refused := l.Read(ctx, first, func(uint64, []byte) error { return nil })
			got := read(t, l, first)
			switch {
			case got == spans(first, n) && refused == nil:
				whole++
			case strings.Contains(got, "!") && errors.Is(refused, wal.ErrHole) && covers(got, first, n):
				holes++
			default:
				t.Errorf("%s: %s, error %v", what, got, refused)
			}
			if l.Next() <= n {
				t.Errorf("%s: the next entry is %d", what, l.Next())
			}
			if err := add(l, entryOf(l.Next(), 1)); err != nil {
				t.Errorf("%s: after the loss was accepted: %v", what, err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	t.Logf("%d tries: %d holes, %d without effect", tries, holes, whole)
	if holes < tries/10 || whole < tries/10 {
		t.Errorf("%d holes and %d without effect in %d tries: the test does not test both", holes, whole, tries)
	}
}

// covers reports whether spans and holes name each entry from first to last.
func covers(spans string, first, last uint64) bool {
	next := first
	for s := range strings.FieldsSeq(strings.ReplaceAll(spans, "!", "")) {
		var from, to uint64
		fmt.Sscanf(s, "%d-%d", &from, &to)
		if from != next {
			return false
		}
		next = to + 1
	}
	return next == last+1
}
