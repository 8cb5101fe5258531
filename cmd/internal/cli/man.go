package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
)

func manCommand(program string) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "write the manual pages",
		Long:    "Write a manual page for " + program + " and one for each verb into a directory, which is created\nif necessary.",
		Example: "  " + program + " man ~/.local/share/man/man1\n  man " + program,
		Args:    Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			if err := writeManual(args[0], cmd.Root()); err != nil {
				return err
			}
			return streamsOf(cmd).Report("", map[string]string{"directory": args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "manual pages written to %s\n", args[0])
				return err
			})
		},
	}
}

// writeManual writes the page of cmd and those of its verbs.
func writeManual(dir string, cmd *cobra.Command) error {
	err := atomicfile.Write(filepath.Join(dir, manName(cmd)+".1"), func(w io.Writer) error {
		_, err := w.Write(ManPage(cmd))
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			if err := writeManual(dir, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// ManPage returns the manual page of cmd in roff, with the macros of man(7).
func ManPage(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	var r Roff
	fmt.Fprintf(&r, ".TH %q 1 \"\" %s \"%[2]s manual\"\n.SH NAME\n", strings.ToUpper(manName(cmd)), cmd.Root().Name())
	r.Text(manName(cmd) + " - " + cmd.Short)
	r.WriteString(".SH SYNOPSIS\n")
	r.literal(strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	if cmd.Long != "" {
		r.WriteString(".SH DESCRIPTION\n")
		r.paragraphs(cmd.Long)
	}
	if text := cmd.Annotations[referenceText]; text != "" {
		r.WriteString(".SH REFERENCE\n")
		r.paragraphs(text)
	}
	r.verbs(cmd)
	for _, g := range flagGroups(cmd) {
		fmt.Fprintf(&r, ".SH %s\n", strings.ToUpper(roffText(g.title)))
		for _, f := range g.flags {
			name, doc := describeFlag(f)
			fmt.Fprintf(&r, ".TP\n.B %s\n", roffText(strings.TrimSpace(name)))
			r.Text(doc)
		}
	}
	if cmd.Example != "" {
		r.WriteString(".SH EXAMPLES\n")
		r.literal(cmd.Example)
	}
	if cmd.HasParent() {
		r.WriteString(".SH SEE ALSO\n")
		r.Text(manName(cmd.Parent()) + "(1), which has the exit codes and the forms of numbers")
	}
	return r.Bytes()
}

// Roff is a page as it grows.
type Roff struct{ bytes.Buffer }

// roffText escapes characters that roff would interpret.
func roffText(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(s)
}

// line writes one line of text.
func (r *Roff) line(s string) {
	if strings.HasPrefix(s, ".") {
		r.WriteString(`\&`)
	}
	r.WriteString(roffText(s) + "\n")
}

// Text writes the lines of a paragraph, which roff fills.
func (r *Roff) Text(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		r.line(line)
	}
}

// literal writes lines that stay as they are.
func (r *Roff) literal(s string) {
	r.WriteString(".nf\n")
	r.Text(s)
	r.WriteString(".fi\n")
}

// paragraphs writes text whose paragraphs empty lines separate; those with indented lines stay as they are.
func (r *Roff) paragraphs(s string) {
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		r.WriteString(".PP\n")
		if strings.Contains("\n"+paragraph, "\n ") {
			r.literal(paragraph)
		} else {
			r.Text(paragraph)
		}
	}
}

// verbs lists the verbs of cmd, if it has any.
func (r *Roff) verbs(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	r.WriteString(".SH VERBS\n")
	for _, g := range groupsOf(cmd) {
		if g.title != "" {
			fmt.Fprintf(r, ".SS %s\n", roffText(g.title))
		}
		for _, c := range g.verbs {
			fmt.Fprintf(r, ".TP\n.B %s\n", roffText(c.Name()))
			r.Text(c.Short)
		}
	}
}
