package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/share"
)

// Exit codes; umbel help conventions documents them.
const (
	ExitOK     = 0
	ExitAbsent = 1
	ExitError  = 2
	// Those of publications.
	ExitStale       = 3
	ExitRefused     = 4
	ExitUnreachable = 5
	// exitExceeded means that the work was done, and that its result has more errors than was stated.
	exitExceeded = 6
	// exitInterrupted is the exit code that shells report for a program ended by ^C. That of other signals is
	// 128 and the number of the signal.
	exitInterrupted = 130
	// exitPipe is the exit code that shells report for a program ended since nobody reads its output.
	exitPipe = 141
)

// ErrAbsent ends a verb whose query found an absent key. It isn't printed.
var ErrAbsent = errors.New("absent")

// ErrPipe ends a verb whose output nobody reads any more, after it has saved its work. It isn't printed.
var ErrPipe = errors.New("standard output is closed")

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

func (e codedError) Unwrap() error { return e.error }

// WithCode gives an error an exit code.
func WithCode(code int, err error) error { return codedError{err, code} }

// Main runs the command line of the process, and ends it.
func Main(root *cobra.Command) { os.Exit(Run(root, os.Args[1:], Standard())) }

// Standard returns the streams of the process.
func Standard() *Streams {
	return &Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Screen: os.Stdout, Now: time.Now}
}

// Run executes one command line of a program and returns the exit code. Results go to the standard output of streams,
// everything else to standard error.
func Run(root *cobra.Command, args []string, streams *Streams) int {
	out := bufio.NewWriter(streams.Out)
	streams.Out = out
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(out)
	root.SetErr(streams.Err)
	cmd, err := root.ExecuteContextC(context.WithValue(context.Background(), streamsKey{}, streams))
	if flushed := out.Flush(); flushed != nil && (err == nil || err == ErrAbsent || err == errExceeded) {
		err = flushed
	}
	switch {
	case err == nil:
		return ExitOK
	case err == ErrAbsent:
		return ExitAbsent
	case err == errExceeded:
		return exitExceeded
	case err == ErrPipe:
		return exitPipe
	}
	if streams.Log == nil && slices.Contains(beforeDashes(args), "--json") { // the flags were not parsed
		_ = root.PersistentFlags().Set("json", "true")
	}
	return fail(cmd, err)
}

// fail reports the error that ends a verb, and returns its exit code.
func fail(cmd *cobra.Command, err error) int {
	text, exit := failureOf(cmd, err)
	report.Fail(streamsOf(cmd).Log, text, exit)
	return exit
}

// beforeDashes returns the arguments that may be flags. An error in a flag ends the parsing before
// the flags behind it.
func beforeDashes(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// failureOf returns the text and the exit code of an error of cmd.
func failureOf(cmd *cobra.Command, err error) (text string, exit int) {
	if errors.Is(err, atomicfile.ErrInterrupted) {
		return "interrupted; nothing was written", interruptedCode(streamsOf(cmd).signaled, err)
	}
	if errors.Is(err, context.Canceled) {
		return "interrupted", interruptedCode(streamsOf(cmd).signaled, err)
	}
	exit = ExitError
	if e, ok := errors.AsType[codedError](err); ok {
		exit = e.code
	} else if errors.Is(err, share.ErrStale) {
		exit = ExitStale
	} else if _, shrunk := errors.AsType[*share.ShrunkError](err); shrunk {
		exit = ExitRefused
	}
	err = localHint(cmd, missingHint(cmd, binaryHint(cmd, nodeError(err))))
	if e, ok := errors.AsType[usageError](err); ok {
		err = fmt.Errorf("%w; see %s --help", err, cmp.Or(e.path, cmd.CommandPath()))
	}
	return report.Text(err), exit
}

// errExceeded ends a verb whose result has more errors than was stated. It isn't printed, because a warning was.
var errExceeded = errors.New("more errors than stated")
