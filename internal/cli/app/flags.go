// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// AddGlobalFlags adds kubectl's flags and ours to every command.
func (a *App) AddGlobalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	a.Flags.AddFlags(flags)
	a.Credentials.AddFlags(flags)
	root.MarkFlagsRequiredTogether("cert", "key")
	root.MarkFlagsMutuallyExclusive("etcd-user", "user-secret")
	ui.AddEnum(root, flags, &a.Color, "color", "mode", "Color the output: auto, always or never. NO_COLOR and CLICOLOR_FORCE are respected", ui.ColorModes...)
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	verbosity := pflag.PFlagFromGoFlag(logging.Lookup("v"))
	verbosity.Shorthand = "v"
	verbosity.Usage = "Log level. 6 shows requests, 8 also shows their contents"
	flags.AddFlag(verbosity)
	root.PersistentPreRun = func(*cobra.Command, []string) { quiet(logging) }
}

// quiet discards the logs of libraries unless a log level is set. What they log as an error they
// also return, and client-go logs each request that the user interrupts.
func quiet(logging *flag.FlagSet) {
	if klog.V(1).Enabled() {
		return
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// The flag exists and FATAL is one of its values.
	_ = logging.Set("stderrthreshold", "FATAL")
}
