package keys

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// A line has the meaning of the model, whichever way its bytes arrive in: at once, byte by byte, in pieces of any size, through
// a reader of files or one of bodies. The keys before a fault are the same, and so is the error.
func TestLinesByModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(slices.Concat(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []byte {
			return []byte(rapid.SampledFrom([]string{
				"a", "bc", "\r", "\n", "\r\n", "\n\n", "\x00", "\ufeff", "é", "\xff", "0123456789abcdef",
				"\x1f\x8b\x08", "\xfd7zXZ\x00", "BZh91AY&SY", "PAR1", "\x89umbel\n\x01", "\xff\xfe", "\xfe\xff", "a\x00b\x00", "\xff\xfe\x00\x00",
			}).Draw(t, "piece"))
		}), 0, 12).Draw(t, "pieces")...))
		format := rapid.SampledFrom([]Format{Lines, NUL, binary(Lines), binary(NUL)}).Draw(t, "format")
		size := rapid.IntRange(1, 20).Draw(t, "size")
		want, wantErr := model(in, format)
		for name, read := range map[string]func() ([]string, error){
			"at once":      func() ([]string, error) { return linesOf(strings.NewReader(in), format) },
			"byte by byte": func() ([]string, error) { return linesOf(iotest.OneByteReader(strings.NewReader(in)), format) },
			"in pieces":    func() ([]string, error) { return linesOf(&steps{[]byte(in), size}, format) },
			"a body":       func() ([]string, error) { return bodyLines(in, size, format) },
		} {
			got, err := read()
			if !slices.Equal(got, want) || text(err) != wantErr {
				t.Fatalf("%q, %s: %q, %q, want %q, %q", in, name, got, text(err), want, wantErr)
			}
		}
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// model is what lines are, in the slowest way: the lines as they are, and the error. A key is its line without one carriage return
// at its end.
func model(in string, f Format) (lines []string, problem string) {
	separator := string(rune(f.Separator))
	first, _, _ := strings.Cut(in, separator)
	if !f.Binary {
		for _, c := range []struct{ head, what string }{
			{"\x1f\x8b\x08", "compressed with gzip"}, {"BZh91AY&SY", "compressed with bzip2"}, {"PAR1", "a Parquet file"},
		} {
			if strings.HasPrefix(first, c.head) {
				return nil, "the input is " + c.what
			}
		}
		switch {
		case strings.HasPrefix(in, "\xfd7zXZ\x00"):
			return nil, "the input is compressed with xz"
		case strings.HasPrefix(in, "\x89umbel\n"):
			return nil, "the input is a filter"
		}
	}
	if f == Lines {
		switch {
		case strings.HasPrefix(in, "\xff\xfe\x00\x00"), strings.HasPrefix(in, "\x00\x00\xfe\xff"):
			return nil, "the input is text in UTF-32"
		case strings.HasPrefix(in, "\xff\xfe"), strings.HasPrefix(in, "\xfe\xff"):
			return nil, "the input is text in UTF-16"
		}
		head := first
		if len(first) < len(in) {
			head += "\n"
		}
		head = head[:min(len(head), 16)]
		for i, name := range []string{"UTF-16BE", "UTF-16LE"} {
			zeros := len(head) > 2
			for j := range len(head) {
				zeros = zeros && (head[j] == 0) == (j%2 == i)
			}
			if zeros {
				return nil, "the input is text in " + name
			}
		}
		in = strings.TrimPrefix(in, "\ufeff")
	}
	for in != "" {
		line, rest, _ := strings.Cut(in, separator)
		if f == Lines && strings.Contains(line, "\x00") {
			return lines, "the input contains zero bytes and is no text"
		}
		lines, in = append(lines, line), rest
	}
	return lines, ""
}

// linesOf returns the lines of a stream. It checks that each key is its line without a carriage return.
func linesOf(r io.Reader, f Format) ([]string, error) {
	lines := []string{}
	for in, buf := NewReader(r, f), []byte(nil); ; {
		chunk, err := in.Next(buf)
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		buf = chunk
		for rest := chunk; len(rest) > 0; {
			var key []byte
			key, rest = f.Cut(rest)
			if lines, err = appendLine(lines, key, f); err != nil {
				return lines, err
			}
		}
	}
}

// bodyLines is linesOf for a stream that arrives in reads of n bytes, as a server reads a body.
func bodyLines(in string, n int, f Format) ([]string, error) {
	text, lines, held := Text{Format: f}, []string{}, []byte(nil)
	for ended := false; !ended; {
		size := min(n, len(in))
		held, in = append(held, in[:size]...), in[size:]
		ended = in == ""
		for {
			key, rest, ok, err := text.Next(held, ended)
			if err != nil {
				return lines, err
			}
			if held = slices.Clone(rest); !ok {
				break
			}
			if lines, err = appendLine(lines, key, f); err != nil {
				return lines, err
			}
		}
	}
	return lines, nil
}

func appendLine(lines []string, key []byte, f Format) ([]string, error) {
	line := string(Line(key))
	want := line
	if f.Separator == '\n' {
		want = strings.TrimSuffix(line, "\r")
	}
	if string(key) != want {
		return lines, errors.New("key " + string(key) + " of line " + line)
	}
	return append(lines, line), nil
}
