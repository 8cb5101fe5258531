// Package mediumtest tests media of shared logs, and has one in memory.
package mediumtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// Run tests everything that sharedlog.Medium requires. Each call of open returns an empty medium, which is closed by
// the cleanup of its test.
func Run(t *testing.T, open func(t *testing.T) sharedlog.Medium) {
	t.Run("Values", func(t *testing.T) { values(t, open(t)) })
	t.Run("Refuses", func(t *testing.T) { refuses(t, open(t)) })
	t.Run("Race", func(t *testing.T) { race(t, open(t)) })
	t.Run("List", func(t *testing.T) { list(t, open(t)) })
	t.Run("Delete", func(t *testing.T) { remove(t, open(t)) })
	t.Run("Log", func(t *testing.T) { log(t, open(t)) })
}

func mustPut(t *testing.T, m sharedlog.Medium, key string, data []byte) {
	t.Helper()
	if err := m.Put(t.Context(), key, data); err != nil {
		t.Fatalf("Put %s: %v", key, err)
	}
}

func wantValue(t *testing.T, m sharedlog.Medium, key string, want []byte) {
	t.Helper()
	if got, err := m.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
		t.Errorf("Get %s: %d bytes, %v; want %d bytes", key, len(got), err, len(want))
	}
}

func wantNone(t *testing.T, m sharedlog.Medium, key string) {
	t.Helper()
	if _, err := m.Get(t.Context(), key); !errors.Is(err, sharedlog.ErrNone) {
		t.Errorf("Get %s: %v, want ErrNone", key, err)
	}
}

func wantKeys(t *testing.T, m sharedlog.Medium, prefix string, want ...string) {
	t.Helper()
	if got, err := m.List(t.Context(), prefix); err != nil || !slices.Equal(got, want) {
		t.Errorf("List %q: %d keys %.10q, %v; want %d keys %.10q", prefix, len(got), got, err, len(want), want)
	}
}

// random returns bytes of all values.
func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*i>>3 + i)
	}
	return b
}

// values: a medium returns values of all sizes as they were put.
func values(t *testing.T, m sharedlog.Medium) {
	wantNone(t, m, "log/0000000000000001")
	for _, n := range []int{1, 2, 100, 64 << 10, 768 << 10, sharedlog.MaxValue} {
		key := fmt.Sprintf("log/%016x", n)
		mustPut(t, m, key, random(n))
		wantValue(t, m, key, random(n))
	}
	key := "piece/" + strings.Repeat("0123456789abcdef", 4)
	mustPut(t, m, key, []byte{0})
	wantValue(t, m, key, []byte{0})
}

// refuses: a key keeps its first value.
func refuses(t *testing.T, m sharedlog.Medium) {
	for _, key := range []string{"log/0000000000000001", "snapshot/0000000000000001"} {
		mustPut(t, m, key, []byte("first"))
		for _, data := range []string{"second", "first", "x"} {
			if err := m.Put(t.Context(), key, []byte(data)); !errors.Is(err, sharedlog.ErrExists) {
				t.Errorf("Put again: %v, want ErrExists", err)
			}
			wantValue(t, m, key, []byte("first"))
		}
	}
}

// race: of values that are put for a key at the same time, the medium takes one, and returns it. After an error other
// than ErrExists the caller reads the key.
func race(t *testing.T, m sharedlog.Medium) {
	const keys, racers = 8, 8
	for k := range keys {
		key := fmt.Sprintf("log/%016x", k)
		errs := make([]error, racers)
		var puts sync.WaitGroup
		for i := range errs {
			puts.Go(func() { errs[i] = m.Put(t.Context(), key, random(1000+i)) })
		}
		puts.Wait()
		got, err := m.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range errs {
			switch taken := len(got) == 1000+i; {
			case err == nil && !taken:
				t.Errorf("%s: Put of value %d succeeded, and value %d was taken", key, i, len(got)-1000)
			case taken && !bytes.Equal(got, random(1000+i)):
				t.Errorf("%s: other bytes", key)
			}
		}
	}
}

// list: a medium lists all keys with a prefix, in order. Buckets return 1,000 keys at a time.
func list(t *testing.T, m sharedlog.Medium) {
	wantKeys(t, m, "log/")
	n := 2500
	if testing.Short() {
		n = 1100
	}
	want := make([]string, n)
	var puts sync.WaitGroup
	turns := make(chan bool, 16)
	for i := range want {
		want[i] = fmt.Sprintf("log/%016x", i)
		turns <- true
		puts.Go(func() {
			mustPut(t, m, want[i], []byte{1})
			<-turns
		})
	}
	puts.Wait()
	mustPut(t, m, "logs/0000000000000001", []byte{2})
	mustPut(t, m, "snapshot/0000000000000001", []byte{3})
	wantKeys(t, m, "log/", want...)
	wantKeys(t, m, "log/000000000000000", want[:16]...)
	wantKeys(t, m, "snapshot/", "snapshot/0000000000000001")
	wantKeys(t, m, "piece/")
}

// remove: a deleted key has no value, and may be put again; others remain.
func remove(t *testing.T, m sharedlog.Medium) {
	for i := range 3 {
		mustPut(t, m, fmt.Sprintf("log/%016x", i), []byte("old"))
	}
	for range 2 {
		if err := m.Delete(t.Context(), "log/0000000000000001"); err != nil {
			t.Fatal(err)
		}
		wantNone(t, m, "log/0000000000000001")
	}
	wantKeys(t, m, "log/", "log/0000000000000000", "log/0000000000000002")
	mustPut(t, m, "log/0000000000000001", []byte("new"))
	wantValue(t, m, "log/0000000000000001", []byte("new"))
	wantValue(t, m, "log/0000000000000002", []byte("old"))
}

// log: a leader writes batches to a log on the medium, and a new reader gets them in order.
func log(t *testing.T, m sharedlog.Medium) {
	o := sharedlog.Options{Settings: []byte("settings"), Claim: []byte("node"), Silence: sharedlog.DefaultSilence}
	open := func() *sharedlog.Log {
		l, err := sharedlog.Open(t.Context(), m, sharedlog.Position{}, o)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	leader, err := open().Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	for i := range n {
		if _, err := leader.Propose(t.Context(), random(1000*i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := leader.Commit(t.Context()); err != nil || last != n {
		t.Fatalf("Commit: %d, %v; want %d", last, err, n)
	}
	if err := leader.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	i := 0
	reader := open()
	err = reader.Follow(t.Context(), func(e sharedlog.Entry) error {
		if e.Kind == sharedlog.Batch {
			if !bytes.Equal(e.Data, random(1000*i)) || len(e.Scope) != 1 || e.Scope[0] != byte(i) || e.Position.Index != uint64(i)+1 {
				t.Errorf("batch %d has %d bytes, and is %d", i, len(e.Data), e.Position.Index)
			}
			i++
		}
		return nil
	})
	if !errors.Is(err, sharedlog.ErrSilent) || i != n || string(reader.Settings()) != "settings" || string(reader.Leader()) != "node" {
		t.Errorf("Follow: %v, %d batches; want ErrSilent, %d", err, i, n)
	}
}
