package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/progress"
)

// addFormatFlag adds -0, and returns what it says.
func addFormatFlag(cmd *cobra.Command) func() keys.Format {
	nul := cmd.Flags().BoolP("null", "0", false, "keys end at a zero byte instead of a newline")
	return func() keys.Format {
		if *nul {
			return keys.NUL
		}
		return keys.Lines
	}
}

// openKeys opens the key files, or takes standard input if there are none; "-" is
// standard input too. The function returned closes them.
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
		return nil, fmt.Errorf("%s is a directory: name files of keys", name)
	}
	return f, nil
}

// newJob returns the job of hashing the files' keys with all cores, and the
// function that ends its progress bar.
func newJob(cmd *cobra.Command, h umbel.Hasher, f keys.Format, files []*os.File) (keys.Job, func()) {
	job := keys.Job{Format: f, Hasher: h, Workers: runtime.GOMAXPROCS(0)}
	if isQuiet(cmd) {
		return job, func() {}
	}
	bar := progress.Start(os.Stderr, "keys", totalBytes(files))
	if bar != nil {
		job.Tick = bar.Add
	}
	return job, bar.Stop
}

// totalBytes returns how many bytes are to be read, and -1 if a pipe is among them.
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

// parseHasher reads --hash and --seed. SipHash without a seed gets one from random:
// it is there to be unknown to others.
func parseHasher(name, seed string, random io.Reader) (umbel.Hasher, error) {
	var h umbel.Hasher
	var err error
	if name != "" {
		if h.Alg, err = umbel.ParseAlg(name); err != nil {
			return h, err
		}
	}
	switch {
	case seed != "":
		h.Seed, err = umbel.ParseSeed(seed)
	case h.Alg == umbel.SipHash:
		var b [16]byte
		_, err = io.ReadFull(random, b[:])
		h.Seed = umbel.SeedFrom(b)
	}
	if err != nil {
		return h, err
	}
	return h, h.Check()
}
