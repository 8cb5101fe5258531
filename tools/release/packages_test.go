package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// sample returns a release candidate of this checkout and its programs, which consist of a few bytes.
func sample(t *testing.T) (*release, []built) {
	t.Helper()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "v0.1.0-rc.1", source: top, scratch: t.TempDir(), time: time.Unix(1e9, 0).UTC(), maintainer: "A <a@example.org>"}
	var programs []built
	for _, platform := range platforms {
		var files []file
		for _, name := range commands {
			files = append(files, file{name, 0o755, []byte(name + " of " + platform)})
		}
		programs = append(programs, built{platform: platform, programs: files, notices: []byte("license")})
	}
	return r, programs
}

// entries returns the headers of a tar archive by name, and the contents of its files.
func entries(t *testing.T, archive io.Reader) (map[string]*tar.Header, map[string]string) {
	t.Helper()
	headers, contents := map[string]*tar.Header{}, map[string]string{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		headers[h.Name], contents[h.Name] = h, string(data)
	}
}

// members returns the compressed tar archives in a Debian package. Members of ar(5) begin at even offsets.
func members(t *testing.T, deb []byte) map[string]io.Reader {
	t.Helper()
	rest, found := bytes.CutPrefix(deb, []byte("!<arch>\n"))
	if !found {
		t.Fatalf("the package begins with %q", deb[:8])
	}
	archives := map[string]io.Reader{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("header %q", rest[:60])
		}
		if name := strings.TrimSpace(string(rest[:16])); strings.HasSuffix(name, ".gz") {
			if archives[name], err = gzip.NewReader(bytes.NewReader(rest[60 : 60+size])); err != nil {
				t.Fatal(err)
			}
		}
		rest = rest[60+size+size%2:]
	}
	return archives
}

func TestPackages(t *testing.T) {
	r, programs := sample(t)
	docs := documents{
		files: map[string][]byte{"umbel.yaml": []byte("data: /x\n"), "umbel.service": []byte("[Unit]\n"), "postinst": []byte("#!/bin/sh\n")},
		pages: []file{{"umbel.1", 0o644, []byte(".TH")}},
		words: []file{{"umbel", 0o644, []byte("complete")}, {"umbel", 0o644, nil}, {"umbel", 0o644, nil}, {"umbel", 0o644, nil}, {"umbel-nix", 0o644, []byte("complete")}},
	}
	packages, err := r.packages(programs, docs)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 2 || packages[0].name != "umbel_0.1.0~rc.1_amd64.deb" || packages[1].name != "umbel_0.1.0~rc.1_arm64.deb" {
		t.Fatalf("%d packages, the first is %s", len(packages), packages[0].name)
	}
	archives := members(t, packages[1].data)
	about, texts := entries(t, archives["control.tar.gz"])
	if about["./postinst"].Mode != 0o755 || texts["./conffiles"] != "/etc/umbel/umbel.yaml\n" {
		t.Errorf("mode %o of postinst, conffiles %q", about["./postinst"].Mode, texts["./conffiles"])
	}
	for _, want := range []string{"Version: 0.1.0~rc.1\n", "Architecture: arm64\n", "Maintainer: A <a@example.org>\n", "Installed-Size: "} {
		if !strings.Contains(texts["./control"], want) {
			t.Errorf("no %q in the description\n%s", want, texts["./control"])
		}
	}
	installed, contents := entries(t, archives["data.tar.gz"])
	if h := installed["./usr/bin/umbel"]; h == nil || h.Mode != 0o755 || h.Uid != 0 || contents["./usr/bin/umbel"] != "umbel of linux/arm64" {
		t.Errorf("program %+v", h)
	}
	for _, name := range []string{"./usr/", "./usr/lib/systemd/system/umbel.service", "./usr/share/man/man1/umbel.1.gz", "./usr/bin/umbel-multicast", "./usr/share/bash-completion/completions/umbel", "./usr/share/bash-completion/completions/umbel-nix"} {
		if installed[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestImage(t *testing.T) {
	r, programs := sample(t)
	archive, err := r.image(programs)
	if err != nil {
		t.Fatal(err)
	}
	if headers, _ := entries(t, bytes.NewReader(archive.data)); headers["index.json"] == nil || headers["oci-layout"] == nil {
		t.Error("the archive is no OCI layout")
	}
	index, err := layout.ImageIndexFromPath(filepath.Join(r.scratch, "image"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		m := manifest.Manifests[i]
		img, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if m.Platform.Architecture != arch || config.Architecture != arch || config.RootFS.Type != "layers" || !slices.Equal(config.Config.Entrypoint, []string{"/umbel"}) {
			t.Errorf("platform %v, config %+v", m.Platform, config)
		}
		layers, err := img.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, %v", len(layers), err)
		}
		layer, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		headers, contents := entries(t, layer)
		if contents["umbel"] != "umbel of linux/"+arch || contents["umbel-cache"] == "" || !strings.Contains(contents["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE") {
			t.Errorf("%s: program %q, or no certificates", arch, contents["umbel"])
		}
		if h := headers["data/"]; h == nil || fmt.Sprintf("%d:%d", h.Uid, h.Gid) != config.Config.User || h.Mode != 0o700 {
			t.Errorf("%s: data %+v, want a directory of user %s", arch, h, config.Config.User)
		}
	}
}
