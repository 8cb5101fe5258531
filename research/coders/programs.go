package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// programs are the compressors that were found on PATH.
type programs struct{ zstd, brotli, xz string }

func findPrograms() (p programs) {
	for name, path := range map[string]*string{"zstd": &p.zstd, "brotli": &p.brotli, "xz": &p.xz} {
		*path, _ = exec.LookPath(name) // a missing one leaves its column empty
	}
	return p
}

// compressed returns the sizes of the words compressed by zstd, brotli and xz. It is 0 without the program, and for large arrays.
func (p programs) compressed(ctx context.Context, words []uint64) ([]uint64, error) {
	sizes := make([]uint64, 3)
	if len(words) == 0 || len(words)*8 > mostCompressed {
		return sizes, nil
	}
	for i, c := range [][]string{{p.zstd, "-19", "-c"}, {p.brotli, "-q", "11", "--lgwin=24", "-c"}, {p.xz, "-9e", "--check=none", "-c"}} {
		if c[0] == "" {
			continue
		}
		size, err := run(ctx, data(words), c...)
		if err != nil {
			return nil, err
		}
		sizes[i] = size
	}
	return sizes, nil
}

// patch returns the size of zstd's patch from one array to the next.
func (p programs) patch(ctx context.Context, from, to []uint64) (uint64, error) {
	if p.zstd == "" || len(to)*8 > mostCompressed {
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "coders")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(a, data(from), 0o666); err != nil {
		return 0, err
	}
	if err := os.WriteFile(b, data(to), 0o666); err != nil {
		return 0, err
	}
	return run(ctx, nil, p.zstd, "-19", "--long=27", "--patch-from="+a, "-c", b)
}

// run returns the number of bytes that a program writes for its input.
func run(ctx context.Context, input []byte, command ...string) (uint64, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strconv.Quote(command[0]), err, bytes.TrimSpace(errs.Bytes()))
	}
	return uint64(out.Len()), nil
}

// data returns words as bytes, little-endian.
func data(words []uint64) []byte {
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
