package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// partsFlags are the flags of umbel merge for parts of a filter.
type partsFlags struct {
	expect  quantity.Count
	partial bool

	stepBytes int64
}

func (p *partsFlags) add(cmd *cobra.Command) {
	p.stepBytes = stepBytes
	flags := cmd.Flags()
	flags.Var(&p.expect, "expect", "the files are all parts of one filter, `NUMBER` of them in all")
	flags.BoolVar(&p.partial, "partial", false, "some parts may be missing: the result is a part as well, to be merged with the others")
	for _, name := range []string{"estimate", "subtract", "as", "addr"} {
		cli.Exclusive(cmd, "expect", name)
		cli.Exclusive(cmd, "partial", name)
	}
}

// isPart reports whether the file at path begins like a part of a filter.
func isPart(path string) bool {
	kind, _, ok := container.Describe(path)
	return ok && kind == part.Kind
}

// gathered is parts that belong together.
type gathered struct {
	sources  []merging.Source
	manifest part.Manifest // of all of them
	state    umbel.State   // of one of them, without words
}

// joinParts joins parts of a filter. The result is the filter, the same as if one program had made it of all keys, or with --partial a
// part.
func (r *mergeRun) joinParts(ctx context.Context, names []string) error {
	if r.form != merging.Best {
		return cli.UsageError(errors.New("parts of a filter are joined in one form; leave out --as"))
	}
	stop := r.EndAtSignal(ctx, "nothing was written")
	defer stop()
	g, err := r.gather(ctx, names)
	if err != nil {
		return err
	}
	if err := r.checkComplete(g.manifest); err != nil {
		return err
	}
	if g.manifest.Complete() && g.manifest.Keys == 0 {
		return errors.New("no part has read a key; nothing was written; to make an empty filter use umbel make --allow-empty")
	}
	rest, resumed := r.resume(ctx, g)
	if resumed > 0 {
		r.Remark("%s: continues with %s, which has %d of %d parts", r.output, r.partialFile(), resumed, g.manifest.Of())
	}
	stop() // writing handles signals
	s, err := r.joinSteps(ctx, rest, g.manifest.Complete())
	switch {
	case err != nil:
		return err
	case g.manifest.Complete():
		s.Read = &g.manifest.Keys
		return s.Print(r.Streams, fmt.Sprintf("%s merged, %s read", quantity.Count(g.manifest.Of()).Of("part"), quantity.Count(g.manifest.Keys).Of("key")))
	}
	m := mergedParts{r.output, g.manifest.Numbers.Nonzero(), g.manifest.Of(), g.manifest.Keys}
	return r.Report(r.output, m, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d of %d parts merged, %s read\n", m.File, m.Parts, m.Of, quantity.Count(m.Read).Of("key"))
		return err
	})
}

// mergedParts is the result of umbel merge --partial, if parts are missing.
type mergedParts struct {
	File  string `json:"file"`
	Parts uint64 `json:"parts"` // that the file has
	Of    uint64 `json:"of"`
	Read  uint64 `json:"read"`
}

// gather reads the beginnings of the named parts. It returns an error that names a part which does not belong to most others, or
// which another file has as well.
func (r *mergeRun) gather(ctx context.Context, names []string) (g gathered, err error) {
	heads := make([]merging.Head, len(names))
	for i, name := range names {
		source := r.source(ctx, name)
		if heads[i], err = source.ReadHead(); err != nil {
			return g, err
		}
		if heads[i].Manifest == nil {
			return g, fmt.Errorf("%s is a filter of kind %s and no part of one; parts are made with umbel make --part I/N", name, heads[i].State.Kind)
		}
		source.Manifest = heads[i].Manifest
		g.sources = append(g.sources, source)
	}
	usual := mostOf(heads)
	g.state, g.manifest = heads[usual].State, part.Manifest{}
	owners := make(map[uint64]string)
	for i, h := range heads {
		err := h.Fits(heads[usual].State)
		if err == nil {
			_, err = heads[usual].Manifest.Join(*h.Manifest)
		}
		if err == nil && i == 0 {
			g.manifest = *h.Manifest
		} else if err == nil {
			g.manifest, err = g.manifest.Join(*h.Manifest)
		}
		if err != nil {
			return g, fmt.Errorf("%s does not belong to %s: %w", names[i], names[usual], err)
		}
		for number := range h.Manifest.Each(true) {
			if other, ok := owners[number]; ok {
				return g, fmt.Errorf("%s and %s both have part %d of %d; leave out one of them", other, names[i], number, h.Manifest.Of())
			}
			owners[number] = names[i]
		}
	}
	return g, nil
}

// mostOf returns the first of the parts that belong together with most others, so that an error names one that does not.
func mostOf(heads []merging.Head) int {
	type group struct {
		hasher umbel.Hasher
		filter string
		inputs uint64
	}
	groups := map[group][]int{}
	var most []int
	for i, h := range heads {
		m := h.Manifest
		g := group{h.State.Hasher, fmt.Sprint(h.State.Kind, h.State.Params, h.State.Arrays[0].Len, m.Of(), m.Cells), m.Inputs}
		if groups[g] = append(groups[g], i); len(groups[g]) > len(most) {
			most = groups[g]
		}
	}
	return most[0]
}

// checkComplete returns an error that names missing parts, unless some may be missing.
func (r *mergeRun) checkComplete(m part.Manifest) error {
	if r.given["expect"] && uint64(r.parts.expect) != m.Of() {
		return fmt.Errorf("the files are parts of a filter of %d parts, and --expect is %d", m.Of(), r.parts.expect)
	}
	if m.Complete() || r.parts.partial {
		return nil
	}
	var missing []string
	for number := range m.Each(false) {
		if missing = append(missing, fmt.Sprint(number)); len(missing) == 5 {
			break
		}
	}
	lacks, more := m.Of()-m.Numbers.Nonzero(), ""
	if lacks > 5 {
		more = " and more"
	}
	return fmt.Errorf("%d of %d parts are missing: %s%s; make them with umbel make --part %s/%[2]d and the flags of the others, or give --partial to join these",
		lacks, m.Of(), strings.Join(missing, ", "), more, missing[0])
}

// partialFile is the file with the parts that are already joined, while there are more.
func (r *mergeRun) partialFile() string { return r.file + ".partial" }

// resume returns the sources that are still to be read, and the number of parts that the file of an interrupted run has: that file is
// then the first source. It is not used if one of its parts has been made again since.
func (r *mergeRun) resume(ctx context.Context, g gathered) (rest []merging.Source, resumed uint64) {
	source := r.source(ctx, r.partialFile())
	info, err := os.Stat(source.Name)
	if err != nil || !isPart(source.Name) {
		return g.sources, 0
	}
	h, err := source.ReadHead()
	if err != nil || h.Manifest == nil || !g.manifest.Covers(*h.Manifest) {
		return g.sources, 0
	}
	if _, err := g.manifest.Join(*h.Manifest); err != nil || h.Fits(g.state) != nil {
		return g.sources, 0
	}
	source.Manifest = h.Manifest
	rest = []merging.Source{source}
	for _, s := range g.sources {
		if !h.Manifest.Covers(*s.Manifest) {
			rest = append(rest, s)
			if _, shares := h.Manifest.Shares(*s.Manifest); shares {
				return g.sources, 0
			}
		} else if now, err := os.Stat(s.Name); err != nil || now.ModTime().After(info.ModTime()) {
			return g.sources, 0
		}
	}
	return rest, h.Manifest.Numbers.Nonzero()
}

const (
	stepFiles = 8        // files that are joined in one step at least
	stepBytes = 16 << 30 // after which a step ends
)

// step returns the number of sources to join before the result is written, so that an interruption loses no more than a step.
func step(sources []merging.Source, most int64) int {
	bytes := int64(0)
	for i, s := range sources {
		if i == maxOpen || i >= stepFiles && bytes >= most && len(sources)-i > i/2 {
			return i
		}
		bytes += s.Size
	}
	return len(sources)
}

// joinSteps joins sources in steps, and returns the summary of the result if it is complete. The result of each step but the last is in
// the partial file.
func (r *mergeRun) joinSteps(ctx context.Context, sources []merging.Source, complete bool) (sum Summary, err error) {
	for {
		n := step(sources, r.parts.stepBytes)
		last := n == len(sources)
		s, path := r.stream(), r.partialFile()
		s.Sources, s.Part = sources[:n], !last || !complete
		if last {
			path = r.file
		}
		m := *sources[0].Manifest
		for _, source := range s.Sources[1:] {
			if m, err = m.Join(*source.Manifest); err != nil {
				return sum, fmt.Errorf("%s: %w", source.Name, err)
			}
		}
		s.Manifest = &m
		if !last && !isReplaced(r.file) {
			return sum, fmt.Errorf("%d files are too many for an output that is no file; give a file", len(sources))
		}
		if sum, err = r.write(s, path, nil); err != nil {
			if isPart(r.partialFile()) {
				err = fmt.Errorf("%w; %s has the parts that were joined before, and the same command continues with it", err, r.partialFile())
			}
			return sum, err
		}
		if last {
			break
		}
		joined := r.source(ctx, path)
		joined.Manifest = &m
		sources = append([]merging.Source{joined}, sources[n:]...)
	}
	if err := os.Remove(r.partialFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	return sum, nil
}
