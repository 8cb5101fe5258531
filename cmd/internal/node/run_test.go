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
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// running runs a node, and returns its settings with the addresses it has, and what it returns.
func running(t *testing.T, ctx context.Context, c Config, reloads chan struct{}) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, c, func() (Config, error) {
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
	time.Sleep(50 * time.Millisecond)
	signalled(t, syscall.SIGTERM) // the first one again
	time.Sleep(2 * sameSignal)
	select {
	case err := <-done:
		t.Errorf("after the same signal: %v", err)
	default:
	}
	signalled(t, syscall.SIGTERM)
	if err := <-done; !errors.Is(err, ErrForced) {
		t.Errorf("after two: %v", err)
	}
	// The process would end here. This one sees that nothing is left of the node.
	for {
		_, _, err := Check(t.Context(), c, slog.New(slog.DiscardHandler))
		if !errors.Is(err, oplog.ErrLocked) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
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
