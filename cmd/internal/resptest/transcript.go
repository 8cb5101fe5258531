package resptest

import (
	"bufio"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Exchange is a command of a transcript, and its reply.
type Exchange struct {
	Line  string
	Words []string
	Reply string
}

// Transcript yields the exchanges of a file, in which a command is a line of words, those in
// quotes as in Go, and its reply the next line, indented behind "=>". Lines that begin with #
// say what comes. It ends the test where the file can't be read.
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
// replies. It returns how many there were.
func Replay(t testing.TB, c *Client, path string, pick func(Exchange) (Exchange, bool)) int {
	t.Helper()
	n := 0
	for e := range Transcript(t, path) {
		e, ok := pick(e)
		if !ok {
			continue
		}
		n++
		if got := c.Do(e.Words...); got != e.Reply {
			t.Errorf("%s\n got %s\nwant %s", e.Line, got, e.Reply)
		}
	}
	return n
}
