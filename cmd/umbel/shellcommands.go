package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

// sessionCommand is what one can say in umbel shell.
type sessionCommand struct {
	names []string // the others mean the same
	args  string
	doc   string
	run   func(*session, []string) error
}

func sessionCommands() []sessionCommand {
	return []sessionCommand{
		{[]string{"insert", "add"}, "KEY...", "insert keys, and show which cells they set", (*session).insert},
		{[]string{"contains", "has"}, "KEY...", "say whether keys may be there, and show their cells", (*session).contains},
		{[]string{"delete", "remove"}, "KEY...", "delete keys, if the filter counts", (*session).delete},
		{[]string{"count"}, "KEY...", "say how often keys were inserted, if the filter counts", (*session).count},
		{[]string{"empty?", "empty"}, "", "say whether the filter is empty", (*session).empty},
		{[]string{"clear"}, "", "forget all keys", (*session).clear},
		{[]string{"advance"}, "TIME", "tell the time, if the filter forgets what is old", (*session).advance},
		{[]string{"size"}, "", "say how many keys there are, and how many cells", (*session).size},
		{[]string{"show"}, "[FROM [CELLS]]", "print the cells: index, bit and count", (*session).show},
		{[]string{"explain"}, "KEY...", "print each cell of a key, and what it says", (*session).explain},
		{[]string{"save"}, "", "write the file", (*session).save},
		{[]string{"help", "?"}, "", "list the commands", (*session).help},
		{[]string{"discard"}, "", "leave, and don't write what has changed", (*session).discard},
		{[]string{"quit", "exit"}, "", "write what has changed, and leave", (*session).quit},
	}
}

// each hashes the keys and calls f for one after the other.
func (s *session) each(list []string, f func(key string, d umbel.Digest) error) error {
	if len(list) == 0 {
		return errors.New("name one key or more; quote one with spaces")
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

// say prints what became of a key, how often it is there if the filter counts, and
// its cells with their values if the filter has such.
func (s *session) say(key string, d umbel.Digest, what string) {
	fmt.Fprintf(s.out, "%s: %s", key, what)
	if c, ok := s.filter.(umbel.Counter); ok {
		fmt.Fprintf(s.out, "; count %s", countWords(c.Count(d)))
	}
	if l, ok := s.filter.(umbel.Locator); ok {
		plane := s.filter.State().Arrays[0]
		var list []string
		for _, i := range l.Locate(nil, d) {
			list = append(list, fmt.Sprintf("%d (%d)", i, plane.Get(i)))
		}
		fmt.Fprintf(s.out, "; cells %s", strings.Join(list, ", "))
	}
	fmt.Fprintln(s.out)
}

func (s *session) insert(list []string) error {
	return s.each(list, func(key string, d umbel.Digest) (err error) {
		var fresh bool
		if g, ok := s.filter.(umbel.Grower); ok {
			if fresh, err = g.TryAdd(d); err != nil {
				return err
			}
		} else {
			fresh = s.filter.Add(d)
		}
		what := "inserted"
		if _, counts := s.filter.(umbel.Counter); !fresh && counts {
			what = "nothing changes, its cells are as high as they can be"
		} else if !fresh {
			what = "nothing changes, it may be there already"
		}
		s.changed = s.changed || fresh
		s.say(key, d, what)
		return nil
	})
}

func (s *session) contains(list []string) error {
	return s.each(list, func(key string, d umbel.Digest) error {
		what := "absent"
		if s.filter.Has(d) {
			what = "may be there"
		}
		s.say(key, d, what)
		return nil
	})
}

func (s *session) delete(list []string) error {
	r, err := able[umbel.Remover](s.file, s.filter, "can't forget single keys")
	if err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		what := "not there, nothing is deleted"
		if r.Remove(d) {
			what = "deleted"
			s.changed = true
		}
		s.say(key, d, what)
		return nil
	})
}

func (s *session) count(list []string) error {
	c, err := able[umbel.Counter](s.file, s.filter, "doesn't count")
	if err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		return printCount(s.out, []byte(key), c.Count(d), false)
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
	c, err := able[umbel.Clearer](s.file, s.filter, "doesn't clear")
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
		return errors.New("name the time, a whole number")
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

func (s *session) size([]string) error {
	stats := s.filter.Stats()
	_, err := fmt.Fprintf(s.out, "about %s keys, from %s to %s; %v cells, %v of memory; false-positive rate %s\n",
		wholeKeys(stats.Keys), wholeKeys(stats.Low), wholeKeys(stats.High),
		quantity.Count(stats.Cells), quantity.Size(stats.Bytes), rateOf(stats.FPRate))
	return err
}

func (s *session) show(list []string) error {
	what := show{plane: -1}
	for i, n := range []*quantity.Count{&what.from, &what.cells} {
		if i < len(list) {
			if err := n.Set(list[i]); err != nil {
				return err
			}
		}
	}
	return what.write(s.out, s.filter.State(), s.file, false)
}

func (s *session) explain(list []string) error {
	if _, err := able[umbel.Locator](s.file, s.filter, "doesn't explain its answers by single cells"); err != nil {
		return err
	}
	return s.each(list, func(key string, d umbel.Digest) error {
		return explainKey(s.out, s.filter, []byte(key), d, s.filter.Has(d), false)
	})
}

func (s *session) save([]string) error {
	if err := container.Write(s.file, s.filter.State()); err != nil {
		return err
	}
	s.changed = false
	_, err := fmt.Fprintf(s.out, "%s is written\n", s.file)
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

// quit writes what has changed. Somebody who is there may say no, and who ends the
// input once more does.
func (s *session) quit([]string) error {
	for s.changed && s.lines.Interactive() {
		answer, err := s.lines.Line(fmt.Sprintf("write %s? [Y/n] ", s.file))
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
