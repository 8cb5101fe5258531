package journal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// With EverySec, a disk that hangs puts no more than a second of changes at risk: those that
// come later wait for it.
func TestEverySecOnADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{Durability: EverySec})
		goOn := make(chan struct{})
		w.disk.BeforeAppend(func() error {
			<-goOn
			return nil
		})
		at := time.Now()
		var last engine.Position
		for time.Since(at) <= time.Second {
			last = w.Append(add(1, 1))
			if err := w.Wait(t.Context(), last); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if since := time.Since(at); since > 1200*time.Millisecond {
			t.Errorf("changes were acknowledged for %v", since)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		last = w.Append(add(1, 2))
		if err := w.Wait(short, last); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after a second in which the disk did not reply: %v", err)
		}
		if _, lag := w.Pending(); lag != time.Since(at) {
			t.Errorf("the lag is %v, want %v", lag, time.Since(at))
		}
		close(goOn)
		if err := w.Wait(t.Context(), last); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		begin := time.Now()
		if err := w.Wait(t.Context(), w.Append(add(1, 3))); err != nil || time.Since(begin) > 0 {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

// Nothing is acknowledged that comes when the store takes nothing any more.
func TestEverySecAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{Durability: EverySec})
		goOn := make(chan struct{})
		w.disk.BeforeAppend(func() error {
			<-goOn
			return nil
		})
		first := w.Append(add(1, 1))
		time.Sleep(600 * time.Millisecond) // it is being written
		w.Close()
		if err := w.Wait(t.Context(), w.Append(add(1, 2))); !errors.Is(err, errClosed) {
			t.Errorf("a change that nobody keeps: %v", err)
		}
		close(goOn)
		if err := w.Wait(t.Context(), first); err != nil {
			t.Error(err)
		}
	})
}
