package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/service/interrupt"
)

// SignalContext returns the context of cmd, which ends at one of the signals, by default SIGINT and SIGTERM, and
// the function that restores their effect.
func SignalContext(cmd *cobra.Command, signals ...os.Signal) (context.Context, func()) {
	if len(signals) == 0 {
		signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	ctx, stop := interrupt.Context(cmd.Context(), signals...)
	cmd.SetContext(ctx)
	return ctx, stop
}

// Interruptible makes ^C cancel the verb's requests and its reading of keys, so that it can undo an incomplete
// change. A second ^C ends the program at once.
func Interruptible(cmd *cobra.Command) {
	ctx, stop := SignalContext(cmd)
	context.AfterFunc(ctx, stop)
}

// Interrupted returns the error of a verb that a signal has ended, with the consequence and the exit code of the signal.
func Interrupted(ctx context.Context, consequence string) error {
	return WithCode(interruptedCode(ctx, nil), errors.New("interrupted; "+consequence))
}

// interruptedCode returns the exit code of a verb that a signal has ended: err or the end of its context has the
// signal.
func interruptedCode(ctx context.Context, err error) int {
	if e, ok := errors.AsType[interrupt.Error](errors.Join(err, context.Cause(ctx))); ok {
		return e.ExitCode()
	}
	return exitInterrupted
}

// EndAtSignal ends the program at SIGINT and SIGTERM, with an error that states the consequence, until the function
// that it returns is called. It is for work that can be abandoned at any time.
func EndAtSignal(cmd *cobra.Command, consequence string) (stop func()) {
	ctx, release := interrupt.Context(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	keep := context.AfterFunc(ctx, func() {
		if file := StreamsOf(cmd).terminal(); file != nil && color.CanDraw(file) {
			fmt.Fprint(file, "\r\x1b[K") // a progress bar
		}
		os.Exit(fail(cmd, Interrupted(ctx, consequence)))
	})
	return func() {
		keep()
		release()
	}
}
