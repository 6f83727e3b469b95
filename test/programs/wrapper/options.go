// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// options are the flags, named and defaulted as etcd-druid expects them.
type options struct {
	backupRestore    string // host:port
	backupRestoreTLS bool
	backupRestoreCA  string

	etcdName     string // the host name that etcd's certificates carry
	etcdPort     int
	etcdCert     string
	etcdKey      string
	readyTimeout time.Duration

	port int // where /readyz and /stop are served
}

// command is the one command there is.
const command = "start-etcd"

// parse reads the command line. It reports what is wrong with it on stderr,
// with the flags, or in the error.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.backupRestore, "backup-restore-host-port", ":8080", "address of backup-restore, `host:port`")
	flags.BoolVar(&o.backupRestoreTLS, "backup-restore-tls-enabled", false, "speak TLS with backup-restore")
	flags.StringVar(&o.backupRestoreCA, "backup-restore-ca-cert-bundle-path", "", "CA certificates of backup-restore")
	flags.StringVar(&o.etcdName, "etcd-server-name", "", "host name of this etcd member")
	flags.IntVar(&o.etcdPort, "etcd-client-port", 2379, "client port of this etcd member")
	flags.StringVar(&o.etcdCert, "etcd-client-cert-path", "", "client certificate for etcd")
	flags.StringVar(&o.etcdKey, "etcd-client-key-path", "", "key of the client certificate for etcd")
	flags.DurationVar(&o.readyTimeout, "etcd-ready-timeout", 0, "how long to wait for etcd to become ready; 0 doesn't wait")
	flags.IntVar(&o.port, "etcd-wrapper-port", 9095, "port of /readyz and /stop")
	if len(args) == 0 || args[0] != command {
		fmt.Fprintf(stderr, "usage: etcd-wrapper %s [flags]\n", command)
		flags.PrintDefaults()
		return o, flag.ErrHelp
	}
	if err := flags.Parse(args[1:]); err != nil {
		return o, flag.ErrHelp // the flag set has printed the error
	}
	return o, o.validate()
}

// validate refuses what could only fail later.
func (o options) validate() error {
	if _, port, ok := strings.Cut(o.backupRestore, ":"); !ok || strings.HasPrefix(port, "//") {
		return fmt.Errorf("--backup-restore-host-port is %q, not host:port", o.backupRestore)
	}
	if o.backupRestoreTLS && o.backupRestoreCA == "" {
		return errors.New("--backup-restore-tls-enabled needs --backup-restore-ca-cert-bundle-path")
	}
	return nil
}
