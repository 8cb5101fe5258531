package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checkout returns a repository with one commit.
func checkout(t *testing.T) command {
	t.Helper()
	git := command{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(git.dir, "CHANGELOG.md"), []byte("# Changes\n\n## v0.2.0 (unreleased)\n\n## v0.1.0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q", "add -A", "-c user.name=a -c user.email=a@example.org commit -q -m first"} {
		if _, err := git.line("git", strings.Fields(args)...); err != nil {
			t.Fatal(err)
		}
	}
	return git
}

func TestCheck(t *testing.T) {
	git := checkout(t)
	if _, err := git.line("git", "tag", "share/nats/v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"v0.2.0": "", "v0.2.0-rc.1": "",
		"": "form", "0.2.0": "form", "v0.2": "form", "v0.2.0+linux": "form", "v0.2.0/..": "form", "v2.0.0": "/v2",
		"v0.1.0": "share/nats/v0.1.0 exists", "v0.3.0": "CHANGELOG.md has no heading \"## v0.3.0\"", "v0.2.1": "CHANGELOG",
	} {
		if err := check(git.dir, version, false); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("version %q: %v, want %q", version, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(git.dir, "new"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(git.dir, "v0.2.0", false); err == nil || !strings.Contains(err.Error(), "?? new") {
		t.Errorf("a checkout with changes: %v, want an error with the file", err)
	}
	if err := check(git.dir, "v0.3.0", true); err != nil {
		t.Errorf("a rehearsal with changes: %v", err)
	}
}

// A module that still replaces another one cannot be installed.
func TestRequireRefusesReplacements(t *testing.T) {
	r := &release{version: "v0.1.0", source: t.TempDir()}
	text := "module x\n\nrequire (\n\t" + root + " v0.0.0\n\tgolang.org/x/mod v0.42.0\n)\n\nreplace " + root + " => ../\n\nreplace golang.org/x/mod => ../mod\n"
	if err := os.WriteFile(filepath.Join(r.source, "go.mod"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := r.require(".", true, nil); err == nil || !strings.Contains(err.Error(), "golang.org/x/mod") {
		t.Errorf("%v, want an error that names the replaced module", err)
	}
}

// Archives do not depend on the order of files, and directories come before their files.
func TestArchivesAreReproducible(t *testing.T) {
	at := time.Unix(1e9, 0).UTC()
	files := []file{{"a/b/c", 0o644, []byte("c")}, {"a/d", 0o755, []byte("d")}}
	for name, archive := range map[string]func([]file, time.Time) ([]byte, error){"tar": tarGzip, "zip": zipped} {
		first, err := archive(files, at)
		if err != nil {
			t.Fatal(err)
		}
		second, err := archive([]file{files[1], files[0]}, at)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: another order makes other bytes (%v)", name, err)
		}
	}
	var names []string
	for _, f := range withDirectories(files) {
		if f.mode.IsDir() != (f.mode == fs.ModeDir|0o755) {
			t.Errorf("%s has mode %v", f.name, f.mode)
		}
		names = append(names, f.name)
	}
	if got := strings.Join(names, " "); got != "a a/b a/b/c a/d" {
		t.Errorf("files %s", got)
	}
}
