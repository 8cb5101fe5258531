package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// platforms are those of the archives; packages and images are those of Linux.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// write builds the files of the release and replaces the directory out by them.
func (r *release) write(out string) error {
	staged := filepath.Join(r.scratch, "out")
	if _, err := (command{dir: r.scratch}).line("git", "clone", "-q", "--bare", r.source, filepath.Join(staged, "umbel.git")); err != nil {
		return err
	}
	docs, err := r.documents()
	if err != nil {
		return err
	}
	var programs []built
	for _, platform := range platforms {
		note("%s", platform)
		p, err := r.build(platform)
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	files, err := r.archives(programs, docs)
	if err != nil {
		return err
	}
	packages, err := r.packages(programs, docs)
	if err != nil {
		return err
	}
	image, err := r.image(programs)
	if err != nil {
		return err
	}
	files = append(append(files, packages...), image)
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	for _, f := range append(files, file{name: "SHA256SUMS", data: []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(staged, f.name), f.data, 0o666); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	return os.CopyFS(out, os.DirFS(staged))
}

// commands are the programs of module cmd. The first one is that of the image, if no other is named.
var commands = []string{"umbel", "umbel-cache", "umbel-nix", "umbel-multicast"}

// built is the programs for a platform.
type built struct {
	platform string // "linux/amd64"
	programs []file // in the order of commands
	notices  []byte // the licenses of the modules in them
	bills    []file // bills of materials, CycloneDX
}

// in returns the programs as files in the directory dir.
func (b built) in(dir string) []file {
	var files []file
	for _, p := range b.programs {
		files = append(files, file{dir + p.name, p.mode, p.data})
	}
	return files
}

// build builds the programs as go install -trimpath does for their users, without cgo.
func (r *release) build(platform string) (built, error) {
	user, err := r.user("user")
	if err != nil {
		return built{}, err
	}
	paths, err := r.install(user, platform)
	if err != nil {
		return built{}, err
	}
	b := built{platform: platform}
	if b.notices, err = r.notices(paths); err != nil {
		return built{}, err
	}
	generator, err := command{filepath.Join(r.source, "tools"), []string{"GOWORK=off"}}.line("go", "tool", "-n", "cyclonedx-gomod")
	if err != nil {
		return built{}, err
	}
	if err != nil {
		return built{}, err
	}
	for i, path := range paths {
		program, err := os.ReadFile(path)
		if err != nil {
			return built{}, err
		}
		b.programs = append(b.programs, file{filepath.Base(path), 0o755, program})
		bill, err := user.line(generator, "bin", "-json", "-std", "-licenses", "-noserial", "-notimestamp", "-version", r.version, path)
		if err != nil {
			return built{}, err
		}
		b.bills = append(b.bills, file{r.name(commands[i], platform) + ".cdx.json", 0o644, []byte(bill + "\n")})
	}
	return b, nil
}

// name returns the name of a file of the release for a platform: umbel_0.1.0_linux_amd64.
func (r *release) name(of, platform string) string {
	return of + "_" + strings.TrimPrefix(r.version, "v") + "_" + strings.ReplaceAll(platform, "/", "_")
}

// archives returns an archive with the programs for each platform, and their bills of materials.
func (r *release) archives(programs []built, docs documents) ([]file, error) {
	var files []file
	for _, p := range programs {
		name := r.name("umbel", p.platform)
		contents := append(docs.named(name+"/", "README.md", "CHANGELOG.md", "LICENSE"), file{name + "/LICENSES-OTHERS.txt", 0o644, p.notices})
		contents = append(contents, docs.manual(name+"/man/man1/")...)
		contents = append(contents, docs.completions(name+"/completions/%s.bash", name+"/completions/_%s",
			name+"/completions/%s.fish", name+"/completions/%s.ps1")...)
		archive, suffix := tarGzip, ".tar.gz"
		if strings.HasPrefix(p.platform, "windows/") {
			archive, suffix = zipped, ".zip"
		} else if strings.HasPrefix(p.platform, "linux/") {
			contents = append(contents, docs.named(name+"/", "umbel.service", "umbel.yaml")...)
		}
		data, err := archive(append(contents, p.in(name+"/")...), r.time)
		if err != nil {
			return nil, err
		}
		files = append(append(files, file{name + suffix, 0o644, data}), p.bills...)
	}
	return files, nil
}
