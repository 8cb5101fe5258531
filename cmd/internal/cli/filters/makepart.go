package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/build"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
)

// partFlags are the flags of umbel make for a part of a filter.
type partFlags struct {
	number part.Number
	divide string
	job    string
}

func (p *partFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&p.number, "part", "make part `I/N` of the filter, as 3/8; umbel merge joins all of them")
	flags.StringVar(&p.divide, "divide", string(part.Lines), "`WAY` of dividing: lines, files, cells, or none if the keys are those of the part")
	flags.StringVar(&p.job, "job", "", "`TEXT` that all parts of one filter have in common, such as the date")
	spec.Group(flags, "Parts of a filter", "part", "divide", "job")
	for _, name := range []string{"divide", "job"} {
		cli.Needs(cmd, name, "part", "--part I/N")
	}
	for _, name := range []string{"addr", "split", "weights-log", "max-memory", strictFlag, lossyFlag} {
		cli.Exclusive(cmd, "part", name)
	}
}

func (p *partFlags) way() part.Way { return part.Way(p.divide) }

// partMade is the result of umbel make --part.
type partMade struct {
	File  string `json:"file"`
	Part  uint64 `json:"part"`
	Of    uint64 `json:"of"`
	Read  uint64 `json:"read"`
	Kind  string `json:"kind"`
	Cells uint64 `json:"cells"` // of the whole filter
	Bytes uint64 `json:"bytes"` // of the cells of the part
}

// inPart makes a part of the filter in the output file.
func (r *makeRun) inPart(ctx context.Context, order build.Order, names []string) error {
	if !slices.Contains(part.Ways, r.part.way()) {
		return cli.UsageError(fmt.Errorf("--divide is %q, want one of %v", r.part.divide, part.Ways))
	}
	order, err := r.partOrder(order)
	if err != nil {
		return err
	}
	in, err := r.openPart(ctx, names)
	if err != nil {
		return err
	}
	defer in.close()
	stopEnding := r.EndAtSignal(ctx, "nothing was written")
	defer stopEnding()
	made, write, err := r.makePart(order, in)
	for _, wait := range r.waits {
		if err == nil {
			err = wait()
		}
	}
	if err != nil {
		return err
	}
	stopEnding() // writing handles signals
	if err := write(); err != nil {
		return err
	}
	if err := r.finish(ctx); err != nil {
		return err
	}
	return r.Report(r.output, made, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: part %d of %d, %s read\n%s filter of %v cells in all, %v in this part\n", r.output, made.Part, made.Of,
			quantity.Count(made.Read).Of("key"), made.Kind, quantity.Count(made.Cells), quantity.Size(made.Bytes))
		return err
	})
}

// partOrder returns the order that is the same for all parts, or an error with the command to use instead.
func (r *makeRun) partOrder(order build.Order) (build.Order, error) {
	if r.like != "" {
		return order, nil
	}
	if order.Goal.Hasher.Secret() && !r.given["seed"] {
		return order, cli.UsageError(fmt.Errorf("each part would have another random seed; make an empty filter for all keys once, with "+
			"umbel make -o plan.umb --hash %v --keys NUMBER --allow-empty /dev/null, and give --like plan.umb to each part", order.Goal.Hasher.Alg))
	}
	order, err := order.Determined()
	if errors.Is(err, build.ErrUnsized) {
		err = cli.UsageError(errors.New("all parts need one size, and it depends on the number of keys; give --keys, " +
			"the number of keys in all parts together, or --like with a filter for these"))
	}
	return order, err
}

// makePart makes the part in memory, and returns what writes it.
func (r *makeRun) makePart(order build.Order, in *partInput) (made partMade, write func() error, err error) {
	number := r.part.number
	var s umbel.State
	if r.part.way() == part.Cells {
		if r.like == "" {
			s, err = part.Skeleton(order.Kind, order.Goal, order.Params)
		} else {
			s, err = likeSkeleton(r.like)
		}
		if err != nil {
			return made, nil, err
		}
	}
	var like umbel.Filter
	if r.like != "" && r.part.way() != part.Cells {
		if like, err = clock(r.Now).emptyLike(r.like); err != nil {
			return made, nil, err
		}
		s = like.State()
	}
	order.Goal.Hasher = cmp.Or(s.Hasher, order.Goal.Hasher)
	bar := r.StartBar("keys", in.total)
	defer bar.Stop()
	order.Keys = keys.Job{Format: r.format, Hasher: order.Goal.Hasher, Workers: runtime.GOMAXPROCS(0), Tick: bar.Add}
	if r.part.way() == part.Cells {
		return r.makeRange(s, order.Keys, in)
	}
	var f umbel.Filter
	var read uint64
	if like != nil {
		f = like
		if err = part.CheckCellwise(s); err == nil {
			read, err = build.AddOf(f, order.Keys, in.sources)
		}
	} else {
		var result build.Result
		result, err = order.MakeOf(in.sources)
		f, read = result.Filter, result.Read
	}
	if err != nil {
		return made, nil, err
	}
	s = f.State()
	if err := part.CheckCellwise(s); err != nil {
		return made, nil, fmt.Errorf("%w, so that their parts can't be joined; make the filter at once", err)
	}
	m := part.ManifestOf(number, in.identity, false, read)
	made = partMade{r.output, number.Part, number.Of, read, s.Kind, s.Arrays[0].Len, s.Bytes()}
	return made, func() error { return container.Write(r.file, m.State(s)) }, nil
}

// makeRange makes a part with a range of the cells.
func (r *makeRun) makeRange(s umbel.State, job keys.Job, in *partInput) (made partMade, write func() error, err error) {
	number := r.part.number
	cells, err := part.NewRange(s, number)
	if err != nil {
		return made, nil, err
	}
	read, err := cells.Add(job, in.sources)
	if err != nil {
		return made, nil, err
	}
	m := part.ManifestOf(number, in.identity, true, read)
	replace := atomicfile.Write
	if s.Hasher.Secret() {
		replace = atomicfile.WriteSecret
	}
	made = partMade{r.output, number.Part, number.Of, read, s.Kind, s.Arrays[0].Len, cells.Bytes()}
	return made, func() error {
		return replace(r.file, func(w io.Writer) error { return cells.Write(w, m) })
	}, nil
}

// likeSkeleton returns the state of the empty filter like the one in a file, without memory for its cells.
func likeSkeleton(file string) (umbel.State, error) {
	h, err := fileSource(file, nil).ReadAll()
	if err == nil && h.Manifest != nil {
		err = fmt.Errorf("%s is a part; give a whole filter, which may be empty", file)
	}
	return h.State, err
}

// partInput is what a part reads.
type partInput struct {
	sources  []io.Reader
	identity uint64
	total    int64 // bytes to read, -1 if unknown
	close    func()
}

// openPart opens what the part reads of the named inputs.
func (r *makeRun) openPart(ctx context.Context, names []string) (*partInput, error) {
	if r.part.way() == part.None {
		id, err := part.Identity(nil, part.None, r.part.job)
		if err != nil {
			return nil, err
		}
		files, closeFiles, err := r.openInputs(ctx, names)
		return &partInput{cli.Readers(files), id, cli.TotalBytes(files), closeFiles}, err
	}
	if len(names) == 0 || slices.Contains(names, "-") {
		return nil, cli.UsageError(errors.New("standard input can't be divided; give files, or --divide none if its keys are those of this part only"))
	}
	files := make(lazyFiles, len(names))
	inputs := make([]part.Input, len(names))
	in := &partInput{close: files.close}
	for i, name := range names {
		if r.stores.IsURL(name) {
			o, err := r.stores.Open(ctx, name)
			if err != nil {
				in.close()
				return nil, err
			}
			files[i].object = o
			inputs[i] = part.Input{Name: name, ReaderAt: o, Size: o.Size()}
			continue
		}
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file and can't be divided; give --divide none if its keys are those of this part only", name)
		}
		if err != nil {
			return nil, err
		}
		files[i].name = name
		inputs[i] = part.Input{Name: name, ReaderAt: &files[i], Size: info.Size()}
	}
	var err error
	if in.identity, err = part.Identity(inputs, r.part.way(), r.part.job); err == nil {
		files.rest() // of many files, a part reads few
		var pieces []keys.Piece
		pieces, err = part.Of(inputs, r.part.number, r.part.way(), r.format.Separator)
		for _, p := range pieces {
			in.sources = append(in.sources, p)
			in.total += p.Size()
		}
	}
	if err != nil {
		in.close()
	}
	return in, err
}

// openInputs opens files as OpenKeys does, and objects as pipes.
func (r *makeRun) openInputs(ctx context.Context, names []string) (files []*os.File, closeAll func(), err error) {
	if !slices.ContainsFunc(names, r.stores.IsURL) {
		return r.OpenKeys(names)
	}
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, name := range names {
		var more []*os.File
		if r.stores.IsURL(name) {
			f, wait, err := r.stores.Pipe(ctx, name)
			if err != nil {
				closeAll()
				return nil, nil, err
			}
			r.waits = append(r.waits, wait)
			more = []*os.File{f}
		} else if more, _, err = r.OpenKeys([]string{name}); err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, more...)
	}
	return files, closeAll, nil
}

// lazyFile is a file that is opened when it is read.
type lazyFile struct {
	name   string
	file   *os.File
	object object.Object // instead of a file
}

// ReadAt implements io.ReaderAt. It is not safe for concurrent use.
func (f *lazyFile) ReadAt(b []byte, at int64) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.name); err != nil {
			return 0, err
		}
	}
	return f.file.ReadAt(b, at)
}

type lazyFiles []lazyFile

// close closes all files and objects.
func (fs lazyFiles) close() {
	fs.rest()
	for i := range fs {
		if fs[i].object != nil {
			fs[i].object.Close()
		}
	}
}

// rest closes the files that are open, until they are read again.
func (fs lazyFiles) rest() {
	for i := range fs {
		if fs[i].file != nil {
			fs[i].file.Close()
			fs[i].file = nil
		}
	}
}

// fileSource is the container in a file. Reading it is counted by tick, unless it is nil.
func fileSource(name string, tick func(int64)) merging.Source {
	s := merging.Source{Name: name, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(name)
		if err != nil || tick == nil {
			return f, err
		}
		return tickingFile{f, tick}, nil
	}}
	if info, err := os.Stat(name); err == nil {
		s.Size = info.Size()
	}
	return s
}

// tickingFile is a file that reports the bytes that are read.
type tickingFile struct {
	*os.File
	tick func(int64)
}

func (f tickingFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.tick(int64(n))
	return n, err
}
