// Command umbel makes Bloom filters of keys, asks them, folds, merges and compares
// them, and looks into them. Its verbs are flags, a call to the library and printing, one
// file a verb; umbel --help says what there is.
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
)

// Exit codes, as the root's help tells them.
const (
	exitOK     = 0
	exitAbsent = 1
	exitError  = 2
	// exitInterrupted is what shells take for a program that ^C ended.
	exitInterrupted = 130
)

// errAbsent ends a verb that was asked for keys of which some are absent. There is
// nothing more to say.
var errAbsent = errors.New("absent")

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes one command line and returns the exit code. Results go to stdout,
// all else to stderr.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.Execute()
	if flushed := out.Flush(); flushed != nil && (err == nil || err == errAbsent) {
		err = flushed
	}
	switch {
	case err == nil:
		return exitOK
	case err == errAbsent:
		return exitAbsent
	}
	if errors.Is(err, atomicfile.ErrInterrupted) {
		fmt.Fprintln(stderr, "umbel: interrupted, nothing is written")
		return exitInterrupted
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "umbel: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "umbel: %s\n", message(toldByNode(err).Error()))
	return exitError
}

// apart is what the flags' library says of flags that don't go together.
var apart = regexp.MustCompile(`^if any flags in the group .*; \[(.*)\] were all set$`)

// message returns an error's text without the name that the line begins with
// anyway.
func message(text string) string {
	if m := apart.FindStringSubmatch(text); m != nil {
		return "--" + strings.Join(strings.Fields(m[1]), " and --") + " don't go together"
	}
	return strings.TrimPrefix(text, "umbel: ")
}
