package oplogtest

import (
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

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
