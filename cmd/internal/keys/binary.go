package keys

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// BinaryError is the error of a reader for a stream that contains no text.
type BinaryError struct {
	Name        string // of the file, "" if unknown or standard input
	Compression string // how the stream is compressed, "" if it is not
	Cat         string // the command that decompresses it
	UTF16       bool   // text in UTF-16; otherwise, without compression, the stream contains zero bytes
}

func (e *BinaryError) Error() string {
	name := e.Name
	if name == "" {
		name = "the input"
	}
	if e.Compression != "" {
		return fmt.Sprintf("%s is compressed with %s", name, e.Compression)
	}
	if e.UTF16 {
		return name + " is text in UTF-16"
	}
	return name + " contains zero bytes and is no text"
}

// compressions are the formats of compressed files by their first bytes.
var compressions = []struct{ magic, name, cat string }{
	{"\x1f\x8b\x08", "gzip", "zcat"},
	{"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
	{"\xfd7zXZ\x00", "xz", "xzcat"},
	{"BZh", "bzip2", "bzcat"},
	{"\x04\x22\x4d\x18", "lz4", "lz4cat"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// Compressed returns the name of the compression that a stream begins with, and the command that
// decompresses it. It returns "" if there is none.
func Compressed(head []byte) (name, cat string) {
	for _, c := range compressions {
		// The second test is for lines of text that begin like bzip2.
		if bytes.HasPrefix(head, []byte(c.magic)) && (c.name != "bzip2" || bytes.Contains(head[:min(len(head), 10)], []byte("1AY&SY"))) {
			return c.name, c.cat
		}
	}
	return "", ""
}

// headBytes is the number of bytes in which zero bytes are searched.
const headBytes = 8000

// checkText returns a *BinaryError unless the beginning of a stream is text in format f.
func checkText(source any, head []byte, f Format) error {
	if f.Binary {
		return nil
	}
	head = head[:min(len(head), headBytes)]
	if name, cat := Compressed(head); name != "" {
		return &BinaryError{Name: nameOf(source), Compression: name, Cat: cat}
	}
	if f.Separator != 0 && bytes.IndexByte(head, 0) >= 0 {
		return &BinaryError{Name: nameOf(source), UTF16: bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))}
	}
	return nil
}

// CheckFile returns a *[BinaryError] if a regular file begins with what is no text in format f. It doesn't move the
// position of the file. Other files pass: a [Reader] checks them when it has read their beginning.
func CheckFile(file *os.File, f Format) error {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil // reading reports the error
	}
	var head [headBytes]byte
	n, err := file.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil
	}
	return checkText(file, head[:n], f)
}

// nameOf returns the name of a file that isn't standard input.
func nameOf(source any) string {
	if f, ok := source.(*os.File); ok && f.Fd() != os.Stdin.Fd() {
		return f.Name()
	}
	return ""
}
