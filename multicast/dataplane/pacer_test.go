package dataplane_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/dataplane"
)

func newPacer(t *testing.T, p dataplane.Pace) *dataplane.Pacer {
	t.Helper()
	q, err := dataplane.NewPacer(p)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestPacerRate: of 1000 packets at 500 per second, the last one starts after the time of the
// 999 before it.
func TestPacerRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(t, dataplane.Pace{Rate: 500})
		begin := time.Now()
		for range 1000 {
			if err := p.Wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
		if took, want := time.Since(begin), 999*2*time.Millisecond; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		// Who is late catches up for a while, and then goes on as before.
		time.Sleep(time.Hour)
		begin = time.Now()
		for range 100 {
			if err := p.Wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
		if took, want := time.Since(begin), (99-10)*2*time.Millisecond; took != want {
			t.Errorf("after a pause, took %v, want %v", took, want)
		}
	})
}

// TestPacerWindow: a packet starts when an earlier one has been delivered to all receivers.
func TestPacerWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(t, dataplane.Pace{Window: 3, Receivers: 2})
		sent := 0
		done := make(chan error)
		go func() {
			for ; sent < 5; sent++ {
				if err := p.Wait(t.Context(), 1); err != nil {
					done <- err
					return
				}
			}
			done <- p.Drain(t.Context())
		}()
		for delivered, want := range []int{3, 3, 4, 4, 5, 5, 5, 5, 5, 5} {
			synctest.Wait()
			if sent != want {
				t.Errorf("after %d deliveries %d packets are sent, want %d", delivered, sent, want)
			}
			p.Delivered()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if p.Lost() != 0 {
			t.Errorf("%d deliveries are lost, want none", p.Lost())
		}
	})
}

// TestPacerPatience: packets that don't arrive in time are given up.
func TestPacerPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(t, dataplane.Pace{Window: 4, Receivers: 1, Patience: time.Minute})
		begin := time.Now()
		go func() {
			time.Sleep(50 * time.Second)
			p.Delivered()
		}()
		// More than a window waits until none is on its way.
		for _, n := range []int{4, 9, 1} {
			if err := p.Wait(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		// A minute passes with a delivery in it, and one without; and one for the nine.
		if took, want := time.Since(begin), 3*time.Minute; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		if got := p.Lost(); got != 3+9 {
			t.Errorf("%d deliveries are lost, want 12", got)
		}
		// What was given up and comes after all doesn't widen the window.
		for range 6 {
			p.Delivered()
		}
		if err := p.Wait(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Wait(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a full window says %v, want the end of the context", err)
		}
	})
}

// TestPacerEnds: a pacer ends with its context.
func TestPacerEnds(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, pace := range map[string]dataplane.Pace{
		"none": {}, "rate": {Rate: 1e-6}, "least rate": {Rate: 5e-324}, "window": {Window: 1, Receivers: 1, Patience: noLoss},
	} {
		p := newPacer(t, pace)
		if err := p.Wait(t.Context(), 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := p.Wait(brief, 1); err == nil && name != "none" {
			t.Errorf("%s: a second packet goes at once", name)
		}
		cancel()
		if err := p.Wait(ended, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a context that has ended gives %v", name, err)
		}
	}
}

func TestNewPacerRefuses(t *testing.T) {
	for name, p := range map[string]dataplane.Pace{
		"rate below zero": {Rate: -1}, "no rate": {Rate: math.NaN()}, "window below zero": {Window: -1},
		"no receivers": {Window: 1}, "receivers below zero": {Window: 1, Receivers: -1}, "patience below zero": {Patience: -1},
	} {
		if _, err := dataplane.NewPacer(p); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %+v was taken", name, p)
		}
	}
}
