package filters

import (
	"fmt"
	"io"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

// source is the filter that a verb reads, in a form of umbel or of another program.
type source struct {
	name  string
	form  string // the form of the file, "" for a container
	size  int64  // of the file in bytes, 0 for a pipe
	state umbel.State
}

// fileReader reads the filter in a file with a function: [container.ReadWith], or with a progress bar.
type fileReader func(path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, int64, error)

// quietly is the fileReader without a progress bar.
func quietly(path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, int64, error) {
	return container.ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) { return read(f, l) })
}

// readSource reads the filter in the named files. Only a dump of Redis may have several; own reads one of umbel.
func readSource(read fileReader, names []string, own func(io.Reader, wire.Limits) (umbel.State, error)) (source, error) {
	s := source{name: names[0]}
	var failed error // of a foreign form, whose files the errors of containers do not describe
	state, size, err := read(names[0], func(in io.Reader, l wire.Limits) (umbel.State, error) {
		state, form, err := foreignfile.Read(in, names, l, own)
		if s.form = form; form != "" {
			failed = err
		}
		return state, err
	})
	if failed != nil {
		return s, failed
	}
	s.state, s.size = state, size
	return s, err
}

// read reads the filter in the named files.
func (r *conversion) read(names []string) (source, error) {
	own := wire.Read
	if r.sparse {
		own = func(in io.Reader, l wire.Limits) (umbel.State, error) {
			f, err := sparse.Read(in, l)
			if err != nil {
				return umbel.State{}, err
			}
			return f.State(), nil
		}
	}
	s, err := readSource(r.ReadFilterWith, names, own)
	switch {
	case err != nil:
		return s, err
	case len(names) > 1 && s.form != foreignfile.Dump:
		return s, cli.UsageError(fmt.Errorf("%s is no dump of Redis; only that may have more than one file", names[0]))
	case s.form != "" && r.sparse:
		return s, cli.UsageError(fmt.Errorf("%s is %s; --sparse is for a filter of umbel", names[0], s.form))
	}
	return s, nil
}
