package color

import (
	"os"
	"testing"
)

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		style Style
		text  string
		want  string
		width int
	}{
		{Plain, "größer", "größer", 6},
		{Red, "größer", "\x1b[31mgrößer\x1b[m", 6},
		{Green, "", "", 0},
	} {
		got := c.style.Paint(c.text)
		if got != c.want {
			t.Errorf("%q in style %q: got %q, want %q", c.text, c.style, got, c.want)
		}
		if w := Width(got); w != c.width {
			t.Errorf("%q is %d characters wide, want %d", got, w, c.width)
		}
	}
}

func TestEnabled(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Enabled(file) {
		t.Error("text in a file has styles")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no pseudoterminals")
	}
	defer terminal.Close()
	if !Enabled(terminal) {
		t.Error("text on a terminal has no styles")
	}
	t.Setenv("NO_COLOR", "1")
	if Enabled(terminal) || !CanDraw(terminal) {
		t.Error("with NO_COLOR text has styles, or the terminal cannot be drawn on")
	}
	t.Setenv("TERM", "dumb")
	if CanDraw(terminal) {
		t.Error("a dumb terminal can be drawn on")
	}
}
