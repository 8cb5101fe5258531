package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
)

const rootHelp = `umbel makes filters of keys. A filter is a small summary of a set. It answers whether a key may
be in the set: never no for a key that was added, and yes for other keys at a rate you choose.

Rates are written 0.001, 1e-3, 0.1%, 1/1000 or "1 in 1000"; counts 1000000, 1e6 or 1M; sizes
4096, 64KiB, 64K, 1.5MB or, in bits, 4096bit. In sizes, K, M and G alone are powers of 1024; in counts,
powers of 1000. Durations are written 500ms, 10s, 1h30m or 7d.

A key is a line, without its newline and a carriage return before it; an empty line is the
empty key. A byte order mark before the first line is no part of it. Files that are compressed, text in UTF-16 and zero
bytes are refused, in all verbs and by a node. With -0 a key ends at a zero byte instead. For a filter with hash "caller" a key is
a digest of 32 hexadecimal digits.

umbel serve runs a node. A node keeps filters in memory and on disk, and serves clients of
Redis and HTTP. With --addr HOST:PORT or UMBEL_ADDR, the FILE of a verb is the name of a filter
on a node; everything else stays the same. Verbs that work on files only reject --addr. Keys
are hashed before they are sent, unless the node keeps the seed of the hash secret.

A FILE of - is standard input or standard output.

Results go to standard output, everything else to standard error. A terminal shows some words in color,
unless NO_COLOR is set. With --json a verb prints
one object, or one object per line if it has many results: rates are fractions, sizes are
bytes, and infinite numbers are null. Standard error then has objects, too: an error is
{"error": …, "exit": …}, a warning {"warning": …}, and another message {"note": …}.

Exit codes: 0 success, or a key may be present; 1 all keys are absent (as grep: see umbel has), packets are missing,
or an answer was wrong; 2 error; 130 ended by ^C, and 143 by SIGTERM, except for servers, which then end
with 0. 6 the work was done, and a warning states that its result has more errors than stated: the filter is overfull, or new lines
were taken for known ones (--lossy makes it 0).
Publications: 3 the version is out of date; 4 it is refused; 5 its source can't be read.
Files are written completely or not at all. An input of the command, a read-only file and a file that
the verb does not write are replaced only with --force. Keys added to a node before an error stay.`

const rootExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel has words.umb zebra zebro
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel info small.umb
  umbel shell tiny.umb --kind counting -n 10
  umbel serve
  umbel has users alice --addr 127.0.0.1:8780`

// rootCommand returns the tree of all commands.
func rootCommand() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:     "umbel VERB",
		Short:   "Bloom filters in files and on servers",
		Long:    rootHelp,
		Example: rootExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(cmd)
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
	root.AddCommand(
		makeCommand(), addCommand(), hasCommand(), uniqCommand(), removeCommand(), countCommand(),
		infoCommand(), showCommand(), shellCommand(),
		foldCommand(), unfoldCommand(), mergeCommand(), intersectCommand(), diffSetsCommand(), clearCommand(),
		advanceCommand(), compactCommand(),
		packCommand(), unpackCommand(), diffCommand(), patchCommand(), refineCommand(),
		planCommand(), measureCommand(), numberCommand(), kindsCommand(),
		parquetCommand(), redisbloomCommand(), squidCommand(), nixCommand(), multicastCommand(),
		listCommand(), getCommand(), putCommand(), deleteCommand(),
		keygenCommand(), publishCommand(), subscribeCommand(), peersCommand(), demoCommand(),
		cacheCommand(), siblingsCommand(),
		serveCommand(), healthCommand(), statusCommand(), snapshotCommand(), acknowledgeCommand(), configCommand(), userCommand(), backupCommand(), verifyCommand(), restoreCommand(),
		manCommand(), versionCommand(),
	)
	completeChoices(root)
	root.SetHelpFunc(printHelp)
	root.SetHelpCommand(helpCommand())
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

// arguments returns a check for at least least and at most most arguments; most is -1 for
// any number.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if len(args) < least {
			return usageError(cmd, fmt.Errorf("missing arguments: %s", usage))
		}
		if most >= 0 && len(args) > most {
			return usageError(cmd, fmt.Errorf("unexpected argument %q: %s", args[most], usage))
		}
		return nil
	}
}

// noArguments accepts no arguments. A word where a verb belongs is an unknown verb.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return arguments(0, 0)(cmd, args)
	}
	err := fmt.Errorf("unknown verb %q", args[0])
	if near := similarVerbs(cmd, args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return usageError(cmd, err)
}

// synonyms are the words of other programs for verbs.
var synonyms = map[string][]string{
	"create": {"make"}, "build": {"make"}, "new": {"make"}, "insert": {"add"},
	"test": {"has"}, "contains": {"has"}, "check": {"has"}, "query": {"has"}, "exists": {"has"}, "grep": {"has"},
	"rm": {"remove", "delete"}, "del": {"remove", "delete"}, "stat": {"info"}, "describe": {"info"}, "size": {"info"},
	"dedupe": {"uniq"}, "dedup": {"uniq"}, "ls": {"list"}, "upload": {"put"}, "download": {"get"}, "server": {"serve"},
	"compress": {"pack"}, "shrink": {"fold"}, "apply": {"patch"}, "draw": {"show"},
}

// similarVerbs returns the verbs of cmd that a user may have meant by word.
func similarVerbs(cmd *cobra.Command, word string) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	if verbs := synonyms[word]; len(verbs) > 0 && slices.Contains(names, verbs[0]) {
		return verbs
	}
	return suggest.Nearest(word, names)
}

// helpCommand is cobra's with an error for a verb that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "print the help of a verb",
		Example: "  umbel help make\n  umbel help multicast plan",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				names = append(names, c.Name()+"\t"+c.Short)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noArguments(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func wantsJSON(cmd *cobra.Command) bool {
	b, _ := cmd.Flags().GetBool("json")
	return b
}

func isQuiet(cmd *cobra.Command) bool {
	b, _ := cmd.Flags().GetBool("quiet")
	return b
}
