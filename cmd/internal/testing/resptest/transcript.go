package resptest

import (
	"bufio"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Exchange is a command of a transcript and its reply.
type Exchange struct {
	Line  string
	Words []string
	Reply string
}

// Transcript yields the exchanges of a file. A command is a line of words, quoted as in Go; its
// reply is the next line, indented, after "=>". Lines that begin with # are comments. It ends the
// test if the file cannot be read.
func Transcript(t testing.TB, path string) iter.Seq[Exchange] {
	t.Helper()
	return func(yield func(Exchange) bool) {
		t.Helper()
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var e Exchange
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			line := lines.Text()
			reply, isReply := strings.CutPrefix(line, "    => ")
			switch {
			case isReply:
				if e.Reply = reply; !yield(e) {
					return
				}
			case line != "" && line[0] != '#':
				e = Exchange{Line: line, Words: words(t, line)}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func words(t testing.TB, line string) []string {
	t.Helper()
	ws := strings.Split(line, " ")
	for i, w := range ws {
		if !strings.HasPrefix(w, `"`) {
			continue
		}
		plain, err := strconv.Unquote(w)
		if err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		ws[i] = plain
	}
	return ws
}

// Replay sends the exchanges that pick takes, as it gives them back, and compares the
// replies: of SCAN in any order, and of MEMORY USAGE not at all. It returns how many there were.
func Replay(t testing.TB, c *Client, path string, pick func(Exchange) (Exchange, bool)) int {
	t.Helper()
	n := 0
	for e := range Transcript(t, path) {
		e, ok := pick(e)
		if !ok {
			continue
		}
		n++
		if got := c.Do(e.Words...); !sameReply(e, got) {
			t.Errorf("%s\n got %s\nwant %s", e.Line, got, e.Reply)
		}
	}
	return n
}

// WithoutStrings adapts Replay to a server without strings: where the transcript makes a string,
// to test BF.* with a wrong type, it makes a filter of CF.*.
func WithoutStrings(e Exchange) (Exchange, bool) {
	if e.Words[0] == "SET" {
		e.Words = []string{"CF.RESERVE", e.Words[1], "1000"}
	}
	return e, true
}

// sameReply reports whether a reply equals that of the transcript.
func sameReply(e Exchange, got string) bool {
	switch e.Words[0] {
	case "SCAN":
		return slices.Equal(sorted(got), sorted(e.Reply))
	case "MEMORY":
		return strings.HasPrefix(got, ":")
	}
	return got == e.Reply
}

func sorted(reply string) []string {
	parts := strings.FieldsFunc(reply, func(r rune) bool { return strings.ContainsRune("[], ", r) })
	slices.Sort(parts)
	return parts
}
