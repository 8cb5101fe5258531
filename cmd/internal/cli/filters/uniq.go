package filters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/progress"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
)

const uniqHelp = `Print the lines that were not seen before, and remember them. Lines come from the files, or from
standard input, and are printed in their order as soon as they are read. With --known the lines
that were seen before are printed instead, and new ones are remembered all the same.

With --state the lines seen are kept in FILE for the next run; otherwise they are forgotten at the
end. FILE is written at the end, also after ^C, SIGTERM, SIGHUP, an error or the end of the reader of a
pipe, and every minute if there is something new (--save), from a copy that takes the memory of the
filter once more, so that lines do not wait for the disk; if memory is short, they wait. Saving takes at most
a twentieth of the time. Other programs that change FILE wait until the end.

A line that was seen is never printed again, unless FILE could not be written after it was printed,
because the program was killed or the disk is full. A line that was never seen is mistaken for a known one at the rate
--fpr, 1 in a million unless given: it is not printed. The summary states how many such lines are expected. If they are more
than --fpr permits, or than the rate of an existing FILE, or if the filter is overfull, the exit code is 6, unless --lossy is
given. A line is remembered after
it was written.

The summary goes to standard error, with --json as an object. The exit code is 0, 130 after ^C, 143
after SIGTERM, 129 after SIGHUP, 141 if nobody reads the output, 6 if more new lines were lost than stated, 2 on another error.`

const uniqReference = `A new FILE has a filter that grows (kind scalable). It starts with room for --keys lines, by
default 100,000 in 408 KiB, and needs 5 to 7 bytes per line at the default rate. At --max-memory
it does not grow any more: it still remembers each line, the rate rises, and a warning is
printed. If FILE exists, its filter is used as it is, of any kind that umbel make made; a warning is printed at once
if its rate is 0.1 % or higher, unless --fpr states it.

With --forget TIME, such as 1h or 7d, a line is forgotten when it was not seen for TIME. FILE begins with a window of --keys
different lines per TIME, 1,000,000 unless given, in 7.77 MiB, or more if TIME is below 24s. If more arrive, a window of twice the
size follows, so that the rate stays; FILE is then of kind union. Each repetition counts as seen. A line expires at
most one step late; a step is about a 24th of TIME at the default rate, rounded up to whole seconds. In the
first step after that about half of the expired lines are still mistaken for known ones, in the second
a quarter, and so on. At --max-memory, or if memory is short, the window does not grow any more, and a warning is printed.

With --strict the run ends when the filter is overfull, at more than twice --fpr, with exit code 2, and does not begin
with a FILE of such a high rate. The
lines read until then are printed and remembered, and the others stay unread.

With --addr the lines are kept in filter --state of a node. Make it first, for example:

  umbel make -o seen --addr HOST:PORT --kind scalable --keys 100k \
    --fpr 1e-6 --allow-empty /dev/null

Of several programs that read one new line at the same moment, more than one may print it. Lines are
then remembered before they are written.`

const uniqExample = `  umbel uniq access.log > new.log
  umbel uniq --state seen.umb < urls.txt
  tail -f app.log | umbel uniq --state seen.umb --forget 1h
  umbel uniq --known a.txt b.txt                    # lines that occur again
  umbel uniq -c access.log                          # number of different lines`

// uniqRun is one run of umbel uniq.
type uniqRun struct {
	*cli.Streams
	state  uniqState
	stream uniq.Stream
	count  bool
	room   uniqRoom
	bar    *progress.Bar
}

// UniqCommand is umbel uniq.
func UniqCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "uniq [KEYFILE...]",
		Short:       "print lines that were not seen before",
		Long:        uniqHelp,
		Annotations: cli.Reference(uniqReference),
		Example:     uniqExample,
		Args:        cli.Arguments(0, -1),
	}
	r := new(uniqRun)
	flags := cmd.Flags()
	flags.BoolVar(&r.stream.Known, "known", false, "print the lines that were seen before instead")
	flags.BoolVarP(&r.count, "count", "c", false, "print only the number of lines")
	quantity.DurationVar(flags, &r.stream.Every, "save", time.Minute, "`DURATION` after which the state is saved, 0 for only at the end")
	AddStrictFlag(cmd, &r.state.Tolerance)
	flags.Lookup(strictFlag).Usage = "fail if the filter is overfull, instead of a warning"
	flags.Lookup(lossyFlag).Usage = "exit with 0 even if more new lines were taken for known ones than --fpr permits"
	r.state.addFlags(cmd)
	cli.AddFormatFlag(cmd, &r.stream.Format)
	cli.AddAddrFlags(cmd, &r.state.on)
	r.state.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *uniqRun) run(ctx context.Context, streams *cli.Streams, args []string) error {
	r.Streams, r.state.Streams = streams, streams
	if err := r.state.check(); err != nil {
		return cli.UsageError(err)
	}
	ctx, stop := endOnSignal(ctx, streams)
	defer stop()
	files, closeFiles, err := streams.OpenKeys(args)
	if err != nil {
		return err
	}
	defer closeFiles()
	for _, f := range files {
		if err := keys.CheckFile(f, r.stream.Format); err != nil {
			return err
		}
	}
	if r.stream.Seen, err = r.state.open(ctx); err != nil {
		return err
	}
	defer r.state.close()
	return r.read(ctx, files)
}

// endOnSignal returns a context that ends at SIGINT, SIGTERM or SIGHUP, so that the state is saved. The same signal often
// comes twice, to the process and to its group; so further ones have no effect for a second. stop restores
// the effect of signals.
func endOnSignal(ctx context.Context, streams *cli.Streams) (_ context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // not after nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop = streams.SignalContext(ctx, signals...)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx, stop
}

// read passes on the lines of the files, saves the state and prints the summary.
func (r *uniqRun) read(ctx context.Context, files []*os.File) error {
	signal.Ignore(syscall.SIGPIPE) // to save the state
	total := cli.TotalBytes(files)
	if total >= 0 && r.Terminal() == nil {
		r.bar = r.StartBar("lines", total)
	}
	r.stream.Write, r.stream.Tick = r.Write, r.tick
	if file := r.state.file; file == nil {
		r.stream.Every = 0
	} else {
		r.stream.Save = func() (func() error, error) { return file.SaveLater(r.state.seen) }
	}
	if r.state.full {
		r.room.noteWarned(r.state.filter.Stats().Keys)
	}
	if r.state.node != nil {
		r.room.loss.Begin(r.state.nodeRate)
	} else {
		r.room.loss.Begin(r.state.filter.Stats().FPRate)
	}
	err := r.stream.Run(ctx, cli.Readers(files)...)
	r.bar.Stop()
	if saved := r.state.save(); saved != nil {
		if cause, ok := errors.AsType[*fs.PathError](saved); ok {
			saved = cause // without the remark that nothing was written: lines were
		}
		return fmt.Errorf("the state was not saved: %w%s; lines printed since the last save will count as new in the next run", saved, r.state.sizeWords(saved))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(r.summary(ctx), err)
}

// Write prints lines, and returns how many bytes of them were written.
func (r *uniqRun) Write(lines []byte) (int, error) {
	if r.count {
		return len(lines), nil
	}
	out := r.Out.(*bufio.Writer)
	n, err := out.Write(lines)
	if err == nil {
		err = out.Flush()
		n -= out.Buffered()
	}
	if errors.Is(err, syscall.EPIPE) {
		err = cli.ErrPipe
	}
	return n, err
}

// tick reports progress, and that the filter is full.
func (r *uniqRun) tick(bytes int64) error {
	r.bar.Add(bytes)
	return r.room.look(&r.state, &r.stream)
}

// uniqSummary is the result of umbel uniq.
type uniqSummary struct {
	Summary
	New   uint64 `json:"new"`
	Known uint64 `json:"known"`
	// Mistaken is the expected number of new lines among the known ones.
	Mistaken cli.Float `json:"mistaken"`
}

// summary prints the number of lines with --count, and what was done on standard error.
func (r *uniqRun) summary(ctx context.Context) error {
	s := uniqSummary{New: r.stream.New, Known: r.stream.Read - r.stream.New}
	if r.count {
		n := s.New
		if r.stream.Known {
			n = s.Known
		}
		if err := r.printCount(n); err != nil {
			return err
		}
	}
	var err error
	if s.Summary, err = r.state.summary(ctx); err != nil {
		return err
	}
	r.room.loss.Measure(float64(s.FPRate), &r.stream)
	s.Mistaken = cli.Float(r.room.loss.Expected())
	if err := r.room.judge(&r.state, &r.stream, s.Summary); err != nil {
		return err
	}
	if r.room.judgeLoss(&r.state, &r.stream); r.Quiet {
		return nil
	}
	s.Read = &r.stream.Read
	unit := "line"
	if r.stream.Format.Separator == 0 {
		unit = "key"
	}
	words := fmt.Sprintf("%s read, %v new%s", quantity.Count(r.stream.Read).Of(unit), quantity.Count(s.New), lossWords(r.room.loss.Expected()))
	return r.ToErr().Answer(s, func(w io.Writer) error { return s.Write(w, words) })
}

func (r *uniqRun) printCount(n uint64) error {
	if !r.JSON {
		_, err := fmt.Fprintln(r.Out, n)
		return err
	}
	return cli.JSONLine(r.Out, struct {
		New uint64 `json:"new"`
	}{n})
}
