package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
	"time"
)

// control is the description of a Debian package: version, architecture, KiB when installed, maintainer.
const control = `Package: umbel
Version: %s
Architecture: %s
Installed-Size: %d
Maintainer: %s
Section: database
Priority: optional
Homepage: https://github.com/umbel-filters/umbel
Recommends: ca-certificates
Description: adaptive Bloom filters on the command line and as a server
 umbel makes, queries, merges and sends Bloom filters of many kinds. Its server
 answers Redis and HTTP clients and publishes filters to subscribers.
 umbel-cache is an HTTP cache that uses what its siblings hold, umbel-nix answers
 Nix clients for binary caches, and umbel-multicast is for multicast in packet
 headers.
`

// packages returns the Debian packages of the programs for Linux. The unit is installed but neither enabled nor
// started. The settings of cmd/packaging are in /etc/umbel.
func (r *release) packages(programs []built, docs documents) ([]file, error) {
	// rc.1 of a version is before it, which Debian writes with a tilde.
	version := strings.Replace(strings.TrimPrefix(r.version, "v"), "-", "~", 1)
	var packages []file
	for _, p := range programs {
		arch, isLinux := strings.CutPrefix(p.platform, "linux/")
		if !isLinux {
			continue
		}
		data, err := r.packageFiles(p, docs)
		if err != nil {
			return nil, err
		}
		deb, err := debianPackage(version, arch, r.maintainer, data, docs, r.time)
		if err != nil {
			return nil, err
		}
		packages = append(packages, file{"umbel_" + version + "_" + arch + ".deb", 0o644, deb})
	}
	return packages, nil
}

// packageFiles returns the files that a package installs.
func (r *release) packageFiles(p built, docs documents) ([]file, error) {
	files := append(docs.named("etc/umbel/", "umbel.yaml"), docs.named("usr/share/doc/umbel/examples/", "users.yaml")...)
	files = append(files, docs.named("usr/lib/systemd/system/", "umbel.service")...)
	files = append(files, docs.completions("usr/share/bash-completion/completions/%s",
		"usr/share/zsh/vendor-completions/_%s", "usr/share/fish/vendor_completions.d/%s.fish")...)
	copyright := append(append([]byte(nil), docs.files["LICENSE"]...), p.notices...)
	files = append(append(files, p.in("usr/bin/")...), file{"usr/share/doc/umbel/copyright", 0o644, copyright})
	compressed := append(docs.manual("usr/share/man/man1/"), file{"usr/share/doc/umbel/changelog", 0o644, docs.files["CHANGELOG.md"]})
	for _, f := range compressed {
		data, err := gzipped(f.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{f.name + ".gz", f.mode, data})
	}
	return files, nil
}

// debianPackage returns a package in the format of deb(5): an ar archive of three members.
func debianPackage(version, arch, maintainer string, files []file, docs documents, at time.Time) ([]byte, error) {
	var size int
	var sums, settings strings.Builder
	for _, f := range withDirectories(files) {
		if f.mode.IsDir() {
			continue
		}
		size += len(f.data)
		if strings.HasPrefix(f.name, "etc/") {
			fmt.Fprintf(&settings, "/%s\n", f.name)
		} else {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
		}
	}
	about := []file{
		{"control", 0o644, fmt.Appendf(nil, control, version, arch, (size+1023)/1024, maintainer)},
		{"conffiles", 0o644, []byte(settings.String())},
		{"md5sums", 0o644, []byte(sums.String())},
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		about = append(about, file{script, 0o755, docs.files[script]})
	}
	deb := bytes.NewBufferString("!<arch>\n")
	member := func(name string, data []byte) {
		fmt.Fprintf(deb, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", name, at.Unix(), 0, 0, "100644", len(data), data)
		if len(data)%2 == 1 {
			deb.WriteByte('\n')
		}
	}
	member("debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files []file
	}{{"control.tar.gz", about}, {"data.tar.gz", files}} {
		data, err := tarred(part.files, "./", at, nil)
		if err != nil {
			return nil, err
		}
		if data, err = gzipped(data); err != nil {
			return nil, err
		}
		member(part.name, data)
	}
	return deb.Bytes(), nil
}
