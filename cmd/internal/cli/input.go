package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/build"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/service/interrupt"
	"golang.org/x/term"
)

// AddFormatFlag adds -0 and --text, which determine the format when the verb runs.
func AddFormatFlag(cmd *cobra.Command, format *keys.Format) {
	nul := cmd.Flags().BoolP("null", "0", false, "keys end at a zero byte instead of a newline")
	binary := cmd.Flags().BoolP("text", "a", false, "accept key files that are compressed or contain zero bytes, as if they were text")
	prepare(cmd, func(*cobra.Command, []string) error {
		if *format = keys.Lines; *nul {
			*format = keys.NUL
		}
		format.Binary = *binary
		return nil
	})
}

// binaryHint adds to the error of a key file that isn't text how to read its keys.
func binaryHint(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*keys.BinaryError](err)
	if !ok {
		return err
	}
	name := cmp.Or(e.Name, "FILE")
	switch {
	case e.Encoding != "":
		return fmt.Errorf("%w; convert it: iconv -f %s -t UTF-8 %s | %s", e, e.Encoding, name, cmd.CommandPath())
	case e.File == keys.FileFilter:
		return fmt.Errorf("%w, whose keys are not known; unite filters with umbel merge", e)
	case e.File == keys.FileParquet:
		return fmt.Errorf("%w; write the values of a column as lines: duckdb -noheader -list -c \"SELECT column FROM '%[2]s'\" | "+
			"%[3]s ...; for the filters in the file: umbel parquet %[2]s", e, name, cmd.CommandPath())
	case e.Compression != "":
		return fmt.Errorf("%w; decompress it: %s | %s ...%s", e, strings.TrimSpace(e.Cat+" "+e.Name), cmd.CommandPath(),
			ifText(cmd, ", or give --text to take its bytes as they are"))
	}
	return fmt.Errorf("%w%s", e, ifText(cmd, "; give -0 if keys end at a zero byte, or --text to take its lines as they are"))
}

// ifText returns words about the flags of [AddFormatFlag], and "" for a verb without them.
func ifText(cmd *cobra.Command, words string) string {
	if cmd.Flags().Lookup("text") == nil {
		return ""
	}
	return words
}

// OpenKeys opens the key files. "-", or no name, is standard input. The function that it
// returns closes the files.
func (s *Streams) OpenKeys(names []string) ([]*os.File, func(), error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, name := range names {
		f, err := s.openKeyFile(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, closeAll, nil
}

// OpenKeysFor opens the key files for a filter in a file. Only one of both can be standard input.
func (s *Streams) OpenKeysFor(filter string, names []string) ([]*os.File, func(), error) {
	if filter == "-" && (len(names) == 0 || slices.Contains(names, "-")) {
		return nil, nil, UsageError(errors.New("the filter and the keys can't both come from standard input"))
	}
	files, closeFiles, err := s.OpenKeys(names)
	if errors.Is(err, fs.ErrNotExist) {
		err = missingError{err, filter}
	}
	return files, closeFiles, err
}

// missingError is the error of a key file of a filter that does not exist. Its report adds how to give keys themselves.
type missingError struct {
	error
	filter string
}

func (e missingError) Unwrap() error { return e.error }

func missingHint(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[missingError](err)
	file, isFile := errors.AsType[*fs.PathError](err)
	if !ok || !isFile {
		return err
	}
	if addr := cmd.Flag(AddrFlag); addr.Changed {
		e.filter += " --addr " + addr.Value.String()
	}
	return fmt.Errorf("%w; to give a key itself: echo %s | %s %s", err, file.Path, cmd.CommandPath(), e.filter)
}

func (s *Streams) openKeyFile(name string) (*os.File, error) {
	if name == "-" {
		return s.StandardInput(), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory; give files of keys", name)
	}
	return f, nil
}

// KeyBatches yields the keys of readers in batches, as they arrive. A batch is valid until the
// next iteration. tick, unless nil, is called with the number of bytes read. The end of ctx ends the keys, with its
// cause as the error.
func KeyBatches(ctx context.Context, format keys.Format, tick func(int64), rs ...io.Reader) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		var buf []byte
		var list [][]byte
		for _, r := range rs {
			in := keys.NewReader(interrupt.Reader(ctx, r), format)
			for {
				chunk, err := in.Next(buf)
				if err == io.EOF {
					break
				}
				if err != nil {
					yield(nil, err)
					return
				}
				buf = chunk
				for rest := chunk; len(rest) > 0; {
					var key []byte
					key, rest = format.Cut(rest)
					list = append(list, key)
					if len(list) == remote.BatchKeys || len(rest) == 0 {
						if !yield(list, nil) {
							return
						}
						list = list[:0]
					}
				}
				if tick != nil {
					tick(int64(len(chunk)))
				}
			}
		}
	}
}

// AddAllowEmptyFlag adds --allow-empty to a verb that otherwise reports that there are no keys, because a
// command before it in a pipe may have failed.
func AddAllowEmptyFlag(cmd *cobra.Command, allowEmpty *bool) {
	cmd.Flags().BoolVar(allowEmpty, "allow-empty", false, "accept that there are no keys")
}

// NoKeys is the error of a verb that read no keys from files, or from standard input if there are none.
func NoKeys(files []string) error {
	from := "standard input"
	if len(files) > 0 && !slices.Equal(files, []string{"-"}) {
		from = strings.Join(files, ", ")
	}
	return fmt.Errorf("no keys were read from %s; check the command or file that they come from, or give --allow-empty", from)
}

// OrError yields batches, and err if there was no batch and no error.
func OrError(batches iter.Seq2[[][]byte, error], err error) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		none := true
		for list, failed := range batches {
			if none = false; !yield(list, failed) {
				return
			}
		}
		if none && err != nil {
			yield(nil, err)
		}
	}
}

// StandardInput returns the file of standard input. If it is a terminal, it prints how to end the keys.
func (s *Streams) StandardInput() *os.File {
	if term.IsTerminal(int(s.In.Fd())) {
		s.Inform("reading keys from the terminal, one per line; end them with ^D")
	}
	return s.In
}

// KeyOptions are the flags for keys of a verb whose arguments are a filter and keys.
type KeyOptions struct {
	Files      []string // of keys; - is standard input
	AllowEmpty bool
	Format     keys.Format
}

// AddKeyFlags adds -f and the flags of formats.
func AddKeyFlags(cmd *cobra.Command, o *KeyOptions) {
	cmd.Flags().StringArrayVarP(&o.Files, "file", "f", nil, "read keys from `KEYFILE`; - is standard input")
	AddAllowEmptyFlag(cmd, &o.AllowEmpty)
	AddFormatFlag(cmd, &o.Format)
}

// Keys returns a function that yields the keys for a filter: those given, those in the files, or those on standard input if there are neither or the key
// given is "-". Without any key it yields an error, unless --allow-empty is given.
func (o KeyOptions) Keys(s *Streams, filter string, given []string) (func(context.Context) iter.Seq2[[][]byte, error], error) {
	from := o.Files
	switch {
	case len(from) > 0 && len(given) > 0:
		return nil, UsageError(errors.New("give keys or -f, not both"))
	case len(from) > 0:
	case len(given) == 0, slices.Equal(given, []string{"-"}):
		from = []string{"-"}
	case slices.Contains(given, "-"):
		return nil, UsageError(errors.New("- is standard input and can't be combined with keys"))
	default:
		list := make([][]byte, len(given))
		for i, a := range given {
			list[i] = slices.Clip([]byte(a))
		}
		return func(context.Context) iter.Seq2[[][]byte, error] {
			return func(yield func([][]byte, error) bool) { yield(list, nil) }
		}, nil
	}
	files, closeFiles, err := s.OpenKeysFor(filter, from)
	if err != nil {
		return nil, err
	}
	var none error
	if !o.AllowEmpty {
		none = NoKeys(from)
	}
	return func(ctx context.Context) iter.Seq2[[][]byte, error] {
		return func(yield func([][]byte, error) bool) {
			defer closeFiles()
			OrError(KeyBatches(ctx, o.Format, nil, Readers(files)...), none)(yield)
		}
	}, nil
}

// ReadKeys yields the keys of files, and shows progress until the returned function is called.
func (s *Streams) ReadKeys(ctx context.Context, format keys.Format, files []*os.File) (iter.Seq2[[][]byte, error], func()) {
	bar := s.StartBar("keys", TotalBytes(files))
	return KeyBatches(ctx, format, bar.Add, Readers(files)...), bar.Stop
}

// Readers returns the files as readers.
func Readers(files []*os.File) []io.Reader {
	rs := make([]io.Reader, len(files))
	for i, f := range files {
		rs[i] = f
	}
	return rs
}

// NewJob returns the job of hashing the keys of files on all cores, and the function that ends
// its progress bar.
func (s *Streams) NewJob(h umbel.Hasher, f keys.Format, files []*os.File) (keys.Job, func()) {
	bar := s.StartBar("keys", TotalBytes(files))
	return keys.Job{Format: f, Hasher: h, Workers: runtime.GOMAXPROCS(0), Tick: bar.Add}, bar.Stop
}

// TotalBytes returns the bytes that remain to be read, or -1 if one of the files is a pipe.
func TotalBytes(files []*os.File) int64 {
	var total int64
	for _, f := range files {
		n, ok := build.Remaining(f)
		if !ok {
			return -1
		}
		total += n
	}
	return total
}
