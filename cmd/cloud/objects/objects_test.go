package objects_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/umbel-filters/umbel/cmd/cloud/objects"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/program"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/internal/fixture"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob"
)

// urls are those of objects in empty buckets by their names.
func urls(t *testing.T) map[string]func(name string) string {
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	query := url.Values{"region": {"test"}, "endpoint": {server.URL}, "use_path_style": {"true"}}.Encode()
	dir := t.TempDir()
	return map[string]func(string) string{
		"s3":   func(name string) string { return "s3://bucket/" + name + "?" + query },
		"file": func(name string) string { return "file://" + filepath.ToSlash(dir) + "/" + name },
	}
}

// run runs a command of umbel, and returns its exit code and messages.
func run(args ...string) (int, string) {
	stores := object.Stores{"s3": objects.Store{}, "file": objects.Store{}}
	var out, messages bytes.Buffer
	streams := cli.Standard()
	streams.Out, streams.Err = &out, &messages
	exit := cli.Run(cli.Root(program.Umbel(program.Engines{Objects: stores})), args, streams)
	return exit, messages.String()
}

func mustRun(t *testing.T, args ...string) {
	t.Helper()
	if exit, messages := run(args...); exit != 0 {
		t.Fatalf("umbel %v: exit code %d, %s", args, exit, messages)
	}
}

// Keys, parts and results at URLs make the bytes that those in files make.
func TestMakeAndMerge(t *testing.T) {
	for scheme, at := range urls(t) {
		dir := t.TempDir()
		var keys bytes.Buffer
		for i := range 100_000 {
			fmt.Fprintln(&keys, "key", i)
		}
		text, one, back := filepath.Join(dir, "keys.txt"), filepath.Join(dir, "one.umb"), filepath.Join(dir, "back.umb")
		if err := os.WriteFile(text, keys.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := (objects.Store{}).Put(t.Context(), at("keys.txt"), text); err != nil {
			t.Fatal(err)
		}
		mustRun(t, "make", "-q", "-o", one, "--keys", "100000", text)
		want := fixture.Must(os.ReadFile(one))
		mustRun(t, "make", "-q", "-o", at("whole.umb"), "--keys", "100000", at("keys.txt"))
		if got := read(t, at("whole.umb")); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes of the filter that was made at once", scheme)
		}
		for _, way := range []string{"lines", "cells", "files"} {
			var parts []string
			for i := range 3 {
				name := at(fmt.Sprintf("%s-%d.umb", way, i))
				parts = append(parts, name)
				mustRun(t, "make", "-q", "-o", name, "--keys", "100000", "--part", fmt.Sprintf("%d/3", i+1), "--divide", way, at("keys.txt"))
			}
			mustRun(t, append([]string{"merge", "-q", "--expect", "3", "-o", at("all.umb")}, parts...)...)
			if got := read(t, at("all.umb")); !bytes.Equal(got, want) {
				t.Errorf("%s: other bytes of the filter that was made in parts by %s", scheme, way)
			}
			mustRun(t, append([]string{"merge", "-q", "--expect", "3", "-o", back}, parts...)...)
			if got := fixture.Must(os.ReadFile(back)); !bytes.Equal(got, want) {
				t.Errorf("%s: other bytes in a file", scheme)
			}
			if exit, _ := run("merge", "-q", "-o", at("missing.umb"), parts[0], parts[2]); exit != 2 {
				t.Errorf("%s: a missing part: exit code %d", scheme, exit)
			}
		}
		if _, err := (objects.Store{}).Open(t.Context(), at("missing.umb")); err == nil {
			t.Errorf("%s: the result of a refused merge exists", scheme)
		}
		if exit, _ := run("make", "-o", back, "--keys", "1000", at("nothing.txt")); exit != 2 {
			t.Errorf("%s: an object that does not exist: exit code %d", scheme, exit)
		}
		mustRun(t, "merge", "-q", "-o", at("same.umb"), at("whole.umb"), at("all.umb"))
		if got := read(t, at("same.umb")); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes of merged filters", scheme)
		}
	}
}

// read reads an object.
func read(t *testing.T, url string) []byte {
	t.Helper()
	o, err := (objects.Store{}).Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	b := make([]byte, o.Size())
	if _, err := o.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}
