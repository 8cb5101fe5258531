package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// root is the path of the root module.
const root = "github.com/umbel-filters/umbel"

// published contains the directories of the published modules. Each requires only modules before it.
var published = []string{".", "share/blob", "share/nats", "cmd", "cmd/cloud", "connect", "connect/bento"}

// pathOf returns the path of the module in dir.
func pathOf(dir string) string { return path.Join(root, dir) }

// tag makes a commit in which the published modules require each other in the version of the release, and tags
// it for all of them. In a checkout they replace each other by directories, which go install refuses.
//
// go.sum needs the checksums of the required modules, as the go command computes them from tags. So each module
// is first committed and tagged by itself, and at the end all in one commit, with the same contents.
func (r *release) tag() error {
	var sums []string
	first := r.modules("first")
	for _, dir := range published {
		if err := r.require(dir, true, sums); err != nil {
			return err
		}
		if err := r.commit("requirements of " + pathOf(dir)); err != nil {
			return err
		}
		if err := r.tagHead(dir); err != nil {
			return err
		}
		lines, err := first.add(dir)
		if err != nil {
			return err
		}
		sums = append(sums, lines...)
	}
	if err := r.requireElsewhere(); err != nil {
		return err
	}
	if _, err := (command{dir: r.source}).line("git", "reset", "-q", "--soft", r.base); err != nil {
		return err
	}
	message := fmt.Sprintf("Release %s\n\nThe published modules require each other in version %[1]s instead of replacing\neach other by directories.", r.version)
	if err := r.commit(message); err != nil {
		return err
	}
	for _, dir := range published {
		if err := r.tagHead(dir); err != nil {
			return err
		}
	}
	final, again := r.modules("proxy"), []string(nil)
	for _, dir := range published {
		lines, err := final.add(dir)
		if err != nil {
			return err
		}
		again = append(again, lines...)
	}
	if !slices.Equal(sums, again) {
		return fmt.Errorf("the modules of one commit have other checksums than those of single commits: %q, %q", sums, again)
	}
	return nil
}

// require sets the versions of this repository's modules in the go.mod of dir. If publish is true, it drops
// their replacements and adds sums to go.sum.
func (r *release) require(dir string, publish bool, sums []string) error {
	name := filepath.Join(r.source, dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	var required []string
	for _, m := range slices.Clone(f.Require) {
		if m.Mod.Path == root || strings.HasPrefix(m.Mod.Path, root+"/") {
			required = append(required, m.Mod.Path)
			if err := f.AddRequire(m.Mod.Path, r.version); err != nil {
				return err
			}
			if publish {
				if err := f.DropReplace(m.Mod.Path, ""); err != nil {
					return err
				}
			}
		}
	}
	if len(required) == 0 {
		return nil
	}
	f.Cleanup()
	if publish && len(f.Replace) > 0 {
		return fmt.Errorf("%s replaces %s, which go install refuses; require a version of it", name, f.Replace[0].Old.Path)
	}
	if data, err = f.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(name, data, 0o666); err != nil || !publish {
		return err
	}
	return addSums(filepath.Join(r.source, dir, "go.sum"), required, sums)
}

// addSums adds the lines of sums that are for the required modules to a go.sum.
func addSums(name string, required, sums []string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, sum := range sums {
		if module, _, _ := strings.Cut(sum, " "); slices.Contains(required, module) {
			lines = append(lines, sum)
		}
	}
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// requireElsewhere sets the versions in the modules that are not published.
func (r *release) requireElsewhere() error {
	files, err := command{dir: r.source}.line("git", "ls-files", "*go.mod")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(files) {
		if dir := path.Dir(name); !slices.Contains(published, dir) {
			if err := r.require(dir, false, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleCache is a module cache that the go command fills from the tags of the clone, as a module proxy fills
// its own from the public repository. Its directory cache/download is a module proxy of files.
type moduleCache struct {
	command
	version string
}

// modules returns the module cache of a name.
func (r *release) modules(name string) moduleCache {
	return moduleCache{command{r.scratch, []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + filepath.Join(r.scratch, name), "GOPROXY=direct", "GONOSUMDB=" + root,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + r.source + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + root,
	}}, r.version}
}

// add adds the module in dir and returns its lines of a go.sum.
func (c moduleCache) add(dir string) ([]string, error) {
	out, err := c.line("go", "mod", "download", "-json", pathOf(dir)+"@"+c.version)
	if err != nil {
		return nil, err
	}
	var m struct{ Path, Version, Sum, GoModSum string }
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", m.Path, m.Version, m.Sum),
		fmt.Sprintf("%s %s/go.mod %s", m.Path, m.Version, m.GoModSum),
	}, nil
}
