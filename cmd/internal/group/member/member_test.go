package member

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/share"
)

// A node leads a new group. Another one follows it, leads when the first one is killed, and the first one follows then. What
// was added is everywhere.
func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "counting", 0, 100)
		b.start(t)
		same(t, a, b)
		if got := string(b.member.Settings()); got != "of a" {
			t.Errorf("b has the settings %q", got)
		}
		_, _, err := b.Create("x", "bloom", umbel.Goal{Keys: 10, FPRate: .01}, nil)
		if !errors.Is(err, engine.ErrFollower) || !strings.Contains(err.Error(), "group, a") {
			t.Errorf("a change of b: %v, want one wrapping %v with the address of the leader", err, engine.ErrFollower)
		}
		a.kill()
		began := time.Now()
		until(t, "b leads", b.leads)
		if took := time.Since(began); took > 2*sharedlog.DefaultSilence {
			t.Errorf("b leads after %v", took)
		}
		b.add(t, "keys", 100, 200)
		a.start(t)
		same(t, b, a)
		if a.leads() {
			t.Error("both lead")
		}
		b.end(t)
		began = time.Now()
		until(t, "a leads", a.leads)
		if took := time.Since(began); took > 2*sharedlog.DefaultSilence {
			t.Errorf("after the leader left, a leads after %v", took)
		}
		a.add(t, "keys", 200, 300)
		found := make([]bool, 300)
		if err := a.Get([]byte("keys")).Has(found, digests(0, 300)); err != nil {
			t.Error(err)
		}
		for i, ok := range found {
			if !ok {
				t.Fatalf("key %d is missing", i)
			}
		}
		a.end(t)
	})
}

// A leader that is cut off from the medium refuses queries, loses what it has not committed, and starts again as a follower.
// Its change that was not committed is nowhere.
func TestDeposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "counting", 0, 100)
		b.start(t)
		same(t, a, b)
		a.link.setCut(true)
		_, pos, err := a.Get([]byte("keys")).Add(nil, digests(100, 200))
		if err != nil || a.Kept(pos) {
			t.Fatalf("an addition: %v, kept %v", err, a.Kept(pos))
		}
		until(t, "b leads", b.leads)
		found := make([]bool, 1)
		if err := a.Get([]byte("keys")).Has(found, digests(0, 1)); !errors.Is(err, share.ErrStale) {
			t.Errorf("a query of a leader that is cut off: %v, want %v", err, share.ErrStale)
		}
		if err := a.CheckAbsent(); !errors.Is(err, share.ErrStale) {
			t.Errorf("a name without a filter: %v, want %v", err, share.ErrStale)
		}
		b.add(t, "keys", 200, 300)
		a.link.setCut(false)
		a.again(t)
		same(t, b, a)
		if err := a.Get([]byte("keys")).Has(found, digests(0, 1)); err != nil || !found[0] {
			t.Errorf("a key after that: %v, %v", found[0], err)
		}
		a.end(t)
		b.end(t)
	})
}

// A follower that does not reach the medium answers until max-age, and again when it reaches it.
func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "bloom", 0, 100)
		b.maxAge = time.Second
		b.start(t)
		same(t, a, b)
		found := make([]bool, 1)
		ask := func() error { return b.Get([]byte("keys")).Has(found, digests(0, 1)) }
		b.link.setCut(true)
		if err := ask(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if err := ask(); !errors.Is(err, share.ErrStale) {
			t.Errorf("after two seconds: %v, want %v", err, share.ErrStale)
		}
		b.link.setCut(false)
		until(t, "b answers", func() bool { return ask() == nil })
		a.end(t)
		b.end(t)
	})
}

// A member leads because its operator says so; the leader before follows it.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "bloom", 0, 100)
		if err := a.member.TakeOver(); err == nil {
			t.Error("a leader takes over")
		}
		b.start(t)
		same(t, a, b)
		if err := b.member.TakeOver(); err != nil {
			t.Error(err)
		}
		until(t, "b leads", b.leads)
		b.add(t, "keys", 100, 200)
		a.again(t)
		same(t, b, a)
		a.end(t)
		b.end(t)
	})
}

// A new member begins with the last snapshot of a group whose log was trimmed. A fetch that was interrupted continues. A member
// that was away for too long begins with the snapshot, too.
func TestGroupSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, away := newPeer(t, "a", medium), newPeer(t, "away", medium)
		a.growth = 64 << 10
		a.start(t)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "bloom", 0, 100)
		away.start(t)
		same(t, a, away)
		away.end(t)
		if _, _, err := a.Create("large", "bloom", umbel.Goal{Bytes: 5 << 20, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
		a.add(t, "large", 0, 100_000)
		count := 0
		trimmed := func() bool {
			last := a.member.last.Load()
			if last != nil && last.Err != nil {
				t.Fatal(last.Err)
			}
			keys, _ := medium.List(t.Context(), "log/")
			return len(keys) > 2 && last != nil && last.manifest.number > 2 && keys[2] > "log/0000000000000020" // after the first entry and the claim
		}
		for ; !trimmed(); count++ {
			a.add(t, "keys", 1000*count, 1000*count+1000)
			a.add(t, "large", 1000*count, 1000*count+1000)
			if _, err := a.Get([]byte("keys")).Do(operation.Fold, umbel.Uint(1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			if count > 100 {
				t.Fatal("the log is not trimmed")
			}
		}
		b := newPeer(t, "b", medium)
		gets := map[string]int{}
		errGone := errors.New("the connection is gone")
		b.link.gets = func(key string) error {
			if !strings.HasPrefix(key, piecePrefix) {
				return nil
			}
			if b.link.mu.Lock(); len(gets) >= 5 && gets[key] == 0 {
				b.link.mu.Unlock()
				return errGone
			}
			defer b.link.mu.Unlock()
			gets[key]++
			return nil
		}
		if err := b.tryStart(); !errors.Is(err, errGone) {
			t.Fatalf("a start without a connection: %v, want %v", err, errGone)
		}
		first := len(gets)
		b.link.gets = func(key string) error {
			b.link.mu.Lock()
			defer b.link.mu.Unlock()
			gets[key]++
			return nil
		}
		b.start(t)
		same(t, a, b)
		again := 0
		b.link.mu.Lock()
		for key, n := range gets {
			if n > 1 && strings.HasPrefix(key, piecePrefix) {
				again++
			}
		}
		b.link.mu.Unlock()
		if again > 1 { // the index
			t.Errorf("%d of %d pieces were fetched again", again, first)
		}
		if _, err := os.Stat(fetchDir(b.data)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the fetched pieces are still there: %v", err)
		}
		away.start(t)
		away.again(t)
		same(t, a, away)
		a.kill()
		until(t, "another one leads", func() bool { return b.leads() || away.leads() })
		leader := b
		if away.leads() {
			leader = away
		}
		leader.add(t, "large", 500_000, 500_100)
		same(t, leader, b, away)
		b.end(t)
		away.end(t)
	})
}

// A snapshot of a group puts only the segments that have changed.
func TestGroupSnapshotChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a := newPeer(t, "a", medium)
		a.growth = 1
		a.start(t)
		until(t, "a leads", a.leads)
		if _, _, err := a.Create("large", "bloom", umbel.Goal{Bytes: 16 << 20, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
		a.add(t, "large", 0, 50_000)
		taken := func(n uint64) func() bool {
			return func() bool {
				last := a.member.last.Load()
				return last != nil && last.manifest != nil && last.manifest.number >= n
			}
		}
		until(t, "a snapshot", taken(1))
		if put := a.member.last.Load().Put; put < 10<<20 {
			t.Errorf("the first snapshot of 16 MiB has put %d bytes", put)
		}
		a.add(t, "large", 50_000, 50_001) // 7 cells
		until(t, "another one", taken(2))
		if put := a.member.last.Load().Put; put > 5<<20 {
			t.Errorf("the second snapshot has put %d bytes", put)
		}
		for i := range 6 {
			a.add(t, "large", 60_000+i, 60_001+i)
			until(t, "more", taken(uint64(3+i)))
		}
		time.Sleep(time.Minute)
		kept, _ := medium.List(t.Context(), manifestPrefix)
		pieces, _ := medium.List(t.Context(), piecePrefix)
		if len(kept) > 3 || len(pieces) > 120 {
			t.Errorf("%d manifests and %d pieces are kept", len(kept), len(pieces))
		}
		a.end(t)
	})
}

// A medium that has lost its last entries, as after an old copy was restored, gets them again from a member that has them: the
// filters are as before. A member whose log has other batches than the medium refuses to go on.
func TestRegressedMedium(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "counting", 0, 100)
		yesterday := medium.Copy()
		a.add(t, "keys", 100, 200)
		b.start(t)
		same(t, a, b)
		want := a.contents()
		a.end(t)
		b.end(t)
		for _, p := range []*peer{b, a} {
			medium.Restore(yesterday)
			p.start(t)
			until(t, p.name+" leads", p.leads)
			if got := p.contents(); got["keys"] != want["keys"] {
				t.Errorf("%s has %v, want %v", p.name, got, want)
			}
			p.end(t)
		}
		b.start(t)
		until(t, "b leads", b.leads)
		same(t, b)
		b.end(t)

		medium.Restore(yesterday)
		c := newPeer(t, "c", medium).start(t)
		until(t, "c leads", c.leads)
		c.add(t, "keys", 500, 600)
		a.start(t)
		until(t, "a reports a problem", func() bool { return a.member.problem.Load() != nil })
		if err := *a.member.problem.Load(); !errors.Is(err, sharedlog.ErrFork) {
			t.Errorf("the problem is %v, want one wrapping %v", err, sharedlog.ErrFork)
		}
		found := make([]bool, 200)
		if err := a.Get([]byte("keys")).Has(found, digests(0, 200)); err != nil || !found[199] {
			t.Errorf("queries of a: %v", err)
		}
		c.end(t)
		time.Sleep(time.Minute)
		if a.leads() {
			t.Error("a leads")
		}
		a.end(t)
	})
}

// The directory of a node without a group is refused, and so is that of another group.
func TestOtherData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, "a", newMemory())
		l, err := wal.Open(filepath.Join(p.data, "log"), wal.Options{})
		if err == nil {
			_, err = l.Propose(t.Context(), []byte("x"), nil)
		}
		if err = errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		if err := p.tryStart(); !errors.Is(err, errForeign) {
			t.Errorf("a directory of a node without a group: %v, want %v", err, errForeign)
		}
		q := newPeer(t, "b", newMemory()).start(t)
		until(t, "b leads", q.leads)
		q.end(t)
		q.link.Medium = newMemory()
		if err := q.tryStart(); !errors.Is(err, sharedlog.ErrOtherGroup) {
			t.Errorf("a directory of another group: %v, want %v", err, sharedlog.ErrOtherGroup)
		}
	})
}

// A damaged piece or manifest of a snapshot is found, and the snapshot before is used.
func TestDamagedGroupSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a := newPeer(t, "a", medium)
		a.growth = 1
		a.start(t)
		until(t, "a leads", a.leads)
		a.make(t, "keys", "bloom", 0, 1000)
		for i := range 3 {
			a.add(t, "keys", 1000*i, 1000*i+1000)
			time.Sleep(30 * time.Second)
		}
		last := a.member.last.Load().manifest
		pieces, err := last.list(t.Context(), medium.Get)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{pieceKey(pieces[0]), pieceKey(last.indexes[0]), manifestKey(last.number)} {
			copied := medium.Copy()
			b, err := copied.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 4
			copied.Set(key, b)
			p := newPeer(t, "b", copied).start(t)
			until(t, "b has all", func() bool { return p.contents()["keys"] == a.contents()["keys"] })
			p.end(t)
			if err := copied.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			p = newPeer(t, "c", copied).start(t)
			until(t, "c has all", func() bool { return p.contents()["keys"] == a.contents()["keys"] })
			p.end(t)
		}
		a.end(t)
	})
}

// The file of the place is read as it was written, and refused if a bit is different.
func TestPlace(t *testing.T) {
	data := t.TempDir()
	want := place{sharedlog.Position{Number: 7, Index: 3, Group: [16]byte{1}}, 9}
	if err := want.write(data); err != nil {
		t.Fatal(err)
	}
	if got, err := readPlace(data); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	b, err := os.ReadFile(placeFile(data))
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= 1
		if err := os.WriteFile(placeFile(data), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlace(data); err == nil {
			t.Errorf("a different bit in byte %d is not found", i)
		}
		b[i] ^= 1
	}
}
