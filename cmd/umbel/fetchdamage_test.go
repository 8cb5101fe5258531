package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Whatever happens to the objects of a publication, umbel fetch ends with the documented code, 4 if they are
// damaged and 5 if they cannot be read, and writes no file.
func TestFetchDamaged(t *testing.T) {
	dir := t.TempDir()
	umbel := func(args string) int {
		cmd := exec.Command("umbel", strings.Fields(args)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		t.Logf("umbel %s: %v\n%s", args, err, out)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return 0
	}
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("alice\nbob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if umbel("make -q -o a.umb --keys 1000 keys")+umbel("keygen -q example.org/k")+umbel("publish -q a.umb --to pub --key k.key") != 0 {
		t.Fatal("there is no publication")
	}
	objects, err := filepath.Glob(filepath.Join(dir, "pub", "objects", "*"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("objects %q, %v", objects, err)
	}
	whole := make(map[string][]byte)
	for _, path := range objects {
		if whole[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	cut := false // bodies over HTTP are shorter than their Content-Length
	files := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(filepath.Join(dir, r.URL.Path))
		if !cut || err != nil || !strings.Contains(r.URL.Path, "/objects/") {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:len(b)/2])
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	for _, c := range []struct {
		what   string
		damage func([]byte) []byte
		cut    bool
		want   int
	}{
		{"whole", func(b []byte) []byte { return b }, false, 0},
		{"without the last byte", func(b []byte) []byte { return b[:len(b)-1] }, false, 4},
		{"empty", func([]byte) []byte { return nil }, false, 4},
		{"half", func(b []byte) []byte { return b[:len(b)/2] }, false, 4},
		{"one byte more", func(b []byte) []byte { return append(b[:len(b):len(b)], 0) }, false, 0}, // only the stated bytes are read
		{"another byte", func(b []byte) []byte { return append([]byte{b[0] ^ 1}, b[1:]...) }, false, 4},
		{"connections that break", func(b []byte) []byte { return b }, true, 5},
	} {
		for path, b := range whole {
			if err := os.WriteFile(path, c.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cut = c.cut
		for _, source := range []string{"pub", s.URL + "/pub"} {
			if c.cut && source == "pub" {
				continue
			}
			if got := umbel("fetch " + source + " --public-key k.pub -o out"); got != c.want {
				t.Errorf("%s, from %s: exit code %d, want %d", c.what, source, got, c.want)
			}
			if err := os.Remove(filepath.Join(dir, "out")); (err == nil) != (c.want == 0) {
				t.Errorf("%s, from %s: removing the file: %v", c.what, source, err)
			}
		}
	}
	for _, path := range objects {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []string{"pub", s.URL + "/pub"} {
		if got := umbel("fetch " + source + " --public-key k.pub -o out"); got != 5 {
			t.Errorf("without objects, from %s: exit code %d, want 5", source, got)
		}
	}
}
