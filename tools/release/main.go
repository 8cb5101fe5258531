// Release prepares a release of the modules of this repository from the last commit, and rehearses it:
//
//	release [-rehearse] VERSION DIRECTORY
//
// It tags the published modules in a clone, serves them from a module proxy of files, and installs and uses
// them from there with an empty module cache. Then it builds the program for all platforms and writes to
// DIRECTORY, which it replaces: the repository with the tags (umbel.git), archives, Debian packages, a
// container image, a bill of materials and checksums. A second run with the same commit and the same Go
// writes the same files. The checkout is not changed. docs/releasing.md has the steps of a release.
//
// With -rehearse it stops before it builds for other platforms, and uncommitted changes are ignored.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	rehearse := flag.Bool("rehearse", false, "tag, install and use the modules of the last commit; write nothing")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: release -rehearse VERSION\n       release VERSION DIRECTORY")
	}
	flag.Parse()
	if *rehearse && flag.NArg() != 1 || !*rehearse && flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run prepares version in the directory out. If out is empty, run only rehearses.
func run(version, out string) error {
	top, err := command{dir: "."}.line("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := check(top, version, out == ""); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "umbel-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	r, err := clone(top, scratch, version)
	if err != nil {
		return err
	}
	note("the modules of %s require each other", version)
	if err := r.tag(); err != nil {
		return err
	}
	note("they are installed and used with an empty module cache")
	if err := r.rehearse(); err != nil {
		return err
	}
	if out == "" {
		note("%s can be released", version)
		return nil
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := r.write(out); err != nil {
		return err
	}
	note("%s is in %s", version, out)
	return nil
}

// note reports progress on standard error.
func note(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
