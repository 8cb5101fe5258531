package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"golang.org/x/mod/module"
)

// documents are the files of archives and packages that are the same for all platforms.
type documents struct {
	files map[string][]byte // by base name
	pages []file            // manual
	words []file            // completions for bash, zsh, fish and PowerShell
}

// documents reads files of the clone and calls the program of this machine for manual and completions.
func (r *release) documents() (documents, error) {
	d := documents{files: map[string][]byte{}}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "cmd/packaging/umbel.service", "cmd/packaging/umbel.yaml",
		"cmd/packaging/users.yaml", "cmd/packaging/debian/postinst", "cmd/packaging/debian/prerm", "cmd/packaging/debian/postrm"} {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return d, err
		}
		d.files[path.Base(name)] = data
	}
	user, err := r.user("user")
	if err != nil {
		return d, err
	}
	umbel, err := r.install(user, host)
	if err != nil {
		return d, err
	}
	manual := filepath.Join(r.scratch, "man")
	if _, err := user.line(umbel, "man", manual); err != nil {
		return d, err
	}
	pages, err := filepath.Glob(filepath.Join(manual, "*.1"))
	if err != nil {
		return d, err
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return d, err
		}
		d.pages = append(d.pages, file{filepath.Base(page), 0o644, data})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := user.line(umbel, "completion", shell)
		if err != nil {
			return d, err
		}
		d.words = append(d.words, file{shell, 0o644, []byte(script + "\n")})
	}
	return d, nil
}

// named returns files by their base names, in the directory dir.
func (d documents) named(dir string, names ...string) []file {
	var files []file
	for _, name := range names {
		files = append(files, file{dir + name, 0o644, d.files[name]})
	}
	return files
}

// manual returns the pages of the manual, in the directory dir.
func (d documents) manual(dir string) []file {
	var files []file
	for _, p := range d.pages {
		files = append(files, file{dir + p.name, p.mode, p.data})
	}
	return files
}

// completions returns the completions for bash, zsh, fish and PowerShell under these names.
func (d documents) completions(names ...string) []file {
	var files []file
	for i, name := range names {
		files = append(files, file{name, 0o644, d.words[i].data})
	}
	return files
}

// licenseName matches the files with the license of a module.
var licenseName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([-._].*)?$`)

// notices returns the licenses of Go and of the modules that a program contains, which their owners require
// next to it. A module without a license is an error.
func (r *release) notices(program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	goroot, err := command{dir: r.scratch}.line("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	type source struct{ name, dir string }
	sources := []source{{"Go " + info.GoVersion, goroot}}
	for _, m := range info.Deps {
		escaped, err := module.EscapePath(m.Path)
		if err != nil {
			return nil, err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{m.Path + " " + m.Version, filepath.Join(r.scratch, "modules", escaped+"@"+version)})
	}
	var b bytes.Buffer
	for _, s := range sources {
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licenseName.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "==== %s: %s\n\n%s\n\n", s.name, e.Name(), bytes.TrimSpace(text))
			found = true
		}
		if !found {
			return nil, fmt.Errorf("%s has no license in %s; the program cannot be distributed with it", s.name, s.dir)
		}
	}
	return b.Bytes(), nil
}
