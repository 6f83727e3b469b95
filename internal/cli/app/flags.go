// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// AddGlobalFlags gives every command kubectl's flags and those that all of ours share.
func (e *App) AddGlobalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	e.Flags.AddFlags(flags)
	e.Credentials.AddFlags(flags)
	flags.Var(&e.Color, "color", "Colour the output: auto, always or never. NO_COLOR and CLICOLOR_FORCE are honoured")
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	verbosity := pflag.PFlagFromGoFlag(logging.Lookup("v"))
	verbosity.Shorthand = "v"
	verbosity.Usage = "Number for the log level verbosity: 6 shows requests, 8 their contents"
	flags.AddFlag(verbosity)
}
