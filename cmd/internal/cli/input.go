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

// AddFormatFlag adds -0 and --text, and returns a function for their value.
func AddFormatFlag(cmd *cobra.Command) func() keys.Format {
	nul := cmd.Flags().BoolP("null", "0", false, "keys end at a zero byte instead of a newline")
	binary := cmd.Flags().BoolP("text", "a", false, "accept key files that are compressed or contain zero bytes, as if they were text")
	return func() keys.Format {
		f := keys.Lines
		if *nul {
			f = keys.NUL
		}
		f.Binary = *binary
		return f
	}
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
		return fmt.Errorf("%w; write the values of a column as lines: duckdb -noheader -list -c \"SELECT column FROM '%[2]s'\" | %[3]s ...; for the filters in the file: umbel parquet %[2]s", e, name, cmd.CommandPath())
	case e.Compression != "":
		return fmt.Errorf("%w; decompress it: %s | %s ...%s", e, strings.TrimSpace(e.Cat+" "+e.Name), cmd.CommandPath(), ifText(cmd, ", or give --text to take its bytes as they are"))
	}
	return fmt.Errorf("%w%s", e, ifText(cmd, "; give -0 if keys end at a zero byte, or --text to take its lines as they are"))
}

// ifText returns words about the flags of [addFormatFlag], and "" for a verb without them.
func ifText(cmd *cobra.Command, words string) string {
	if cmd.Flags().Lookup("text") == nil {
		return ""
	}
	return words
}

// OpenKeys opens the key files. "-", or no name, is standard input. The function that it
// returns closes the files.
func OpenKeys(cmd *cobra.Command, names []string) ([]*os.File, func(), error) {
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
		f, err := openKeyFile(cmd, name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, closeAll, nil
}

// OpenKeysFor opens the key files for a filter in a file. Only one of both can be standard input.
func OpenKeysFor(cmd *cobra.Command, filter string, names []string) ([]*os.File, func(), error) {
	if filter == "-" && (len(names) == 0 || slices.Contains(names, "-")) {
		return nil, nil, UsageError(cmd, errors.New("the filter and the keys can't both come from standard input"))
	}
	files, closeFiles, err := OpenKeys(cmd, names)
	return files, closeFiles, hintKeys(cmd, filter, err)
}

// hintKeys adds, to the error of a key file that does not exist, how to give keys themselves.
func hintKeys(cmd *cobra.Command, file string, err error) error {
	missing, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if addr := cmd.Flags().Lookup("addr"); addr != nil && addr.Changed {
		file += " --addr " + addr.Value.String()
	}
	return fmt.Errorf("%w; to give a key itself: echo %s | %s %s", err, missing.Path, cmd.CommandPath(), file)
}

func openKeyFile(cmd *cobra.Command, name string) (*os.File, error) {
	if name == "-" {
		return StandardInput(cmd), nil
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
func AddAllowEmptyFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("allow-empty", false, "accept that there are no keys")
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
func StandardInput(cmd *cobra.Command) *os.File {
	f := cmd.InOrStdin().(*os.File)
	if term.IsTerminal(int(f.Fd())) && !IsQuiet(cmd) {
		const text = "reading keys from the terminal, one per line; end them with ^D"
		Inform(cmd, "%s", text)
	}
	return f
}

// AddKeyFlags adds -f and the flags of formats to a verb whose arguments are a filter and keys. The
// function keysOf yields the keys: the arguments, those in the files of -f, or those on standard input
// if there are neither or the argument is "-". Without any key it yields an error, unless --allow-empty is given.
func AddKeyFlags(cmd *cobra.Command) (keysOf func(args []string) (iter.Seq2[[][]byte, error], error), format func() keys.Format) {
	names := cmd.Flags().StringArrayP("file", "f", nil, "read keys from `KEYFILE`; - is standard input")
	allowEmpty := AddAllowEmptyFlag(cmd)
	format = AddFormatFlag(cmd)
	return func(args []string) (iter.Seq2[[][]byte, error], error) {
		from, given := *names, args[1:]
		switch {
		case len(from) > 0 && len(given) > 0:
			return nil, UsageError(cmd, errors.New("give keys or -f, not both"))
		case len(from) > 0:
		case len(given) == 0, slices.Equal(given, []string{"-"}):
			from = []string{"-"}
		case slices.Contains(given, "-"):
			return nil, UsageError(cmd, errors.New("- is standard input and can't be combined with keys"))
		default:
			list := make([][]byte, len(given))
			for i, a := range given {
				list[i] = slices.Clip([]byte(a))
			}
			return func(yield func([][]byte, error) bool) { yield(list, nil) }, nil
		}
		files, closeFiles, err := OpenKeysFor(cmd, args[0], from)
		if err != nil {
			return nil, err
		}
		var none error
		if !*allowEmpty {
			none = NoKeys(from)
		}
		return func(yield func([][]byte, error) bool) {
			defer closeFiles()
			OrError(KeyBatches(cmd.Context(), format(), nil, Readers(files)...), none)(yield)
		}, nil
	}, format
}

// ReadKeys yields the keys of files, and shows progress until the returned function is called.
func ReadKeys(cmd *cobra.Command, format keys.Format, files []*os.File) (iter.Seq2[[][]byte, error], func()) {
	bar := StartBar(cmd, "keys", TotalBytes(files))
	return KeyBatches(cmd.Context(), format, bar.Add, Readers(files)...), bar.Stop
}

func Readers(files []*os.File) []io.Reader {
	rs := make([]io.Reader, len(files))
	for i, f := range files {
		rs[i] = f
	}
	return rs
}

// NewJob returns the job of hashing the keys of files on all cores, and the function that ends
// its progress bar.
func NewJob(cmd *cobra.Command, h umbel.Hasher, f keys.Format, files []*os.File) (keys.Job, func()) {
	bar := StartBar(cmd, "keys", TotalBytes(files))
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
