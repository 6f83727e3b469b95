// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// ContextFlags returns the user's flags that select the API server and the user, for a command
// that is printed. It omits a token, which must stay secret.
func (a *App) ContextFlags() string {
	var flags strings.Builder
	add := func(name, value string) { flags.WriteString(" " + name + " " + format.Quote(value)) }
	f := a.Flags
	for _, given := range []struct {
		name  string
		value *string
	}{
		{"--context", f.Context}, {"--cluster", f.ClusterName}, {"--kubeconfig", f.KubeConfig}, {"--server", f.APIServer},
		{"--tls-server-name", f.TLSServerName}, {"--certificate-authority", f.CAFile}, {"--user", f.AuthInfoName},
		{"--client-certificate", f.CertFile}, {"--client-key", f.KeyFile}, {"--as", f.Impersonate}, {"--as-uid", f.ImpersonateUID},
	} {
		if given.value != nil && *given.value != "" {
			add(given.name, *given.value)
		}
	}
	if f.ImpersonateGroup != nil {
		for _, group := range *f.ImpersonateGroup {
			add("--as-group", group)
		}
	}
	if f.Insecure != nil && *f.Insecure {
		flags.WriteString(" --insecure-skip-tls-verify")
	}
	return flags.String()
}

// Where returns the context of the kubeconfig and the address of the API server.
func (a *App) Where() (name, server string) {
	if raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig(); err == nil {
		name = cmp.Or(*a.Flags.Context, raw.CurrentContext)
	}
	if config, err := a.Config(); err == nil {
		server = config.Host
	}
	return cmp.Or(name, "none"), server
}
