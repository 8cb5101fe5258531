package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/share"
)

// The configuration can change at any time; what did not change goes on.
func TestApply(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 100)
	spec := Spec{Filter: "words", Key: w.key, Period: hour}
	other := Spec{Filter: "others", Key: w.newKey("others"), Period: hour}
	w.apply(spec, other)
	w.publish(1)
	p, _ := w.set.Get("words")
	w.apply(spec)
	if q, _ := w.set.Get("words"); q != p {
		t.Error("a publication that was not changed began again")
	}
	if _, err := w.set.Get("others"); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want %v", err, ErrUnknown)
	}
	spec.Public = true
	w.apply(other, spec)
	if q, _ := w.set.Get("words"); q == p || !q.Public() {
		t.Error("the publication was not changed")
	}
	if _, err := p.publish(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("error %v, want %v", err, errStopped)
	}
	w.add(100, 100)
	w.publish(2) // it continues
	if l := w.set.List(); len(l) != 2 || l[0].Filter != "others" || l[1].Filter != "words" {
		t.Errorf("list %+v", l)
	}
	exposed := w.newKey("exposed")
	if err := os.Chmod(exposed, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]Spec{
		"a key that everybody can read": {spec, {Filter: "x", Key: exposed}},
		"no key":                        {{Filter: "x", Key: filepath.Join(w.dir, "none")}},
		"twice":                         {spec, spec},
	} {
		if err := w.set.Apply(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
		w.publish(2)
	}
	// A new key is another publication, which must not get into the directory of the old one.
	w.apply(Spec{Filter: "words", Key: other.Key, Period: hour})
	if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, share.ErrSignature) {
		t.Errorf("error %v, want %v", err, share.ErrSignature)
	}
}

func TestCheck(t *testing.T) {
	ok := Spec{Filter: "words", Key: "k"}
	for name, change := range map[string]func(*Spec){
		"no filter":             func(s *Spec) { s.Filter = "" },
		"no key":                func(s *Spec) { s.Key = "" },
		"a long name":           func(s *Spec) { s.Filter = strings.Repeat("x", 513) },
		"a long directory":      func(s *Spec) { s.Filter = strings.Repeat("x", 201) },
		"a short period":        func(s *Spec) { s.Period = time.Millisecond },
		"a negative period":     func(s *Spec) { s.Period = -time.Second },
		"a part of a second":    func(s *Spec) { s.Valid = 1500 * time.Millisecond },
		"valid for one period":  func(s *Spec) { s.Period, s.Valid = time.Minute, time.Minute },
		"folds that descend":    func(s *Spec) { s.Folds = []uint64{4, 2} },
		"a fold by 1":           func(s *Spec) { s.Folds = []uint64{1} },
		"nine folds":            func(s *Spec) { s.Folds = []uint64{2, 4, 8, 16, 32, 64, 128, 256, 512} },
		"valid for a long time": func(s *Spec) { s.Valid = 1 << 62 / 1e9 * 1e9 },
	} {
		s := ok
		if change(&s); Check([]Spec{s}) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := Check([]Spec{ok, {Filter: "b", Key: "k", Directory: "d"}}); err != nil {
		t.Error(err)
	}
	if Check([]Spec{{Filter: "a", Key: "k", Directory: "d"}, {Filter: "b", Key: "k", Directory: "d"}}) == nil {
		t.Error("two publications in one directory are accepted")
	}
	for period, want := range map[time.Duration]time.Duration{0: time.Minute, 10 * time.Second: time.Minute, 1234 * time.Second / 10: 371 * time.Second} {
		if s, err := (Spec{Filter: "a", Key: "k", Period: period}).complete(""); err != nil || s.Valid != want {
			t.Errorf("period %v: valid for %v, %v; want %v", period, s.Valid, err, want)
		}
	}
}

// No name of a filter leads out of the directory.
func TestFileName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"words", "a/b", "../x", ".", "..", "%2E", "%2E%2E", "a:b", `a\b`, "a%2Fb", "é", "CON"} {
		file := DirectoryName(name)
		if file != filepath.Base(filepath.Join("d", file)) || strings.Trim(file, ".") == "" || strings.ContainsAny(file, `/\:*`) {
			t.Errorf("%q is in the file %q", name, file)
		}
		if other, ok := seen[file]; ok {
			t.Errorf("%q and %q are in the file %q", name, other, file)
		}
		seen[file] = name
	}
}

// The copies of filters count against the memory limit, and are released.
func TestMemory(t *testing.T) {
	w := newWorld(t, engine.Options{MaxMemory: 16 << 20})
	defer func() { w.set.Close() }()
	f := w.make("bloom", umbel.Hasher{})
	used, _ := w.engine.Memory()
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.publish(1)
	state := w.status().Bytes
	if now, _ := w.engine.Memory(); now != used+state+state/2+state/16+state/200 {
		t.Errorf("%d bytes are used, want %d, and for %d of a filter 1.5675 times as much", now, used, state)
	}
	w.engine.SetMaxMemory(used + f.Bytes())
	w.add(0, 10)
	if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, engine.ErrMemory) || w.status().State != api.PublicationFailed {
		t.Errorf("error %v in state %q, want %v", err, w.status().State, engine.ErrMemory)
	}
	w.engine.SetMaxMemory(0)
	w.publish(2)
	w.set.Close()
	if now, _ := w.engine.Memory(); now != used {
		t.Errorf("%d bytes are used after the end, want %d", now, used)
	}
}

// A set ends while a publication waits, and nobody waits for it afterwards.
func TestCloseWhileWaiting(t *testing.T) {
	w := newWorld(t, engine.Options{})
	w.make("bloom", umbel.Hasher{})
	entered := make(chan struct{})
	wait := func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}
	w.wait.Store(&wait)
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := w.set.Publish(context.Background(), "words"); !errors.Is(err, errStopped) {
				t.Errorf("error %v, want %v", err, errStopped)
			}
		})
	}
	<-entered
	w.set.Close()
	all.Wait()
	if _, err := w.set.Publish(context.Background(), "words"); !errors.Is(err, errStopped) {
		t.Errorf("error %v, want %v", err, errStopped)
	}
}

// WatchRecord returns a new head at once, and the present one after its time.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, engine.Options{})
		defer func() { w.set.Close() }()
		w.make("bloom", umbel.Hasher{})
		w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
		w.publish(1)
		p, _ := w.set.Get("words")
		last, err := p.source.Record(t.Context(), share.HeadName)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if b, err := p.source.WatchRecord(t.Context(), share.HeadName, last); err != nil || string(b) != string(last) || time.Since(began) != watchTime {
			t.Errorf("after %v: %q, %v", time.Since(began), b, err)
		}
		began = time.Now()
		go func() {
			time.Sleep(time.Second)
			w.add(0, 10)
			w.publish(2)
		}()
		if b, err := p.source.WatchRecord(t.Context(), share.HeadName, last); err != nil || string(b) == string(last) || time.Since(began) != time.Second {
			t.Errorf("after %v: %q, %v", time.Since(began), b, err)
		}
	})
}

// The end of a publication stops an object in its middle.
func TestCancelable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	u := upload{fakeUpload{write: func(b []byte) (int, error) {
		if n++; n == 2 {
			cancel()
		}
		return len(b), nil
	}}, ctx, (*budget.Budget)(nil).Files()}
	if k, err := u.Write(make([]byte, 5*pieceBytes)); k != 2*pieceBytes || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes were written, %v; want %d", k, err, 2*pieceBytes)
	}
}

type fakeUpload struct {
	share.Upload
	write func([]byte) (int, error)
}

func (u fakeUpload) Write(b []byte) (int, error) { return u.write(b) }
