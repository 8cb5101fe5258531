package filters

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// sessionCommand is a command of umbel shell.
type sessionCommand struct {
	names []string // the first is listed by help, the others are aliases
	args  string
	doc   string
	run   func(*session, []string) error
}

func sessionCommands() []sessionCommand {
	return []sessionCommand{
		{[]string{"add", "insert"}, "KEY...", "add keys, and show their cells", (*session).add},
		{[]string{"has", "contains"}, "KEY...", "query keys, and show their cells", (*session).has},
		{[]string{"remove", "delete"}, "KEY...", "remove keys from a counting filter", (*session).remove},
		{[]string{"count"}, "KEY...", "count how often keys were added, in a counting filter", (*session).count},
		{[]string{"empty?", "empty"}, "", "report whether the filter is empty", (*session).empty},
		{[]string{"clear"}, "", "remove all keys", (*session).clear},
		{[]string{"advance"}, "TIME", "set the time, so that old keys expire", (*session).advance},
		{[]string{"info", "size"}, "", "print the number of keys and cells", (*session).info},
		{[]string{"show"}, "[FROM [CELLS]]", "print cells: index, bit and count", (*session).show},
		{[]string{"explain"}, "KEY...", "print each cell of a key", (*session).explain},
		{[]string{"save"}, "", "write the file", (*session).save},
		{[]string{"help", "?"}, "", "list the commands", (*session).help},
		{[]string{"discard"}, "", "leave without saving", (*session).discard},
		{[]string{"quit", "exit"}, "", "save changes, and leave", (*session).quit},
	}
}

// each calls f with each key and its digest.
func (s *session) each(list []string, f func(key string, d umbel.Digest) error) error {
	if len(list) == 0 {
		return errors.New("give one key or more; quote keys with spaces")
	}
	for _, key := range list {
		d, err := keys.Digest(s.filter.State().Hasher, []byte(key))
		if err != nil {
			return err
		}
		if err := f(key, d); err != nil {
			return err
		}
	}
	return nil
}

// say prints the result for a key, its count in a counting filter, and its cells.
func (s *session) say(key string, d umbel.Digest, what string) {
	fmt.Fprintf(s.out, "%s: %s", key, what)
	if c, ok := s.filter.(umbel.Counter); ok {
		if n, known := countKey(c, []byte(key), d); known {
			fmt.Fprintf(s.out, "; count %v", quantity.Count(n))
		} else {
			fmt.Fprintf(s.out, "; count %v or more", quantity.Count(counterLimit(s.filter)))
		}
	}
	if l, ok := s.filter.(umbel.Locator); ok {
		array := s.filter.State().Arrays[0]
		var list []string
		for _, i := range locateKey(l, []byte(key), d) {
			list = append(list, fmt.Sprintf("%d (%d)", i, array.Get(i)))
		}
		fmt.Fprintf(s.out, "; cells %s", strings.Join(list, ", "))
	}
	fmt.Fprintln(s.out)
}

func (s *session) add(list []string) error {
	return s.each(list, func(key string, d umbel.Digest) (err error) {
		var fresh bool
		if g, ok := s.filter.(umbel.Grower); ok {
			if fresh, err = g.TryAdd(d); err != nil {
				return err
			}
		} else {
			fresh = addKey(s.filter, []byte(key), d)
		}
		what := "added"
		if _, counts := s.filter.(umbel.Counter); !fresh && counts {
			what = "unchanged: its counters are at their maximum"
		} else if !fresh {
			what = "unchanged: it may already be present"
		}
		s.changed = s.changed || fresh
		s.say(key, d, what)
		return nil
	})
}

func (s *session) has(list []string) error {
	return s.each(list, func(key string, d umbel.Digest) error {
		what := "absent"
		if hasKey(s.filter, []byte(key), d) {
			what = "may be present"
		}
		s.say(key, d, what)
		return nil
	})
}

func (s *session) remove(list []string) error {
	r, err := require[umbel.Remover](s.file, s.filter, opRemove)
	if err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		what := "absent, nothing is removed"
		if removeKey(r, []byte(key), d) {
			what = "removed"
			s.changed = true
		}
		s.say(key, d, what)
		return nil
	})
}

func (s *session) count(list []string) error {
	c, err := require[umbel.Counter](s.file, s.filter, opCount)
	if err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		n, _ := countKey(c, []byte(key), d)
		return printCount(s.out, []byte(key), n, counterLimit(s.filter), false)
	})
}

func (s *session) empty([]string) error {
	what := "empty"
	if s.filter.Stats().Fill > 0 {
		what = "not empty"
	}
	_, err := fmt.Fprintln(s.out, what)
	return err
}

func (s *session) clear([]string) error {
	c, err := require[umbel.Clearer](s.file, s.filter, opClear)
	if err != nil {
		return err
	}
	c.Clear()
	s.changed = true
	_, err = fmt.Fprintln(s.out, "cleared")
	return err
}

func (s *session) advance(list []string) error {
	if len(list) != 1 {
		return errors.New("give the time, a whole number")
	}
	to, err := quantity.ParseCount(list[0])
	if err != nil {
		return err
	}
	if err := advance(s.file, s.filter, to); err != nil {
		return err
	}
	s.changed = true
	_, err = fmt.Fprintf(s.out, "the time is %v\n", to)
	return err
}

func (s *session) info([]string) error {
	stats := s.filter.Stats()
	_, err := fmt.Fprintf(s.out, "keys %s; %v cells, %v of memory; false-positive rate %s\n",
		keysWords(api.NewEstimate(stats), s.filter.State().Kind), quantity.Count(stats.Cells), quantity.Size(stats.Bytes), cli.RateOf(stats.FPRate))
	return err
}

func (s *session) show(list []string) error {
	what := show{array: -1}
	for i, n := range []*quantity.Count{&what.from, &what.cells} {
		if i < len(list) {
			if err := n.Set(list[i]); err != nil {
				return err
			}
		}
	}
	return what.Write(s.out, s.filter.State(), s.file, false)
}

func (s *session) explain(list []string) error {
	if _, err := require[umbel.Locator](s.file, s.filter, opLocate); err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		return explainKey(s.out, s.filter, []byte(key), d, s.filter.Has(d), false)
	})
}

func (s *session) save([]string) error {
	if err := container.WriteForm(s.file, s.filter.State(), s.form); err != nil {
		return err
	}
	s.changed = false
	_, err := fmt.Fprintf(s.out, "%s saved\n", s.file)
	return err
}

func (s *session) help([]string) error {
	t := table.New("", "")
	for _, c := range sessionCommands() {
		t.Row(strings.TrimSpace(c.names[0]+" "+c.args), c.doc)
	}
	_, err := t.WriteTo(s.out)
	return err
}

func (s *session) discard([]string) error {
	s.ended = true
	return nil
}

// quit saves changes. At a terminal it requires a confirmation: each beginning of "yes" and of "no" is an answer, an empty line means
// yes, and the end of the input no.
func (s *session) quit([]string) error {
	for s.changed && s.lines.Interactive() {
		answer, err := s.lines.Line(fmt.Sprintf("save %s? [Y/n] ", s.file))
		if err != nil && err != io.EOF {
			return err
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		if err == io.EOF || strings.HasPrefix("no", answer) && answer != "" {
			return s.discard(nil)
		}
		if strings.HasPrefix("yes", answer) {
			break
		}
	}
	if s.changed {
		if err := s.save(nil); err != nil {
			return err
		}
	}
	s.ended = true
	return nil
}
