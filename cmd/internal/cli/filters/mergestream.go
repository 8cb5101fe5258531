package filters

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/wire"
)

// maxOpen is the largest number of files that are read at the same time. Each takes about 80 KiB.
const maxOpen = 256

// errApart means that filters are not joined in a stream: they are merged in memory, perhaps in another form.
var errApart = errors.New("not joined in a stream")

// inStream joins parts, or filters of one shape, without memory for them, in files or at URLs. It reports whether it has done so;
// otherwise nothing is written.
func (r *mergeRun) inStream(ctx context.Context, names []string) (done bool, err error) {
	out, err := r.stores.Output(r.output)
	if err != nil {
		return false, err
	}
	defer out.Close()
	r.file, r.finish = out.Path, func() error { return out.Finish(ctx) }
	parts := r.given["expect"] || r.given["partial"]
	for _, name := range names {
		if !r.stores.IsURL(name) {
			parts = parts || isPart(name)
			continue
		}
		h, err := r.source(ctx, name).ReadHead()
		if err != nil {
			return false, err
		}
		parts = parts || h.Manifest != nil
	}
	if parts {
		return true, r.joinParts(ctx, names)
	}
	s, err := r.joined(ctx, names)
	if !errors.Is(err, errApart) {
		return true, r.printMerged(s, len(names), err)
	}
	if r.stores.IsURL(r.output) || slices.ContainsFunc(names, r.stores.IsURL) {
		return false, errors.New("at URLs only filters of one kind, hash, seed and size are merged, with a rate that is at most twice the planned " +
			"one; copy these to files")
	}
	return false, nil
}

// joined joins filters of one shape cell by cell, without memory for them. The error wraps errApart if they have different shapes, or
// if the rate of the result is so high that another form needs to be considered; nothing is then written.
func (r *mergeRun) joined(ctx context.Context, names []string) (Summary, error) {
	if r.form == merging.Union || len(names) > maxOpen {
		return Summary{}, errApart
	}
	stop := r.EndAtSignal(ctx, "nothing was written")
	defer stop()
	s := r.stream()
	var first umbel.State
	for i, name := range names {
		if _, _, ok := container.Describe(name); !ok && !r.stores.IsURL(name) {
			return Summary{}, errApart
		}
		source := r.source(ctx, name)
		h, err := source.ReadHead()
		if i == 0 {
			first = h.State
		}
		if err != nil || h.Fits(first) != nil {
			return Summary{}, errApart // merging in memory states why
		}
		s.Sources = append(s.Sources, source)
	}
	s.Packed = container.IsPacked(names[0])
	check := func(stats umbel.Stats) error {
		if stats.FPRate > merging.Limit(s.State().Planned, stats.K) {
			return errApart
		}
		return nil
	}
	stop() // writing handles signals
	sum, err := r.write(s, r.file, check)
	if errors.Is(err, umbel.ErrMismatch) {
		err = errApart
	}
	return sum, err
}

// source is the container in a file or at a URL, of which reading is shown.
func (r *mergeRun) source(ctx context.Context, name string) merging.Source {
	if r.stores.IsURL(name) {
		return merging.Source{Name: name, Open: func() (io.ReadCloser, error) {
			o, err := r.stores.Open(ctx, name)
			if err != nil {
				return nil, err
			}
			return object.NewReader(o), nil
		}}
	}
	return fileSource(name, func(n int64) {
		if bar := r.bar.Load(); bar != nil {
			bar.Add(n)
		}
	})
}

// stream returns a stream without sources.
func (r *mergeRun) stream() *merging.Stream {
	return &merging.Stream{Lanes: runtime.GOMAXPROCS(0)}
}

// errLayout means that a container must be written again.
var errLayout = errors.New("another layout")

// write writes the result of a stream to a file, completely or not at all, and returns its summary, unless it is a part. check
// may refuse a result.
func (r *mergeRun) write(s *merging.Stream, path string, check func(umbel.Stats) error) (sum Summary, err error) {
	lock, err := r.LockFile(path)
	if err != nil {
		return sum, err
	}
	defer lock.Close()
	var layout wire.Layout
	put := func(w io.Writer) error {
		if err := s.Write(w, &layout); err != nil || s.Part {
			return err
		}
		stats, err := s.Stats()
		if err == nil && check != nil {
			err = check(stats)
		}
		sum = summarizeStats(r.output, s.State(), stats)
		if err == nil && r.Strict {
			err = sum.Judge(r.Streams, r.Tolerance, "nothing was written (--strict)")
		}
		if err == nil && !layout.Fits {
			err = errLayout
		}
		return err
	}
	if !isReplaced(path) {
		if err := put(io.Discard); err != nil && err != errLayout { // what was written can't be written again
			return sum, err
		}
	}
	h, err := s.Sources[0].ReadHead()
	if err != nil {
		return sum, err
	}
	replace := atomicfile.Write
	if h.State.Hasher.Secret() {
		replace = atomicfile.WriteSecret
	}
	total := int64(0)
	for _, source := range s.Sources {
		total += source.Size
	}
	bar := r.StartBar("merging", total+s.Sources[0].Size) // the first is read twice
	defer bar.Stop()
	r.bar.Store(bar)
	if err = replace(path, put); errors.Is(err, errLayout) {
		err = replace(path, put)
	}
	if err == nil && path == r.file {
		err = r.finish()
	}
	if err == nil && !s.Part {
		err = sum.Judge(r.Streams, r.Tolerance, "")
	}
	return sum, err
}

// isReplaced reports whether a file is written as a whole, and is not a pipe or a device.
func isReplaced(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && (err != nil || info.Mode().IsRegular())
}

// summarizeStats is [Summarize] for a filter that is not in memory.
func summarizeStats(file string, s umbel.State, stats umbel.Stats) Summary {
	return Summary{
		File: file, Kind: s.Kind, Planned: api.NewPlanned(s.Planned, s.Planned.Exceeded(stats.FPRate)), Cells: stats.Cells, K: cli.Float(stats.K), Bytes: stats.Bytes,
		Keys: api.NewEstimate(stats), Fill: cli.Float(stats.Fill), FPRate: cli.Float(stats.FPRate),
	}
}
