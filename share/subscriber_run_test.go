package share_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// polled is a source without a Watcher. It notes the times of requests and can fail.
type polled struct {
	share.Source
	mu   sync.Mutex
	at   []time.Time
	fail error
}

func (p *polled) Record(ctx context.Context, name string) ([]byte, error) {
	p.mu.Lock()
	p.at = append(p.at, time.Now())
	err := p.fail
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return p.Source.Record(ctx, name)
}

// failWith makes requests fail, or succeed again.
func (p *polled) failWith(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = err
}

// requests returns the times of the requests.
func (p *polled) requests() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.at)
}

// run starts Run, and returns a function that ends it. The bubble fails if a goroutine remains.
func run(t *testing.T, s *share.Subscriber, period time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, period) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		s.Close()
	}
}

func TestRunPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		source := &polled{Source: p.store}
		s := p.liveSubscriber(source, share.StaleError)
		defer run(t, s, time.Minute)()
		for v := range uint64(20) {
			state := set(t, 1<<12, v, v+100)
			p.publish(state)
			time.Sleep(75 * time.Second)
			synctest.Wait()
			wantState(t, s, state)
		}
		requests := source.requests()
		for i := 1; i < len(requests); i++ {
			if wait := requests[i].Sub(requests[i-1]); i > 5 && (wait < 45*time.Second || wait > 75*time.Second) {
				t.Errorf("request %d after %v", i, wait)
			}
		}
	})
}

// After failures the time between requests doubles up to the period. When the source is back, the
// subscriber is exact again after one of them.
func TestRunBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		state := set(t, 1<<12, 0, 100)
		source := &polled{Source: p.store, fail: errInjected}
		s := p.liveSubscriber(source, share.StaleError)
		defer run(t, s, time.Minute)()
		time.Sleep(time.Hour)
		synctest.Wait()
		want := 100 * time.Millisecond
		requests := source.requests()
		for i := 1; i < len(requests); i++ {
			wait := requests[i].Sub(requests[i-1])
			if wait < want*3/4 || wait > want*5/4 {
				t.Errorf("request %d after %v, want about %v", i, wait, want)
			}
			want = min(2*want, time.Minute)
		}
		if n := len(requests); n < 50 || n > 100 {
			t.Errorf("%d requests in an hour", n)
		}
		p.publish(state)
		source.failWith(nil)
		time.Sleep(75 * time.Second)
		synctest.Wait()
		wantState(t, s, state)
	})
}

// Run logs failures when they begin and once per minute, and when they are over.
func TestRunLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		p.publish(set(t, 1<<12, 0, 100))
		var log bytes.Buffer
		source := &polled{Source: p.store}
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
			Source: source, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer run(t, s, time.Second)()
		source.failWith(errInjected)
		time.Sleep(10*time.Minute + 30*time.Second)
		if _, err := p.p.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		source.failWith(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 12 || !strings.Contains(lines[0], `msg="update failed"`) || !strings.Contains(lines[11], `msg="updates succeed again" lasted=10m`) {
			t.Fatalf("logged:\n%s", &log)
		}
		for _, line := range lines[1:] {
			if !strings.Contains(line, " omitted=") {
				t.Errorf("no number of omitted failures: %s", line)
			}
		}
	})
}

// A head that has expired is a fault until a valid one arrives, also if the source returns it again.
func TestRunLogsExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		p.publish(set(t, 1<<12, 0, 100))
		time.Sleep(p.p.Head().Valid + time.Second)
		for name, source := range map[string]share.Source{"polls": &polled{Source: p.store}, "watches": p.store} {
			var log bytes.Buffer
			s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
				Source: source, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, s, time.Second)
			time.Sleep(150 * time.Second)
			synctest.Wait()
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			if len(lines) < 2 || len(lines) > 3 || strings.Contains(log.String(), "updates succeed again") {
				t.Errorf("%s: with an expired head, logged:\n%s", name, &log)
			}
			log.Reset()
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if !strings.Contains(log.String(), `msg="updates succeed again"`) {
				t.Errorf("%s: with a valid head, logged %q", name, &log)
			}
			stop()
			time.Sleep(p.p.Head().Valid + time.Second)
		}
	})
}

func TestRunWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		s := p.liveSubscriber(p.store, share.StaleError)
		defer run(t, s, time.Minute)()
		p.publish(set(t, 1<<12, 0, 50))
		time.Sleep(2 * time.Second)
		for v := range uint64(20) {
			state := set(t, 1<<12, v, v+100)
			p.publish(state)
			synctest.Wait() // no time passes
			wantState(t, s, state)
			time.Sleep(time.Duration(v) * 10 * time.Second)
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if !s.View().Exact() {
			t.Error("stale before the head expired")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.View().Exact() {
			t.Error("exact after the head expired")
		}
	})
}

// watcher is a broken Watcher: it returns at once, or never.
type watcher struct {
	share.Source
	hangs bool
	calls atomic.Int64
}

func (w *watcher) WatchRecord(ctx context.Context, _ string, last []byte) ([]byte, error) {
	w.calls.Add(1)
	if w.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return last, nil
}

func TestRunBrokenWatcher(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := live(t)
			p.publish(set(t, 1<<12, 0, 50))
			source := &watcher{Source: p.store, hangs: hangs}
			s := p.liveSubscriber(source, share.StaleError)
			defer run(t, s, time.Minute)()
			time.Sleep(3 * time.Minute)
			state := set(t, 1<<12, 0, 51)
			p.publish(state)
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if hangs {
				wantState(t, s, state)
			} else if source.calls.Load() > 6*60*20 {
				t.Errorf("%d calls in 6 minutes", source.calls.Load())
			}
		})
	}
}

// patient is a Watcher that waits for 25 seconds, as a client of a server with long poll does.
type patient struct {
	*share.Memory
	records, cut atomic.Int64
}

func (p *patient) Record(ctx context.Context, name string) ([]byte, error) {
	p.records.Add(1)
	return p.Memory.Record(ctx, name)
}

func (p *patient) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	b, err := p.Memory.WatchRecord(limited, name, last)
	if ctx.Err() != nil {
		p.cut.Add(1)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return last, nil
	}
	return b, err
}

// A short period does not end requests that wait for the next head, unless the head expires meanwhile.
func TestRunLetsWatchersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		p.publish(set(t, 1<<12, 0, 50))
		source := &patient{Memory: p.store.(*share.Memory)}
		s := p.liveSubscriber(source, share.StaleError)
		defer run(t, s, 3*time.Second)()
		for range 10 {
			time.Sleep(100 * time.Second)
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := source.records.Load(); n != 1 || source.cut.Load() > 0 {
			t.Errorf("%d requests for the head, %d waits were ended; want 1 and 0", n, source.cut.Load())
		}
		time.Sleep(5*time.Minute + 30*time.Second)
		synctest.Wait()
		if source.cut.Load() == 0 {
			t.Error("the head has expired, but no request was made that does not wait")
		}
	})
}

// paused is a Watcher that returns nothing new for a long time, as a client that has to retry later, or that polls,
// and whose other requests are answered.
type paused struct{ *share.Memory }

func (p paused) WatchRecord(ctx context.Context, _ string, last []byte) ([]byte, error) {
	select {
	case <-ctx.Done():
		return last, ctx.Err()
	case <-time.After(10 * time.Minute):
		return last, nil
	}
}

// A pause of the source ends when the head expires: the next head is requested at that moment, whatever the period.
func TestRunEndsPausesAtExpiry(t *testing.T) {
	for _, period := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := live(t)
			p.publish(set(t, 1<<12, 0, 50))
			s := p.liveSubscriber(paused{p.store.(*share.Memory)}, share.StaleError)
			defer run(t, s, period)()
			synctest.Wait()
			head := s.View().Head()
			valid := time.Until(head.Expires())
			time.Sleep(valid / 2)
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(valid/2 + time.Millisecond)
			synctest.Wait()
			head = s.View().Head()
			if left := time.Until(head.Expires()); left <= 0 {
				t.Errorf("period %v: the head expired %v ago, and the next one, which exists, is not there", period, -left)
			}
		})
	}
}

// stuck is a source whose objects do not arrive.
type stuck struct{ share.Store }

func (stuck) Object(ctx context.Context, _ string, _ int64) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Run ends while an object is being fetched.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		p.publish(set(t, 1<<12, 0, 50))
		s := p.liveSubscriber(stuck{p.store}, share.StaleError)
		stop := run(t, s, time.Minute)
		time.Sleep(time.Hour)
		stop()
	})
}
