package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/report/message"
	"github.com/umbel-filters/umbel/share"
)

// Exit codes; umbel --help documents them.
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
func Main(root *cobra.Command) { os.Exit(Run(root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Run executes one command line of a program and returns the exit code. Results go to stdout,
// everything else to stderr.
func Run(root *cobra.Command, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	logHTTPFaults(root)
	cmd, err := root.ExecuteC()
	if flushed := out.Flush(); flushed != nil && (err == nil || err == ErrAbsent || err == ErrExceeded) {
		err = flushed
	}
	switch {
	case err == nil:
		return ExitOK
	case err == ErrAbsent:
		return ExitAbsent
	case err == ErrExceeded:
		return exitExceeded
	case err == ErrPipe:
		return exitPipe
	}
	json, _ := root.PersistentFlags().GetBool("json")
	return printError(cmd, err, json || slices.Contains(beforeDashes(args), "--json"))
}

// printError prints an error of cmd on standard error and returns its exit code.
func printError(cmd *cobra.Command, err error, asJSON bool) int {
	f := failureOf(cmd, err)
	if w, ok := cmd.ErrOrStderr().(recordWriter); ok {
		w.log.Error("command failed", "error", f.Error, "exit", f.Exit)
	} else if asJSON {
		_ = JSONLine(cmd.ErrOrStderr(), f)
	} else {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", paintMessage(color.Red, cmd.Root().Name()+":"), f.Error)
	}
	return f.Exit
}

// beforeDashes returns the arguments that may be flags. An error in a flag ends the parsing before
// the flags behind it.
func beforeDashes(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// failure is how an error is reported with --json.
type failure struct {
	Error string `json:"error"`
	Exit  int    `json:"exit"`
}

// failureOf returns the message and the exit code of an error of cmd.
func failureOf(cmd *cobra.Command, err error) failure {
	if errors.Is(err, atomicfile.ErrInterrupted) {
		return failure{"interrupted; nothing was written", interruptedCode(cmd.Context(), err)}
	}
	if errors.Is(err, context.Canceled) {
		return failure{"interrupted", interruptedCode(cmd.Context(), err)}
	}
	f := failure{message.Of(localHint(cmd, binaryHint(cmd, nodeError(err)))), ExitError}
	if e, ok := errors.AsType[codedError](err); ok {
		f.Exit = e.code
	} else if errors.Is(err, share.ErrStale) {
		f.Exit = ExitStale
	}
	return f
}

// ErrExceeded ends a verb whose result has more errors than was stated. It isn't printed, because a warning was.
var ErrExceeded = errors.New("more errors than stated")
