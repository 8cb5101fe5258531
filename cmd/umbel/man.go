package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manDate is the date on the pages, the same in each build.
var manDate = time.Unix(0, 0).UTC()

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "write the manual pages",
		Long:    "Write a manual page for umbel and one for each verb into a directory, which is made\nif it isn't there.",
		Example: "  umbel man ~/.local/share/man/man1\n  man umbel-make",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "UMBEL", Section: "1", Source: "umbel", Manual: "umbel manual", Date: &manDate}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			if isQuiet(cmd) {
				return nil
			}
			return answer(cmd, map[string]string{"directory": args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "manual pages written to %s\n", args[0])
				return err
			})
		},
	}
}
