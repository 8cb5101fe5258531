package filters

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/build"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter/weighted"
)

const makeHelp = `Make a filter of the keys in the files, or on standard input.

Two of --fpr, --keys and --bytes determine the size, or parameters of the kind such as --m and
--k. The default rate is 1%. If --bytes are enough for a rate below 1e-9, the filter is made for that rate and
has room for more keys, unless --fpr is given. Without --keys the different keys are counted: their digests are kept
in memory up to an eighth of --max-memory, about 3 million keys unless given. If there are more, files
are read twice, and the number is estimated with a standard error of 0.2%; the filter is made for
0.8% more, and its rate is checked at the end. The keys of a pipe are then added to a filter of half
of --max-memory, which is folded to the rate at the end; it may be up to twice as large as with --keys.
A kind that grows just grows.

If there are so many distinct keys that the rate is more than twice the planned one, a warning states how
many to plan for, and the exit code is 6, or 0 with --lossy; with --strict nothing is written, and the exit code is 2. Kinds with a limit of their
own, such as redisbloom with nonscaling, reject the key that would exceed it. Without any keys nothing is written either, unless
--allow-empty is given.

An existing filter in FILE is replaced, which the summary states. A key file, a file
with other contents and a read-only file are not, unless --force is given.`

const makeReference = `A filter of kind bloom or partitioned from 8 MiB on is filled with up to its own size of memory in addition, at
most 256 MiB and half a MiB to a MiB per core, if that is free.

Filters whose cells are to be joined by merge need the same size: give all of them the same --keys,
the number of keys in all. Or give --like FILE: the filter then has the kind, hash, seed, size
and every parameter of the filter in FILE, which must be planned for the keys of all filters together;
otherwise the rate of the merged filter is high. The rate of the new filter is printed.

With --part I/N only part I of the filter is made, for umbel merge, which joins all parts to the filter that one umbel make
writes, byte for byte. All parts have the same flags and the same files in the same order, and a size: --keys, the
number of keys in all of them, or --like. --divide lines divides the bytes of all files, so that each line is in one part. files
takes the I-th file, and every N-th after it. cells is for filters larger than memory: each part reads all keys, and holds an
N-th of the cells. With none the inputs, which may be a pipe, have the keys of this part and no others; --job then names what
the parts have in common. Parts of other inputs are refused, which are known by their names, sizes and ends.

With --weights-log the filter is of kind weighted, or weighted-counting if --kind is that. The FILE contains the keys of past queries, with
repetitions. Frequent keys that are absent get more cells. The rate is then that of queries
with the same distribution. The summary states how many false positives remain, relative to a
bloom or counting filter of the same size including the table of these keys; see docs/kinds/weighted.md.

The program umbel of cmd/cloud, which links the libraries of clouds, takes URLs of objects in buckets for KEYFILE and -o:
s3://BUCKET/NAME?region=REGION, gs:// and azblob://. With --part it reads the ranges of the part. A result is written to a file first, and
its MD5 is compared after it was put. Other keys of objects are read as those of a pipe.

Hashes: xxh3 is the default. siphash is for untrusted keys; its seed is random unless --seed is
given. xxh64 with kind splitblock makes Parquet's filter. murmur64a is the default of kind
redisbloom. md5 is for other programs. With caller, keys are digests of 32 hexadecimal digits.

In a filter of kind window old keys expire. With --window 1h it follows the system's clock, and verbs advance it
before they add or query keys; with a number of ticks umbel edit advance sets its time.

With --addr the filter is made on a node, with the name of -o, and with the node's hash unless
--hash is given. Keys are added as they are read; if that fails, the filter is deleted. A pipe
needs --keys or a size. With --allow-empty, /dev/null makes an empty filter. With --strict, a filter that is overfull is
deleted.`

const makeExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel make -o urls.umb --kind blocked --fpr 1/1000 urls-*.txt
  find . -print0 | umbel make -o files.umb -0
  umbel make -o small.umb --m 320000 --k 2 keys.txt
  umbel make -o urls.umb --weights-log asked.log urls.txt
  umbel make -o tuesday.umb --like monday.umb tuesday.txt
  umbel make -o hour.umb --kind window --window 1h --keys 1e6 --allow-empty /dev/null
  umbel make -o part3.umb --keys 1e9 --part 3/8 urls-*.txt
  umbel make -o users --keys 1e6 --addr 127.0.0.1:8780 users.txt`

// makeRun is one run of umbel make.
type makeRun struct {
	*cli.Streams
	wanted *spec.Flags
	output string
	file   string // the file that is written: the output, or one that is put there
	stores object.Stores
	like   string // a filter with the kind, hash and size to use
	log    string // of queried keys
	memory quantity.Size
	format keys.Format

	allowEmpty bool
	part       partFlags
	waits      []func() error // for objects that are read by pipes
	finish     func(context.Context) error
	node       cli.Node
	split      int // number of filters on nodes, 0 for one
	Tolerance
	given cli.Given
}

// MakeCommand is umbel make, with what opens URLs.
func MakeCommand(stores object.Stores) *cobra.Command {
	r := &makeRun{memory: 512 << 20, stores: stores}
	cmd := &cobra.Command{
		Use:         "make -o FILE [KEYFILE...]",
		Short:       "make a filter of keys",
		Long:        makeHelp,
		Annotations: cli.Reference(makeReference),
		Example:     makeExample,
		Args:        cli.Arguments(0, -1),
	}
	flags := cmd.Flags()
	r.wanted = addSpecFlags(cmd)
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write", cli.OutputFlag{Inputs: []string{"weights-log", "like"}})
	flags.StringVar(&r.like, "like", "", "`FILE` of a filter with the kind, hash and size to use; it must be planned for all keys that are merged later")
	flags.StringVar(&r.log, "weights-log", "", "`FILE` of queried keys, to make a weighted filter")
	flags.BoolVar(&r.allowEmpty, "allow-empty", false, "make an empty filter if there are no keys")
	flags.Var(&r.memory, "max-memory", "`SIZE` of memory at most while the number of keys is unknown")
	cli.AddFormatFlag(cmd, &r.format)
	cli.AddAddrFlags(cmd, &r.node)
	AddSplitFlag(cmd, &r.split)
	AddStrictFlag(cmd, &r.Tolerance)
	r.part.add(cmd)
	cli.Exclusive(cmd, "like", "weights-log")
	r.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *makeRun) run(ctx context.Context, streams *cli.Streams, args []string) error {
	r.Streams = streams
	order, err := r.order()
	if err != nil {
		return err
	}
	out, err := r.stores.Output(r.output)
	if err != nil {
		return err
	}
	defer out.Close()
	r.file, r.finish = out.Path, out.Finish
	if r.given["part"] {
		return r.inPart(ctx, order, args)
	}
	files, closeFiles, err := r.openInputs(ctx, args)
	if err != nil {
		return err
	}
	defer closeFiles()
	t, err := targetOf(streams, r.node, r.Tolerance)
	if err != nil {
		return err
	}
	if t.node == nil && r.split != 0 {
		return cli.UsageError(errSplitInFile)
	}
	if t.node == nil {
		return r.inFile(ctx, order, files)
	}
	for flag, file := range map[string]string{"--like": r.like, "--weights-log": r.log} { // at most one is given
		if file != "" {
			return cli.UsageError(fmt.Errorf("%s can't be combined with --addr; make a file and upload it with umbel node put", flag))
		}
	}
	return t.make(ctx, nodeFilter{t.node, r.output, r.split}, order, r.wanted.Spec(), r.format, files, r.allowEmpty)
}

// order checks the flags, and returns what they state of the filter.
func (r *makeRun) order() (build.Order, error) {
	switch {
	case r.output == "" && r.node.Addr != "":
		return build.Order{}, cli.UsageError(errors.New("name the filter on the node: -o NAME"))
	case r.output == "":
		return build.Order{}, cli.UsageError(cli.ErrNoOutput)
	case r.like != "" && r.wanted.Given():
		return build.Order{}, cli.UsageError(errors.New("--like determines kind, hash and size; omit the other flags for these"))
	case r.log != "" && !r.given["kind"]:
		r.wanted.Kind = weighted.Name
	case r.log != "" && r.wanted.Kind != weighted.Name && r.wanted.Kind != weighted.CountingKind.Name:
		return build.Order{}, cli.UsageError(fmt.Errorf("--weights-log needs kind %s or %s, not %s", weighted.Name, weighted.CountingKind.Name, r.wanted.Kind))
	}
	kind, goal, params, err := resolve(r.wanted)
	if err != nil {
		return build.Order{}, err
	}
	if r.given["max-memory"] && goal.Keys != 0 {
		return build.Order{}, cli.UsageError(errors.New("--max-memory limits what is used while the number of keys is unknown, and " +
			"--keys states it; for the size of the filter give --bytes"))
	}
	return build.Order{Kind: clock(r.Now).clocked(kind, r.wanted.Spec().Tick), Goal: goal, Params: params, Memory: uint64(r.memory)}, nil
}

// inFile makes the filter in the output file.
func (r *makeRun) inFile(ctx context.Context, order build.Order, files []*os.File) error {
	stopEnding := r.EndAtSignal(ctx, "nothing was written")
	defer stopEnding()
	made, err := r.make(order, files)
	for _, wait := range r.waits {
		if err == nil {
			err = wait() // a pipe whose object can't be read ends early
		}
	}
	if err != nil {
		return err
	}
	if made.Read == 0 && !r.allowEmpty {
		return errNoKeys
	}
	if made.Read == 0 && order.Goal.Keys != 1 && isForOneKey(made.Filter) {
		return cli.UsageError(errNoGoal)
	}
	if err := refuseFull(r.given, made.Filter); err != nil {
		return err
	}
	replaced := filterAt(r.output)
	s, err := r.settle(r.Streams, r.output, made.Filter, func() error {
		stopEnding() // writing handles signals
		if err := container.Write(r.file, made.Filter.State()); err != nil {
			return err
		}
		return r.finish(ctx)
	})
	if err != nil {
		return err
	}
	s.Read, s.Distinct, s.Fold, s.Weights, s.Replaced = &made.Read, made.Distinct, made.Fold, newWeightsInfo(made.Weights, made.Filter.State().Kind), replaced
	s.Weights.Warn(r.Streams, r.output)
	warnSaturated(r.Streams, made.Filter)
	return s.Print(r.Streams, madeWords(made)+replaced.words()+s.room(r.given["bytes"] && !r.given["fpr"]))
}

// make makes the filter in memory: in an empty filter, with a log of queries, or of the files only.
func (r *makeRun) make(order build.Order, files []*os.File) (made build.Result, err error) {
	var empty umbel.Filter
	if r.like != "" {
		if empty, err = clock(r.Now).emptyLike(r.like); err != nil {
			return made, err
		}
		order.Goal.Hasher = empty.Hasher()
	}
	job, stop := r.NewJob(order.Goal.Hasher, r.format, files)
	defer stop()
	order.Keys = job
	switch {
	case empty != nil:
		return order.FillEmpty(empty, files)
	case r.log != "":
		return makeByLog(order, files, r.log)
	}
	return order.Make(files)
}

// madeWords describes what was read.
func madeWords(made build.Result) string {
	done := quantity.Count(made.Read).Of("key") + " read"
	if n := made.Distinct; n > 0 && n < made.Read {
		about := ""
		if made.Estimated {
			about = "about "
		}
		done += fmt.Sprintf(", %s%v distinct", about, quantity.Count(n))
	}
	if made.Fold > 1 {
		done += fmt.Sprintf(", folded by %d", made.Fold)
	}
	return done
}

// isForOneKey reports whether a filter was planned for one key: without a number of keys, one without keys is.
func isForOneKey(f umbel.Filter) bool {
	p, ok := f.(umbel.Planner)
	return ok && p.Planned().Keys == 1
}

// errNoKeys is the error of umbel make without keys, for example behind a command that failed.
var errNoKeys = errors.New("no keys were read; nothing was written; to make an empty filter give --allow-empty")

// emptyLike returns the filter in a file without its keys.
func (c clock) emptyLike(file string) (umbel.Filter, error) {
	f, err := c.openFile(file)
	if err != nil {
		return nil, err
	}
	clearer, err := require[umbel.Clearer](file, f, opClear)
	if err == nil {
		clearer.Clear()
	}
	return f, err
}

// errNoGoal means that an empty filter has no size.
var errNoGoal = errors.New("an empty filter needs the number of keys that it will hold; give --keys or --bytes; nothing was written")

// make makes a filter on a node and adds the keys of the files. On an error, and if there are no
// keys unless allowEmpty, it deletes the filter.
func (t target) make(ctx context.Context, f nodeFilter, order build.Order, s spec.Spec, format keys.Format, files []*os.File, allowEmpty bool) error {
	order.Keys = keys.Job{Format: format, Workers: 1} // to count them
	order, sized, err := order.Sized(files)
	if err != nil {
		return err
	}
	if !sized && allowEmpty {
		return cli.UsageError(errNoGoal)
	}
	if !sized {
		return cli.UsageError(errors.New("with --addr the keys of a pipe can't be counted first; give their number with --keys, or " +
			"a size with --bytes, or write the keys to a file"))
	}
	s.Goal = order.Goal
	if err := f.make(ctx, s.JSON(order.Kind.Name)); err != nil {
		return err
	}
	batches, stop := t.ReadKeys(ctx, format, files)
	read, err := f.add(ctx, batches)
	stop()
	if err == nil && read == 0 && !allowEmpty {
		err = errNoKeys
	}
	var in remote.Info
	if err == nil {
		in, err = f.made(ctx)
	}
	if err != nil {
		return f.undo(ctx, err)
	}
	sum := SummaryOf(f.name, in)
	sum.Read = &read
	if err := t.SettleOnNode(t.Streams, sum, func(failed error) error { return f.undo(ctx, failed) }); err != nil {
		return err
	}
	return sum.Print(t.Streams, quantity.Count(read).Of("key")+" read"+sum.room(s.Goal.Bytes != 0))
}
