package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `umbel makes filters of keys: small summaries of a set that answer whether a key
may be in it, never wrongly no, and wrongly yes at a rate you choose.

Rates are written 0.001, 1e-3, 0.1%, 1/1000 or "1 in 1000"; counts 1000000, 1e6
or 1M; sizes 4096, 64KiB or 1.5MB.

Keys are lines: all up to a newline, without a carriage return before it; an
empty line is the empty key. With -0 each key ends at a zero byte instead. In a
filter whose hash is "caller" a key is a digest of 32 hexadecimal digits.

umbel serve is a node: it keeps filters in memory and on disk, and answers clients of
Redis and of HTTP. With --addr HOST:PORT, or UMBEL_ADDR, the FILE of a verb is the name
of a filter of a node, and nothing else changes; verbs that need the file say so. Keys are
hashed here and not sent, unless the node keeps the seed of the hash to itself.

Results go to standard output, all else to standard error. With --json a verb
prints one object, or one object a line where it answers many things; numbers are
plain there, rates fractions, sizes bytes, and what is infinite is null.

Exit codes: 0 done, or all keys may be there; 1 some keys are absent, or packets
missed; 2 an error; 130 ended by ^C.
Files are written whole or not at all; keys added to a node's filter before an error stay.`

const rootExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel has words.umb zebra zebro
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel info small.umb
  umbel shell tiny.umb --kind counting -n 10
  umbel serve
  umbel has users alice --addr 127.0.0.1:8780`

// rootCommand returns the whole tree of commands.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "umbel",
		Short:         "filters that answer whether a key may be in a set",
		Long:          rootHelp,
		Example:       rootExample,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().Bool("json", false, "print JSON")
	root.PersistentFlags().BoolP("quiet", "q", false, "print errors only, no summary and no progress")
	root.SetFlagErrorFunc(usageError)
	refuseAddr(root)
	root.AddCommand(
		makeCommand(), addCommand(), hasCommand(), removeCommand(), countCommand(),
		infoCommand(), showCommand(), shellCommand(),
		foldCommand(), unfoldCommand(), mergeCommand(), intersectCommand(), diffSetsCommand(), clearCommand(),
		advanceCommand(), compactCommand(),
		packCommand(), unpackCommand(), diffCommand(), patchCommand(), refineCommand(),
		planCommand(), measureCommand(), numberCommand(), kindsCommand(),
		parquetCommand(), redisbloomCommand(), multicastCommand(),
		listCommand(), getCommand(), putCommand(), deleteCommand(),
		serveCommand(), configCommand(), userCommand(), backupCommand(), verifyCommand(), restoreCommand(),
		manCommand(), versionCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// usageError says where the help is.
func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// arguments returns a check for at least min and at most max arguments; max is -1
// where any number may follow.
func arguments(min, max int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if len(args) < min {
			return usageError(cmd, fmt.Errorf("arguments are missing: %s", usage))
		}
		if max >= 0 && len(args) > max {
			return usageError(cmd, fmt.Errorf("%q is one argument too many: %s", args[max], usage))
		}
		return nil
	}
}

// noArguments takes none. A word where a verb belongs is a verb that isn't there.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return arguments(0, 0)(cmd, args)
	}
	err := fmt.Errorf("no verb %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w, did you mean %s?", err, strings.Join(near, " or "))
	}
	return usageError(cmd, err)
}

func wantsJSON(cmd *cobra.Command) bool {
	b, _ := cmd.Flags().GetBool("json")
	return b
}

func isQuiet(cmd *cobra.Command) bool {
	b, _ := cmd.Flags().GetBool("quiet")
	return b
}
