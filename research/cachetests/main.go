// Command cachetests runs the HTTP caching tests of http-tests/cache-tests against a cache. It starts the
// origin behind the cache, sends each test's requests through the cache and checks what both ends receive.
// README.md describes how to run it and how to read its counts.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/umbel-filters/umbel/research/cachetests/internal/client"
	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

const usage = `usage: cachetests --base URL --origin HOST:PORT [flags] tests.json

Runs the tests of a file through the cache at URL. The cache forwards to HOST:PORT, where cachetests
listens. A run of the published tests takes about one minute.

  --base URL         the cache, such as http://127.0.0.1:8080
  --origin ADDR      where cachetests listens, such as 127.0.0.1:8000
  --id TEST          run only this test, and print what client and origin received
  --parallel N       tests that run at the same time (25)
  --json             print one JSON document instead of tables
  --save FILE        write the verdicts into a new file, in the form that --compare reads
  --compare FILE     list the tests whose verdicts differ from those in the file; the exit code is 1 if
                     there is one
`

func main() {
	log.SetOutput(io.Discard) // net/http reports excess bytes of some prescribed responses
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	code := 0
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case errors.Is(err, context.Canceled):
		code = 130
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "cachetests: %v\n\n%s", err, usage)
		code = 2
	default:
		fmt.Fprintln(os.Stderr, "cachetests:", err)
		code = 1
	}
	stop()
	os.Exit(code)
}

// errUsage marks errors in the arguments.
var errUsage = errors.New("wrong arguments")

// report is what a run found. It is the document of --json.
type report struct {
	Counts      []verdict.Count      `json:"counts"`
	Verdicts    verdict.Verdicts     `json:"verdicts"`
	Differences []verdict.Difference `json:"differences,omitempty"`
}

// run executes the command. Results go to stdout, the trace of --id to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("cachetests", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var (
		base     = flags.String("base", "", "")
		address  = flags.String("origin", "", "")
		id       = flags.String("id", "", "")
		parallel = flags.Int("parallel", client.Parallel, "")
		asJSON   = flags.Bool("json", false, "")
		save     = flags.String("save", "", "")
		compare  = flags.String("compare", "", "")
	)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case flags.NArg() != 1:
		return fmt.Errorf("%w: %d files of tests, want one", errUsage, flags.NArg())
	case *base == "" || *address == "":
		return fmt.Errorf("%w: --base and --origin are needed", errUsage)
	case *parallel < 1 || *parallel > 1000:
		return fmt.Errorf("%w: --parallel %d, want a number in [1, 1000]", errUsage, *parallel)
	}
	tests, err := load(flags.Arg(0), *id)
	if err != nil {
		return err
	}
	recorded, err := readVerdicts(*compare)
	if err != nil {
		return err
	}
	server, err := origin.Listen(*address)
	if err != nil {
		return fmt.Errorf("start the origin: %w", err)
	}
	defer server.Close()
	c := &client.Client{Base: *base, Origin: server, Parallel: *parallel}
	if *id != "" {
		c.Trace = tracer(stderr)
	}
	verdicts, err := c.Run(ctx, tests)
	if err != nil {
		return err
	}
	r := report{Counts: verdict.Counts(tests, verdicts), Verdicts: verdicts}
	if recorded != nil {
		r.Differences = verdict.Compare(recorded, verdicts)
	}
	if *save != "" {
		if err := saveVerdicts(*save, verdicts); err != nil {
			return err
		}
	}
	if *asJSON {
		err = writeJSON(stdout, r)
	} else {
		err = writeText(stdout, tests, r)
	}
	if err != nil {
		return err
	}
	if n := len(r.Differences); n > 0 {
		return fmt.Errorf("%d verdicts differ from %s", n, *compare)
	}
	return nil
}

// load reads the tests. If id is set, it keeps only the test with that id, without its dependencies, so that it
// counts.
func load(file, id string) ([]*suite.Test, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tests, err := suite.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if id == "" {
		return tests, nil
	}
	i := slices.IndexFunc(tests, func(t *suite.Test) bool { return t.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s has no test %q, or it is for browsers only", file, id)
	}
	one := *tests[i]
	one.DependsOn = nil
	return []*suite.Test{&one}, nil
}

// readVerdicts returns nil if no file is named.
func readVerdicts(file string) (verdict.Verdicts, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := verdict.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

// saveVerdicts writes a file that must not exist.
func saveVerdicts(file string, v verdict.Verdicts) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = writeJSON(f, v)
	return errors.Join(err, f.Close())
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}
