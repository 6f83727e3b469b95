// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestCredentialsAsArgs checks that a printed command has the same credentials, but no password.
func TestCredentialsAsArgs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		want string
	}{
		{},
		{args: []string{"--etcd-user", "root"}, want: " --etcd-user root"},
		{args: []string{"--etcd-user", "root:se:cret"}, want: " --etcd-user root"},
		{args: []string{"--user-secret", "team/login"}, want: " --user-secret team/login"},
		{
			args: []string{"--cert", "my certs/a.crt", "--key", "a.key", "--cacert", "ca.crt", "--server-name", "etcd.team"},
			want: " --cacert ca.crt --cert 'my certs/a.crt' --key a.key --server-name etcd.team",
		},
		{args: []string{"--client-port", "2390", "--direct"}, want: " --client-port 2390 --direct"},
		{args: []string{"--client-secret", "tls"}, want: " --client-secret tls"},
	} {
		var c credentialFlags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.AddFlags(flags)
		if err := flags.Parse(row.args); err != nil {
			t.Fatal(err)
		}
		if got := c.AsArgs(); got != row.want {
			t.Errorf("%v: got %q, want %q", row.args, got, row.want)
		}
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	var c credentialFlags
	c.AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		value, want := "x", " --"+f.Name+" x"
		switch f.Value.Type() {
		case "uint16":
			value, want = "7", " --"+f.Name+" 7"
		case "bool":
			value, want = "true", " --"+f.Name
		}
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.AsArgs(), want) {
			t.Errorf("--%s is missing: %q", f.Name, c.AsArgs())
		}
	})
}
