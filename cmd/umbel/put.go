package main

import (
	"io"

	"github.com/spf13/cobra"
)

const putHelp = `Make a filter of a node of the one in FILE; "-" is standard input. With --replace it takes the
place of one of that name, which is asked until all of the new one has come. Without --addr
the node is that of this machine, at port 8780.`

const putExample = `  umbel put users.umb users
  umbel put words.umb words --replace --addr filters.example:8780`

func putCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "put FILE NAME",
		Short:   "make a filter of a node of one in a file",
		Long:    putHelp,
		Example: putExample,
		Args:    arguments(2, 2),
	}
	replace := cmd.Flags().Bool("replace", false, "in the place of one that is there")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := dialAny(cmd)
		if err != nil {
			return err
		}
		files, closeFiles, err := openKeys(cmd, args[:1])
		if err != nil {
			return err
		}
		defer closeFiles()
		bar := startBar(cmd, "sending "+args[0], totalBytes(files))
		in, err := n.Put(cmd.Context(), args[1], io.TeeReader(files[0], bar.Writer(io.Discard)), *replace)
		bar.Stop()
		if err != nil {
			return err
		}
		return summaryOf(args[1], in).print(cmd, "put from "+args[0])
	}
	return cmd
}
