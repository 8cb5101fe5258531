//go:build unix

package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/await"
)

// running runs a node, and returns its settings with the addresses it has, and what it returns.
func running(t *testing.T, ctx context.Context, c Config, reloads chan struct{}) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, os.Stderr, c, func() (Config, error) {
			reloads <- struct{}{}
			return c, nil
		})
	}()
	return done
}

// signalled sends this process a signal.
func signalled(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// SIGHUP reads settings again, SIGTERM ends the node well, a second one at once.
func TestSignals(t *testing.T) {
	c := testConfig(t)
	c.LogLevel = "error"
	reloads := make(chan struct{}, 8)
	done := running(t, t.Context(), c, reloads)
	// The test hears signals too: one that comes before the node does would end the process.
	mine := make(chan os.Signal, 1)
	signal.Notify(mine, syscall.SIGHUP, syscall.SIGTERM)
	defer signal.Stop(mine)
	hangUp := func() {
		for {
			signalled(t, syscall.SIGHUP)
			select {
			case <-reloads:
				return
			case err := <-done:
				t.Fatal(err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	hangUp()
	signalled(t, syscall.SIGTERM)
	if err := <-done; err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}

	c.DrainDelay = time.Minute
	reloads = make(chan struct{}, 8) // what was sent to the first node may have been read twice
	done = running(t, t.Context(), c, reloads)
	hangUp()
	signalled(t, syscall.SIGTERM)
	for err, ended := error(nil), false; !ended; {
		select {
		case err = <-done:
			if ended = true; !errors.Is(err, errForced) {
				t.Errorf("after two: %v", err)
			}
		case <-time.After(2 * sameSignal): // the process may have heard the first one late
			signalled(t, syscall.SIGTERM)
		}
	}
	// The process would end here. This one sees that nothing is left of the node.
	await.True(t, "the log is not locked", func() bool {
		_, _, err := Check(t.Context(), c, slog.New(slog.DiscardHandler))
		return !errors.Is(err, disk.ErrLocked)
	})
}

// A second signal in a short time is the first one again, a later one ends the wait for the shutdown.
func TestSecondSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, signals, ended := make(chan error, 1), make(chan os.Signal), make(chan error)
		go func() { ended <- ends(done, signals) }()
		synctest.Wait()
		time.Sleep(sameSignal - 1)
		signals <- syscall.SIGTERM
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("after the same signal: %v", err)
		default:
		}
		time.Sleep(time.Nanosecond)
		signals <- syscall.SIGTERM
		if err := <-ended; !errors.Is(err, errForced) {
			t.Errorf("after two: %v", err)
		}

		failed := errors.New("the disk is full")
		go func() { ended <- ends(done, signals) }()
		done <- failed
		if err := <-ended; err != failed {
			t.Errorf("a shutdown that ended: %v, want %v", err, failed)
		}
	})
}

// The end of a context is a signal too.
func TestRunEnds(t *testing.T) {
	c := testConfig(t)
	c.LogLevel = "error"
	ctx, cancel := context.WithCancel(t.Context())
	done := running(t, ctx, c, nil)
	time.AfterFunc(100*time.Millisecond, cancel)
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
