// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

// ContextFlags are those by which another command reaches the same API server, as
// the user gave them to this one. A token is none: it would be seen by whoever reads them.
func (a *App) ContextFlags() string {
	var words []string
	add := func(name, value string) { words = append(words, " "+name+" "+operate.Quote(value)) }
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
		words = append(words, " --insecure-skip-tls-verify")
	}
	return strings.Join(words, "")
}

// Where is the kubeconfig's context and the API server's address.
func (a *App) Where() (name, server string) {
	if raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig(); err == nil {
		name = cmp.Or(*a.Flags.Context, raw.CurrentContext)
	}
	if config, err := a.Config(); err == nil {
		server = config.Host
	}
	return cmp.Or(name, "none"), server
}
