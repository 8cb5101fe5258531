// Package prompt reads lines: at a terminal with editing, completion and a history, and plainly
// from a file or pipe.
package prompt

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Reader reads lines. Its history is never written to disk, because lines may be confidential.
type Reader struct {
	in    *os.File
	plain *bufio.Reader
	edit  *term.Terminal // nil unless interactive
}

// New returns a reader of the lines in in. It is interactive if both files are
// terminals; Tab then completes words.
func New(in, out *os.File, words []string) *Reader {
	r := &Reader{in: in, plain: bufio.NewReader(in)}
	if term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) {
		r.edit = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{in, out}, "")
		r.edit.AutoCompleteCallback = completer(words)
	}
	return r
}

// Interactive reports whether both files are terminals.
func (r *Reader) Interactive() bool { return r.edit != nil }

// Line returns the next line without its end. An interactive reader prints the prompt. It returns
// io.EOF at the end of the input, at ^D on an empty line and at ^C.
func (r *Reader) Line(prompt string) (string, error) {
	if r.edit == nil {
		line, err := r.plain.ReadString('\n')
		if err == io.EOF && line != "" {
			err = nil
		}
		return strings.TrimRight(line, "\r\n"), err
	}
	fd := int(r.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, before)
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = r.edit.SetSize(width, height)
	}
	r.edit.SetPrompt(prompt)
	line, err := r.edit.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// completer completes the first word of a line.
func completer(words []string) func(line string, pos int, key rune) (string, int, bool) {
	return func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		begun := line[:pos]
		if strings.ContainsRune(begun, ' ') {
			return line, pos, true // a tab isn't part of a key
		}
		whole := common(begun, words)
		return whole + line[pos:], len(whole), true
	}
}

// common returns the longest common prefix of all words that begin with begun, followed by a
// space if there is one such word; begun itself if there is none.
func common(begun string, words []string) string {
	var all string
	n := 0
	for _, w := range words {
		if !strings.HasPrefix(w, begun) {
			continue
		}
		if n++; n == 1 {
			all = w
		}
		for !strings.HasPrefix(w, all) {
			all = all[:len(all)-1]
		}
	}
	switch n {
	case 0:
		return begun
	case 1:
		return all + " "
	}
	return all
}
