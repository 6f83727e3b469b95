// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	// The arguments that etcd-druid gives, with TLS.
	got, err := parse([]string{
		"start-etcd",
		"--backup-restore-host-port=main-local:8080",
		"--etcd-server-name=main-local",
		"--backup-restore-tls-enabled=true",
		"--backup-restore-ca-cert-bundle-path=/var/etcdbr/ssl/ca/ca.crt",
		"--etcd-client-port=2379",
		"--etcd-wrapper-port=9095",
		"--etcd-client-cert-path=/var/etcd/ssl/client/tls.crt",
		"--etcd-client-key-path=/var/etcd/ssl/client/tls.key",
	}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		backupRestore:    "main-local:8080",
		backupRestoreTLS: true,
		backupRestoreCA:  "/var/etcdbr/ssl/ca/ca.crt",
		etcdName:         "main-local",
		etcdPort:         2379,
		etcdCert:         "/var/etcd/ssl/client/tls.crt",
		etcdKey:          "/var/etcd/ssl/client/tls.key",
		port:             9095,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
		t.Error(diff)
	}
}

func TestWrongCommandLine(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {nil, "usage: etcd-wrapper start-etcd"},
		"another command":  {[]string{"stop-etcd"}, "usage: etcd-wrapper start-etcd"},
		"flag before it":   {[]string{"--etcd-client-port=1", "start-etcd"}, "usage: etcd-wrapper start-etcd"},
		"unknown flag":     {[]string{"start-etcd", "--colour"}, "flag provided but not defined: -colour"},
		"no port":          {[]string{"start-etcd", "--backup-restore-host-port=main-local"}, "not host:port"},
		"a scheme":         {[]string{"start-etcd", "--backup-restore-host-port=http://main-local:8080"}, "not host:port"},
		"TLS without a CA": {[]string{"start-etcd", "--backup-restore-tls-enabled"}, "needs --backup-restore-ca-cert-bundle-path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stderr bytes.Buffer
			if code := run(ctx, cancel, row.args, &stderr, nil, nil); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(stderr.String(), row.want) {
				t.Errorf("stderr lacks %q:\n%s", row.want, &stderr)
			}
		})
	}
}
