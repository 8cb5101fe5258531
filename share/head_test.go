package share_test

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

var rewrite = flag.Bool("update", false, "write the golden files")

// goldenKeys returns a key pair that is always the same.
func goldenKeys(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	b, err := os.ReadFile("testdata/head.key")
	if err != nil {
		t.Fatal(err)
	}
	private, public, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func ref(bytes uint64, hash byte) share.Ref {
	r := share.Ref{Bytes: bytes}
	for i := range r.Hash {
		r.Hash[i] = hash + byte(i)
	}
	return r
}

func goldenHead() *share.Head {
	h := &share.Head{
		Name: "example.org/golden", Stream: share.Stream{Began: 1_790_000_000_000, Nonce: 0xfedcba9876543210},
		Version: 1234, Time: time.UnixMilli(1_795_435_200_123).UTC(), Valid: 5 * time.Minute,
		Kind: "bloom", Bytes: 625_000, Index: ref(2048, 0), Deltas: []share.Ref{ref(331, 0x10), ref(602, 0x80), ref(899, 0xf8)},
	}
	for i := range h.ID {
		h.ID[i] = byte(7 * i)
	}
	return h
}

func sign(t testing.TB, h *share.Head, s note.Signer) []byte {
	t.Helper()
	b, err := h.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHeadGolden(t *testing.T) {
	signer, verifier := goldenKeys(t)
	h := goldenHead()
	got := sign(t, h, signer)
	if *rewrite {
		if err := os.WriteFile("testdata/head.txt", got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/head.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	back, err := share.OpenHead(want, h.Name, note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if again := sign(t, back, signer); !bytes.Equal(again, want) || back.Time != h.Time || back.ID != h.ID || back.Deltas[2] != h.Deltas[2] {
		t.Errorf("%+v", back)
	}
	if !back.Expires().Equal(h.Time.Add(5 * time.Minute)) {
		t.Errorf("expires at %v", back.Expires())
	}
}

// A head with a name of 20 bytes, the longest name of a kind and numbers of this century has at most
// 500 bytes.
func TestHeadBytes(t *testing.T) {
	signer, verifier := keys(t, strings.Repeat("n", 20))
	h := goldenHead()
	h.Name, h.Version, h.Bytes, h.Valid = signer.Name(), 1e12, 1<<40, 24*time.Hour
	h.Kind = "partitioned"
	h.Index.Bytes = 1 << 20
	for i := range h.Deltas {
		h.Deltas[i].Bytes = 1 << 30
	}
	b := sign(t, h, signer)
	if len(b) > 500 {
		t.Errorf("%d bytes:\n%s", len(b), b)
	}
	// The largest numbers pass, too.
	h.Version, h.Bytes, h.Index.Bytes, h.Stream.Nonce = math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64
	h.Valid = 1 << 31 * time.Second
	h.Time = time.UnixMilli(1 << 53).UTC()
	h.Stream.Began = 1 << 53
	b = sign(t, h, signer)
	if back, err := share.OpenHead(b, h.Name, note.VerifierList(verifier)); err != nil || back.Version != math.MaxUint64 {
		t.Errorf("the largest numbers: %v", err)
	}
	signer, _ = keys(t, strings.Repeat("n", 4000))
	h.Name = signer.Name()
	if _, err := h.Sign(signer); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("a name of 4000 bytes: %v", err)
	}
}

func TestHeadMalformed(t *testing.T) {
	signer, verifier := goldenKeys(t)
	good := string(sign(t, goldenHead(), signer))
	text, _, _ := strings.Cut(good, "\n\n")
	text += "\n"
	id := strings.Fields(strings.Split(text, "\n")[4])[1]
	object := share.Hash{}.String()
	for name, c := range map[string][2]string{
		"another magic":            {"publication 1", "publication 2"},
		"a line more":              {"index ", "state 1\nindex "},
		"a line less":              {"delta 2", "xdelta 2"},
		"spaces":                   {"time ", "time  "},
		"a field more":             {" 300\n", " 300 1\n"},
		"a field less":             {" 300\n", "\n"},
		"carriage return":          {" 300\n", " 300\u0085\n"},
		"a leading zero":           {" 300\n", " 0300\n"},
		"a sign":                   {" 300\n", " +300\n"},
		"a negative validity":      {" 300\n", " -300\n"},
		"no number":                {" 300\n", " x\n"},
		"a validity beyond 2^31":   {" 300\n", " 2147483649\n"},
		"a time beyond 2^53":       {"time 1795435200123", "time 9007199254740993"},
		"a time beyond 2^64":       {"time 1795435200123", "time 18446744073709551616"},
		"version 0":                {" 1234\n", " 0\n"},
		"more deltas than before":  {" 1234\n", " 3\n"},
		"a stream in capitals":     {"fedcba", "FEDCBA"},
		"a short stream":           {"fedcba", "fedcb"},
		"a stream that is no hex":  {"fedcba", "gedcba"},
		"a stream before 1970":     {"stream 0", "stream -"},
		"a stream beyond 2^53":     {"stream 0", "stream 7"},
		"an ID with padding":       {id, id + "="},
		"a short ID":               {id, id[:42]},
		"an ID with other bits":    {id, id[:42] + "Z"},
		"a kind in capitals":       {"bloom", "Bloom"},
		"no kind":                  {"bloom", ""},
		"an object in capitals":    {"index 2048 0", "index 2048 A"},
		"a short object":           {"index 2048 0", "index 2048 "},
		"an object with a path":    {"index 2048 000", "index 2048 ../"},
		"an object with more bits": {goldenHead().Index.Hash.String(), object[:25] + "1"},
		"deltas in another order":  {"delta 1", "delta 2"},
		"delta 0":                  {"delta 1", "delta 0"},
		"a fourth delta":           {"delta 3", "delta 3 1 " + object + "\ndelta 4"},
	} {
		if !strings.Contains(text, c[0]) {
			t.Fatalf("%s: %q is not in the head", name, c[0])
		}
		b, err := note.Sign(&note.Note{Text: strings.Replace(text, c[0], c[1], 1)}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := share.OpenHead(b, signer.Name(), note.VerifierList(verifier)); !errors.Is(err, share.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range strings.SplitAfter(text, "\n") {
		lines := strings.SplitAfter(text, "\n")
		short := strings.Join(lines[:n], "")
		if n == 0 {
			short = "\n"
		}
		b, err := note.Sign(&note.Note{Text: short}, signer)
		if err != nil {
			t.Fatal(err)
		}
		// Deltas may be missing.
		if _, err := share.OpenHead(b, signer.Name(), note.VerifierList(verifier)); (n < 6) != errors.Is(err, share.ErrCorrupt) {
			t.Errorf("%d lines: %v", n, err)
		}
	}
}

// classHead is the head of a fold class.
func classHead() *share.Head {
	h := goldenHead()
	h.Fold = 4
	h.Classes = []share.Class{{1, 87_807, 331, 0.0198}, {4, 60_000, 300, 0.077}, {16, 25_000, 0, 1}}
	return h
}

func TestHeadClasses(t *testing.T) {
	signer, verifier := goldenKeys(t)
	h := classHead()
	good := sign(t, h, signer)
	back, err := share.OpenHead(good, h.Name, note.VerifierList(verifier))
	if err != nil || back.Fold != 4 || !slices.Equal(back.Classes, h.Classes) {
		t.Fatalf("%+v, %v", back, err)
	}
	text, _, _ := strings.Cut(string(good), "\n\n")
	text += "\n"
	if want := "class 4\nfold 1 87807 331 19800000\nfold 4 60000 300 77000000\nfold 16 25000 0 1000000000\n"; !strings.HasSuffix(text, want) {
		t.Errorf("got\n%s\nwant the end\n%s", text, want)
	}
	lines := text[strings.Index(text, "class"):]
	for name, change := range map[string]string{
		"no classes":                  "class 4\n",
		"no class but the whole":      "fold 1 1 0 1\n",
		"the class 1":                 strings.Replace(lines, "class 4", "class 1", 1),
		"the class 0":                 strings.Replace(lines, "class 4", "class 0", 1),
		"a class that is not there":   strings.Replace(lines, "class 4", "class 8", 1),
		"the class at the end":        strings.TrimPrefix(lines, "class 4\n") + "class 4\n",
		"the whole filter is missing": strings.Replace(lines, "fold 1 87807 331 19800000\n", "", 1),
		"the whole filter is later":   strings.Replace(lines, "fold 1 87807 331 19800000\n", "", 1) + "fold 1 87807 331 19800000\n",
		"a class twice":               strings.Replace(lines, "fold 16", "fold 4", 1),
		"descending classes":          strings.Replace(lines, "fold 16", "fold 2", 1),
		"not a multiple":              strings.Replace(lines, "fold 16", "fold 6", 1),
		"class 0":                     strings.Replace(lines, "fold 16", "fold 0", 1),
		"a rate above 1":              strings.Replace(lines, " 1000000000", " 1000000001", 1),
		"a rate in other digits":      strings.Replace(lines, " 77000000", " 077000000", 1),
		"a field more":                strings.Replace(lines, " 77000000", " 77000000 1", 1),
		"a field less":                strings.Replace(lines, " 77000000", "", 1),
		"nine folds": lines + "fold 32 1 1 1\nfold 64 1 1 1\nfold 128 1 1 1\nfold 256 1 1 1\nfold 512 1 1 1\nfold 1024 1 1 1\n" +
			"fold 2048 1 1 1\n",
	} {
		b, err := note.Sign(&note.Note{Text: strings.Replace(text, lines, change, 1)}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := share.OpenHead(b, signer.Name(), note.VerifierList(verifier)); !errors.Is(err, share.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The most classes, with the largest numbers, fit into a head.
	h.Classes = h.Classes[:1]
	for i := range share.MaxFolds {
		h.Classes = append(h.Classes, share.Class{1 << (8 * i) * 128, math.MaxUint64, math.MaxUint64, 1})
	}
	h.Fold = 1 << 63
	if b := sign(t, h, signer); len(b) > 1500 {
		t.Errorf("%d bytes", len(b))
	} else if _, err := share.OpenHead(b, h.Name, note.VerifierList(verifier)); err != nil {
		t.Error(err)
	}
}

func TestRecordNames(t *testing.T) {
	for name, isHead := range map[string]bool{
		"head": true, "head-2": true, "head-18446744073709551615": true, "publisher": false, "held": false,
	} {
		if err := share.CheckRecord(name); err != nil || share.IsHead(name) != isHead {
			t.Errorf("%s: %v, a head: %v", name, err, share.IsHead(name))
		}
	}
	for _, name := range []string{"", "objects", "head-", "head-0", "head-1", "head-04", "head-+4", "head-4-4", "head-18446744073709551616", "held-4", "Head"} {
		if err := share.CheckRecord(name); !errors.Is(err, share.ErrCorrupt) || share.IsHead(name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestHeadSignatures(t *testing.T) {
	signer, verifier := goldenKeys(t)
	another, _ := keys(t, "example.org/another")
	sameName, sameNameVerifier := keys(t, signer.Name())
	h := goldenHead()
	good := sign(t, h, signer)
	open := func(b []byte, v note.Verifier) error {
		_, err := share.OpenHead(b, h.Name, note.VerifierList(v))
		return err
	}
	both, err := note.Sign(&note.Note{Text: string(good[:bytes.Index(good, []byte("\n\n"))+1])}, another, signer)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(both, verifier); err != nil {
		t.Errorf("with the signature of a witness: %v", err)
	}
	text, signature, _ := bytes.Cut(good, []byte("\n\n"))
	otherHead := goldenHead()
	otherHead.Version++
	otherText, _, _ := bytes.Cut(sign(t, otherHead, signer), []byte("\n\n"))
	foreign := goldenHead()
	foreign.Name = "example.org/another"
	for name, b := range map[string][]byte{
		"nothing":                   nil,
		"unsigned":                  append(bytes.Clone(text), '\n'),
		"an empty signature":        append(bytes.Clone(text), "\n\n"...),
		"another head's signature":  append(append(bytes.Clone(otherText), "\n\n"...), signature...),
		"another name":              sign(t, h, another),
		"another key of the name":   sign(t, h, sameName),
		"another publication":       sign(t, foreign, signer),
		"the other's head and name": sign(t, foreign, another),
	} {
		if err := open(b, verifier); !errors.Is(err, share.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := open(good, sameNameVerifier); !errors.Is(err, share.ErrSignature) {
		t.Errorf("another verifier: %v", err)
	}
	for i := range good[:len(good)-4] { // the last digit has unused bits
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if err := open(bad, verifier); !errors.Is(err, share.ErrSignature) {
			t.Fatalf("bit 0 of byte %d flipped: %v", i, err)
		}
		if err := open(good[:i], verifier); err == nil {
			t.Fatalf("%d bytes are accepted", i)
		}
	}
	if err := open(append(bytes.Clone(good), bytes.Repeat([]byte("— x AAAAAAAA\n"), 300)...), verifier); !errors.Is(err, share.ErrCorrupt) {
		t.Errorf("a head of 4 KiB: %v", err)
	}
}
