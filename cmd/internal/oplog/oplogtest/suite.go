package oplogtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// Run runs the suite of logs on a medium. Each test has a place of its own, made by place,
// which returns how to open the medium there, again and again.
func Run(t *testing.T, place func(t *testing.T) func(t *testing.T) oplog.Medium) {
	for _, c := range []struct {
		name string
		test func(b *bench)
	}{
		{"batches come back in order", (*bench).batches},
		{"batches outlast a close", (*bench).reopen},
		{"sizes have ends", (*bench).sizes},
		{"an append that failed is found again", (*bench).unknown},
		{"another batch after an append that failed", (*bench).another},
		{"a late append", (*bench).late},
		{"a hole in the middle", (*bench).middle},
		{"a lost end", (*bench).end},
		{"a forgotten end", (*bench).forgotten},
		{"everything lost", (*bench).everything},
		{"a lost beginning", (*bench).beginning},
		{"one bit of a batch", (*bench).bits},
		{"a torn end", (*bench).torn},
		{"a batch of another time", (*bench).replaced},
		{"lost marks", (*bench).marks},
		{"a snapshot ahead of the log", (*bench).ahead},
		{"a log opened to be checked", (*bench).check},
		{"purge", (*bench).purge},
		{"purge all", (*bench).purgeAll},
		{"blobs", (*bench).blobs},
		{"numbers of lost blobs", (*bench).blobNumbers},
		{"manifest", (*bench).manifest},
		{"a lost manifest", func(b *bench) { b.lostManifest(func(r uint64) { b.Lose(oplog.Manifests, r); b.again() }) }},
		{"an altered manifest", func(b *bench) { b.lostManifest(func(r uint64) { b.Flip(oplog.Manifests, r, 300); b.again() }) }},
		{"a forgotten manifest", func(b *bench) { b.lostManifest(func(r uint64) { b.forgetEnd(oplog.Manifests, r-1) }) }},
		{"a manifest whose end isn't known", (*bench).unknownManifest},
		{"a full disk", (*bench).full},
		{"reading while appending", (*bench).concurrent},
		{"closed", (*bench).closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{T: t, Faults: NewFaults(), medium: place(t)}
			b.open()
			c.test(b)
			if b.log != nil {
				b.must(b.log.Close())
			}
		})
	}
}

// bench is a log at a test.
type bench struct {
	*testing.T
	*Faults
	medium func(t *testing.T) oplog.Medium
	log    oplog.Log
	got    []string // what read was told, in order
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) open() {
	b.Helper()
	b.openWith(oplog.Options{})
}

func (b *bench) openWith(o oplog.Options) {
	b.Helper()
	var err error
	b.log, err = oplog.On(b.Context(), b.Over(b.medium(b.T)), o)
	b.must(err)
}

func (b *bench) again() {
	b.Helper()
	b.must(b.log.Close())
	b.open()
}

// forgetEnd shortens a row while it is closed, where the medium can.
func (b *bench) forgetEnd(r oplog.Row, last uint64) {
	b.Helper()
	b.must(b.log.Close())
	m := b.medium(b.T)
	f, ok := m.(interface {
		ForgetEnd(r oplog.Row, last uint64)
	})
	if ok {
		f.ForgetEnd(r, last)
	}
	b.must(m.Close())
	if !ok {
		b.log = nil
		b.Skip("this medium can't be made to forget the end of a row")
	}
	b.open()
}

func (b *bench) append(text string, want uint64) {
	b.Helper()
	n, err := b.log.Append(b.Context(), []byte(text))
	b.must(err)
	if n != want {
		b.Fatalf("%s got number %d, want %d", text, n, want)
	}
}

// fill appends batches 1 to n, each of them its own number.
func (b *bench) fill(n int) {
	b.Helper()
	for i := 1; i <= n; i++ {
		b.append(fmt.Sprint(i), uint64(i))
	}
}

func (b *bench) each(number uint64, batch []byte) error {
	b.got = append(b.got, string(batch))
	return nil
}

// read reads from a number and compares what comes, numbers of batches, and whether it ends with a hole.
func (b *bench) read(from uint64, hole bool, want ...string) {
	b.Helper()
	b.got = nil
	err := b.log.Read(b.Context(), from, b.each)
	if hole != errors.Is(err, oplog.ErrHole) || !hole && err != nil {
		b.Fatalf("read from %d: error %v, want a hole: %v", from, err, hole)
	}
	if !slices.Equal(b.got, want) {
		b.Fatalf("read from %d: %q, want %q", from, b.got, want)
	}
}

// readOver compares what comes of batches and holes, these written as -first..last.
func (b *bench) readOver(from uint64, want ...string) {
	b.Helper()
	b.got = nil
	b.must(b.log.ReadOver(b.Context(), from, b.each, func(first, last uint64, why error) error {
		if !errors.Is(why, oplog.ErrHole) {
			b.Errorf("why is %v", why)
		}
		b.got = append(b.got, fmt.Sprintf("-%d..%d", first, last))
		return nil
	}))
	if !slices.Equal(b.got, want) {
		b.Fatalf("read over holes from %d: %q, want %q", from, b.got, want)
	}
}

func (b *bench) bounds(first, last uint64) {
	b.Helper()
	if f, l := b.log.Bounds(); f != first || l != last {
		b.Fatalf("bounds %d, %d, want %d, %d", f, l, first, last)
	}
}

func (b *bench) wants(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error %v, want %v", err, want)
	}
}

func (b *bench) batches() {
	b.bounds(1, 0)
	b.read(1, false)
	b.fill(5)
	b.bounds(1, 5)
	b.read(1, false, "1", "2", "3", "4", "5")
	b.read(4, false, "4", "5")
	b.read(6, false)
	stop := errors.New("stop")
	b.wants(b.log.Read(b.Context(), 1, func(uint64, []byte) error { return stop }), stop)
	if b.log.Health() != nil || b.log.Bytes() == 0 || b.log.Torn() != "" {
		b.Errorf("health %v, %d bytes, torn %q", b.log.Health(), b.log.Bytes(), b.log.Torn())
	}
}

func (b *bench) reopen() {
	b.fill(3)
	b.again()
	b.bounds(1, 3)
	b.append("4", 4)
	b.again()
	b.read(1, false, "1", "2", "3", "4")
}

func (b *bench) sizes() {
	for _, n := range []int{0, oplog.MaxBatch + 1} {
		if _, err := b.log.Append(b.Context(), make([]byte, n)); err == nil {
			b.Errorf("a batch of %d bytes was taken", n)
		}
	}
	for _, n := range []int{0, oplog.MaxBlob + 1} {
		if _, err := b.log.PutBlob(b.Context(), make([]byte, n)); err == nil {
			b.Errorf("a blob of %d bytes was taken", n)
		}
		if _, err := b.log.SetManifest(b.Context(), make([]byte, n), 0); err == nil {
			b.Errorf("a manifest of %d bytes was taken", n)
		}
	}
	long := bytes.Repeat([]byte("x"), oplog.MaxBatch)
	for range 8 {
		b.append(string(long), b.last()+1)
	}
	b.append("y", 9)
	x := string(long)
	b.read(1, false, x, x, x, x, x, x, x, x, "y")
	b.again()
	b.read(3, false, x, x, x, x, x, x, "y")
}

func (b *bench) last() uint64 {
	_, last := b.log.Bounds()
	return last
}

var errFault = errors.New("fault")

func (b *bench) unknown() {
	for i, kept := range []bool{false, true, true, false} {
		b.FailAppends(1, kept, errFault)
		text := fmt.Sprint(i + 1)
		_, err := b.log.Append(b.Context(), []byte(text))
		b.wants(err, errFault)
		b.wants(b.log.Health(), errFault)
		b.append(text, uint64(i+1))
		b.must(b.log.Health())
	}
	// The same bytes are another batch when the first was acknowledged.
	b.append("4", 5)
	b.FailAppends(2, false, errFault)
	for range 2 {
		_, err := b.log.Append(b.Context(), []byte("6"))
		b.wants(err, errFault)
	}
	b.append("6", 6)
	b.read(1, false, "1", "2", "3", "4", "4", "6")
	b.FailAppends(1, true, errFault)
	_, err := b.log.Append(b.Context(), []byte("7"))
	b.wants(err, errFault)
	b.again()
	b.read(1, false, "1", "2", "3", "4", "4", "6", "7")
	b.append("8", 8)
}

func (b *bench) another() {
	for _, kept := range []bool{false, true} {
		b.FailAppends(1, kept, errFault)
		_, err := b.log.Append(b.Context(), []byte("a"))
		b.wants(err, errFault)
		want := b.last() + 1
		if kept {
			want++
		}
		b.append("b", want)
	}
	b.read(1, false, "b", "a", "b")
	b.again()
	b.read(1, false, "b", "a", "b")
}

// late is a medium that keeps an append after it said no, as a server that was slow does.
func (b *bench) late() {
	b.fill(1)
	medium := b.medium
	b.must(b.log.Close())
	var slow *lateMedium
	b.medium = func(t *testing.T) oplog.Medium {
		slow = &lateMedium{Medium: medium(t)}
		return slow
	}
	b.open()
	for _, text := range []string{"2", "3"} {
		slow.delay = true
		_, err := b.log.Append(b.Context(), []byte(text))
		b.wants(err, errFault)
		b.append(text, b.last()+1)
	}
	slow.delay = true
	_, err := b.log.Append(b.Context(), []byte("4"))
	b.wants(err, errFault)
	b.append("5", 5) // not the same: 4 came before it
	b.read(1, false, "1", "2", "3", "4", "5")
}

type lateMedium struct {
	oplog.Medium
	delay   bool
	delayed func() error
}

func (m *lateMedium) Append(ctx context.Context, r oplog.Row, number uint64, message []byte) error {
	if m.delay {
		m.delay = false
		message = bytes.Clone(message)
		m.delayed = func() error { return m.Medium.Append(ctx, r, number, message) }
		return errFault
	}
	if m.delayed != nil {
		if err := m.delayed(); err != nil {
			return err
		}
		m.delayed = nil
	}
	return m.Medium.Append(ctx, r, number, message)
}

func (b *bench) middle() {
	b.fill(9)
	b.Lose(oplog.Batches, 4, 5, 8)
	b.read(1, true, "1", "2", "3")
	b.read(4, true)
	b.read(6, true, "6", "7")
	b.read(9, false, "9")
	b.readOver(1, "1", "2", "3", "-4..5", "6", "7", "-8..8", "9")
	b.readOver(5, "-5..5", "6", "7", "-8..8", "9")
	b.again()
	b.read(1, true, "1", "2", "3")
	b.append("10", 10)
	b.read(9, false, "9", "10")
}

func (b *bench) end() {
	b.fill(5)
	b.Lose(oplog.Batches, 4, 5)
	b.again()
	b.bounds(1, 5)
	_, err := b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
	b.wants(b.log.Health(), oplog.ErrHole)
	b.wants(b.log.Purge(b.Context(), 3), oplog.ErrHole)
	b.read(1, true, "1", "2", "3")
	_, err = b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
	b.readOver(2, "2", "3", "-4..5")
	b.must(b.log.Health())
	b.append("6", 6)
	// That the end was lost is accepted now, for good.
	b.read(1, false, "1", "2", "3", "6")
	b.again()
	b.append("7", 7)
	b.read(1, false, "1", "2", "3", "6", "7")
	b.read(5, false, "6", "7")
	// A snapshot that has all that was lost needs nobody's word.
	b.Lose(oplog.Batches, 7)
	b.again()
	b.read(8, false)
	b.append("8", 8)
	b.again()
	b.read(8, false, "8")
	b.Lose(oplog.Batches, 3)
	b.readOver(1, "1", "2", "-3..5", "6", "8")
}

func (b *bench) forgotten() {
	b.fill(5)
	b.forgetEnd(oplog.Batches, 3)
	b.bounds(1, 5)
	b.read(1, true, "1", "2", "3")
	b.readOver(1, "1", "2", "3", "-4..5")
	b.append("6", 6)
	b.again()
	b.append("7", 7)
	b.read(1, false, "1", "2", "3", "6", "7")
	b.forgetEnd(oplog.Batches, 0)
	b.bounds(1, 7)
	b.read(1, true)
	b.read(8, false)
	b.append("8", 8)
	b.again()
	b.read(8, false, "8")
}

func (b *bench) everything() {
	b.fill(3)
	b.Lose(oplog.Batches, 1, 2, 3)
	b.again()
	b.bounds(1, 3)
	b.read(1, true)
	b.readOver(1, "-1..3")
	b.append("4", 4)
	b.read(4, false, "4")
	b.again()
	b.append("5", 5)
	b.read(4, false, "4", "5")
}

func (b *bench) beginning() {
	b.fill(5)
	b.Lose(oplog.Batches, 1, 2)
	b.again()
	b.bounds(1, 5)
	b.read(1, true)
	b.read(2, true)
	b.read(3, false, "3", "4", "5")
	b.readOver(1, "-1..2", "3", "4", "5")
}

func (b *bench) bits() {
	b.fill(5)
	const bits = 8 * (40 + 1)
	for bit := 0; bit < bits; bit += 7 {
		b.Flip(oplog.Batches, 3, bit)
		b.read(1, true, "1", "2")
		b.readOver(1, "1", "2", "-3..3", "4", "5")
		b.Flip(oplog.Batches, 3, bit)
	}
	b.read(1, false, "1", "2", "3", "4", "5")
	for bit := 0; bit < bits; bit += 61 {
		b.Flip(oplog.Batches, 5, bit)
		b.again()
		b.read(1, true, "1", "2", "3", "4")
		b.Flip(oplog.Batches, 5, bit)
	}
	b.Flip(oplog.Batches, 5, 17)
	b.again()
	b.readOver(1, "1", "2", "3", "4", "-5..5")
	b.append("6", 6)
	b.again()
	b.read(1, false, "1", "2", "3", "4", "6")
}

func (b *bench) torn() {
	b.fill(3)
	b.FailAppends(1, true, errFault)
	_, err := b.log.Append(b.Context(), []byte("not acknowledged"))
	b.wants(err, errFault)
	b.Tear(oplog.Batches, 4)
	b.again()
	if b.log.Torn() == "" {
		b.Error("nothing is said of the torn end")
	}
	b.bounds(1, 3)
	b.read(1, false, "1", "2", "3")
	b.again()
	if b.log.Torn() != "" {
		b.Error("said again: ", b.log.Torn())
	}
	b.read(1, false, "1", "2", "3")
	b.append("5", 5)
	b.again()
	b.bounds(1, 5)
	b.read(1, false, "1", "2", "3", "5")
	b.read(4, false, "5")
	// The same while it is open.
	b.FailAppends(1, true, errFault)
	_, err = b.log.Append(b.Context(), []byte("6"))
	b.wants(err, errFault)
	b.Tear(oplog.Batches, 6)
	b.append("6", 7)
	b.read(1, false, "1", "2", "3", "5", "6")
	b.again()
	b.read(1, false, "1", "2", "3", "5", "6")
	// But not of one that was acknowledged.
	b.Tear(oplog.Batches, 7)
	b.again()
	b.read(1, true, "1", "2", "3", "5")
}

// replaced puts the third batch of another log in the place of ours.
func (b *bench) replaced() {
	b.fill(2)
	b.append("x", 3)
	b.append("y", 4)
	other := NewDisk()
	l, err := other.Open(b.Context())
	b.must(err)
	for i := range 4 {
		_, err := l.Append(b.Context(), []byte{byte(i)})
		b.must(err)
	}
	m := other.Medium()
	strange, err := m.Get(b.Context(), oplog.Batches, 3)
	b.must(err)
	b.Replace(oplog.Batches, 3, strange)
	b.read(1, true, "1", "2")
	b.read(3, true, string([]byte{2}))
	b.again()
	b.read(1, true, "1", "2")
}

func (b *bench) marks() {
	b.fill(3)
	b.NoMarks(true)
	b.again()
	b.bounds(1, 3)
	b.read(1, true, "1", "2", "3")
	_, err := b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
	b.readOver(1, "1", "2", "3", "-4..3")
	b.NoMarks(false)
	b.append("4", 4)
	b.again()
	b.read(1, false, "1", "2", "3", "4")
}

func (b *bench) ahead() {
	b.fill(3)
	b.read(6, true)
	b.readOver(6, "-4..5")
	b.append("6", 6)
	b.again()
	b.read(6, false, "6")
	b.read(1, false, "1", "2", "3", "6")
}

func (b *bench) check() {
	b.fill(3)
	n, err := b.log.PutBlob(b.Context(), []byte("blob"))
	b.must(err)
	b.FailAppends(1, true, errFault)
	_, err = b.log.Append(b.Context(), []byte("not acknowledged"))
	b.wants(err, errFault)
	b.Tear(oplog.Batches, 4)
	b.must(b.log.Close())
	for range 2 {
		b.openWith(oplog.Options{Check: true})
		if b.log.Torn() == "" {
			b.Error("nothing is said of the torn end")
		}
		b.read(1, false, "1", "2", "3")
		_, err = b.log.Append(b.Context(), []byte("x"))
		b.wants(err, oplog.ErrCheck)
		_, err = b.log.PutBlob(b.Context(), []byte("x"))
		b.wants(err, oplog.ErrCheck)
		_, err = b.log.SetManifest(b.Context(), []byte("x"), 0)
		b.wants(err, oplog.ErrCheck)
		b.wants(b.log.Purge(b.Context(), 2), oplog.ErrCheck)
		b.wants(b.log.DeleteBlobs(b.Context(), []uint64{n}), oplog.ErrCheck)
		b.must(b.log.Close())
	}
	b.open()
	b.append("5", 5)
}

func (b *bench) purge() {
	b.fill(6)
	b.must(b.log.Purge(b.Context(), 4))
	b.bounds(4, 6)
	b.read(4, false, "4", "5", "6")
	b.read(1, true)
	b.again()
	b.bounds(4, 6)
	b.must(b.log.Purge(b.Context(), 2))
	b.bounds(4, 6)
	b.readOver(3, "-3..3", "4", "5", "6")
	if err := b.log.Purge(b.Context(), 8); err == nil {
		b.Error("batches to come were purged")
	}
	b.append("7", 7)
	b.read(4, false, "4", "5", "6", "7")
}

func (b *bench) purgeAll() {
	for i := range uint64(3) {
		b.append("x", 2*i+1)
		b.append("y", 2*i+2)
		b.must(b.log.Purge(b.Context(), 2*i+3))
		b.bounds(2*i+3, 2*i+2)
		b.again()
		b.bounds(2*i+3, 2*i+2)
		b.read(2*i+3, false)
	}
	b.append("z", 7)
	b.read(7, false, "z")
}

func (b *bench) blobs() {
	want := map[uint64]string{}
	for i := range 20 {
		text := fmt.Sprint("blob ", i)
		n, err := b.log.PutBlob(b.Context(), []byte(text))
		b.must(err)
		if want[n] != "" {
			b.Fatalf("number %d twice", n)
		}
		want[n] = text
	}
	compare := func() {
		b.Helper()
		seen := 0
		b.must(b.log.Blobs(b.Context(), func(n uint64) error {
			seen++
			if data, err := b.log.Blob(b.Context(), n); err != nil || string(data) != want[n] {
				b.Errorf("blob %d is %q, %v, want %q", n, data, err, want[n])
			}
			return nil
		}))
		if seen != len(want) {
			b.Errorf("%d blobs, want %d", seen, len(want))
		}
	}
	compare()
	_, err := b.log.Blob(b.Context(), 1000)
	b.wants(err, oplog.ErrNotFound)
	gone := []uint64{1, 2, 7, 8, 20, 999}
	b.must(b.log.DeleteBlobs(b.Context(), gone))
	b.must(b.log.DeleteBlobs(b.Context(), gone))
	for _, n := range gone {
		delete(want, n)
		_, err := b.log.Blob(b.Context(), n)
		b.wants(err, oplog.ErrNotFound)
	}
	compare()
	b.again()
	compare()
	n, err := b.log.PutBlob(b.Context(), []byte("new"))
	b.must(err)
	if n != 21 {
		b.Errorf("number %d after 20", n)
	}
	want[n] = "new"
	for bit := 3; bit < 8*40; bit += 31 {
		b.Flip(oplog.Blobs, n, bit)
		_, err = b.log.Blob(b.Context(), n)
		b.wants(err, oplog.ErrHole)
		b.Flip(oplog.Blobs, n, bit)
	}
	compare()
	b.FailAppends(1, true, errFault)
	_, err = b.log.PutBlob(b.Context(), []byte("kept, but not acknowledged"))
	b.wants(err, errFault)
	n, err = b.log.PutBlob(b.Context(), []byte("newer"))
	b.must(err)
	if data, err := b.log.Blob(b.Context(), n); err != nil || string(data) != "newer" {
		b.Errorf("blob %d is %q, %v", n, data, err)
	}
}

func (b *bench) blobNumbers() {
	for range 5 {
		_, err := b.log.PutBlob(b.Context(), []byte("x"))
		b.must(err)
	}
	b.forgetEnd(oplog.Blobs, 3)
	n, err := b.log.PutBlob(b.Context(), []byte("y"))
	b.must(err)
	if n != 6 {
		b.Errorf("number %d was another blob's", n)
	}
	_, err = b.log.Blob(b.Context(), 4)
	b.wants(err, oplog.ErrNotFound)
}

func (b *bench) manifest() {
	expect := func(text string, revision uint64) {
		b.Helper()
		data, r, err := b.log.Manifest(b.Context())
		if err != nil || string(data) != text || r != revision {
			b.Fatalf("manifest %q, %d, %v, want %q, %d", data, r, err, text, revision)
		}
	}
	expect("", 0)
	var revision uint64
	for i := range 20 {
		text := fmt.Sprint("manifest ", i)
		r, err := b.log.SetManifest(b.Context(), []byte(text), revision)
		b.must(err)
		expect(text, r)
		_, err = b.log.SetManifest(b.Context(), []byte("late"), revision)
		b.wants(err, oplog.ErrConflict)
		b.must(b.log.Health())
		if revision = r; i%5 == 0 {
			b.again()
		}
		expect(text, r)
	}
}

func (b *bench) lostManifest(fault func(revision uint64)) {
	var revision uint64
	for i := range 3 {
		var err error
		revision, err = b.log.SetManifest(b.Context(), fmt.Append(nil, "manifest ", i), revision)
		b.must(err)
	}
	fault(revision)
	_, _, err := b.log.Manifest(b.Context())
	b.wants(err, oplog.ErrHole)
	data, r, err := b.log.OldManifest(b.Context())
	if err != nil || string(data) != "manifest 1" || r != revision {
		b.Fatalf("old manifest %q, %d, %v", data, r, err)
	}
	_, err = b.log.SetManifest(b.Context(), []byte("new"), revision)
	b.must(err)
	b.again()
	if data, r, err := b.log.Manifest(b.Context()); err != nil || string(data) != "new" || r != revision+1 {
		b.Errorf("manifest %q, %d, %v", data, r, err)
	}
}

func (b *bench) unknownManifest() {
	b.FailAppends(1, true, errFault)
	_, err := b.log.SetManifest(b.Context(), []byte("a"), 0)
	b.wants(err, errFault)
	r, err := b.log.SetManifest(b.Context(), []byte("a"), 0)
	b.must(err)
	b.FailAppends(1, true, errFault)
	_, err = b.log.SetManifest(b.Context(), []byte("b"), r)
	b.wants(err, errFault)
	_, err = b.log.SetManifest(b.Context(), []byte("c"), r)
	b.wants(err, oplog.ErrConflict)
	data, r, err := b.log.Manifest(b.Context())
	b.must(err)
	if string(data) != "b" {
		b.Errorf("manifest %q", data)
	}
	_, err = b.log.SetManifest(b.Context(), []byte("c"), r)
	b.must(err)
}

func (b *bench) full() {
	b.fill(2)
	b.Fill(true)
	for range 3 {
		if _, err := b.log.Append(b.Context(), []byte("3")); err == nil {
			b.Fatal("appended to a full disk")
		}
		if b.log.Health() == nil {
			b.Error("a full disk is healthy")
		}
	}
	b.read(1, false, "1", "2")
	b.Fill(false)
	b.append("3", 3)
	b.must(b.log.Health())
	b.read(1, false, "1", "2", "3")
}

func (b *bench) concurrent() {
	const n = 100
	var g sync.WaitGroup
	for range 2 {
		g.Go(func() {
			for last := uint64(0); last < n; {
				_, from := b.log.Bounds()
				next := uint64(1)
				err := b.log.Read(b.Context(), 1, func(number uint64, batch []byte) error {
					if number != next || binary.LittleEndian.Uint64(batch) != number {
						return fmt.Errorf("batch %d holds %x, want %d", number, batch, next)
					}
					next++
					return nil
				})
				if err != nil {
					b.Error(err)
					return
				}
				if last = next - 1; last < from {
					b.Errorf("read up to %d, after batch %d was appended", last, from)
				}
			}
		})
	}
	for i := uint64(1); i <= n; i++ {
		b.append(string(binary.LittleEndian.AppendUint64(nil, i)), i)
		if i%30 == 0 {
			_, err := b.log.PutBlob(b.Context(), []byte("x"))
			b.must(err)
		}
	}
	g.Wait()
}

func (b *bench) closed() {
	b.fill(1)
	b.must(b.log.Close())
	b.must(b.log.Close())
	if _, err := b.log.Append(b.Context(), []byte("x")); err == nil {
		b.Error("appended to a closed log")
	}
	if err := b.log.Read(b.Context(), 1, b.each); err == nil {
		b.Error("read a closed log")
	}
	if b.log.Health() == nil {
		b.Error("a closed log is healthy")
	}
	b.log = nil
}
