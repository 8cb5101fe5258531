package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"golang.org/x/term"
)

// Reference returns the annotations of a verb with the part of its description that users look up. The help of the verb leaves it out;
// the help command and the manual page have it.
func Reference(text string) map[string]string { return map[string]string{referenceText: text} }

// referenceText is the annotation of [Reference].
const referenceText = "reference"

// PrintHelp prints the help of cmd, wrapped to the terminal, for --help: how a verb is used, and the names of flags that have
// groups of their own. [PrintAll] describes these.
func PrintHelp(cmd *cobra.Command, _ []string) {
	p := NewPage(cmd.OutOrStdout())
	p.use(cmd)
	if p.flags(cmd, false) || cmd.Annotations[referenceText] != "" {
		verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		p.text(fmt.Sprintf("%s help %s describes all of it, as does the manual page.", cmd.Root().Name(), verb))
	}
}

// PrintAll prints all that describes cmd.
func PrintAll(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	p := NewPage(cmd.OutOrStdout())
	p.use(cmd)
	if text := cmd.Annotations[referenceText]; text != "" {
		p.text(text)
	}
	p.flags(cmd, true)
}

// use writes how cmd is used. The help of a program begins with the verbs.
func (p Page) use(cmd *cobra.Command) {
	fmt.Fprintf(p.w, "%s: %s\n", cmd.CommandPath(), cmd.Short)
	fmt.Fprintf(p.w, "\nUsage:\n  %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	if !cmd.HasParent() {
		p.verbs(cmd)
	}
	if cmd.Example != "" {
		fmt.Fprintf(p.w, "\nExamples:\n%s\n", cmd.Example)
	}
	switch {
	case cmd.Long == "":
	case cmd.HasParent():
		p.text(cmd.Long)
		p.verbs(cmd)
	default:
		p.text(fmt.Sprintf("%s help %s describes what concerns all verbs: notation, files and exit codes.", cmd.Name(), conventions))
	}
}

// conventions is the topic of the help command with the text that concerns all verbs of a program.
const conventions = "conventions"

// PageWidth is the width of the terminal, from 60 to 100 columns, and otherwise 80.
func PageWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return min(max(width, 60), 100)
	}
	return 80
}

// Page writes text in at most width columns.
type Page struct {
	w     io.Writer
	width int
}

// NewPage returns a page of the width of the terminal.
func NewPage(w io.Writer) Page { return Page{w, PageWidth()} }

// text writes paragraphs, which empty lines separate, after an empty line each. Paragraphs with indented lines
// stay as they are.
func (p Page) text(s string) {
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		fmt.Fprintln(p.w)
		if strings.Contains("\n"+paragraph, "\n ") {
			fmt.Fprintln(p.w, paragraph)
			continue
		}
		p.Words("", "", paragraph)
	}
}

// Words writes the words of s after first, and further lines after indent.
func (p Page) Words(first, indent, s string) {
	line, empty := first, true
	for _, word := range strings.Fields(s) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > p.width {
			fmt.Fprintln(p.w, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(p.w, strings.TrimRight(line, " "))
}

// row writes a name and its description, next to it or below.
func (p Page) row(name, doc string) {
	const column = 26
	if len(name) > column-2 {
		fmt.Fprintln(p.w, name)
		name = ""
	}
	p.Words(fmt.Sprintf("%-*s", column, name), strings.Repeat(" ", column), doc)
}

// verbGroup is verbs below a title, which may be empty.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// groupsOf returns the verbs of cmd: those of a program by its groups, others as one group.
func groupsOf(cmd *cobra.Command) []verbGroup {
	if cmd.HasParent() {
		return []verbGroup{{"", cmd.Commands()}}
	}
	var groups []verbGroup
	for _, g := range cmd.Groups() {
		verbs := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return c.GroupID != g.ID })
		groups = append(groups, verbGroup{g.Title, verbs})
	}
	return groups
}

// verbs writes the verbs of cmd.
func (p Page) verbs(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	for _, g := range groupsOf(cmd) {
		fmt.Fprintf(p.w, "\n%s:\n", cmp.Or(g.title, "Verbs"))
		for _, c := range g.verbs {
			p.row("  "+c.Name(), c.Short)
		}
	}
	if !cmd.HasParent() {
		fmt.Fprintf(p.w, "\n%s VERB --help describes a verb.\n", cmd.Name())
	}
}

// flagGroup is flags below a title.
type flagGroup struct {
	title string
	flags []*pflag.Flag
	own   bool // of the verb, or of all verbs
}

// flagGroups returns the flags of cmd: its own, those of each kind, those of the connection, and those of all verbs.
func flagGroups(cmd *cobra.Command) []flagGroup {
	const own, all = "Flags", "Flags of all verbs"
	lists, titles := map[string][]*pflag.Flag{}, []string{own}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		title := own
		if group := f.Annotations[spec.FlagGroup]; group != nil {
			title = group[0]
		} else if cmd.InheritedFlags().Lookup(f.Name) != nil || f.Name == "help" || !cmd.HasParent() {
			title = all
		}
		if !f.Hidden {
			lists[title] = append(lists[title], f)
		}
		if title != all && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	})
	// The longest titles are those of the flags that most kinds have.
	slices.SortStableFunc(titles[1:], func(a, b string) int {
		return cmp.Or(strings.Count(b, ",")-strings.Count(a, ","), strings.Compare(a, b))
	})
	var groups []flagGroup
	for _, title := range append(titles, all) {
		if len(lists[title]) > 0 {
			groups = append(groups, flagGroup{title, lists[title], title == own || title == all})
		}
	}
	return groups
}

// flags writes the flags of cmd. Unless complete, it writes only the names of those in groups of their own, and reports whether there
// are any.
func (p Page) flags(cmd *cobra.Command, complete bool) (named bool) {
	names, titles := map[string][]string{}, []string(nil)
	for _, g := range flagGroups(cmd) {
		if complete || g.own {
			fmt.Fprintln(p.w)
			p.Words("", "  ", g.title+":")
			for _, f := range g.flags {
				p.row(describeFlag(f))
			}
			continue
		}
		for _, f := range g.flags {
			title := f.Annotations[spec.FlagGroup][len(f.Annotations[spec.FlagGroup])-1]
			if names[title] == nil {
				titles = append(titles, title)
			}
			names[title] = append(names[title], "--"+f.Name)
		}
	}
	for _, title := range titles {
		fmt.Fprintln(p.w)
		p.Words("", "  ", title+": "+strings.Join(names[title], ", "))
	}
	return len(titles) > 0
}

// describeFlag returns the name of a flag, with its value, and its description.
func describeFlag(f *pflag.Flag) (name, doc string) {
	value, doc := pflag.UnquoteUsage(f)
	name = "      --" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		name += " " + value
	}
	value = f.DefValue
	if _, list := f.Value.(pflag.SliceValue); list {
		value = strings.Trim(value, "[]")
	}
	if !slices.Contains([]string{"", "0", "false", "[]", "0s", "0 B"}, value) {
		doc += " (default " + value + ")"
	}
	return name, doc
}
