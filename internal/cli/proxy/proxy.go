// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// options are the flags of proxy.
type options struct {
	one, passthrough bool
	address, socket  string
	port             int
	// command is run with the endpoints in its environment, empty for none.
	command []string
}

func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "proxy TARGET [-- COMMAND [ARG...]]",
		Short: "Offer the members as local endpoints, for etcdctl and others",
		Long: ui.Paragraphs(`
			Offer the members as local endpoints, for etcdctl and others, until Ctrl-C: one for each
			member, or with --one a single one whose connections go to the voters in turn, and to the next
			where one can't be reached. Variables for etcdctl are printed to stdout.

			TLS ends here: the members' certificates are verified, and what they ask of a client is added,
			so that the local endpoint is in the clear and open to every user of this machine. --socket
			keeps it to you. With --tls-passthrough the client speaks TLS with the member itself and needs
			certificates of its own.

			With a COMMAND, that is run with the variables set, and its exit code is returned.`),
		Example: ui.Examples(`
			# Endpoints until Ctrl-C
			kubectl etcd proxy etcd-main

			# One call of etcdctl
			kubectl etcd proxy etcd-main -- etcdctl endpoint status -w table

			# Sockets that only you can open
			kubectl etcd proxy etcd-main --socket ~/.etcd-main`),
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args = args[:dash]
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = args[1:]
			return run(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.one, "one", false, "Offer one endpoint for all voters instead of one for each member")
	flags.BoolVar(&o.passthrough, "tls-passthrough", false, "Leave TLS to the client")
	flags.StringVar(&o.address, "address", "127.0.0.1", "Address to listen on")
	flags.IntVar(&o.port, "port", 0, "Port of the first endpoint, the others follow; 0 for any that is free")
	flags.StringVar(&o.socket, "socket", "", "Directory for Unix sockets, instead of ports; it is made where it is missing")
	cmd.MarkFlagsMutuallyExclusive("socket", "address")
	cmd.MarkFlagsMutuallyExclusive("socket", "port")
	return cmd
}

func run(ctx context.Context, a *app.App, target string, o options) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	survey, err := c.Members.Survey(ctx)
	if err != nil {
		return err
	}
	doors, err := listen(ctx, c, survey, o)
	if err != nil {
		return err
	}
	defer doors.close()
	doors.warn = warnOnce(a)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := doors.serve(ctx)
	variables := doors.variables()
	printUsage(a, c, doors, o)
	if len(o.command) > 0 {
		err = runCommand(ctx, a, o.command, variables)
	} else {
		for _, v := range variables {
			fmt.Fprintf(a.Out, "export %s\n", quoted(v))
		}
		<-ctx.Done()
	}
	stop()
	doors.close()
	served.Wait()
	return err
}

// printUsage says what a user of the endpoints must know.
func printUsage(a *app.App, c *app.Cluster, d *listeners, o options) {
	for _, door := range d.all {
		fmt.Fprintf(a.ErrOut, "%s  %s\n", door.url, strings.Join(door.pods, ", "))
	}
	tls, password := false, false
	for _, m := range c.Members.Endpoints {
		tls, password = tls || m.TLS != nil, password || m.Username != ""
	}
	switch {
	case o.passthrough && tls:
		printPassthrough(a, c, d)
	case o.socket == "" && tls:
		a.Warn("any user of this machine can use these endpoints as if they had the cluster's client certificate; --socket DIR keeps them to you.")
	case o.socket == "":
		a.Warn("any user of this machine can use these endpoints; --socket DIR keeps them to you.")
	}
	if password {
		fmt.Fprintln(a.ErrOut, "Authentication is on: give etcdctl --user.")
	}
	if len(o.command) == 0 {
		fmt.Fprintln(a.ErrOut, "Ctrl-C ends it.")
	}
}

// printPassthrough says what a client that speaks TLS itself has to bring.
func printPassthrough(a *app.App, c *app.Cluster, d *listeners) {
	fmt.Fprintln(a.ErrOut, "TLS passes through: give etcdctl --cacert, --cert and --key.")
	for _, door := range d.all {
		for _, pod := range door.pods {
			if shown := c.Members.Certificate(pod); shown != nil && shown.VerifyHostname(door.host) != nil {
				a.Warn("the certificate of %s is not valid for %s, so a client must be told which name to expect; etcdctl can't be.", pod, door.host)
			}
		}
	}
}

// warnOnce tells the first of several equal failures in a row.
func warnOnce(a *app.App) func(pod string, err error) {
	said := newLatest()
	return func(pod string, err error) {
		if text := err.Error(); said.changed(pod, text) {
			a.Warn("%s.", text)
		}
	}
}

// runCommand runs a command with more variables. What Ctrl-C means is the command's to
// decide, for a moment.
func runCommand(ctx context.Context, a *app.App, command, variables []string) error {
	run := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // it is what the user asked for
	run.Stdin, run.Stdout, run.Stderr = a.In, a.Out, a.ErrOut
	run.Env = append(os.Environ(), variables...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	return run.Run()
}

// quoted is a variable as a shell takes it.
func quoted(variable string) string {
	name, value, _ := strings.Cut(variable, "=")
	return name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
