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
	"regexp"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
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
	// exitInterrupted is the exit code that shells report for a program ended by ^C.
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
	cmd, err := root.ExecuteC()
	if flushed := out.Flush(); flushed != nil && (err == nil || err == errAbsent) {
		err = flushed
	}
	switch {
	case err == nil:
		return exitOK
	case err == errAbsent:
		return exitAbsent
	case err == errPipe:
		return exitPipe
	}
	if errors.Is(err, atomicfile.ErrInterrupted) {
		fmt.Fprintln(stderr, "umbel: interrupted; nothing was written")
		return exitInterrupted
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "umbel: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "umbel: %s\n", message(binaryHint(cmd, nodeError(err)).Error()))
	if e, ok := errors.AsType[codedError](err); ok {
		return e.code
	}
	if errors.Is(err, share.ErrStale) {
		return exitStale
	}
	return exitError
}

// exclusiveFlags matches cobra's error about flags that exclude each other.
var exclusiveFlags = regexp.MustCompile(`^if any flags in the group .*; \[(.*)\] were all set$`)

// message returns an error's text on one line, without the prefix that every line has, and that errors of
// package umbel have too, at the beginning or within others.
func message(text string) string {
	if m := exclusiveFlags.FindStringSubmatch(text); m != nil {
		return "--" + strings.Join(strings.Fields(m[1]), " and --") + " can't be combined"
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "umbel: "), ": umbel: ", ": ")
	return strings.ReplaceAll(text, "\n", "; ") // of errors.Join
}
