package nixcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

const (
	// InfoName is the name of the description of a binary cache.
	InfoName = "nix-cache-info"
	// BloomName is the name of the file NixBloom next to it.
	BloomName = "bloom-filter"
	// MaxInfo is the length of the longest description, in bytes.
	MaxInfo = 16 << 10
	// StoreDir is the directory of the store. Hashes of other stores are of other paths.
	StoreDir = "/nix/store"

	bloomField = "BloomFilter"
)

// Field returns the value of a line "NAME: VALUE" of a narinfo or of a description, and "" if there is none.
func Field(text []byte, name string) string {
	for line := range bytes.Lines(text) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if ok && string(key) == name {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// BloomPath returns the path of the file NixBloom that a description names, relative to the cache and without a
// slash before it. It returns "" and no error if it names none, and an error if the path leads out of the cache.
func BloomPath(info []byte) (string, error) {
	path := strings.TrimPrefix(Field(info, bloomField), "/")
	if path != "" && !fs.ValidPath(path) || strings.ContainsAny(path, "?#\\") {
		return "", fmt.Errorf("%s of %s is %.80q, want a path below the cache such as /%s", bloomField, InfoName, path, BloomName)
	}
	return path, nil
}

// writeBloom writes the file NixBloom of the paths to a directory, and names it in the description there. A
// description that exists keeps its other lines. Both files are replaced completely or not at all.
func writeBloom(dir string, p Paths, rate float64) error {
	f, err := p.NixBloom(rate)
	if err != nil {
		return err
	}
	file, err := f.AppendFile(nil)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, BloomName)
	if err := checkOwn(path); err != nil {
		return err
	}
	if err := writeFile(path, file); err != nil {
		return err
	}
	return announce(filepath.Join(dir, InfoName))
}

// checkOwn returns an error if there is a file at path that is not a file NixBloom.
func checkOwn(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, nixbloom.HeaderBytes))
	if err != nil {
		return err
	}
	if _, err := nixbloom.CheckHeader(head); err != nil && len(head) > 0 {
		return fmt.Errorf("%s exists and is no file NixBloom; remove it, or choose another directory", path)
	}
	return nil
}

// announce adds the line of the file NixBloom to a description, unless it has it.
func announce(path string) error {
	info, err := readInfo(path)
	if errors.Is(err, fs.ErrNotExist) {
		info = []byte("StoreDir: " + StoreDir + "\nWantMassQuery: 1\n")
	} else if err != nil {
		return err
	}
	const want = "/" + BloomName
	if Field(info, bloomField) == want {
		return nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(info) {
		if !bytes.HasPrefix(line, []byte(bloomField+":")) {
			out.Write(bytes.TrimSuffix(line, []byte("\n")))
			out.WriteByte('\n')
		}
	}
	fmt.Fprintf(&out, "%s: %s\n", bloomField, want)
	return writeFile(path, out.Bytes())
}

func readInfo(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxInfo+1))
	if err == nil && len(b) > MaxInfo {
		err = fmt.Errorf("%s has more than %d bytes: it is no description of a binary cache", path, MaxInfo)
	}
	return b, err
}

func writeFile(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}
