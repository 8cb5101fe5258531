// Command recording runs the commands of a session in a terminal of 80 columns and writes what they
// print as an animated SVG, which web pages show as a picture. make recording runs it.
//
// The programs are built from this checkout. Times of typing and reading are fixed; a step that
// draws in place is sampled while it runs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// step is a command of the session. The picture shows its result for the time of hold. If program is not empty, it is run instead
// of the command: the same without compiling it.
type step struct {
	command string
	hold    time.Duration
	program string
}

var session = []step{
	{"seq 1 100000 | umbel make -o numbers.umb", 2 * time.Second, ""},
	{"umbel has numbers.umb 77 zebra", 2 * time.Second, ""},
	{"umbel info numbers.umb", 5 * time.Second, ""},
	{"umbel show numbers.umb --map", 6 * time.Second, ""},
	{"umbel plan -n 1e6 --fpr 1% | cut -c -80 | head -16", 6 * time.Second, ""},
	{"go run ./examples/demo --for 8s", 4 * time.Second, "demo --for 8s"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: recording FILE.svg")
		os.Exit(2)
	}
	if err := record(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// build builds the programs of the session into a directory.
func build(bin string) error {
	out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../cmd/umbel", "../../examples/demo").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// record runs the session in an empty directory and writes the picture.
func record(file string) error {
	dir, err := os.MkdirTemp("", "umbel-recording-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "bin")
	if err := build(bin); err != nil {
		return err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		return err
	}
	var film film
	for _, s := range session {
		if err := film.run(s, work, bin); err != nil {
			return fmt.Errorf("%s: %w", s.command, err)
		}
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := film.write(out); err != nil {
		return err
	}
	return out.Close()
}
