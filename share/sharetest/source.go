package sharetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
)

// Source tests a source.
func Source(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, share.Store, share.Source)
	}{
		{"Absent", testAbsent},
		{"Record", testRecord},
		{"WholeRecords", testWholeRecords},
		{"Offsets", testOffsets},
		{"Watch", testWatch},
		{"WatchClasses", testWatchClasses},
		{"WatchCanceled", testWatchCanceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, source := open(t)
			c.test(t, store, source)
		})
	}
}

func testAbsent(t *testing.T, _ share.Store, s share.Source) {
	if _, err := s.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
		t.Errorf("Record: %v, want ErrNotFound", err)
	}
	_, name := object(100, 0)
	wantAbsent(t, s, name)
	wantAbsent(t, s, name+"-chunks")
}

// Records of all lengths replace each other. Some have the same length, in quick succession.
func testRecord(t *testing.T, store share.Store, s share.Source) {
	for i, n := range []int{500, 1, 500, 500, 500, 0, share.MaxRecord, 500} {
		want := bytes.Repeat([]byte{byte('a' + i)}, n)
		putRecord(t, store, want)
		if got, err := recordAs(t, s, want); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("record %d: %d bytes, %v; want %d", i, len(got), err, n)
		}
	}
}

// recordAs returns the record when it is want, or as it is when the time is over: a cache may
// return an older one for some seconds.
func recordAs(t testing.TB, s share.Source, want []byte) (b []byte, err error) {
	await.Within(timeout, func() bool {
		b, err = s.Record(t.Context(), share.HeadName)
		return err == nil && bytes.Equal(b, want)
	})
	return b, err
}

// A reader never gets parts of two records.
func testWholeRecords(t *testing.T, store share.Store, s share.Source) {
	record := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%08d", i), 60) }
	putRecord(t, store, record(0))
	var readers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				b, err := s.Record(t.Context(), share.HeadName)
				if err != nil || len(b) != 480 || !bytes.Equal(b, bytes.Repeat(b[:8], 60)) {
					t.Errorf("record %q, %v", b, err)
					return
				}
			}
		})
	}
	for i := range 50 {
		putRecord(t, store, record(i))
	}
	cancel()
	readers.Wait()
}

func testOffsets(t *testing.T, store share.Store, s share.Source) {
	for i, n := range []int{0, 1, 1000, share.ChunkBytes, 5*share.ChunkBytes + 17} {
		b, name := object(n, byte(i))
		put(t, store, name, b)
		for _, offset := range []int{0, 1, n / 3, n - 1, n, n + 1, n + 1e6} {
			if offset < 0 {
				continue
			}
			want := b[min(offset, n):]
			if got, err := read(t.Context(), s, name, int64(offset)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes from %d on: %d, %v; want %d", n, offset, len(got), err, len(want))
			}
		}
	}
}

// A Watcher returns a record that differs at once, and one that changes when it changes.
func testWatch(t *testing.T, store share.Store, s share.Source) {
	w, ok := s.(share.Watcher)
	if !ok {
		t.Skip("the source does not watch")
	}
	record := func(i int) []byte { return fmt.Appendf(nil, "record %03d", i) }
	putRecord(t, store, record(0))
	var last []byte
	for i := range 10 {
		if i > 0 {
			// The change may come before or during the wait.
			time.AfterFunc(time.Duration(i)*5*time.Millisecond, func() { putRecord(t, store, record(i)) })
		}
		for end := time.Now().Add(timeout); ; {
			b, err := w.WatchRecord(t.Context(), share.HeadName, last)
			if err != nil {
				t.Fatal(err)
			}
			if last = b; bytes.Equal(b, record(i)) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("record %q, want %q", b, record(i))
			}
		}
	}
	begin := time.Now()
	b, err := w.WatchRecord(t.Context(), share.HeadName, record(3))
	if took := time.Since(begin); err != nil || bytes.Equal(b, record(3)) || took > timeout/3 {
		t.Errorf("record %q, %v after %v; want another one at once", b, err, took)
	}
}

// The head of each fold class is watched for itself.
func testWatchClasses(t *testing.T, store share.Store, s share.Source) {
	w, ok := s.(share.Watcher)
	if !ok {
		t.Skip("the source does not watch")
	}
	names := []string{share.HeadName, share.ClassRecord(4), share.ClassRecord(16)}
	last := make([][]byte, len(names))
	for i := range 6 {
		name := names[i%len(names)]
		want := fmt.Appendf(nil, "record %d of %s", i, name)
		time.AfterFunc(5*time.Millisecond, func() {
			if err := store.PutRecord(t.Context(), name, want); err != nil {
				t.Error(err)
			}
		})
		await.True(t, fmt.Sprintf("%s is %q", name, want), func() bool {
			b, err := w.WatchRecord(t.Context(), name, last[i%len(names)])
			if err != nil && !errors.Is(err, share.ErrNotFound) {
				t.Fatalf("%s: %q, %v; want %q", name, b, err, want)
			}
			last[i%len(names)] = b
			return bytes.Equal(b, want)
		})
	}
}

func testWatchCanceled(t *testing.T, store share.Store, s share.Source) {
	w, ok := s.(share.Watcher)
	if !ok {
		t.Skip("the source does not watch")
	}
	record := []byte("record")
	putRecord(t, store, record)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	begin := time.Now()
	for ctx.Err() == nil {
		if _, err := w.WatchRecord(ctx, share.HeadName, record); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took > timeout/2 {
		t.Errorf("WatchRecord returned %v after its context ended", took)
	}
}
