// Command umbel makes, queries, folds, merges and compares Bloom filters and their relatives,
// in files and on a node, and runs a node (umbel serve). umbel --help lists the verbs. A verb
// consists of flags, a call to an internal package, and printing.
package main

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
	exitOK     = 0
	exitAbsent = 1
	exitError  = 2
	// Those of publications.
	exitStale       = 3
	exitRefused     = 4
	exitUnreachable = 5
	// exitExceeded means that the work was done, and that its result has more errors than was stated.
	exitExceeded = 6
	// exitInterrupted is the exit code that shells report for a program ended by ^C. That of other signals is
	// 128 and the number of the signal.
	exitInterrupted = 130
	// exitPipe is the exit code that shells report for a program ended since nobody reads its output.
	exitPipe = 141
)

// errAbsent ends a verb whose query found an absent key. It isn't printed.
var errAbsent = errors.New("absent")

// errPipe ends a verb whose output nobody reads any more, after it has saved its work. It isn't printed.
var errPipe = errors.New("standard output is closed")

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

func (e codedError) Unwrap() error { return e.error }

// withCode gives an error an exit code.
func withCode(code int, err error) error { return codedError{err, code} }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes one command line and returns the exit code. Results go to stdout,
// everything else to stderr.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	logHTTPFaults(root)
	cmd, err := root.ExecuteC()
	if flushed := out.Flush(); flushed != nil && (err == nil || err == errAbsent || err == errExceeded) {
		err = flushed
	}
	switch {
	case err == nil:
		return exitOK
	case err == errAbsent:
		return exitAbsent
	case err == errExceeded:
		return exitExceeded
	case err == errPipe:
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
		_ = jsonLine(cmd.ErrOrStderr(), f)
	} else {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", paintMessage(color.Red, "umbel:"), f.Error)
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
	f := failure{message.Of(localHint(cmd, binaryHint(cmd, nodeError(err)))), exitError}
	if e, ok := errors.AsType[codedError](err); ok {
		f.Exit = e.code
	} else if errors.Is(err, share.ErrStale) {
		f.Exit = exitStale
	}
	return f
}
