package filter_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sampleNames declares what the samples use and do not declare.
const sampleNames = `
func sample%d(
	digests []umbel.Digest, digest umbel.Digest, results []bool, limits wire.Limits,
	conn io.ReadWriter, file io.ReadWriter, ctx context.Context, now uint64,
	client interface{ BFLoadChunk(context.Context, string, int64, []byte) },
) {
%s
}
`

// continued declares what the later samples of a page have from the first one.
var continued = map[string]string{
	"messages.md": "f, sent, message, update := new(bloom.Filter), umbel.State{}, []byte(nil), []byte(nil)\n",
	"weighted.md": "f, shape := new(weighted.Filter), weighted.Shape{}\n",
}

// Every Go sample of the pages on kinds and messages compiles.
func TestSamplesCompile(t *testing.T) {
	pages, err := filepath.Glob("../docs/kinds/*.md")
	if err != nil {
		t.Fatal(err)
	}
	check := newSampleChecker(t)
	samples := 0
	for _, page := range append(pages, "../docs/messages.md", "../README.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range goSamples(string(b)) {
			if strings.HasPrefix(text, "package ") {
				continue // TestReadmeProgram runs it
			}
			samples++
			text = continued[filepath.Base(page)] + "{\n" + text + "\n}"
			if err := check(text); err != nil {
				t.Errorf("%s, sample %d: %v", page, i+1, err)
			}
		}
	}
	if samples < 15 {
		t.Errorf("the pages have %d samples of Go, want at least 15", samples)
	}
	if check("f, err := bloom.New(1_000_000, 0.01, 7)") == nil {
		t.Error("a sample with a wrong call is accepted")
	}
}

// Every name of a package of the library that a document mentions exists.
func TestDocumentsNameWhatExists(t *testing.T) {
	paths, exports := packagesByName(t)
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	qualified := regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z0-9]*)")
	names := 0
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/kinds/*.md", "../docs/decisions/*.md", "../spec/*.md", "../spec/kinds/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			b, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range qualified.FindAllStringSubmatch(string(b), -1) {
				path, ok := paths[m[1]]
				if !ok || !strings.HasPrefix(path, "github.com/umbel-filters/") {
					continue
				}
				names++
				pkg, err := load.Import(path)
				if err != nil {
					t.Fatal(err)
				}
				if pkg.Scope().Lookup(m[2]) == nil {
					t.Errorf("%s: package %s has no %s", page, m[1], m[2])
				}
			}
		}
	}
	if names < 50 {
		t.Errorf("the documents have %d names, want at least 50", names)
	}
}

// goSamples returns the blocks of Go code of a page.
func goSamples(page string) []string {
	var samples []string
	for {
		_, rest, found := strings.Cut(page, "```go\n")
		if !found {
			return samples
		}
		sample, after, _ := strings.Cut(rest, "```")
		samples, page = append(samples, sample), after
	}
}

// newSampleChecker returns a function that type-checks the body of a function. It ignores
// variables that are declared and not used.
func newSampleChecker(t *testing.T) func(body string) error {
	paths, exports := packagesByName(t)
	n := 0
	return func(body string) error {
		n++
		text := fmt.Sprintf(sampleNames, n, body)
		var header strings.Builder
		header.WriteString("package samples\n")
		for name, path := range paths {
			if strings.Contains(text, name+".") {
				fmt.Fprintf(&header, "import %q\n", path)
			}
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "sample.go", header.String()+text, 0)
		if err != nil {
			return err
		}
		var hard []error
		config := types.Config{
			Importer: importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
			Error: func(err error) {
				if e := (types.Error{}); !errors.As(err, &e) || !e.Soft {
					hard = append(hard, err)
				}
			},
		}
		config.Check("samples", files, []*ast.File{file}, nil) // its error is the first of those collected
		return errors.Join(hard...)
	}
}

// packagesByName returns the import paths of the packages that samples may use, by name, and
// the files with the export data of these and all their dependencies.
func packagesByName(t *testing.T) (paths, exports map[string]string) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Export}}",
		"..", "../filter/...", "../wire/...", "../plan", "context", "io", "time")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	paths, exports = make(map[string]string), make(map[string]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		path, name := fields[0], fields[1]
		exports[path] = fields[2]
		switch {
		case strings.Contains(path, "/internal/"):
		case strings.HasPrefix(path, "github.com/umbel-filters/umbel"), path == "context", path == "io", path == "time":
			paths[name] = path
		}
	}
	return paths, exports
}
