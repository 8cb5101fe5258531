package topology

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// byteOrderMark begins some files in UTF-8 and says nothing.
var byteOrderMark = []byte("\uFEFF")

// reader reads a network of one format.
type reader func(io.Reader, Limits) (*Graph, Notes, error)

// endings are the ends of names of files of each format.
var endings = []struct {
	ending string
	read   reader
}{
	{".gml", ReadGML}, {".graphml", ReadGraphML}, {".xml", ReadGraphML}, {".tsv", ReadTSV},
	{".weights.intra", ReadWeights}, {".latencies.intra", ReadWeights}, {".intra", ReadWeights},
}

// Read reads a network in the format that the end of the name tells: .gml, .graphml or
// .xml, .tsv, .intra (Rocketfuel's weights); by any other name, in the one that the
// beginning of the content looks like. The name may be a path; a network that has no
// name in the file is called by its last part. Errors hold the name, and wrap
// ErrFormat or ErrLimit.
func Read(r io.Reader, name string) (*Graph, Notes, error) { return Limits{}.Read(r, name) }

// Read reads a network within the limits, as the function of this name does.
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
		return nil, Notes{}, fmt.Errorf("topology: %s: %w", name, err)
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

// detect returns what reads an input with that beginning: by its first line with
// something on it that isn't a comment.
func detect(beginning []byte) reader {
	for line := range bytes.Lines(beginning) {
		line = bytes.TrimLeft(line, " \t\r\n")
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == '<':
			return ReadGraphML
		case bytes.HasPrefix(line, []byte("n\t")):
			return ReadTSV
		case len(bytes.Fields(line)) == 3 && !bytes.ContainsAny(line, `["`):
			return ReadWeights
		default:
			return ReadGML
		}
	}
	return ReadTSV
}
