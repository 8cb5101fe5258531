package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The pictures in docs/pictures are those that go generate draws now, and are well-formed.
func TestPicturesAreCurrent(t *testing.T) {
	const root = "../../../.."
	for name, draw := range pictures {
		var b bytes.Buffer
		if err := draw(&b, root); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kept, err := os.ReadFile(filepath.Join(root, "docs", "pictures", name)); err != nil || !bytes.Equal(kept, b.Bytes()) {
			t.Errorf("%s is not current (%v): run go generate ./internal/docpictures in cmd", name, err)
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// Subscribers of the picture in README.md find the present key.
func TestHeroMessages(t *testing.T) {
	today, messages, err := heroMessages()
	if err != nil || len(messages) != 3 {
		t.Fatal(len(messages), err)
	}
	for _, m := range messages {
		if !m.has.HasString("77") || m.has.HasString("zebra") {
			t.Errorf("%s: 77 is absent or zebra is present; draw another key", m.what)
		}
	}
	if last := messages[2].has; !last.Equal(today) || messages[2].bytes >= messages[0].bytes/5 {
		t.Errorf("a delta of %d bytes, the filter has %d", messages[2].bytes, messages[0].bytes)
	}
}
