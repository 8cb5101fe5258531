package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
)

const usage = `usage: demo [--plain | --json] [--for TIME] [--every TIME] [--keys NUMBER] [--changes NUMBER] [DIRECTORY]

A set that changes is published over HTTP on loopback, and five subscribers answer queries about it from
their own memory. Everything runs in this process; it uses no network beyond loopback and leaves no files.
Other users of this machine can read the filter meanwhile. ^C ends it, with the exit code that it has at the
end of --for: 0, or 1 if an answer was wrong.

The set is a population of random keys that grows and shrinks. With a directory it is the files below
it, at most a million: a key is the path, size and time of a file. The directory is read
again and again, at most a fifth of the time.

The subscribers:

  complete       receives each version
  2 kB/s         its connections deliver at most 2,000 bytes per second. It
                 begins with a fold of the filter that takes at most 6,000
                 bytes, and continues with the whole one
  5 % is enough  follows a fold that has at most 5 % false positives
  loses a third  each segment of at most 1,460 bytes is lost with a probability
                 of 1/3, at most two in a row; its connection ends there, and it
                 continues in another one
  ends, returns  ends, and continues later from its cache directory

A subscriber is exact while it answers from the last version, late while it answers from an
earlier one that is at most 15 seconds old, and stale otherwise: then it refuses to answer.
"behind" is the number of versions that it lacks, and since when. "false+" is the measured rate of
false positives of the last seconds, and "false-" the number of keys that it should have found and
did not; if there is one, the exit code is 1. "retries" counts updates that failed and objects that
were fetched again.

Below are the bytes that the subscribers received, with the headers of HTTP, and what the versions
that they applied would have cost in other forms, without headers: each as a copy of the filter or fold,
as a Bloom filter of 5 bits per key, and as a list of keys. Lists of more than 50,000 keys are scaled
from a part. What Squid's caches do by default, 5 bits per key once an hour, is scaled to the time
that has passed; the share of keys that it lacks follows from the measured additions.

On a terminal the state is shown in place, and in color unless NO_COLOR is set; otherwise, and with
--plain, one line per second is printed.

`

const (
	lineEvery    = time.Second      // between two lines of text or JSON
	defaultCycle = 40 * time.Second // in which a subscriber ends and returns, unless --for is shorter
)

// errWrong ends a demonstration in which an answer was wrong.
var errWrong = errors.New("an answer was wrong")

// options are the command line.
type options struct {
	Options
	lasting     time.Duration
	plain, json bool
}

func main() { os.Exit(start(os.Args[1:])) }

// start runs the program and returns its exit code.
func start(args []string) int {
	o, err := parse(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	// SIGHUP and SIGPIPE would end the process when the terminal or the pipe is closed, and leave files behind.
	// Writing to a connection that was closed causes SIGPIPE as well.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	if err == nil {
		err = o.run(ctx, os.Stdout)
	}
	switch {
	case err == nil, isClosed(err):
		return 0
	case errors.Is(err, errWrong):
		return 1
	}
	fmt.Fprintln(os.Stderr, "demo:", err)
	return 2
}

// isClosed reports whether nobody reads standard output any more.
func isClosed(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Path == os.Stdout.Name() && errors.Is(failed, syscall.EPIPE)
}

// parse reads the command line. What it prints goes to stderr.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	flags.BoolVar(&o.plain, "plain", false, "print one line per second")
	flags.BoolVar(&o.json, "json", false, "print one object in JSON per second")
	flags.DurationVar(&o.lasting, "for", 0, "end after this `TIME`, such as 1m")
	flags.DurationVar(&o.Every, "every", time.Second, "`TIME` between two versions, at least 50ms")
	flags.IntVar(&o.Keys, "keys", 20_000, "`NUMBER` of keys of the population at the beginning, at most 10,000,000")
	flags.Float64Var(&o.Changes, "changes", 200, "`NUMBER` of keys that are added or removed per second")
	flags.Uint64Var(&o.Seed, "random", 1, "`NUMBER` that determines the population and the losses")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.Dir = flags.Arg(0)
	var err error
	flags.Visit(func(f *flag.Flag) {
		if o.Dir != "" && (f.Name == "keys" || f.Name == "changes") {
			err = fmt.Errorf("--%s is for a population; leave out %s", f.Name, o.Dir)
		}
	})
	o.Cycle = defaultCycle
	if o.lasting > 0 {
		o.Cycle = min(o.lasting, defaultCycle)
	}
	if flags.NArg() > 1 {
		err = fmt.Errorf("unexpected argument %q; flags stand before the directory", flags.Arg(1))
	}
	return o, errors.Join(err, o.check())
}

// check returns an error for the first value that is out of range.
func (o options) check() error {
	switch {
	case o.Every < 50*time.Millisecond:
		return fmt.Errorf("--every is %v, want at least 50ms", o.Every)
	case o.lasting < 0:
		return fmt.Errorf("--for is %v, want at least 0s", o.lasting)
	case o.Keys < 1 || o.Keys > 1e7:
		return fmt.Errorf("--keys is %v, want 1 to 10,000,000", o.Keys)
	case !(o.Changes >= 0 && o.Changes < math.MaxInt32):
		return fmt.Errorf("--changes is %g, want at least 0 and less than 2^31", o.Changes)
	}
	return nil
}

// run runs a demonstration until ctx ends, and shows it on out.
func (o options) run(ctx context.Context, out *os.File) (err error) {
	d, err := New(ctx, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if o.lasting > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, o.lasting)
		defer cancel()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	show, end := o.display(out)
	shown := make(chan error, 1)
	go func() {
		defer cancel()
		shown <- show(ctx, d.Report)
	}()
	last, err := d.Run(ctx)
	cancel()
	if err = errors.Join(err, <-shown); err == nil {
		err = end(last)
	}
	return errors.Join(err, verdict(last))
}

// verdict returns errWrong if an answer was wrong.
func verdict(last Report) error {
	if last.Wrong > 0 {
		return errWrong
	}
	return nil
}

// display returns a function that shows reports on out until its context ends, and one that shows the last report.
func (o options) display(out *os.File) (show func(context.Context, func() Report) error, end func(Report) error) {
	_, _, onTerminal := terminalSize(out)
	if kind := os.Getenv("TERM"); !onTerminal || o.plain || o.json || kind == "" || kind == "dumb" {
		l := lines{bufio.NewWriter(out), o.json}
		return l.show, l.end
	}
	screen := Screen{Out: out, Colored: os.Getenv("NO_COLOR") == "", Size: func() (int, int) {
		width, height, _ := terminalSize(out)
		return width, height
	}}
	return screen.Show, func(last Report) error {
		return errors.Join(screen.Leave(last), last.WriteSummary(out))
	}
}

// lines prints one line per report: text, or an object in JSON.
type lines struct {
	w    *bufio.Writer
	json bool
}

// show prints reports until ctx ends.
func (l lines) show(ctx context.Context, report func() Report) error {
	if !l.json {
		if err := report().WriteHeader(l.w); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		now := report()
		if now.Final && !first {
			return nil
		}
		if err := l.print(now, now.WriteLine); err != nil {
			return err
		}
		if !pause.For(ctx, lineEvery) {
			return nil
		}
	}
}

// end prints the last report.
func (l lines) end(last Report) error { return l.print(last, last.WriteSummary) }

// print prints a report with text, or in JSON.
func (l lines) print(r Report, text func(io.Writer) error) error {
	var err error
	if l.json {
		err = json.NewEncoder(l.w).Encode(r)
	} else {
		err = text(l.w)
	}
	return errors.Join(err, l.w.Flush())
}
