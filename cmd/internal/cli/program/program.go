// Package program has the verbs of umbel. Two mains have them: cmd/umbel, and cmd/cloud/umbel, which links the libraries
// of clouds and NATS.
package program

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/cli/nodes"
	"github.com/umbel-filters/umbel/cmd/internal/cli/publications"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
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

Exit codes: 0 success, or a key may be present; 1 all keys are absent (as grep: see umbel has);
2 error; 130 ended by ^C, and 143 by SIGTERM, except for servers, which then end with 0.
6 the work was done, and a warning states that its result has more errors than stated: the
filter is overfull, or new lines were taken for known ones (--lossy makes it 0).
Publications: 3 the version is out of date; 4 it is refused; 5 its source can't be read.
umbel-cache, umbel-nix and umbel-multicast are programs of their own.
Files are written completely or not at all. An input of the command, a read-only file and a file that
the verb does not write are replaced only with --force. Keys added to a node before an error stay.`

const rootExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel has words.umb zebra zebro
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel info small.umb
  umbel shell tiny.umb --kind counting -n 10
  umbel serve
  umbel has users alice --addr 127.0.0.1:8780`

// Engines are what a program can use of other systems.
type Engines struct {
	Logs    sharedlog.Openers // where a group of nodes keeps its log
	Objects object.Stores     // what make and merge read and write besides files
}

// Umbel returns the verbs of a program with engines.
func Umbel(e Engines) cli.Program {
	return cli.Program{
		Name: "umbel", Short: "Bloom filters in files and on servers", Long: rootHelp, Example: rootExample,
		Groups: []cli.Group{ // the first are the verbs to begin with
			{Title: "To begin with", Verbs: []*cobra.Command{
				filters.MakeCommand(e.Objects), filters.HasCommand(), filters.AddCommand(), filters.InfoCommand(), filters.PlanCommand(), nodes.ServeCommand(e.Logs),
			}},
			{Title: "Filters in files and on nodes", Verbs: []*cobra.Command{
				filters.RemoveCommand(), filters.CountCommand(), filters.UniqCommand(), filters.ShowCommand(), filters.ShellCommand(),
				filters.FoldCommand(), filters.MergeCommand(e.Objects), filters.IntersectCommand(), filters.EditCommand(), filters.VerifyCommand(),
			}},
			{Title: "Messages", Verbs: []*cobra.Command{
				filters.ConvertCommand(), filters.DiffCommand(), filters.PatchCommand(),
			}},
			{Title: "Sizes and kinds", Verbs: []*cobra.Command{filters.KindsCommand(), filters.MeasureCommand()}},
			{Title: "Other formats", Verbs: []*cobra.Command{filters.ParquetCommand()}},
			{Title: "Nodes", Verbs: []*cobra.Command{
				nodes.NodeCommand(), nodes.GroupCommand(), nodes.UserCommand(), nodes.BackupCommand(),
			}},
			{Title: "Publications", Verbs: []*cobra.Command{
				publications.KeygenCommand(), publications.PublishCommand(), publications.ReplicaCommand(), publications.FetchCommand(), publications.UniteCommand(),
				publications.PeersCommand(),
			}},
		},
	}
}
