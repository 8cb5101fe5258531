package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

// addFormatFlag adds -0, and returns a function for its value.
func addFormatFlag(cmd *cobra.Command) func() keys.Format {
	nul := cmd.Flags().BoolP("null", "0", false, "keys end at a zero byte instead of a newline")
	return func() keys.Format {
		if *nul {
			return keys.NUL
		}
		return keys.Lines
	}
}

// openKeys opens the key files. "-", or no name, is standard input. The function that it
// returns closes the files.
func openKeys(cmd *cobra.Command, names []string) ([]*os.File, func(), error) {
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

// hintKeys adds, to the error of a key file that does not exist, how to give keys themselves.
func hintKeys(cmd *cobra.Command, file string, err error) error {
	missing, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w; to give a key itself: echo %s | %s %s", err, missing.Path, cmd.CommandPath(), file)
}

func openKeyFile(cmd *cobra.Command, name string) (*os.File, error) {
	if name == "-" {
		return cmd.InOrStdin().(*os.File), nil
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

// keyBatches yields the keys of readers in batches, as they arrive. A batch is valid until the
// next iteration. tick, unless nil, is called with the number of bytes read.
func keyBatches(format keys.Format, tick func(int64), rs ...io.Reader) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		var buf []byte
		var list [][]byte
		for _, r := range rs {
			in := keys.NewReader(r, format)
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

// keysGiven yields the arguments, or the keys on standard input if there are none.
func keysGiven(cmd *cobra.Command, args []string, format keys.Format) iter.Seq2[[][]byte, error] {
	if len(args) == 0 {
		return keyBatches(format, nil, cmd.InOrStdin())
	}
	list := make([][]byte, len(args))
	for i, a := range args {
		list[i] = []byte(a)
	}
	return func(yield func([][]byte, error) bool) { yield(list, nil) }
}

// readKeys yields the keys of files, and shows progress until the returned function is called.
func readKeys(cmd *cobra.Command, format keys.Format, files []*os.File) (iter.Seq2[[][]byte, error], func()) {
	bar := startBar(cmd, "keys", totalBytes(files))
	return keyBatches(format, bar.Add, readers(files)...), bar.Stop
}

func readers(files []*os.File) []io.Reader {
	rs := make([]io.Reader, len(files))
	for i, f := range files {
		rs[i] = f
	}
	return rs
}

// newJob returns the job of hashing the keys of files on all cores, and the function that ends
// its progress bar.
func newJob(cmd *cobra.Command, h umbel.Hasher, f keys.Format, files []*os.File) (keys.Job, func()) {
	bar := startBar(cmd, "keys", totalBytes(files))
	return keys.Job{Format: f, Hasher: h, Workers: runtime.GOMAXPROCS(0), Tick: bar.Add}, bar.Stop
}

// totalBytes returns the bytes that remain to be read, or -1 if one of the files is a pipe.
func totalBytes(files []*os.File) int64 {
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
