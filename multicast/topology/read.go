package topology

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// byteOrderMark is at the beginning of some files in UTF-8 and is ignored.
var byteOrderMark = []byte("\uFEFF")

// reader reads a network of one format.
type reader func(io.Reader, Limits) (*Graph, Notes, error)

// endings are the file name extensions of the formats.
var endings = []struct {
	ending string
	read   reader
}{
	{".gml", readGML}, {".graphml", readGraphML}, {".xml", readGraphML}, {".tsv", ReadTSV},
	{".weights.intra", readWeights}, {".latencies.intra", readWeights}, {".intra", readWeights},
}

// Read reads a network. The format follows from the extension of the name: .gml, .graphml
// or .xml, .tsv, .intra (Rocketfuel's weights); for other names it is detected from the
// beginning of the content. The name may be a path. A network that has no name in the
// file gets the last part of the path as its name. Errors contain the name, and wrap
// ErrFormat or ErrLimit.
func Read(r io.Reader, name string) (*Graph, Notes, error) { return Limits{}.Read(r, name) }

// Read is like the function of this name, within the limits.
func (l Limits) Read(r io.Reader, name string) (*Graph, Notes, error) {
	stem := name[strings.LastIndexAny(name, `/\`)+1:]
	var read reader
	for _, e := range endings {
		if len(stem) > len(e.ending) && strings.EqualFold(stem[len(stem)-len(e.ending):], e.ending) {
			read, stem = e.read, stem[:len(stem)-len(e.ending)]
			break
		}
	}
	in := bufio.NewReader(r)
	beginning, err := in.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, Notes{}, fmt.Errorf("%s: %w", name, err)
	}
	if bytes.HasPrefix(beginning, byteOrderMark) {
		beginning = beginning[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark))
	}
	if read == nil {
		read = detect(beginning)
	}
	g, notes, err := read(in, l)
	if err != nil {
		return nil, Notes{}, fmt.Errorf("%s: %w", name, err)
	}
	if g.Name == "" {
		g.Name = clean(stem)
	}
	return g, notes, nil
}

// detect returns the reader for an input with this beginning. It decides by the first
// line that is neither empty nor a comment.
func detect(beginning []byte) reader {
	for line := range bytes.Lines(beginning) {
		line = bytes.TrimLeft(line, " \t\r\n")
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == '<':
			return readGraphML
		case bytes.HasPrefix(line, []byte("n\t")):
			return ReadTSV
		case len(bytes.Fields(line)) == 3 && !bytes.ContainsAny(line, `["`):
			return readWeights
		default:
			return readGML
		}
	}
	return ReadTSV
}

// ErrFormat means that an input is not a network in the expected format.
var ErrFormat = errors.New("not a network")

// ErrLimit means that an input exceeds the Limits.
var ErrLimit = errors.New("network over a limit")

// Limits bound the size of an untrusted input. A field that is zero or negative means the
// default in its comment.
type Limits struct {
	Nodes int   // 20 000
	Links int   // 200 000, counted before parallel links are merged
	Line  int   // 65 536 bytes, of a line and of a text between quotes or tags
	Bytes int64 // 64 MiB, of the whole input
}

// whole returns the limits with defaults instead of zeros.
func (l Limits) whole() Limits {
	return Limits{
		Nodes: cmp.Or(max(0, l.Nodes), 20_000), Links: cmp.Or(max(0, l.Links), 200_000),
		Line: cmp.Or(max(0, l.Line), 1<<16), Bytes: cmp.Or(max(0, l.Bytes), 64<<20),
	}
}

// formatError returns an error wrapping ErrFormat for a line of an input.
func formatError(line int, format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrFormat, line, fmt.Sprintf(format, args...))
}

// limitError returns an error wrapping ErrLimit for a line of an input.
func limitError(line int, what string, limit any) error {
	return fmt.Errorf("%w: line %d: more than %v %s; raise the limit if the input is trusted", ErrLimit, line, limit, what)
}

// Notes count the changes that a reader made to represent an input as a Graph. If all are
// zero, the graph is exactly the input.
type Notes struct {
	Merged     int // links merged with an earlier link of the same nodes, in either direction unless the format has a line for each; the lowest weight is kept
	SelfLoops  int // links from a node to itself, dropped
	Renamed    int // nodes whose name was empty, not unique or contained control characters
	Unweighted int // links whose weight was not a finite number above 0, set to 1
}

// String returns the counts that aren't zero in words, or "as read" if all are zero.
func (n Notes) String() string {
	var words []string
	for _, c := range []struct {
		count int
		what  string
	}{
		{n.Merged, "repeated links merged"},
		{n.SelfLoops, "self loops dropped"},
		{n.Renamed, "nodes renamed"},
		{n.Unweighted, "unusable weights set to 1"},
	} {
		if c.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", c.count, c.what))
		}
	}
	if words == nil {
		return "as read"
	}
	return strings.Join(words, ", ")
}

// lines reads an input line by line within limits.
type lines struct {
	scanner *bufio.Scanner
	input   *capped
	limits  Limits
	number  int // of the current line, from 1
	text    string
}

func newLines(r io.Reader, l Limits) *lines {
	input := &capped{reader: r, left: l.Bytes, limit: l.Bytes}
	s := bufio.NewScanner(input)
	s.Buffer(make([]byte, 0, min(4096, l.Line)), l.Line)
	return &lines{scanner: s, input: input, limits: l}
}

// next advances to the next line that is neither empty nor a comment.
func (s *lines) next() bool {
	for s.scanner.Scan() {
		s.number++
		s.text = strings.TrimRight(s.scanner.Text(), "\r")
		if trimmed := strings.TrimSpace(s.text); trimmed != "" && trimmed[0] != '#' {
			return true
		}
	}
	return false
}

// err returns the error that ended the lines, or nil at the end of the input.
func (s *lines) err() error {
	err := s.scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return limitError(s.number+1, "bytes in the line", s.limits.Line)
	}
	return err
}

// capped reads up to a number of bytes and fails on the next one. An input that was cut
// off silently at the limit would look like a smaller one.
type capped struct {
	reader      io.Reader
	left, limit int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left == 0 {
		var one [1]byte
		if n, err := c.reader.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w: more than %d bytes; raise the limit if the input is trusted", ErrLimit, c.limit)
	}
	n, err := c.reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
