package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
)

// Program is a program: what its help begins with, and its verbs.
type Program struct {
	Name, Short, Long, Example string
	Groups                     []Group // of verbs, in the order of the help
}

// Group is verbs below a title.
type Group struct {
	Title string
	Verbs []*cobra.Command
}

// Root returns the commands of a program: its verbs, and those that all programs have.
func Root(p Program) *cobra.Command {
	cobra.EnableCommandSorting = false
	var version bool
	root := &cobra.Command{
		Use:     p.Name + " VERB",
		Short:   p.Short,
		Long:    p.Long,
		Example: p.Example,
		Args:    NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(streamsOf(cmd))
			}
			return cmd.Help()
		},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.Flags().BoolVarP(&version, "version", "V", false, "print the version")
	root.PersistentFlags().Bool("json", false, "print JSON")
	root.PersistentFlags().BoolP("quiet", "q", false, "print errors and warnings only: no summary, no progress")
	root.SetFlagErrorFunc(flagError)
	refuseAddr(root)
	about := "About " + p.Name
	for _, g := range append(p.Groups, Group{about, []*cobra.Command{versionCommand(p.Name), manCommand(p.Name)}}) {
		root.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title})
		for _, verb := range g.Verbs {
			verb.GroupID = g.Title
			root.AddCommand(verb)
		}
	}
	completeChoices(root)
	root.SetHelpFunc(PrintHelp)
	root.SetHelpCommand(helpCommand(p))
	root.SetHelpCommandGroupID(about)
	root.SetCompletionCommandGroupID(about)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	describeCompletion(root)
	return root
}

// completeChoices adds the completion of flags whose type is a list of words, always|everysec|none, to all commands.
func completeChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if words := strings.Split(f.Value.Type(), "|"); len(words) > 1 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, c := range cmd.Commands() {
		completeChoices(c)
	}
}

// Arguments returns a check for at least least and at most most arguments; most is -1 for
// any number.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if len(args) < least {
			return UsageError(fmt.Errorf("missing arguments: %s", usage))
		}
		if most >= 0 && len(args) > most {
			return UsageError(fmt.Errorf("unexpected argument %q: %s", args[most], usage))
		}
		return nil
	}
}

// NoArguments accepts no arguments. A word where a verb belongs is an unknown verb.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return Arguments(0, 0)(cmd, args)
	}
	err := fmt.Errorf("unknown verb %q", args[0])
	if now := formerVerbs[args[0]]; now != "" && !cmd.HasParent() {
		err = fmt.Errorf("%w; it is %s now", err, now)
	} else if near := similarVerbs(cmd, args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return usageError{err, cmd.CommandPath()}
}

// synonyms are the words of other programs for verbs.
var synonyms = map[string][]string{
	"create": {"make"}, "build": {"make"}, "new": {"make"}, "insert": {"add"},
	"test": {"has"}, "contains": {"has"}, "check": {"has"}, "query": {"has"}, "exists": {"has"}, "grep": {"has"},
	"rm": {"remove", "node delete"}, "del": {"remove", "node delete"}, "stat": {"info"}, "describe": {"info"}, "size": {"info"},
	"dedupe": {"uniq"}, "dedup": {"uniq"}, "ls": {"node list"}, "upload": {"node put"}, "download": {"node get"}, "server": {"serve"},
	"compress": {"convert --as packed"}, "shrink": {"fold"}, "apply": {"patch"}, "draw": {"show"},
}

// formerVerbs are the verbs that umbel had in earlier versions, with the commands that replace them. Those that are verbs of a noun
// now are found by their names.
var formerVerbs = map[string]string{
	"cache": "umbel-cache serve", "siblings": "umbel-cache siblings", "squid": "umbel-cache squid", "nix": "umbel-nix", "multicast": "umbel-multicast",
	"health": "umbel node status --check", "subscribe": "umbel replica or, with -o, umbel fetch",
	"pack": "umbel convert --as packed", "unpack": "umbel convert", "redisbloom": "umbel convert --as redis",
	"number": "umbel plan --number", "refine": "umbel diff --refine", "diff-sets": "umbel merge --subtract",
	"demo": "go run ./examples/demo, in a checkout,",
}

// similarVerbs returns the verbs of cmd that a user may have meant by word, with the nouns before them.
func similarVerbs(cmd *cobra.Command, word string) []string {
	var names, nested []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
		if i := slices.IndexFunc(c.Commands(), func(v *cobra.Command) bool { return v.Name() == word }); i >= 0 {
			nested = append(nested, c.Name()+" "+word)
		}
	}
	if len(nested) > 0 {
		return nested
	}
	var known []string
	for _, path := range synonyms[word] {
		path = strings.TrimPrefix(path, cmd.Name()+" ")
		if first, _, _ := strings.Cut(path, " "); slices.Contains(names, first) {
			known = append(known, path)
		}
	}
	if len(known) > 0 {
		return known
	}
	return suggest.Nearest(word, names)
}

// Noun returns a command that consists of verbs.
func Noun(name, short, long, example string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example,
		Args: NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// helpCommand is cobra's with an error for a verb that does not exist.
func helpCommand(p Program) *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB | " + conventions + "]",
		Short:   "print the help of a verb, or what concerns all of them",
		Example: "  " + p.Name + " help " + p.Groups[0].Verbs[0].Name(),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				names = append(names, c.Name()+"\t"+c.Short)
			}
			return append(names, conventions), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == conventions && p.Long != "" {
				NewPage(cmd.OutOrStdout()).text(p.Long)
				return nil
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return NoArguments(about, rest)
			}
			PrintAll(about)
			return nil
		},
	}
}

// Verb makes run what a verb does. Its context ends at a signal if the verb works on a node.
func Verb(cmd *cobra.Command, run func(ctx context.Context, streams *Streams, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		streams, ctx := streamsOf(cmd), cmd.Context()
		if onNode(cmd) {
			ctx = streams.Interruptible(ctx)
		}
		if err := run(ctx, streams, args); err != nil {
			return err
		}
		if streams.exceeded {
			return errExceeded
		}
		return nil
	}
	return cmd
}
