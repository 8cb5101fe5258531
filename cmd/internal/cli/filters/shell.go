package filters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/prompt"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
)

const shellHelp = `Work on the filter in FILE interactively: add, query and remove keys, and see their cells.
"help" lists the commands. If FILE doesn't exist, the flags of umbel make describe the new
filter.

"save" and "quit" write FILE, and so does the end of the input; at a terminal "quit" requires a
confirmation. "discard" leaves FILE unchanged. Commands in a file or pipe are read without
prompts; the first error ends the shell without saving, with exit code 2.`

const shellExample = `  umbel shell words.umb
  umbel shell visits.umb --kind counting -n 1000
  printf 'add alice bob\nhas carol\nshow\n' | umbel shell tiny.umb --m 20 --k 3`

// ShellCommand is umbel shell.
func ShellCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "shell FILE",
		Short:   "work on a filter interactively",
		Long:    shellHelp,
		Example: shellExample,
		Args:    cli.Arguments(1, 1),
	}
	s := &session{wanted: addSpecFlags(cmd)}
	return cli.Verb(cmd, s.run)
}

// session is one run of umbel shell.
type session struct {
	*cli.Streams
	wanted  *spec.Flags // of a new filter
	file    string
	filter  umbel.Filter
	form    container.Form // of the file
	lines   *prompt.Reader
	out     *bufio.Writer
	changed bool // since the file was read or written
	ended   bool
}

// begin opens the file, or makes the filter that the flags describe.
func (s *session) begin() error {
	wanted, clock := s.wanted, clock(s.Now)
	_, err := os.Stat(s.file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case !missing && wanted.Given():
		return cli.UsageError(fmt.Errorf("%s exists; leave out the flags of a new filter, or give another file", s.file))
	case !missing:
		s.filter, s.form, err = clock.openToChange(s.file)
		return err
	case !wanted.Given():
		return cli.UsageError(fmt.Errorf("%s doesn't exist; to make it, give its kind and keys: umbel shell %s --kind %s -n 1000",
			s.file, s.file, filter.All[0].Name))
	}
	v, goal, params, err := resolve(wanted)
	if err != nil {
		return err
	}
	forecast, err := v.Plan(goal, params)
	if err != nil {
		return err
	}
	if err := container.Fits("a filter of kind "+v.Name, forecast.Bytes); err != nil {
		return err
	}
	s.filter, err = clock.clocked(v, wanted.Spec().Tick).New(goal, params)
	s.changed = true
	return err
}

// run executes the commands. At a terminal it prints errors and continues.
func (s *session) run(_ context.Context, streams *cli.Streams, args []string) error {
	if streams.JSON {
		return cli.UsageError(errors.New("--json isn't available in umbel shell"))
	}
	s.Streams, s.file, s.out = streams, args[0], bufio.NewWriter(streams.Out)
	s.lines = prompt.New(streams.In, streams.Screen, s.words())
	if err := s.begin(); err != nil {
		return err
	}
	if s.lines.Interactive() {
		fmt.Fprintf(s.out, "%s: %s; try help\n", s.file, s.what())
	}
	for number := 1; !s.ended; number++ {
		if err := s.out.Flush(); err != nil {
			return err
		}
		line, err := s.lines.Line("> ")
		switch {
		case err == io.EOF:
			err = s.quit(nil)
		case err == nil:
			err = s.do(line)
		}
		if err == nil {
			continue
		}
		if !s.lines.Interactive() {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := s.out.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, report.Text(err))
	}
	return s.out.Flush()
}

// what describes the filter.
func (s *session) what() string {
	stats, kind := s.filter.Stats(), s.filter.State().Kind
	return fmt.Sprintf("%s filter of %v cells, k %.4g, %s", kind, quantity.Count(stats.Cells), stats.K, keysBrief(api.NewEstimate(stats), kind))
}

// do executes a line.
func (s *session) do(line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	clock(s.Now).follow(s.filter)
	for _, c := range sessionCommands() {
		for _, name := range c.names {
			if name == words[0] {
				return c.run(s, words[1:])
			}
		}
	}
	return fmt.Errorf("unknown command %q; help lists the commands", words[0])
}

// words returns the names of all commands.
func (s *session) words() []string {
	var list []string
	for _, c := range sessionCommands() {
		list = append(list, c.names...)
	}
	return list
}

// split splits a line into words at spaces. A word in single or double quotes may contain
// spaces and the other quotes.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		quote := line[0]
		if quote != '"' && quote != '\'' {
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
			continue
		}
		end := strings.IndexByte(line[1:], quote)
		if end < 0 {
			return nil, fmt.Errorf("%s: missing closing quote", line)
		}
		words, line = append(words, line[1:1+end]), line[end+2:]
	}
	return words, nil
}
