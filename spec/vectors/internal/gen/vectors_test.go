package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// root is spec/vectors.
const root = "../.."

// TestGenerated: the files on disk are exactly those that the code generates.
func TestGenerated(t *testing.T) {
	files, err := all()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, f := range files {
		if want[f.Path] != nil {
			t.Errorf("%s is generated twice", f.Path)
		}
		want[f.Path] = f.Bytes()
	}
	for _, f := range onDisk(t) {
		if isFrozen(f.Path) {
			continue
		}
		if !bytes.Equal(f.Bytes(), want[f.Path]) {
			t.Errorf("%s differs from what is generated: run go generate ./spec/... and check whether the format changed", f.Path)
		}
		delete(want, f.Path)
	}
	for path := range want {
		t.Errorf("%s is missing: run go generate ./spec/...", path)
	}
}

// onDisk returns all vectors on disk.
func onDisk(t *testing.T) []file {
	t.Helper()
	var files []file
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(root), folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return err
			}
			f, err := vector.Parse(path, b)
			files = append(files, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// inFolder returns the vectors of a folder.
func inFolder(t *testing.T, folder string) []file {
	t.Helper()
	files := slices.DeleteFunc(onDisk(t), func(f file) bool { return !strings.HasPrefix(f.Path, folder+"/") })
	if len(files) == 0 {
		t.Fatalf("no vectors in %s", folder)
	}
	return files
}

// reserved is the kind of the vectors that the library does not open; the reader in Python does.
const reserved = "incremental"

var sentinels = map[string]error{
	"ok":           nil,
	"corrupt":      umbel.ErrCorrupt,
	"limit":        umbel.ErrLimit,
	"mismatch":     umbel.ErrMismatch,
	"unknown-kind": umbel.ErrKind,
}

// TestContainers: each container is accepted or refused as its header states. An accepted one
// encodes to the same bytes.
func TestContainers(t *testing.T) {
	for _, f := range slices.Concat(inFolder(t, "container"), inFolder(t, "codings"), inFolder(t, "kinds")) {
		t.Run(f.Path, func(t *testing.T) {
			b, err := f.Data()
			if err != nil {
				t.Fatal(err)
			}
			want, known := sentinels[f.Value("expect")]
			if !known {
				t.Fatalf("expect: %q", f.Value("expect"))
			}
			s, err := wire.Parse(b, wire.Limits{})
			if _, readErr := wire.Read(bytes.NewBuffer(b), wire.Limits{}); (err == nil) != (readErr == nil) {
				t.Errorf("Parse: %v, Read: %v", err, readErr)
			}
			if err == nil {
				checkForm(t, f, b, s)
				var opened umbel.Filter
				if opened, err = filter.All.Open(s); err == nil {
					checkKeys(t, f, opened)
					checkCounts(t, f, opened)
				}
			}
			switch {
			case f.Value("kind") == reserved:
				want = umbel.ErrKind
			case f.Path == "kinds/union-mixed.txt": // has a member of the reserved kind
				want = umbel.ErrCorrupt
			}
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			if !strings.HasPrefix(f.Path, "kinds/") && f.Value("form") == "" && s.Kind != "" {
				t.Error("Open refuses the state, want Parse to refuse the container")
			}
		})
	}
}

// checkForm checks that writing s again gives b, or the same ID.
func checkForm(t *testing.T, f file, b []byte, s umbel.State) {
	t.Helper()
	if f.Value("form") == "" {
		return
	}
	again, err := wire.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if written := f.Value("form") == "written"; written != bytes.Equal(again, b) {
		t.Errorf("form is %s; written again it is\n%s", f.Value("form"), vector.HexLines(again))
	}
	packed, err := wire.Packer{Workers: 3}.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if form := f.Value("form"); form == "packed" && !bytes.Equal(packed, b) || form == "other" && bytes.Equal(packed, b) {
		t.Errorf("form is %s; packed again it is\n%s", form, vector.HexLines(packed))
	}
	if f.Value("form") == "canonical" && wire.Size(s) != uint64(len(b)) {
		t.Errorf("%d bytes in canonical form, Size returns %d", len(b), wire.Size(s))
	}
	if got := hashtree.Identify(s).String(); got != f.Value("id") {
		t.Errorf("ID %s, want %s", got, f.Value("id"))
	}
	if got := planned(s.Planned); got != f.Value("planned") {
		t.Errorf("planned %q, want %q", got, f.Value("planned"))
	}
	if got := tick(s); got != f.Value("tick") {
		t.Errorf("tick %q, want %q", got, f.Value("tick"))
	}
	if s.Kind != f.Value("kind") {
		t.Errorf("kind %s, want %s", s.Kind, f.Value("kind"))
	}
}

func checkKeys(t *testing.T, f file, opened umbel.Filter) {
	t.Helper()
	for name, want := range map[string]bool{"key": true, "absent": false} {
		keys := f.Values(name)
		if len(keys) == 0 {
			t.Errorf("no %s", name)
		}
		for _, k := range keys {
			key, err := hex.DecodeString(k)
			if err != nil {
				t.Fatal(err)
			}
			if got := has(opened, key); got != want {
				t.Errorf("%s %s: Has is %v", name, k, got)
			}
		}
	}
}

// checkCounts compares the counts of keys with the header.
func checkCounts(t *testing.T, f file, opened umbel.Filter) {
	t.Helper()
	c, ok := opened.(umbel.Counter)
	if counts := f.Values("count"); ok != (len(counts) > 0) {
		t.Errorf("%d counts; the filter is a Counter: %v", len(counts), ok)
	}
	for _, v := range f.Values("count") {
		text, want, _ := strings.Cut(v, " ")
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := count(c, digestOf(opened.Hasher(), key)); got != want {
			t.Errorf("key %s counts %s, want %s", text, got, want)
		}
	}
}

// TestForeignReader: the reader in Python, which was written from the pages of spec, reads all
// vectors.
func TestForeignReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to run reader.py with")
	}
	out, err := exec.Command(python, filepath.Join(root, "reader.py"), root).CombinedOutput()
	if err != nil {
		t.Fatalf("reader.py: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
