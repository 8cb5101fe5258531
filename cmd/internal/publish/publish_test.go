package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

// hour is a period in which nothing is published except on request.
const hour = time.Hour

// A version costs what has changed, also after a restart.
func TestPublish(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 10000)
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.publish(1)
	s := w.subscribe()
	w.update(s)
	at := *w.status().Time
	w.publish(1)
	if now := *w.status().Time; !now.Equal(at) {
		t.Errorf("an unchanged filter has a head of %v, want %v", now, at)
	}
	for round := range 3 {
		w.add(20000+100*round, 100)
		w.publish(uint64(2 + round))
		before := s.Counters()
		w.update(s)
		got, want := s.Counters(), w.status()
		if n := got.Objects - before.Objects; n != 1 || got.Bytes-before.Bytes != want.DeltaBytes || want.DeltaBytes > want.SnapshotBytes/10 {
			t.Errorf("%d objects and %d bytes were fetched, want one delta of %d bytes; the snapshot has %d", n, got.Bytes-before.Bytes, want.DeltaBytes, want.SnapshotBytes)
		}
		w.restart()
		w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
		w.publish(uint64(2 + round)) // the same version, although a new process does not know that
	}
	if s := w.status(); s.State != api.PublicationCurrent || s.Failures != 0 || s.Error != "" || s.Version != 4 || s.SnapshotBytes == 0 || s.Kind != "bloom" {
		t.Errorf("status %+v", s)
	}
}

// A filter that cannot be published has a clear state, an event, and a head that is not renewed.
func TestStates(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	refused := func(want error, state string) {
		t.Helper()
		if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		if s := w.status(); s.State != state || s.Error == "" {
			t.Errorf("state %q with error %q, want %q", s.State, s.Error, state)
		}
	}
	refused(engine.ErrNotFound, api.PublicationMissing)
	w.make("bloom", umbel.Hasher{})
	w.publish(1)
	refusedSince := w.status().Time
	if _, _, err := w.engine.Delete([]byte("words")); err != nil {
		t.Fatal(err)
	}
	refused(engine.ErrNotFound, api.PublicationMissing)
	w.make("bloom", umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)})
	refused(share.ErrSeed, api.PublicationSeed)
	f := w.make("bloom", umbel.Hasher{})
	w.engine.MarkLost(f.ID())
	refused(engine.ErrLost, api.PublicationIncomplete)
	if s := w.status(); !s.Time.Equal(*refusedSince) || s.Version != 1 {
		t.Errorf("version %d has a head of %v, want version 1 of %v", s.Version, s.Time, refusedSince)
	}
	if n := w.log.count("filter is not published"); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
	w.make("bloom", umbel.Hasher{})
	w.add(0, 1000)
	w.publish(2)
	w.update(w.subscribe())
}

// A seed is published if the configuration says so.
func TestSecretSeed(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)})
	w.add(0, 1000)
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour, Seed: true})
	w.publish(1)
	w.update(w.subscribe())
}

// A filter of another kind is another version, whose subscribers fetch a snapshot.
func TestReplaced(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 1000)
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.publish(1)
	s := w.subscribe()
	w.update(s)
	w.make("counting", umbel.Hasher{})
	w.add(500, 1000)
	w.publish(2)
	w.update(s)
	w.make("counting", umbel.Hasher{Alg: umbel.MD5})
	w.add(500, 1000)
	w.publish(3)
	w.update(s)
	if n := w.log.count("filter was replaced by one of another kind"); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

// If the objects of a publication are lost, a new stream begins, with a warning.
func TestNewStream(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 1000)
	for damaged := range 2 {
		w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
		w.publish(1)
		w.update(w.subscribe())
		if n := w.log.count("the last version of a publication can't be read"); n != damaged {
			t.Errorf("%d warnings, want %d", n, damaged)
		}
		w.restart()
		if err := os.RemoveAll(filepath.Join(w.directory(), "objects")); err != nil {
			t.Fatal(err)
		}
	}
}

// A head is renewed while the filter is unchanged, and expires after the filter was deleted.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, engine.Options{})
		defer func() { w.set.Close() }()
		w.make("bloom", umbel.Hasher{})
		w.apply(Spec{Filter: "words", Key: w.key})
		w.publish(1)
		s := w.subscribe()
		for range 20 {
			time.Sleep(17 * time.Second)
			synctest.Wait()
			w.update(s)
			if st := w.status(); st.Version != 1 || st.AgeSeconds > 20+10 {
				t.Fatalf("version %d is %v seconds old, want version 1 of at most 30", st.Version, st.AgeSeconds)
			}
		}
		w.add(0, 10)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if w.update(s); w.status().Version != 2 {
			t.Errorf("version %d, want 2", w.status().Version)
		}
		if _, _, err := w.engine.Delete([]byte("words")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) {
			t.Errorf("error %v, want %v", err, share.ErrStale)
		}
	})
}

// A version waits until its changes are durable: subscribers never have what the filter may lose.
func TestDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, engine.Options{})
		defer func() { w.set.Close() }()
		w.make("bloom", umbel.Hasher{})
		w.apply(Spec{Filter: "words", Key: w.key})
		w.publish(1)
		broken := errors.New("the log is broken")
		fail := func(context.Context) error { return broken }
		w.wait.Store(&fail)
		w.add(0, 10)
		if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
		time.Sleep(61 * time.Second)
		s := w.subscribe()
		if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) {
			t.Errorf("error %v, want %v: a head must not be renewed while the filter has other contents", err, share.ErrStale)
		}
		if st := w.status(); st.State != api.PublicationFailed || st.Failures < 4 || st.Failures > 10 {
			t.Errorf("state %q after %d failures, want 4 to 10 in a minute", st.State, st.Failures)
		}
		if n := w.log.count("publishing a filter failed"); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
		synctest.Wait()
		w.wait.Store(nil)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		w.update(s)
		if n := w.log.count("filter is published"); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
	})
}

// A disk that fails stops neither queries nor changes, and is tried again.
func TestDiskFails(t *testing.T) {
	for name, object := range map[string]string{"objects": "objects", "the lock and new files": ".writer"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, engine.Options{})
				defer func() { w.set.Close() }()
				w.make("bloom", umbel.Hasher{})
				w.apply(Spec{Filter: "words", Key: w.key})
				w.publish(1)
				path := filepath.Join(w.directory(), object)
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil { // in the way of a new directory
					t.Fatal(err)
				}
				w.add(0, 10)
				if _, err := w.set.Publish(t.Context(), "words"); err == nil || w.status().State != api.PublicationFailed {
					t.Errorf("error %v in state %q", err, w.status().State)
				}
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if n := w.status().Failures; n < 2 {
					t.Errorf("%d failures in 3 seconds, want at least 2", n)
				}
				if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				w.update(w.subscribe())
				if v := w.status().Version; v != 2 {
					t.Errorf("version %d, want 2", v)
				}
			})
		})
	}
}

// A directory that was deleted is made again, with a new stream.
func TestDirectoryDeleted(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.publish(1)
	s := w.subscribe()
	w.update(s)
	if err := os.RemoveAll(w.directory()); err != nil {
		t.Fatal(err)
	}
	w.add(0, 10)
	if _, err := w.set.Publish(t.Context(), "words"); err == nil {
		t.Fatal("a version was written into a directory that does not exist")
	}
	w.publish(1)
	w.update(s)
}

// A publication with folds has a class for each of them, whose memory counts, and gains and loses them.
func TestFolds(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 1000)
	used := func(folds ...uint64) uint64 {
		t.Helper()
		w.apply(Spec{Filter: "words", Key: w.key, Period: hour, Folds: folds})
		if _, err := w.set.Publish(t.Context(), "words"); err != nil {
			t.Fatal(err)
		}
		n, _ := w.engine.Memory()
		return n
	}
	without := used()
	with := used(2, 4)
	whole := w.filter().Bytes()
	if more := with - without; more < whole*3/4*5/2 || more > 2*whole {
		t.Errorf("%d bytes more for the folds by 2 and 4 of %d", more, whole)
	}
	k, err := signing.Read(w.key)
	if err != nil {
		t.Fatal(err)
	}
	s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: dir.Open(w.directory()), Verifier: k.Verifier, Kinds: filter.All, Stale: share.StaleError, Budget: share.Budget{Rate: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Update(t.Context()); err != nil || s.View().Head().Fold != 4 {
		t.Errorf("%v", err)
	}
	if used() != without {
		t.Errorf("%d bytes are used without folds, want %d", used(), without)
	}
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour, Folds: []uint64{1009}})
	if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("a fold that does not fit: %v", err)
	}
}
