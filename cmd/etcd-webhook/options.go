// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certificate"
)

// options holds the values of the command line.
type options struct {
	certificate    *certificate.Options
	webhookPort    int
	metrics        string
	probes         string
	leaseNamespace string
	logLevel       slog.Level
	version        bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := o.flags()
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.certificate.Settings.Validate()
}

// flags returns the flags of the command line, which set o.
func (o *options) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("etcd-webhook", flag.ContinueOnError)
	o.certificate = certificateFlags(flags)
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "`port` for admission reviews")
	flags.StringVar(&o.metrics, "metrics-address", ":8443", "`address` for metrics over TLS; 0 for none")
	flags.StringVar(&o.probes, "probe-address", ":8081", "`address` for /healthz and /readyz")
	flags.StringVar(&o.leaseNamespace, "leader-election-namespace", "", "`namespace` of the leader's lease; empty for the pod's")
	flags.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "lowest `level` to log: DEBUG, INFO, WARN or ERROR")
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	return flags
}
