package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

// badHeads returns the vectors with heads that are refused.
func badHeads() []file {
	signer, key := keyOf(publication, 0)
	var files []file
	add := func(name, expect, comment, head string) {
		f := file{Path: "bad-head-" + name + ".txt", Header: []field{{"comment", comment}, {"expect", expect}, {"key", key}}, Body: head}
		if !utf8.ValidString(head) || strings.ContainsAny(head, "\t\r") {
			f.Header, f.Body = append(f.Header, field{"body", "hex"}), vector.HexLines([]byte(head))
		}
		files = append(files, f)
	}
	h := sample(57)
	signed := sign(signer, textOf(signer, 57))
	text, line, _ := strings.Cut(signed, "\n\n")
	text += "\n"

	// Notes that are not signed by the key of the publication.
	unsigned := func(name, comment, head string) { add(name, "signature", comment, head) }
	other, _ := keyOf(publication, 1)
	unsigned("other-key", "signed with another key of the same name", sign(other, text))
	relay, _ := keyOf("example.com/relay", 1)
	unsigned("other-name", "signed with a key of another name", sign(relay, text))
	unsigned("changed-version", "the version was changed after it was signed", strings.Replace(signed, h.Stream.String()+" 57\n", h.Stream.String()+" 58\n", 1))
	unsigned("flipped", "one bit of the signature is flipped", text+"\n"+flipLast(line))
	unsigned("short", "the signature has 63 bytes", text+"\n"+shorten(line))
	unsigned("second-wrong", "the key of the publication signed another text; another key signed this one",
		text+"\n"+strings.SplitAfter(sign(signer, text+"x\n"), "\n\n")[1]+strings.SplitAfter(sign(relay, text), "\n\n")[1])
	unsigned("not-signed", "no signatures", text)
	unsigned("no-lines", "an empty line, and no signatures after it", text+"\n")
	unsigned("no-newline", "the last line has no newline", strings.TrimSuffix(signed, "\n"))
	unsigned("no-dash", "a line of a signature begins with a hyphen", text+"\n"+strings.Replace(line, "— ", "- ", 1))
	unsigned("base64", "a signature is not in base64", text+"\n"+strings.Replace(line, " "+publication+" ", " "+publication+" *", 1))
	unsigned("return", "lines end with a carriage return and a newline", strings.ReplaceAll(signed, "\n", "\r\n"))
	unsigned("tab", "a control character in the text", sign(signer, strings.Replace(text, "index ", "index\t", 1)))
	unsigned("utf8", "the text is not in UTF-8", sign(signer, strings.Replace(text, "bloom", "bl\xffom", 1)))
	unsigned("many", "101 signatures", text+"\n"+strings.Repeat("— a AAAAAAA=\n", 100)+line)
	named := strings.Replace(text, publication, "example.org/other", 1)
	unsigned("text-name", "the head of another publication, signed with the key of this one", sign(signer, named))

	// Texts with a defect, correctly signed.
	corrupt := func(name, comment, from, to string) {
		if strings.Count(text, from) != 1 {
			panic(fmt.Sprintf("%s: %q is %d times in the head", name, from, strings.Count(text, from)))
		}
		add(name, "corrupt", comment, sign(signer, strings.Replace(text, from, to, 1)))
	}
	lines := strings.SplitAfter(text, "\n")
	add("long", "corrupt", "more than 4096 bytes", text+"\n"+line+strings.Repeat("— example.com/witness AAAAAAA=\n", 120))
	add("empty", "corrupt", "a text of one empty line", sign(signer, "\n"))
	corrupt("magic", "the first line is another one", "umbel publication", "umbel Publication")
	corrupt("version-2", "version 2 of the format", "publication 1", "publication 2")
	corrupt("missing", "the line of the state is missing", lines[4], "")
	corrupt("order", "the line of the time is before that of the stream", lines[2]+lines[3], lines[3]+lines[2])
	corrupt("unknown", "a line with an unknown name at the end", lines[8], lines[8]+"delay 5\n")
	corrupt("blank", "an empty line in the text", lines[5], lines[5]+"\n")
	corrupt("four-deltas", "four deltas", lines[8], lines[8]+fmt.Sprintf("delta 4 %s\n", refText(ref(800))))
	corrupt("delta-number", "the second delta has number 3", "delta 2 ", "delta 3 ")
	corrupt("too-many-deltas", "three deltas to version 3", h.Stream.String()+" 57\n", h.Stream.String()+" 3\n")
	add("version-0", "corrupt", "version 0", sign(signer, strings.Replace(textOf(signer, 1), " 1\ntime", " 0\ntime", 1)))
	corrupt("zero", "a leading zero", "time 1", "time 01")
	corrupt("plus", "a sign", "index 1712", "index +1712")
	corrupt("hexadecimal", "a number in hexadecimal", "index 1712", "index 0x6b0")
	corrupt("spaces", "two spaces between fields", "index 1712", "index  1712")
	corrupt("trailing-space", "a space at the end of a line", "bloom 625000\n", "bloom 625000 \n")
	corrupt("field", "a field too many", "bloom 625000\n", "bloom 625000 1\n")
	corrupt("stream-case", "an upper-case hexadecimal digit", "abcdef", "abcdeF")
	corrupt("stream-short", "a stream of 31 digits", "0123456789abcdef", "123456789abcdef")
	corrupt("stream-late", "the beginning of the stream exceeds 2^53", h.Stream.String()[:16], "0020000000000001")
	corrupt("stream-negative", "the beginning of the stream exceeds 2^63 - 1", h.Stream.String()[:16], "8000000000000000")
	corrupt("time", "a time above 2^53", fmt.Sprintf("time %d", h.Time.UnixMilli()), "time 9007199254740993")
	corrupt("valid", "a validity above 2^31", " 300\n", " 2147483649\n")
	corrupt("number", "a number of 65 bits", "bloom 625000", "bloom 18446744073709551616")
	corrupt("id-padding", "the ID has padding", id(text), id(text)+"=")
	corrupt("id-short", "the ID has 31 bytes", id(text), id(text)[:42])
	corrupt("id-bits", "the ID is not in its canonical form: its last digit has a bit that is not used", id(text), nextLetter(id(text)))
	corrupt("kind", "an upper-case letter in the kind", "bloom", "Bloom")
	corrupt("kind-long", "a kind of 65 letters", "bloom", strings.Repeat("b", 65))
	name := h.Index.Hash.String()
	corrupt("object-case", "an upper-case letter in the name of an object", name, strings.ToUpper(name))
	corrupt("object-short", "the name of an object has 25 letters", name, name[:25])
	corrupt("object-bits", "the last letter of a name has a bit that is not used", name, nextLetter(name))

	// Lines about fold classes.
	class := classes(4)
	signedClass, err := class.Sign(signer)
	if err != nil {
		panic(err)
	}
	classText, _, _ := strings.Cut(string(signedClass), "\n\n")
	before, after, _ := strings.Cut(classText+"\n", "class 4\n")
	folds := func(name, comment, end string) { add("class-"+name, "corrupt", comment, sign(signer, before+end)) }
	change := func(from, to string) string {
		if strings.Count(after, from) != 1 {
			panic(fmt.Sprintf("%q is not once in\n%s", from, after))
		}
		return "class 4\n" + strings.Replace(after, from, to, 1)
	}
	folds("alone", "a class without the list of classes", "class 4\n")
	folds("one", "a list of the whole filter alone", "fold 1 1 0 1\n")
	folds("1", "the head of the whole filter states class 1", "class 1\n"+after)
	folds("unlisted", "the class is not in the list", "class 8\n"+after)
	folds("last", "the class is after the list", after+"class 4\n")
	folds("whole", "the list does not begin with the whole filter", change("fold 1 87807 331 19800000\n", ""))
	folds("order", "the classes are not in ascending order", change("fold 16 ", "fold 2 "))
	folds("twice", "a class is listed twice", change("fold 16 ", "fold 4 "))
	folds("multiple", "a factor is not a multiple of the one before", change("fold 16 ", "fold 6 "))
	folds("rate", "a rate of more than 1", change(" 77000000", " 1000000001"))
	folds("zero", "a rate with a leading zero", change(" 77000000", " 077000000"))
	folds("field", "a field is missing", change(" 77000000", ""))
	many := ""
	for i := range 7 {
		many += fmt.Sprintf("fold %d 1 1 1\n", 32<<i)
	}
	folds("many", "ten classes", "class 4\n"+after+many)
	return files
}

// textOf returns the text of the head of a version.
func textOf(signer note.Signer, version uint64) string {
	h := sample(version)
	signed, err := h.Sign(signer)
	if err != nil {
		panic(err)
	}
	text, _, _ := strings.Cut(string(signed), "\n\n")
	return text + "\n"
}

func sign(signer note.Signer, text string) string {
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		panic(err)
	}
	return string(signed)
}

// id returns the ID in the text of a head.
func id(text string) string {
	_, rest, _ := strings.Cut(text, "\nstate ")
	return rest[:43]
}

// nextLetter increments the last letter of a name whose unused bits are zero.
func nextLetter(name string) string {
	return name[:len(name)-1] + string(name[len(name)-1]+1)
}

// shorten removes the last byte of the signature in a line.
func shorten(line string) string {
	return mapSignature(line, func(b []byte) []byte { return b[:len(b)-1] })
}

// flipLast flips the lowest bit of the last byte of the signature in a line.
func flipLast(line string) string {
	return mapSignature(line, func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
}

func mapSignature(line string, change func([]byte) []byte) string {
	at := strings.LastIndexByte(line, ' ') + 1
	b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(line[at:], "\n"))
	if err != nil {
		panic(err)
	}
	return line[:at] + base64.StdEncoding.EncodeToString(change(b)) + "\n"
}
