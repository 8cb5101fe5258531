package interrupt

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestContext(t *testing.T) {
	ctx, stop := Context(t.Context())
	stop()
	stop()
	<-ctx.Done()
	if err := context.Cause(ctx); err != context.Canceled {
		t.Errorf("cause %v after stop, want %v", err, context.Canceled)
	}
}

func TestError(t *testing.T) {
	for want, signal := range map[int]syscall.Signal{129: syscall.SIGHUP, 130: syscall.SIGINT, 143: syscall.SIGTERM} {
		if got := (Error{signal}).ExitCode(); got != want {
			t.Errorf("exit code %d after %v, want %d", got, signal, want)
		}
	}
	if !errors.Is(Error{syscall.SIGINT}, context.Canceled) {
		t.Error("an Error does not wrap context.Canceled")
	}
}

func TestReader(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if b, err := io.ReadAll(Reader(ctx, strings.NewReader("alice\n"))); string(b) != "alice\n" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	cancel(Error{syscall.SIGTERM})
	if n, err := Reader(ctx, strings.NewReader("bob")).Read(make([]byte, 3)); n != 0 || err != (Error{syscall.SIGTERM}) {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

// A read that blocks is given up at the end of the context.
func TestBlockedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		failed := make(chan error)
		go func() {
			_, err := Reader(ctx, r).Read(make([]byte, 1))
			failed <- err
		}()
		synctest.Wait()
		cancel(Error{syscall.SIGINT})
		if err := <-failed; err != (Error{syscall.SIGINT}) {
			t.Errorf("error %v", err)
		}
		w.Close()
	})
}
