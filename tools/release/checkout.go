package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// command runs programs in dir with additional variables of the environment.
type command struct {
	dir string
	env []string
}

// line returns the standard output of a program without white space at its ends. An error contains all its
// output.
func (c command) line(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s in %s: %w\n%s%s", name, strings.Join(args, " "), c.dir, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// check returns an error if version cannot be released from the checkout at top. A rehearsal needs neither a
// clean checkout nor a heading in CHANGELOG.md.
func check(top, version string, rehearsal bool) error {
	git := command{dir: top}
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("version %q has not the form v0.1.0 or v0.1.0-rc.1; give such a VERSION", version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		return fmt.Errorf("version %s needs modules whose paths end in /%s; give a VERSION below v2", version, major)
	}
	for _, dir := range published {
		if tag := tagOf(dir, version); exec.Command("git", "-C", top, "rev-parse", "-q", "--verify", "refs/tags/"+tag).Run() == nil {
			return fmt.Errorf("tag %s exists, and a published version never changes; give the next version", tag)
		}
	}
	if rehearsal {
		return nil
	}
	changed, err := git.line("git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the checkout has changes that are not committed; commit or stash them:\n%s", changed)
	}
	changes, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	heading := "## " + strings.TrimSuffix(version, semver.Prerelease(version))
	for line := range strings.Lines(string(changes)) {
		if words := strings.Fields(line); len(words) > 1 && strings.Join(words[:2], " ") == heading {
			return nil
		}
	}
	return fmt.Errorf("CHANGELOG.md has no heading %q; add it above the changes of this version", heading)
}

// release is a version that is being prepared.
type release struct {
	version    string
	scratch    string    // a directory for everything below
	source     string    // the clone
	base       string    // the commit that is released
	time       time.Time // of the commit
	author     []string  // of the commit, as variables for git
	maintainer string    // the author, with an address
}

// clone clones the last commit of the checkout at top into the directory scratch.
func clone(top, scratch, version string) (*release, error) {
	r := &release{version: version, scratch: scratch, source: filepath.Join(scratch, "source")}
	if _, err := (command{dir: scratch}).line("git", "clone", "-q", "--no-tags", top, r.source); err != nil {
		return nil, err
	}
	last, err := command{dir: r.source}.line("git", "log", "-1", "--format=%H%n%ct%n%an%n%ae")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(last, "\n")
	seconds, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return nil, err
	}
	r.base, r.time = fields[0], time.Unix(seconds, 0).UTC()
	r.maintainer = fmt.Sprintf("%s <%s>", fields[2], fields[3])
	at := fields[1] + " +0000"
	r.author = []string{
		"GIT_AUTHOR_NAME=" + fields[2], "GIT_AUTHOR_EMAIL=" + fields[3], "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + fields[2], "GIT_COMMITTER_EMAIL=" + fields[3], "GIT_COMMITTER_DATE=" + at,
	}
	return r, nil
}

// commit commits all changes in the clone. Author and time are those of the released commit, so that another
// run makes the same commit.
func (r *release) commit(message string) error {
	git := command{r.source, r.author}
	if _, err := git.line("git", "add", "-A"); err != nil {
		return err
	}
	_, err := git.line("git", "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "--no-verify", "-m", message)
	return err
}

// tagHead sets the tag of the module in dir to the last commit of the clone.
func (r *release) tagHead(dir string) error {
	_, err := command{dir: r.source}.line("git", "-c", "tag.gpgSign=false", "tag", "-f", tagOf(dir, r.version))
	return err
}

// tagOf returns the tag of a version of the module in dir.
func tagOf(dir, version string) string {
	if dir == "." {
		return version
	}
	return dir + "/" + version
}
