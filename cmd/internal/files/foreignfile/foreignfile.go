// Package foreignfile reads filters from the files of other programs, and from those of umbel: what a file begins with determines its form.
package foreignfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/wire"
)

// form is the form of another program's files: what they begin with, and the function that reads one. in is the first of
// the named files, for forms that have several, and most is the limit of memory.
type form struct {
	head, name string
	read       func(in io.Reader, names []string, most uint64) (umbel.Filter, error)
}

// Dump is the name of the form that may have several files.
const Dump = "a dump of Redis"

// NixHead is how a file NixBloom begins.
const NixHead = "NixBloom"

// headBytes is the length of the longest head.
const headBytes = len(NixHead)

var forms = []form{
	{squid.Head, "a cache digest of Squid", readSquid},
	{NixHead, "a file NixBloom", readNixBloom},
	{"*", Dump, readDump},
}

// Of returns the form of a file that begins with head, such as "a cache digest of Squid", and "" for one that is not of another program.
func Of(head []byte) string {
	for _, f := range forms {
		if bytes.HasPrefix(head, []byte(f.head)) {
			return f.name
		}
	}
	return ""
}

// OfFile is [Of] for the regular file at path, or for standard input if path is "-". ok is false for another file, such as a pipe,
// whose beginning can be read once.
func OfFile(path string) (name string, ok bool) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return "", false
		}
		defer f.Close()
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	head := make([]byte, headBytes)
	n, _ := f.ReadAt(head, 0)
	return Of(head[:n]), true
}

// Read reads the filter in the named files; in is the first of them, with the limits of memory; own reads a filter of umbel, as
// [wire.Read] does. It returns the state and the form of the files, "" for a filter of umbel.
func Read(in io.Reader, names []string, l wire.Limits, own func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, string, error) {
	b := bufio.NewReader(in)
	head, _ := b.Peek(headBytes)
	for _, f := range forms {
		if !bytes.HasPrefix(head, []byte(f.head)) {
			continue
		}
		x, err := f.read(b, names, l.Bytes)
		if err != nil {
			return umbel.State{}, f.name, err
		}
		return x.State(), f.name, nil
	}
	s, err := own(b, l)
	return s, "", err
}

// readSquid reads a cache digest.
func readSquid(in io.Reader, names []string, _ uint64) (umbel.Filter, error) {
	b, err := io.ReadAll(io.LimitReader(in, squid.BlockBytes+squid.MaxMask+1))
	if err != nil {
		return nil, err
	}
	d, err := squid.Parse(b, squid.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	f, err := d.Filter()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	return f, nil
}

// readNixBloom reads a file NixBloom.
func readNixBloom(in io.Reader, names []string, most uint64) (umbel.Filter, error) {
	f, _, err := ReadNixBloom(in, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[0], err)
	}
	return f, nil
}

// ReadNixBloom reads a file NixBloom of at most most bytes, and returns its length as well. It checks the header before it reads the
// rest.
func ReadNixBloom(in io.Reader, most uint64) (*nixbloom.Filter, int, error) {
	file, err := io.ReadAll(io.LimitReader(in, nixbloom.HeaderBytes))
	if err != nil {
		return nil, 0, err
	}
	shape, err := nixbloom.CheckHeader(file)
	if err == nil && nixbloom.FileBytes(shape.M) > most {
		err = umbel.ErrLimit
	}
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.ReadAll(io.LimitReader(in, int64(nixbloom.FileBytes(shape.M))-nixbloom.HeaderBytes+1))
	if err != nil {
		return nil, 0, err
	}
	file = append(file, rest...)
	f, err := nixbloom.ParseFile(file)
	return f, len(file), err
}

// readDump reads a dump of Redis.
func readDump(in io.Reader, names []string, most uint64) (umbel.Filter, error) {
	return loadDump(in, names, most)
}
