package filters

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

// source is the filter that umbel convert reads.
type source struct {
	name  string
	form  string // the form of the file, "" for a container
	state umbel.State
}

// nixHead is how a file NixBloom begins.
const nixHead = "NixBloom"

// foreignForm is the form of another program's files: what they begin with, and the function that reads one. Names are the
// files of which r is the first, for forms that have several, and most is the limit of memory.
type foreignForm struct {
	head, name string
	read       func(r *conversion, in io.Reader, names []string, most uint64) (umbel.Filter, error)
}

var foreignForms = []foreignForm{
	{squid.Head, "a cache digest of Squid", readSquid},
	{nixHead, "a file NixBloom", readNixBloom},
	{"*", "a dump of Redis", func(_ *conversion, in io.Reader, names []string, most uint64) (umbel.Filter, error) {
		return loadDump(in, names, most)
	}},
}

// read reads the filter in the named files, of which only a dump may have several.
func (r *conversion) read(names []string) (source, error) {
	s := source{name: names[0]}
	var failed error // of a foreign form, whose files the errors of containers do not describe
	state, _, err := r.ReadFilterWith(names[0], func(in io.Reader, l wire.Limits) (umbel.State, error) {
		b := bufio.NewReader(in)
		head, _ := b.Peek(len(nixHead))
		for _, form := range foreignForms {
			if bytes.HasPrefix(head, []byte(form.head)) {
				s.form = form.name
				f, err := form.read(r, b, names, l.Bytes)
				if failed = err; err != nil {
					return umbel.State{}, err
				}
				return f.State(), nil
			}
		}
		if !r.sparse {
			return wire.Read(b, l)
		}
		f, err := sparse.Read(b, l)
		if err != nil {
			return umbel.State{}, err
		}
		return f.State(), nil
	})
	switch {
	case failed != nil:
		return s, failed
	case err != nil:
		return s, err
	case len(names) > 1 && s.form != "a dump of Redis":
		return s, cli.UsageError(fmt.Errorf("%s is no dump of Redis; only that may have more than one file", names[0]))
	case s.form != "" && r.sparse:
		return s, cli.UsageError(fmt.Errorf("%s is %s; --sparse is for a filter of umbel", names[0], s.form))
	}
	s.state = state
	return s, nil
}

// readSquid reads a cache digest. One of which too many cells are set is read only to become a digest again.
func readSquid(r *conversion, in io.Reader, names []string, _ uint64) (umbel.Filter, error) {
	b, err := io.ReadAll(io.LimitReader(in, squid.BlockBytes+squid.MaxMask+1))
	if err != nil {
		return nil, err
	}
	d, err := squid.Parse(b, squid.Limits{})
	if err != nil && (r.to != "squid" || !errors.Is(err, squid.ErrOverfull)) {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	f, err := d.Filter()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	return f, nil
}

// readNixBloom reads a file NixBloom. It checks the header before it reads the rest.
func readNixBloom(_ *conversion, in io.Reader, names []string, most uint64) (umbel.Filter, error) {
	file, err := io.ReadAll(io.LimitReader(in, nixbloom.HeaderBytes))
	if err != nil {
		return nil, err
	}
	shape, err := nixbloom.CheckHeader(file)
	if err == nil && nixbloom.FileBytes(shape.M) > most {
		err = umbel.ErrLimit
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	rest, err := io.ReadAll(io.LimitReader(in, int64(nixbloom.FileBytes(shape.M))-nixbloom.HeaderBytes+1))
	if err != nil {
		return nil, err
	}
	f, err := nixbloom.ParseFile(append(file, rest...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	return f, nil
}
