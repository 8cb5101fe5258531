package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// documents are the files of archives and packages that are the same for all platforms.
type documents struct {
	files map[string][]byte // by base name
	pages []file            // manual
	words []file            // for each program, completions for bash, zsh, fish and PowerShell
}

// documents reads files of the clone and calls the programs of this machine for manual and completions.
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
	programs, err := r.install(user, host)
	if err != nil {
		return d, err
	}
	manual := filepath.Join(r.scratch, "man")
	for i, program := range programs {
		if _, err := user.line(program, "man", manual); err != nil {
			return d, err
		}
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			script, err := user.line(program, "completion", shell)
			if err != nil {
				return d, err
			}
			d.words = append(d.words, file{commands[i], 0o644, []byte(script + "\n")})
		}
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

// completions returns the completions of each program for bash, zsh, fish and PowerShell under names in which %s is the program.
func (d documents) completions(names ...string) []file {
	var files []file
	for i, f := range d.words {
		if shell := i % 4; shell < len(names) {
			files = append(files, file{strings.ReplaceAll(names[shell], "%s", f.name), f.mode, f.data})
		}
	}
	return files
}

// licenseName matches the files with the license of a module.
var licenseName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([-._].*)?$`)

// notices returns the licenses of Go and of the modules that programs contain, which their owners require
// next to them. A module without a license is an error.
func (r *release) notices(programs []string) ([]byte, error) {
	modules, compiler := map[string]string{}, "" // version by path: a module has one in all programs
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		compiler = info.GoVersion
		for _, m := range info.Deps {
			modules[m.Path] = m.Version
		}
	}
	goroot, err := command{dir: r.scratch}.line("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	type source struct{ name, dir string }
	sources := []source{{"Go " + compiler, goroot}}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		escaped, err := module.EscapePath(name)
		if err != nil {
			return nil, err
		}
		version, err := module.EscapeVersion(modules[name])
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{name + " " + modules[name], filepath.Join(r.scratch, "modules", escaped+"@"+version)})
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
			return nil, fmt.Errorf("%s has no license in %s; the programs cannot be distributed with it", s.name, s.dir)
		}
	}
	return b.Bytes(), nil
}
