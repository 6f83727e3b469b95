// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/spf13/pflag"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
)

// storeFlags are the flags for the store of a URL.
type storeFlags struct {
	// ca is a file of certificate authorities. Empty is those of the system.
	ca string
}

func (f *storeFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "store-ca", "", "File with the certificate authorities of the store, in PEM, in addition to those of the system")
}

// of returns the stores, which report what happens on stderr.
func (f storeFlags) of(a *app.App) stored.Stores {
	return stored.Stores{CA: f.ca, Clock: a.Clock, Reports: stored.Reports{
		Logf: a.Step, Notef: a.Notef, Warnf: a.Warn,
		Begin: func(what string, total int64) stored.Bar { return a.NewProgress(what, total) },
	}}
}
