package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// program is the program of a user of the library. It writes a filter with the key "alice" to a file.
//
//go:embed testdata/program.go
var program []byte

// user returns the commands of somebody who has only Go: an empty module cache, and a proxy that has the
// release. Other modules come from the module cache of this machine or from the ordinary proxy.
func (r *release) user(dir string, env ...string) (command, error) {
	known, err := command{dir: r.scratch}.line("go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return command{}, err
	}
	cache, ordinary, _ := strings.Cut(known, "\n")
	proxies := []string{"file://" + filepath.Join(r.scratch, "proxy/cache/download"), "file://" + cache + "/cache/download", ordinary}
	return command{filepath.Join(r.scratch, dir), append([]string{
		"GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0", "GONOSUMDB=" + root, "GOPROXY=" + strings.Join(proxies, ","),
		"GOPATH=" + filepath.Join(r.scratch, "gopath"), "GOMODCACHE=" + filepath.Join(r.scratch, "modules"), "GOBIN=",
	}, env...)}, nil
}

// rehearse installs the programs, makes a program that uses the library, and resolves the imports of all
// published modules with the checksums in their go.sum.
func (r *release) rehearse() error {
	if err := os.Mkdir(filepath.Join(r.scratch, "user"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.scratch, "user", "main.go"), program, 0o666); err != nil {
		return err
	}
	user, err := r.user("user")
	if err != nil {
		return err
	}
	programs, err := r.install(user, host)
	if err != nil {
		return err
	}
	umbel := programs[0]
	filter := filepath.Join(user.dir, "filter.umbel")
	type step struct {
		want string // part of the output
		args []string
	}
	var steps []step
	for i, program := range programs {
		steps = append(steps, step{commands[i] + " " + r.version + ",", []string{program, "--version"}})
	}
	for _, step := range append(steps, []step{
		{"", []string{"go", "mod", "init", "example.org/user"}},
		{"", []string{"go", "get", root + "@" + r.version}},
		{"", []string{"go", "mod", "tidy"}},
		{"true", []string{"go", "run", ".", filter}},
		{"bloom", []string{umbel, "info", filter}},
		{"alice", []string{umbel, "has", filter, "alice"}},
	}...) {
		out, err := user.line(step.args[0], step.args[1:]...)
		if err != nil {
			return err
		}
		if !strings.Contains(out, step.want) {
			return fmt.Errorf("%s prints %q, want %q in it", strings.Join(step.args, " "), out, step.want)
		}
	}
	for _, dir := range published {
		tagged, err := r.user(filepath.Join("source", dir))
		if err != nil {
			return err
		}
		if _, err := tagged.line("go", "list", "-mod=readonly", "-deps", "./..."); err != nil {
			return err
		}
	}
	return nil
}

// host is the platform of this machine.
const host = runtime.GOOS + "/" + runtime.GOARCH

// install installs the programs for a platform such as "linux/arm64" and returns their paths.
func (r *release) install(user command, platform string) ([]string, error) {
	system, arch, _ := strings.Cut(platform, "/")
	user.env = append(user.env, "GOOS="+system, "GOARCH="+arch)
	args := []string{"install", "-ldflags=-s -w"}
	for _, name := range commands {
		args = append(args, pathOf("cmd")+"/"+name+"@"+r.version)
	}
	if _, err := user.line("go", args...); err != nil {
		return nil, err
	}
	path := filepath.Join(r.scratch, "gopath", "bin")
	if platform != host {
		path = filepath.Join(path, system+"_"+arch)
	}
	var paths []string
	for _, name := range commands {
		if system == "windows" {
			name += ".exe"
		}
		paths = append(paths, filepath.Join(path, name))
	}
	return paths, nil
}
