package keys

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// BinaryError is the error of a stream that contains no text. At most one of Compression, File and Encoding is set; without
// any, the stream contains a zero byte.
type BinaryError struct {
	Name        string // of the file, "" if unknown or standard input
	Compression string // how the stream is compressed
	Cat         string // the command that decompresses it
	File        string // FileFilter or FileParquet
	Encoding    string // of a text that is not UTF-8, as iconv names it
}

// Files whose keys are not lines.
const (
	FileFilter  = "a filter"
	FileParquet = "a Parquet file"
)

func (e *BinaryError) Error() string {
	name := e.Name
	if name == "" {
		name = "the input"
	}
	switch {
	case e.Compression != "":
		return fmt.Sprintf("%s is compressed with %s", name, e.Compression)
	case e.File != "":
		return fmt.Sprintf("%s is %s", name, e.File)
	case e.Encoding != "":
		return fmt.Sprintf("%s is text in %s", name, e.Encoding)
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
	{"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"},
	{"\x1f\x9d", "compress", "zcat"},
}

// files are other files that contain keys, but not as lines.
var files = []struct{ magic, name string }{
	{"PAR1", FileParquet},
	{"\x89umbel\n", FileFilter}, // a container, as package wire writes it
	{"\x89u\x03", FileFilter},   // a packed one
	{"\x89umdlt\n", FileFilter}, // a delta
	{"\x89d\x02", FileFilter},   // a short one
}

// marks are the byte order marks of texts that are not UTF-8. That of UTF-32LE begins with that of UTF-16LE.
var marks = []struct{ mark, encoding string }{
	{"\xff\xfe\x00\x00", "UTF-32"},
	{"\x00\x00\xfe\xff", "UTF-32"},
	{"\xff\xfe", "UTF-16"},
	{"\xfe\xff", "UTF-16"},
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

// headBytes is the number of bytes that show what a stream contains: more than the longest of the lists above.
const headBytes = 16

// hasHead reports whether in contains all bytes by which recognize decides: headBytes, or those up to the end of the first key.
func hasHead(in []byte, f Format) bool {
	return len(in) >= headBytes || bytes.IndexByte(in, f.Separator) >= 0
}

// recognize returns what a stream is instead of text, by its first bytes, and nil for text.
func recognize(in []byte, f Format) *BinaryError {
	head := in[:min(len(in), headBytes)]
	if i := bytes.IndexByte(head, f.Separator); i >= 0 && f.Separator == '\n' {
		head = head[:i+1] // so that the number of bytes of a read does not matter
	}
	if name, cat := Compressed(head); name != "" {
		return &BinaryError{Compression: name, Cat: cat}
	}
	for _, c := range files {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return &BinaryError{File: c.name}
		}
	}
	if f.Separator == 0 {
		return nil
	}
	for _, c := range marks {
		if bytes.HasPrefix(head, []byte(c.mark)) {
			return &BinaryError{Encoding: c.encoding}
		}
	}
	switch {
	case everyOther(head, 1):
		return &BinaryError{Encoding: "UTF-16LE"}
	case everyOther(head, 0):
		return &BinaryError{Encoding: "UTF-16BE"}
	}
	return nil
}

// everyOther reports whether every second byte, from the one at index first, is zero and no other one is: of letters of
// the Latin alphabet in UTF-16 without a byte order mark.
func everyOther(head []byte, first int) bool {
	for i, c := range head {
		if (c == 0) != (i%2 == first) {
			return false
		}
	}
	return len(head) > 2
}

// checkedBytes is the number of bytes of a file that CheckFile reads.
const checkedBytes = 8000

// CheckFile returns a *[BinaryError] if a regular file begins with what is no text in format f. It doesn't move the
// position of the file. Other files pass: a [Reader] checks them, and the rest of this one, while it reads.
func CheckFile(file *os.File, f Format) error {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil // reading reports the error
	}
	var head [checkedBytes]byte
	n, err := file.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil
	}
	text := Text{Format: f, Name: nameOf(file)}
	rest, _, err := text.begin(head[:n], true)
	if err == nil && text.fault(rest) >= 0 {
		err = text.zero()
	}
	return err
}

// nameOf returns the name of a file that isn't standard input.
func nameOf(source any) string {
	switch f := source.(type) {
	case Piece:
		return f.Name
	case *os.File:
		if f.Fd() != os.Stdin.Fd() {
			return f.Name()
		}
	}
	return ""
}
