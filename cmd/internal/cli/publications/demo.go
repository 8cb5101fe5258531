package publications

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/demo"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"golang.org/x/term"
)

const demoHelp = `Show what umbel is for: a set that changes is published over HTTP on loopback, and five
subscribers answer queries about it from their own memory. Everything runs in this process; it uses
no network beyond loopback and leaves no files. Other users of this machine can read the filter
meanwhile. ^C ends it, with the exit code that it has at the end of --for: 0, or 1 if an answer was wrong.

The set is a population of random keys that grows and shrinks. With DIR it is the files below a
directory, at most a million: a key is the path, size and time of a file. The directory is read
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
--plain, one line per second is printed.`

const demoExample = `  umbel demo
  umbel demo ~/src
  umbel demo --plain --for 10s
  umbel demo --json --for 10s | jq .receivedBytes`

// DemoRun is one run of umbel demo.
type DemoRun struct {
	Cmd     *cobra.Command
	o       demo.Options
	keys    quantity.Count
	lasting time.Duration
	plain   bool
	screen  *demo.Screen // nil if lines are printed
}

// lineEvery is the time between two lines of text or JSON.
const lineEvery = time.Second

// defaultCycle is the period in which a subscriber ends and returns, unless --for is shorter.
const defaultCycle = 40 * time.Second

func DemoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "demo [DIR]",
		Short:   "show a publication with five subscribers",
		Long:    demoHelp,
		Example: demoExample,
		Args:    cli.Arguments(0, 1),
	}
	r := DemoRun{Cmd: cmd, keys: 20_000}
	flags := cmd.Flags()
	flags.BoolVar(&r.plain, "plain", false, "print one line per second")
	quantity.DurationVar(flags, &r.lasting, "for", 0, "end after this `TIME`, such as 1m")
	quantity.DurationVar(flags, &r.o.Every, "every", time.Second, "`TIME` between two versions, at least 50ms")
	flags.Var(&r.keys, "keys", "`NUMBER` of keys of the population at the beginning, at most 10,000,000")
	flags.Float64Var(&r.o.Changes, "changes", 200, "`NUMBER` of keys that are added or removed per second")
	flags.Uint64Var(&r.o.Seed, "seed", 1, "`NUMBER` that determines the population and the losses")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.check(); err != nil {
			return cli.UsageError(cmd, err)
		}
		if len(args) > 0 {
			for _, name := range []string{"keys", "changes"} {
				if flags.Changed(name) {
					return cli.UsageError(cmd, fmt.Errorf("--%s is for a population; leave out %s", name, args[0]))
				}
			}
			r.o.Dir = args[0]
		}
		r.o.Keys, r.o.Cycle = int(r.keys), defaultCycle
		if r.lasting > 0 {
			r.o.Cycle = min(r.lasting, defaultCycle)
		}
		return r.run()
	}
	return cmd
}

// check returns an error for the first flag that is out of range.
func (r *DemoRun) check() error {
	switch {
	case r.o.Every < 50*time.Millisecond:
		return fmt.Errorf("--every is %v, want at least 50ms", r.o.Every)
	case r.lasting < 0:
		return fmt.Errorf("--for is %v, want at least 0s", r.lasting)
	case r.keys < 1 || r.keys > 1e7:
		return fmt.Errorf("--keys is %v, want 1 to 10,000,000", r.keys)
	case !(r.o.Changes >= 0 && r.o.Changes < math.MaxInt32):
		return fmt.Errorf("--changes is %g, want at least 0 and less than 2^31", r.o.Changes)
	}
	return nil
}

func (r *DemoRun) run() (err error) {
	// SIGHUP and SIGPIPE would end the process when the terminal or the pipe is closed, and leave files behind.
	// Writing to a connection that was closed causes SIGPIPE as well.
	ctx, stop := cli.SignalContext(r.Cmd, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	defer func() {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == os.Stdout.Name() && errors.Is(e, syscall.EPIPE) {
			err = cli.ErrPipe
		}
	}()
	read := cli.Note(r.Cmd, "reading "+r.o.Dir)
	d, err := demo.New(ctx, r.o)
	read()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if r.lasting > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, r.lasting)
		defer cancel()
	}
	if !r.plain && !cli.IsQuiet(r.Cmd) && !cli.WantsJSON(r.Cmd) && color.CanDraw(os.Stdout) {
		r.screen = &demo.Screen{Out: os.Stdout, Size: screenSize(os.Stdout), Colored: color.Enabled(os.Stdout)}
	}
	last, err := r.runAndShow(ctx, d)
	if err != nil {
		return err
	}
	return r.End(last)
}

// runAndShow runs a demonstration until ctx ends, and shows it meanwhile.
func (r *DemoRun) runAndShow(ctx context.Context, d *demo.Demo) (demo.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown := make(chan error, 1)
	go func() {
		defer cancel()
		shown <- r.show(ctx, d.Report)
	}()
	last, err := d.Run(ctx)
	cancel()
	return last, errors.Join(err, <-shown)
}

// End prints the last report. It returns errAbsent if an answer was wrong.
func (r *DemoRun) End(last demo.Report) error {
	if r.screen != nil {
		if err := r.screen.Leave(last); err != nil {
			return err
		}
	}
	if !cli.IsQuiet(r.Cmd) {
		if err := cli.Answer(r.Cmd, last, last.WriteSummary); err != nil {
			return err
		}
	}
	if last.Wrong > 0 {
		return cli.ErrAbsent
	}
	return nil
}

// show shows reports until ctx ends.
func (r *DemoRun) show(ctx context.Context, report func() demo.Report) error {
	if cli.IsQuiet(r.Cmd) {
		<-ctx.Done()
		return nil
	}
	if r.screen != nil {
		return r.screen.Show(ctx, report)
	}
	out := r.Cmd.OutOrStdout()
	if !cli.WantsJSON(r.Cmd) {
		if err := report().WriteHeader(out); err != nil {
			return err
		}
	}
	t := time.NewTicker(lineEvery)
	defer t.Stop()
	for first := true; ; first = false {
		now := report()
		if now.Final && !first {
			return nil
		}
		if err := cli.Answer(r.Cmd, now, now.WriteLine); err != nil {
			return err
		}
		if err := cli.Flush(r.Cmd); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// screenSize returns a function that returns the size of a terminal, and that of most terminals if it is not known.
func screenSize(f *os.File) func() (width, height int) {
	return func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width == 0 || height == 0 {
			return 80, 24
		}
		return width, height
	}
}
